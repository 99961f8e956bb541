"""Clips as work for one process or many: a pure function from a recipe to the bytes of a file."""

import base64
import hashlib
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic

from wakeword.audio.pcm import audio_bytes
from wakeword.base.errors import SynthesisError
from wakeword.base.version import __version__
from wakeword.batch.jobs.work import Batch, ItemT, Report, RowT, Work
from wakeword_tools.clips.clip_plan import Recipe, render
from wakeword_tools.engines.isolation import Isolated, isolated

_SECONDS = 1.5
"""About what a clip lasts."""


@dataclass(frozen=True, slots=True)
class SpokenClip:
    """A clip to speak."""

    recipe: Recipe
    file: str
    """Its name in the folder."""

    @property
    def key(self) -> str:
        """Its name."""
        return self.file

    @property
    def size(self) -> float:
        """One clip."""
        return 1.0

    @property
    def seconds(self) -> float:
        """About what it will last."""
        return _SECONDS

    @property
    def stamp(self) -> str:
        """None: the folder that it goes to is named by the recipes of all clips."""
        return ""

    def digest(self) -> str:
        """None, as its stamp."""
        return ""


@dataclass(frozen=True)
class Spoken:
    """What became of a clip."""

    content: bytes
    """The bytes of a FLAC file: 16 kHz mono 16-bit."""
    error: str | None = None
    """Why it could not be spoken."""


class SpeakWork:
    """Speaks clips: ``wakeword.batch.jobs.work.Work``. Rows are ``Spoken``.

    ``apart``: whether engines run in a further process, so that one that hangs loses only its clip.
    """

    def __init__(self, *, apart: bool = False) -> None:
        self._apart = apart

    @property
    def digest(self) -> str:
        """SHA-256 of the version of this package: all else is in the recipes."""
        return hashlib.sha256(f"speak {__version__} {self._apart}".encode()).hexdigest()

    def begin(self, report: Report) -> Callable[[SpokenClip], Spoken]:
        """Engines are loaded with the first clip that needs them."""
        speak: Callable[[SpokenClip], bytes | SynthesisError] = Isolated(_speak) if self._apart else _speak

        def spoken(clip: SpokenClip) -> Spoken:
            found: bytes | SynthesisError
            try:
                found = speak(clip)
            except SynthesisError as error:
                found = error
            report(clip.size, clip.seconds)
            return self.lost(clip, str(found)) if isinstance(found, SynthesisError) else Spoken(found)

        return spoken

    def lost(self, item: SpokenClip, reason: str) -> Spoken:
        """The row of a clip that could not be spoken."""
        return Spoken(b"", reason)

    def is_final(self, row: Spoken) -> bool:
        """Whether there is a clip."""
        return row.error is None

    def to_json(self, row: Spoken) -> dict[str, Any]:
        """The row as JSON has it."""
        return {"content": base64.b64encode(row.content).decode("ascii"), "error": row.error}

    def from_json(self, content: Any) -> Spoken:
        """The row of ``to_json``."""
        return Spoken(base64.b64decode(content["content"]), content["error"])


class ApartProcesses:
    """The executor for engines: ``workers`` processes; one that crashes or hangs loses only its item."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(
        self, work: Work[ItemT, RowT], batches: Sequence[Batch[ItemT]], report: Report
    ) -> Generator[tuple[int, RowT], None, None]:
        """``Executor.run``; ``report`` is called with each row."""
        pairs = [pair for batch in batches for pair in batch]
        ready = _Ready(work)
        with closing(isolated(ready, [item for _, item in pairs], jobs=self.workers)) as rows:
            for (number, item), row in zip(pairs, rows, strict=True):
                report(item.size, item.seconds)
                yield number, work.lost(item, str(row)) if isinstance(row, SynthesisError) else row


class _Ready(Generic[ItemT, RowT]):
    """Work that begins with the first item, in the process that does it."""

    def __init__(self, work: Work[ItemT, RowT]) -> None:
        self._work = work
        self._do: Callable[[ItemT], RowT] | None = None

    def __call__(self, item: ItemT) -> RowT:
        if self._do is None:
            self._do = self._work.begin(lambda size, seconds: None)
        return self._do(item)


def _speak(clip: SpokenClip) -> bytes:
    return audio_bytes(render(clip.recipe).samples, "FLAC")
