"""Wakes and near misses that a user keeps to learn from: a bounded folder, and the outcome of each."""

import logging
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from weakref import WeakSet

import numpy as np

from wakeword.audio.detection import Detection, WakeOutcome
from wakeword.base.errors import ConfigError
from wakeword.base.types import Array
from wakeword.model.candidate_looks import looks_of_kept
from wakeword.model.installed import user_folder
from wakeword.model.model import Model
from wakeword.saving.ambient_segment import first_stage_id
from wakeword.saving.hours import HeardHours
from wakeword.saving.saved_pairs import SavedPairs, client_of
from wakeword.saving.saver import Saver
from wakeword.saving.sorting import rewrite
from wakeword.stream.kept_wakes import KeptWakes

logger = logging.getLogger(__name__)

MEGABYTES, MOST, DAYS = 200.0, 2_000, 30
"""Bounds of what is kept."""
MOST_OF_A_CLIENT = 60
"""Events that one client of a server may have kept in an hour: more often than a house wakes."""
_MOST_WAITING = 64


def kept_folder() -> Path:
    """Where events are kept unless another folder is named; it need not exist."""
    return user_folder("kept")


class Keeper:
    """Keeps what a detector finds and nearly finds, with the audio around it, for ``improve``. To make one is the yes.

    ::

        with Keeper("kept") as keeper:
            detector = Detector("jarvis", keep=keeper)
            ...
            detection.outcome("false")

    At most ``megabytes``, ``most`` events and ``days`` are kept, the newest, and of each client of a server no more than
    ``MOST_OF_A_CLIENT`` an hour; only their owner can read them. With ``features_of``, which gives the model of a keyword,
    what that model hears is kept as numbers, and no audio. A disk that is slow, full, read-only or locked by a process that
    hangs delays nothing: ``complain`` gets a line (by default the log). Raises ``ConfigError`` if ``folder`` is a file,
    and ``OSError`` if it cannot be made.
    """

    def __init__(
        self,
        folder: Path | str | None = None,
        *,
        features_of: Callable[[str], Model] | None = None,
        megabytes: float = MEGABYTES,
        most: int = MOST,
        days: int = DAYS,
        complain: Callable[[str], None] = logger.warning,
        note: Callable[[str], None] = logger.info,
    ) -> None:
        def features(detection: Detection) -> dict[str, Array]:
            assert features_of is not None
            model = features_of(detection.keyword)
            return {
                **looks_of_kept(model, detection.audio, float(detection.about.get("after", 0))).arrays(),
                # Features belong to the first stage and the recogniser that made them.
                "first_stage": np.array(first_stage_id(model)),
            }

        self._hour, self._counts = 0, Counter[str]()
        self._last: WeakSet[KeptWakes] = WeakSet()
        self._complain = complain
        self._pairs = SavedPairs(
            kept_folder() if folder is None else Path(folder),
            round(1e6 * megabytes),
            most=most,
            days=days,
            features=None if features_of is None else features,
        )
        self.hours = HeardHours(self.folder, complain)
        """How long a server has listened, which it adds to."""
        self._saver = Saver(
            self._pairs,
            most_waiting=_MOST_WAITING,
            wait_for_room=False,
            complain=complain,
            note=note,
            option="keep",
        )
        self._saver.then(lambda: self._pairs.tidy(datetime.now(UTC)))  # another process may have locked the folder

    @property
    def folder(self) -> Path:
        """Where the events are."""
        return self._pairs.folder

    def keep(self, detection: Detection, *, near_miss: bool = False) -> Callable[[WakeOutcome], None]:
        """See ``Keeps``."""
        if self._is_over(client_of(detection.about.get("client", ""))):
            return _refuse
        saved = self._saver.save(detection, near_miss=near_miss)
        return partial(self._tell, saved)

    def _is_over(self, client: str) -> bool:
        """Whether a client of a server has had its events of this hour."""
        hour = int(time.monotonic() // 3_600)
        if hour != self._hour:
            self._hour, self._counts = hour, Counter()
        self._counts[client] += 1
        if client and self._counts[client] == MOST_OF_A_CLIENT + 1:
            self._complain(
                f"keep: {client} had {MOST_OF_A_CLIENT} events kept in this hour; no more of it until the next"
            )
        return bool(client) and self._counts[client] > MOST_OF_A_CLIENT

    def gives_last(self, wakes: "KeptWakes") -> None:
        """``wakes`` are asked for what waits when this closes."""
        self._last.add(wakes)

    def close(self, seconds_left: Callable[[], float | None] = lambda: None) -> int:
        """Wait until all is kept, or for the seconds that are left; return how many events were not."""
        for wakes in list(self._last):  # of a program that pushed, and did not flush
            wakes.hand_over()
        lost = self._saver.close(seconds_left)
        self.hours.close(seconds_left())
        return lost

    def __enter__(self) -> "Keeper":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _tell(self, saved: "Future[Path | None]", outcome: WakeOutcome) -> None:
        moment = datetime.now(UTC)

        def write() -> None:
            path = saved.result()  # at hand, as it was queued before
            if path is not None:
                told = {"outcome": outcome.value, "outcome_at": moment.isoformat(timespec="seconds")}
                with suppress(FileNotFoundError):  # a person has sorted it, which counts more, or it was deleted
                    rewrite(path.with_suffix(".json"), told)

        self._saver.then(write)


def _refuse(outcome: WakeOutcome) -> None:
    raise ConfigError(f"expected one of the {MOST_OF_A_CLIENT} events that a client may have kept in an hour, got more")
