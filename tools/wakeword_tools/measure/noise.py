"""Noise mixed into clips at a chosen ratio of speech to noise."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wakeword.audio.audio_file import read_audio
from wakeword.audio.level import power_of
from wakeword.base.errors import AudioError, DataError
from wakeword.base.events import Line
from wakeword.base.text import counted
from wakeword.base.types import Array
from wakeword.takes.word_region import locate_word
from wakeword_tools.measure.reading import ReadRecording

_TRIES = 20


def gain_for_snr(speech: float, noise: float, snr: float) -> np.float32:
    """The factor that brings noise of this power ``snr`` dB under speech of that power."""
    return np.float32(np.sqrt(speech / noise * 10 ** (-snr / 10)))


class NoiseMixer:
    """Mixes noise into clips: the same for the same clip, seed and noises, whatever else is evaluated.

    At every ratio a clip gets the same piece of noise, only at another level. Clips are padded to at least ``least``
    samples, so that no window holds digital silence. ``ratios``: of speech to noise, dB, at which recordings are measured.
    ``warn`` is called for files that cannot be read; ``DataError`` if no file can be used.
    """

    def __init__(
        self, files: Sequence[Path], *, ratios: Sequence[float] = (), least: int = 0, seed: int = 0, warn: Line
    ) -> None:
        self.ratios = ratios
        self._seed = seed
        self._least = least
        self._noises: list[Array] = []
        for path in files:
            try:
                self._noises.append(read_audio(path))
            except AudioError as error:
                warn(f"skipped: {error}")
        self._noises = [noise for noise in self._noises if np.any(noise)]
        if not self._noises:
            raise DataError(f"expected recordings of noise, got {counted(len(files), 'file')} without sound")

    def mix(self, samples: Array, recording: ReadRecording, *, snr: float, speech: Array | None = None) -> Array:
        """A clip, ``(samples,)``, in noise ``snr`` dB under its speech: ``(max(samples, least),)``.

        The level of speech is measured on ``speech``, ``(n,)``, by default on the word, located by its energy, without the
        pauses around it; the level of noise on the whole clip. A silent clip stays silent.
        """
        if speech is None:
            word, _ = locate_word(samples)
            speech = samples[word.start : word.end]
        power = power_of(speech)
        samples = np.pad(samples, (0, max(0, self._least - len(samples))))
        noise = self._piece(len(samples), recording.digest)
        return samples + noise * gain_for_snr(power, power_of(noise), snr)

    def _piece(self, length: int, digest: str) -> Array:
        """Noise of this length that is not silent, repeated where its recording is shorter."""
        random = np.random.default_rng([self._seed, int(digest[:16], 16)])
        for _ in range(_TRIES):
            noise = self._noises[int(random.integers(len(self._noises)))]
            start = int(random.integers(len(noise)))
            piece: Array = np.take(noise, np.arange(start, start + length), mode="wrap")
            if np.any(piece):
                return piece
        # Recordings of single sounds are mostly silence; starting at the loudest sample avoids it.
        start = int(np.argmax(np.abs(noise)))
        return np.take(noise, np.arange(start, start + length), mode="wrap")
