"""The microphone and what the loudspeaker gets: joined by sample number, the echo taken out."""

import logging
import math
import time
from collections.abc import Iterable, Iterator

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE, PcmStream, to_mono
from wakeword.audio.sources import AudioSource
from wakeword.base.errors import AudioFormatError, naming
from wakeword.base.types import NO_SAMPLES, Array, Samples
from wakeword.stream.sound_input import Pair, SoundInput
from wakeword_echo.echo_canceller import ECHO_BLOCK, EchoCanceller
from wakeword_echo.playback_reader import PlaybackReader

logger = logging.getLogger(__name__)

_MAX_LATE = SAMPLE_RATE // 2
"""Samples for which the microphone waits for the reference."""
_MAX_EARLY = 60.0
"""Seconds of the reference that may come before the microphone's."""
_NO_ROWS: Array = np.zeros((0, 2), np.float32)
_WAITED = 0.002
"""Seconds from which a block was waited for, so that it is as new as the microphone's audio can be."""
_DTYPES = [np.dtype(name) for name in ("int16", "int32", "float32")]


class _Pieces:
    """A signal in pieces, joined when they are looked at: not at each small block."""

    def __init__(self) -> None:
        self._parts: list[Array] = []
        self.length = 0

    def add(self, part: Array) -> None:
        """Append ``(n,)``."""
        self._parts.append(part)
        self.length += len(part)

    def joined(self) -> Array:
        """All of it, ``(n,)``."""
        if len(self._parts) != 1:
            self._parts = [np.concatenate([NO_SAMPLES, *self._parts])]
        return self._parts[0]

    def take(self, count: int) -> Array:
        """Remove and return the first ``count`` samples, or what there is of them."""
        whole = self.joined()
        self._parts = [whole[count:]]
        self.length = len(self._parts[0])
        return whole[:count]

    def cut(self, count: int) -> None:
        """Keep the first ``count`` samples, or what there is of them."""
        self._parts = [self.joined()[:count]]
        self.length = len(self._parts[0])


class OwnSound(SoundInput):
    """Blocks of a microphone, and of a reference if there is one -> 16 kHz mono without the loudspeaker's echo.

    Before the first reference, and some time after the last one, a block passes as it is: ``(n,)`` float32. Otherwise a
    row has a sample without echo and the reference at that time, ``(n, 2)``. Rows come in whole blocks of 160 ms that end
    where windows do, so that no detection comes later. However both signals are cut, the result is the same as long as the
    reference is at most half a second behind the microphone.
    """

    def __init__(self, pcm: PcmStream, reference_rate: int | None = None, *, window: int, at: int = 0) -> None:
        """``reference_rate``: Hz, default as ``pcm``. ``window``: samples in a window.

        ``at``: samples that ``pcm`` has given before.
        """
        super().__init__(pcm, None, window=window)
        self._reference_pcm = PcmStream(pcm.sample_rate if reference_rate is None else reference_rate)
        self._phase = window % ECHO_BLOCK
        self._begin(at)

    def reset(self) -> None:
        """Begin a new stream."""
        self._pcm.reset()
        self._reference_pcm.reset()
        self._begin(0)

    def _begin(self, at: int) -> None:
        self._canceller: EchoCanceller | None = None
        """``None`` until something plays."""
        self._is_active = self._is_anchored = self._warned = False
        # The microphone's samples that wait for their block or for the reference, and the number of the first.
        self._at, self._held = at, _Pieces()
        # The reference's, by the same numbers before the shift.
        self._kept_from, self._kept = 0, _Pieces()
        self._part = 0

    @property
    def held(self) -> int:
        """See ``SoundInput``."""
        return self._held.length

    @property
    def lack(self) -> float:
        """Seconds of reference that the microphone's samples so far need, and do not have."""
        return (self._needed(self._at + self.held) - self._reference_end) / SAMPLE_RATE if self._is_active else 0.0

    def with_playback(self, pairs: Iterable[Pair], playback: AudioSource) -> Iterator[Pair]:
        """The same blocks with the part of the playback that ``push`` needs for each."""
        reader = PlaybackReader(playback)
        try:
            began = time.monotonic()
            for block, _ in pairs:
                waited, seconds = time.monotonic() - began > _WAITED, self._seconds_in(block)
                if reader.runs_ahead(self.lack + seconds, seconds, waited=waited):
                    self.rejoin()
                yield block, reader.take(self.lack + seconds)
                began = time.monotonic()
        finally:
            reader.close()

    def _seconds_in(self, block: Samples) -> float:
        """How long a block of the microphone is; 0 for one that ``push`` refuses."""
        return len(block) / self._pcm.sample_rate if isinstance(block, np.ndarray) and block.ndim else 0.0

    def push(self, block: Samples, playback: Samples | None = None) -> Array:
        """The samples now complete, ``(n,)`` or ``(n, 2)``.

        ``playback`` is the next part of the reference, of any length; ``None``: nothing plays any more, after what was
        given. What is given after ``None`` begins now, in place of what is left of that. Raises ``AudioFormatError`` for
        what is no audio, which leaves the stream unchanged.
        """
        if not self._is_active and (playback is None or not _may_sound(playback)):
            return self._passed(block, playback)
        mono = NO_SAMPLES if playback is None else self._checked(playback, block)
        samples = self._pcm.push(block)
        if not self._is_active:
            self._anchor()
            self._is_active = True
        elif playback is not None and not self._is_anchored:
            self._kept.cut(self._at + self.held - self._kept_from)
            self._reference_pcm.reset()
        if self._canceller is None:
            self._canceller = EchoCanceller()
        self._held.add(samples)
        if playback is None:
            self._silence_until(self._at + self.held)
        else:
            self._kept.add(mono if self._reference_pcm.sample_rate == SAMPLE_RATE else self._reference_pcm.push(mono))
            self._fill_late()
        rows = self._rows()
        self._is_anchored = playback is not None
        if self._is_over():
            held = self._held.take(self.held)
            rows = np.concatenate((rows, _pairs(held, np.zeros_like(held))))
            self._at += len(held)
            self._kept_from, self._kept = self._reference_end, _Pieces()
            self._is_active = False
        return rows

    def _passed(self, block: Samples, playback: Samples | None) -> Array:
        """A block while nothing plays. A silent ``playback`` only moves its end; the microphone waits if that is late."""
        if playback is not None:
            self._check_early(len(playback), block)
        samples = self._pcm.push(block)
        if playback is None:
            self._is_anchored = False
        else:
            self._anchor()
            moved, self._part = divmod(len(playback) * SAMPLE_RATE + self._part, self._reference_pcm.sample_rate)
            self._kept_from += moved
            # Of another rate its end can be a part of a sample behind.
            if self._needed(self._at + len(samples)) > self._kept_from + 1:
                self._is_active = True
                self._held.add(samples)
                return _NO_ROWS
        self._at += len(samples)
        return samples

    def rejoin(self) -> None:
        """The reference's next sample is as old as the microphone's next, whatever was lost of either."""
        self._is_anchored = False
        if self._canceller is not None:
            self._canceller.restart()
        if self._is_active:
            self._silence_until(self._at + self.held)

    def flush(self) -> Array:
        """End the stream: the samples that are left, ``(n,)`` or ``(n, 2)``. Then begin a new one."""
        rest = self._pcm.flush()
        if self._is_active:
            self._held.add(rest)
            self._kept.add(self._reference_pcm.flush())
            end = self._at + self.held
            self._silence_until(end + ECHO_BLOCK)
            rest = self._rows()
            if self.held:
                rest = np.concatenate((rest, self._block(self._border(), learn=False)))
        self.reset()
        return rest

    def _checked(self, playback: Samples, block: Samples) -> Array:
        with naming("playback", AudioFormatError):
            mono = to_mono(playback)
        self._check_early(len(mono), block)
        return mono

    def _check_early(self, count: int, block: Samples) -> None:
        """``AudioFormatError`` if ``count`` more samples of the reference go too far beyond the block."""
        if self._kept.length + count < SAMPLE_RATE:
            return
        ahead = self._reference_end - self._needed(self._at + self.held) if self._is_anchored else 0
        early = ahead / SAMPLE_RATE + count / self._reference_pcm.sample_rate - self._seconds_in(block)
        if early > _MAX_EARLY:
            raise AudioFormatError(
                f"playback: expected at most {_MAX_EARLY:g} s before the microphone gets there, got {early:.1f} s; "
                "push the rest with later blocks"
            )

    def _anchor(self) -> None:
        """After a pause without a reference: its next sample is as old as the microphone's next."""
        if not self._is_anchored:
            if self._canceller is not None:
                self._canceller.restart()
            self._reference_pcm.reset()
            self._is_anchored, self._part = True, 0
            self._kept_from, self._kept = self._at, _Pieces()

    @property
    def _reference_end(self) -> int:
        return self._kept_from + self._kept.length

    def _needed(self, end: int) -> int:
        """The end of the reference that the microphone's samples up to ``end`` need."""
        return end if self._canceller is None else end - math.floor(self._canceller.shift)

    def _silence_until(self, end: int) -> None:
        """Append silence to a reference that does not reach as far as the microphone's sample ``end``."""
        missing = self._needed(end) - self._reference_end
        if missing > 0:
            self._kept.add(np.zeros(missing, np.float32))

    def _fill_late(self) -> None:
        """Wait no longer for a reference that does not come; what comes later belongs to the microphone's next samples."""
        end = self._at + self.held
        if self._needed(end) - self._reference_end <= _MAX_LATE:
            return
        if not self._warned:
            logger.warning("the playback is over 0.5 s behind the microphone; what is missing counts as silence")
            self._warned = True
        self._silence_until(end)

    def _border(self) -> int:
        """The end of the block that the first held sample is in."""
        return self._at + ECHO_BLOCK - (self._at - self._phase) % ECHO_BLOCK

    def _rows(self) -> Array:
        """All blocks that are complete, ``(n, 2)``."""
        blocks = []
        while (end := self._border()) <= self._at + self.held and self._needed(end) <= self._reference_end:
            blocks.append(self._block(end))
        self._forget()
        return np.concatenate((_NO_ROWS, *blocks))

    def _block(self, end: int, *, learn: bool = True) -> Array:
        """The block up to ``end``; of the first and the last one of a stream, what there is of it."""
        count = end - self._at
        last = self._needed(end)
        reference = self._reference(last - 2 * ECHO_BLOCK, last)
        microphone = self._held.take(count)
        there = len(microphone)
        if self._canceller is not None:
            whole = np.concatenate(
                (np.zeros(ECHO_BLOCK - count, np.float32), microphone, np.zeros(count - there, np.float32))
            )
            clean = self._canceller.cancel(whole, reference, end // ECHO_BLOCK, learn=learn)
            microphone = clean[ECHO_BLOCK - count :][:there]
            if self._canceller.is_copy or self._canceller.is_idle:
                # The veto would take the user's word for the loudspeaker's; and what is silent changes nothing.
                reference = np.zeros_like(reference)
        self._at += there
        return _pairs(microphone, reference[-count:][:there])

    def _reference(self, start: int, end: int) -> Array:
        kept = self._kept.joined()[max(0, start - self._kept_from) : max(0, end - self._kept_from)]
        missing = end - start - len(kept)
        return kept if not missing else np.concatenate((np.zeros(missing, np.float32), kept))

    def _forget(self) -> None:
        """Drop what no later block needs, once it is much."""
        old = self._needed(self._at) - 3 * ECHO_BLOCK - self._kept_from
        if old > max(ECHO_BLOCK, self._kept.length // 4):
            self._kept_from += len(self._kept.take(old))

    def _is_over(self) -> bool:
        """Whether nothing that is held or still comes can have an echo."""
        is_idle = self._canceller is None or self._canceller.is_idle
        if not is_idle or self._needed(self._at + self.held) > self._reference_end:
            return False
        return not self._kept.joined()[max(0, self._needed(self._at) - self._kept_from) :].any()


def _pairs(sound: Array, reference: Array) -> Array:
    return np.stack((sound, reference), axis=1)


def _may_sound(playback: Samples) -> bool:
    """Whether a reference is other than digital silence, or no audio at all."""
    plain = (
        type(playback) is np.ndarray
        and playback.ndim in (1, 2)
        and playback.dtype in _DTYPES
        and all(playback.shape[1:])
    )
    return not plain or bool(playback.any())
