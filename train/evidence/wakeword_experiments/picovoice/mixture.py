"""The test file of Picovoice's wake-word-benchmark: words among speech and silence, in noise throughout.

Source: ``mixer.py`` and ``dataset.py`` of github.com/Picovoice/wake-word-benchmark: all recordings of the word, shuffled;
equal lengths of other speech between them, of which each utterance is heard with probability 0.2 and is silence otherwise;
the loudest 512 samples of each part 10 dB above those of the noise under it; one scale for the whole file.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import DataError
from wakeword.base.types import Array
from wakeword_tools.transcripts import TranscribedSpeech, read_transcripts

HEARD = 0.2
"""Probability that an utterance is heard."""
SNR = 10.0
"""Decibels of the loudest frame of a part over that of the noise under it."""
AFTER = 0.5
"""Seconds after the end of a recording in which a detection is a hit."""
GAP = 2.0
"""Seconds after the end of a recording in which its word is no false alarm: engines report no word twice so soon."""
_FRAME = 512
_PAUSE = 1e-4
"""Energy of a frame of noise, of that of the loudest one of the recording, up to which it is a pause and is cut out."""
_SEED = 778


class SpokenPart(NamedTuple):
    """What is said, and its samples at 16 kHz."""

    told: TranscribedSpeech
    samples: NDArray[np.int16]


def utterances_of(folders: Sequence[Path]) -> list[SpokenPart]:
    """All utterances in folders with transcripts, of this project or of LibriSpeech. ``DataError`` if there are none."""
    found: list[SpokenPart] = []
    for folder in folders:
        told = read_transcripts(folder) or _of_librispeech(folder)
        for path in dict.fromkeys(one.path for one in told):
            samples = _pcm(path)
            for one in (some for some in told if some.path == path):
                end = min(one.end, len(samples) / SAMPLE_RATE)
                part = samples[round(one.start * SAMPLE_RATE) : round(end * SAMPLE_RATE)]
                if len(part) >= _FRAME and part.any():
                    found.append(SpokenPart(one, part))
    if not found:
        raise DataError(f"expected recordings with transcripts in {', '.join(map(str, folders))}, found none")
    return found


def _pcm(path: Path) -> NDArray[np.int16]:
    return (read_audio(path) * 32_767).astype(np.int16)


def _of_librispeech(folder: Path) -> list[TranscribedSpeech]:
    """The utterances of LibriSpeech: a file each, with a line in a file of its chapter."""
    found = []
    for file in sorted(folder.rglob("*.trans.txt")):
        named = (line.partition(" ") for line in file.read_text(encoding="utf-8").splitlines())
        found += [TranscribedSpeech(file.parent / f"{name}.flac", 0.0, np.inf, text) for name, _, text in named]
    return found


def noise_files(folders: Sequence[Path]) -> list[Path]:
    """The recordings of noise: of DEMAND the first channel of each place, of other folders all. ``DataError`` for none."""
    found = [path for folder in folders for path in sorted(folder.glob("*/ch01.wav")) or audio_files(folder)]
    if not found:
        raise DataError(f"expected recordings of noise in {', '.join(map(str, folders))}, found none")
    return found


class Part(NamedTuple):
    """A recording of the word, or an utterance, or silence of its length."""

    samples: NDArray[np.int16] | None
    """``None`` for silence."""
    length: int


class Mixture:
    """The file of a word, made block by block; the same arguments give the same file."""

    def __init__(
        self, words: Sequence[Path], speech: Sequence[SpokenPart], noise: Sequence[Path], *, hours: float
    ) -> None:
        """``words``: the recordings of the word; ``speech``: utterances without it. ``AudioError`` for a damaged file."""
        self._noise = [one for one in map(_without_pauses, noise) if len(one)]
        random, drawing = np.random.RandomState(_SEED), np.random.RandomState(_SEED)
        between = int(hours * 3600 * SAMPLE_RATE) // (len(words) + 1)
        self.parts = self._between(speech, between, random, drawing)
        self.words: list[tuple[float, float]] = []
        """Start and end of each recording of the word, in seconds."""
        length = sum(part.length for part in self.parts)
        for place in random.permutation(len(words)).tolist():
            word = _pcm(words[place])
            following = self._between(speech, between, random, drawing)
            self.words.append((length / SAMPLE_RATE, (length + len(word)) / SAMPLE_RATE))
            self.parts += [Part(word, len(word)), *following]
            length += len(word) + sum(part.length for part in following)
        self.hours = length / SAMPLE_RATE / 3600
        heard = sum(part.length for part in self.parts if part.samples is not None)
        self.hours_heard = heard / SAMPLE_RATE / 3600
        """Hours in which someone speaks."""
        self._scale = 1.0
        self._scale = 1 / max(float(np.abs(block).max()) for block in self.blocks())

    @staticmethod
    def _between(
        speech: Sequence[SpokenPart], least: int, random: np.random.RandomState, drawing: np.random.RandomState
    ) -> list[Part]:
        parts: list[Part] = []
        while sum(part.length for part in parts) < least:
            one = speech[drawing.randint(0, len(speech))].samples
            parts.append(Part(one if random.uniform() < HEARD else None, len(one)))
        return parts

    def blocks(self) -> Iterator[Array]:
        """The file, a part a block, ``(samples,)`` float32 at 16 kHz."""
        noise = _Bed(self._noise)
        for samples, length in self.parts:
            block = noise.take(length)
            if samples is not None:
                part = samples.astype(np.float32) / np.abs(samples.astype(np.float32)).max()
                block += part * np.sqrt(loudest(block) * 10 ** (SNR / 10) / loudest(part))
            yield block * np.float32(self._scale)


class _Bed:
    """Noise without an end: recordings, each with a peak of 1, in a random sequence."""

    def __init__(self, recordings: Sequence[Array]) -> None:
        self._recordings, self._drawing = recordings, np.random.RandomState(_SEED)
        self._kept: Array = np.zeros(0, np.float32)

    def take(self, length: int) -> Array:
        """The next samples, as an array of their own."""
        while len(self._kept) < length:
            following = self._recordings[self._drawing.randint(0, len(self._recordings))]
            self._kept = np.concatenate([self._kept, following])
        taken, self._kept = self._kept[:length].copy(), self._kept[length:]
        return taken


def _without_pauses(path: Path) -> Array:
    """A recording of noise with a peak of 1; empty if it is silent."""
    samples = read_audio(path)
    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME)
    energy = np.square(frames).sum(axis=1)
    # A word in a pause would be scaled to nothing. The noise of DEMAND has no such pauses.
    kept = frames[energy > _PAUSE * energy.max(initial=0.0)].ravel()
    scaled: Array = kept / np.abs(kept).max(initial=1e-9)
    return scaled


def loudest(samples: Array) -> float:
    """The energy of the loudest whole frame of 512 samples; of all of fewer samples."""
    whole = len(samples) // _FRAME * _FRAME
    frames = samples[:whole].reshape(-1, _FRAME) if whole else samples[None]
    return float(np.square(frames).sum(axis=1).max())
