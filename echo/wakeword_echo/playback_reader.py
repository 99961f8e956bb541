"""Reads what the loudspeaker gets from a second source, the playback, for the time of each block of the microphone."""

import logging
import queue
import threading
import time

import numpy as np

from wakeword.audio.pcm import to_mono
from wakeword.audio.sources import AudioSource
from wakeword.base.errors import AudioFormatError, naming
from wakeword.base.types import Samples
from wakeword_echo.arrivals import Arrivals

logger = logging.getLogger(__name__)

_PATIENCE = 0.5
"""Seconds of waiting for a playback that stops; then the microphone goes on alone until more comes."""
_MAX_WAITING, _MAX_LIVE = 16, 3_000
"""Blocks of a file, and of what is played now, that wait for the microphone: as long as its consumer may need."""
_POLL_SECONDS = 0.1
_MAX_LACK = 0.4
"""Seconds of a live playback that may be lacking, fewer than `OwnSound` waits for: here is known what stands for it."""
_SETTLED = 4.5
"""Seconds of a live playback after one that was late until it is known what of it was lost."""
_MAX_AHEAD, _PROOF = 0.2, 2.0
"""Seconds by which a live playback may be ahead of such blocks, and seconds of them that show it: on a busy machine a
microphone may be as late for a second."""


class PlaybackReader:
    """Reads a playback in a thread of its own, so that one that gives nothing does not stop the microphone."""

    def __init__(self, playback: AudioSource) -> None:
        self._playback = playback
        self._is_live = bool(getattr(playback, "is_live", False))
        most = _MAX_LIVE if self._is_live else _MAX_WAITING
        self._blocks: queue.Queue[Samples | BaseException | None] = queue.Queue(most)
        self._arrivals = Arrivals(playback.sample_rate)
        self._taken = 0
        # Samples of silence in place of what a live playback had not given in time, and how much had come by then.
        self._filled = self._filled_at = 0
        self._least, self._shown = np.inf, 0.0
        self._closed = threading.Event()
        self._is_late = self._ended = False
        threading.Thread(target=self._read, name="wakeword-playback", daemon=True).start()

    def take(self, seconds: float) -> Samples | None:
        """At least the next ``seconds`` of the playback as mono, ``(n,)``; ``None`` once it has ended.

        Fewer if it is late. If it is live, silence stands for what stays late, and once it is known how much of that was
        lost and how much came after all, the silence is made as long as the loss. Raises what the playback raised.
        """
        wanted = round(seconds * self._playback.sample_rate)
        taken = self._settled()
        wanted -= sum(map(len, taken))
        while wanted > 0 and (block := self._next()) is not None:
            taken.append(block)
            wanted -= len(block)
        if self._ended and not taken:
            return None
        if self._is_live and self._is_late and wanted > _MAX_LACK * self._playback.sample_rate:
            taken.append(np.zeros(wanted, np.float32))
            if self._arrivals.came:  # before its first block it has no place
                self._filled, self._filled_at = self._filled + wanted, self._arrivals.came
        return np.concatenate([np.zeros(0, np.float32), *taken])

    def _next(self) -> Samples | None:
        """The next block as mono, ``(n,)``; ``None`` if it is late or the playback has ended."""
        try:
            block = self._blocks.get(timeout=0 if self._is_late else _PATIENCE)
        except queue.Empty:
            if self._is_live and not self._is_late and not self._filled:
                logger.warning("the playback gave nothing for %.1f s; silence stands for what is missing", _PATIENCE)
            self._is_late = True
            return None
        self._is_late = False
        if isinstance(block, BaseException):
            raise block
        if block is None:
            self._ended = True
            return None
        self._taken += len(block)
        with naming("playback", AudioFormatError):
            return to_mono(block)

    def _settled(self) -> list[Samples]:
        """Silence for what was lost, or nothing, once what came although silence stood for it is dropped."""
        owed = self._arrivals.lost - self._filled
        since = self._arrivals.came - self._filled_at
        is_settling = bool(self._filled_at) and since < _SETTLED * self._playback.sample_rate
        if not self._is_live or not owed or is_settling:
            return []
        if owed > 0:
            self._filled += owed
            return [np.zeros(owed, np.float32)]
        while owed < 0 and not self._blocks.empty() and (block := self._next()) is not None:
            dropped = min(-owed, len(block))
            owed += dropped
            self._filled -= dropped
            if dropped < len(block):
                return [block[dropped:]]
        return []

    def runs_ahead(self, needed: float, seconds: float, *, waited: bool) -> bool:
        """Whether a live playback is ahead of the microphone, which then has lost audio; if so, drop all but the newest.

        To ask before each block of ``seconds``, for which ``needed`` seconds of playback are to be taken.
        """
        if not self._is_live:
            return False
        now = (self._arrivals.came - self._taken) / self._playback.sample_rate - needed
        if waited:
            self._least = min(self._least, now)
        self._shown += seconds if waited else -seconds
        if 0 < self._shown < _PROOF:
            return False
        is_shown, ahead = self._shown > 0, self._least
        self._least, self._shown = np.inf, 0.0
        if not (is_shown and ahead > _MAX_AHEAD):
            return False
        # By how much it was ahead of every such block, and not of this one, which may be late.
        kept = (seconds + max(0.0, now - ahead)) * self._playback.sample_rate
        while not self._blocks.empty() and self._arrivals.came - self._taken > kept:
            self._next()
        self._arrivals.forget()
        self._filled = self._arrivals.lost
        logger.info("the playback was %.1f s ahead of the microphone; it goes on with what is played now", ahead)
        return True

    def close(self) -> None:
        """Read no more; the thread ends with the playback's next block."""
        self._closed.set()

    def _read(self) -> None:
        end: BaseException | None = None
        try:
            for block in self._playback.blocks():
                self._arrivals.push(len(block), time.monotonic())
                if not self._put(block):
                    return
        except Exception as error:  # of any kind: `_next` raises it
            end = error
        self._put(end)

    def _put(self, item: Samples | BaseException | None) -> bool:
        while not self._closed.is_set():
            try:
                self._blocks.put(item, timeout=_POLL_SECONDS)
            except queue.Full:
                continue
            return True
        return False
