"""``python -m scripts.make_recogniser``: teaches the phoneme recogniser to hear in noise and rooms what it hears without.

It needs ``pyroomacoustics``. What came of it is in ``train/evidence/text-alone.md``. The included one was made from
the file that ``scripts.make_verifiers`` writes::

    python -m scripts.make_recogniser --recogniser before.onnx --background varied_speech --out phonemes.onnx

Then the table of confusions, the starter pack and the models that are kept are to be made anew: ``assets/LICENSES.md``.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from scripts.encoder.simulated_rooms import BEFORE, simulated_rooms
from scripts.encoder.taught_recogniser import Lessons, taught
from scripts.make_micro_trunk import recordings_of
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.files import replacing
from wakeword.base.types import Array
from wakeword.model.installed import assets_folder
from wakeword.verify.shared import PHONEMES_FILE
from wakeword.verify.verifier import PHONEME_SAMPLES
from wakeword_train.data.household import HouseholdSounds

_ROOMS, _STRETCHES, _STRETCH = 350, 300, 6.0
"""Rooms and stretches of household sound that are drawn from, and seconds of a stretch."""
_BEFORE = SAMPLE_RATE
"""Samples of speech that ring on into a window."""
_AS_IT_IS, _IN_ROOM, _TILTED, _NARROW, _IN_NOISE, _HISS = 0.2, 0.6, 0.4, 0.3, 0.6, 0.4
"""Shares of the windows; narrow are so many of those that are tilted."""
_ALONE = 0.25
"""Share of the windows with a second of speech amid silence, as people say a wake word."""
_SNR = 3.0, 25.0
_SILENT = 3e-3


def lessons(recordings: Sequence[Array], rooms: Sequence[Array], noises: Array, seed: int) -> Lessons:
    """Windows of ``PHONEME_SAMPLES`` without end: as they are, and from a room, in noise or by a poor microphone."""
    random = np.random.default_rng(seed)
    shares = np.array([len(one) for one in recordings], float)
    shares /= shares.sum()
    size = PHONEME_SAMPLES + _BEFORE
    while True:
        one = recordings[int(random.choice(len(recordings), p=shares))]
        first = int(random.integers(0, max(1, len(one) - size)))
        speech = np.zeros(size, np.float32)
        speech[: min(size, len(one))] = one[first : first + size]
        if random.random() < _ALONE:
            begin = int(random.integers(_BEFORE, _BEFORE + PHONEME_SAMPLES // 2))
            end = begin + int(random.uniform(0.5, 1.1) * SAMPLE_RATE)
            speech[:begin] = speech[end:] = 0
        if np.abs(speech[_BEFORE:]).max() > _SILENT:
            yield speech[_BEFORE:], _as_heard(speech, rooms, noises, random)[_BEFORE:]


def _as_heard(speech: Array, rooms: Sequence[Array], noises: Array, random: np.random.Generator) -> Array:
    """The same speech as a microphone may get it, ``(samples,)``."""
    if random.random() < _AS_IT_IS:
        return speech * np.float32(10 ** (random.uniform(-40, 6) / 20))
    heard = speech
    if random.random() < _IN_ROOM:
        heard = _in_room(heard, rooms[int(random.integers(len(rooms)))])
    if random.random() < _TILTED:
        heard = _tilted(heard, random)
    if random.random() < _IN_NOISE:
        noise = noises[int(random.integers(len(noises)))]
        first = int(random.integers(0, len(noise) - len(heard) + 1))
        noise = noise[first : first + len(heard)]
        loud = heard[np.abs(heard) > 0.05 * np.abs(heard).max()]
        level = np.sqrt(np.mean(loud**2) / (np.mean(noise[_BEFORE:] ** 2) + 1e-12))
        heard = heard + noise * np.float32(level * 10 ** (-random.uniform(*_SNR) / 20))
    if random.random() < _HISS:
        level = np.abs(heard).max() * 10 ** (random.uniform(-55, -25) / 20)
        heard = heard + random.normal(0, level, len(heard)).astype(np.float32)
    return heard


def _in_room(speech: Array, room: Array) -> Array:
    length = 1 << (len(speech) + len(room)).bit_length()
    rung = np.fft.irfft(np.fft.rfft(speech, length) * np.fft.rfft(room, length), length)[BEFORE:][: len(speech)]
    found: Array = (rung / (np.abs(rung).max() + 1e-9) * np.abs(speech).max()).astype(np.float32)
    return found


def _tilted(speech: Array, random: np.random.Generator) -> Array:
    """By up to 2 dB an octave, and some as a telephone passes it."""
    spectrum = np.fft.rfft(speech)
    hertz = np.linspace(0, SAMPLE_RATE / 2, len(spectrum))
    gain = 10 ** (random.uniform(-2, 2) * np.log2(np.clip(hertz, 100, SAMPLE_RATE / 2) / 1_000) / 20)
    if random.random() < _NARROW:
        gain *= (hertz > 200) & (hertz < 3_600)
    return np.fft.irfft(spectrum * gain, len(speech)).astype(np.float32)


def main(
    background: Annotated[list[Path], typer.Option("--background", help="Recordings of speech; repeatable.")],
    out: Annotated[Path, typer.Option("--out", help="The file to write (.onnx).")],
    recogniser: Annotated[Path | None, typer.Option("--recogniser", help="Default: the included one.")] = None,
    steps: Annotated[int, typer.Option("--steps", min=1)] = 1_300,
    seed: Annotated[int, typer.Option("--seed")] = 0,
) -> None:
    """Teach a recogniser by its own answers, from the people of the starter pack, and write another file."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    log = logging.getLogger(__name__)
    rooms = simulated_rooms(_ROOMS, seed)  # first, as it may lack its package
    speech = recordings_of(background, [], np.random.default_rng(seed))
    log.info("%.1f h of speech", sum(map(len, speech)) / SAMPLE_RATE / 3600)
    noises = HouseholdSounds.made(_STRETCHES, _STRETCH, speech=speech, seed=seed).stretches.numpy()

    def progress(step: int, loss: float) -> None:
        if step % 100 == 0:
            log.info("step %d of %d: loss %.3f", step, steps, loss)

    teacher = recogniser or assets_folder() / "encoders" / PHONEMES_FILE
    made = taught(teacher, lessons(speech, rooms, noises, seed), steps, progress=progress)
    with replacing(out) as temporary:
        temporary.write_bytes(made.SerializeToString(deterministic=True))


if __name__ == "__main__":
    typer.run(main)
