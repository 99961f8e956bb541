"""Attack: sound and damaged recordings in every format that libsndfile writes."""

import io
from pathlib import Path
from random import Random

import numpy as np
import soundfile

from fuzz.cases.blocks import sound
from fuzz.cases.laws import BrokenLawError, Case
from fuzz.cases.mutation import damaged
from wakeword import Detector, FileSource
from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import AUDIO_SUFFIXES
from wakeword.audio.pcm import SAMPLE_RATE

_RATES = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000, 192_000)
_ODD_RATES = (1, 7_999, 192_001, 2**31 - 1)
_LENGTHS = (0, 1, 100, 4_000, 16_000, 30_000)
_EXACT = {"WAV", "WAVEX", "FLAC", "AIFF", "AU", "CAF", "W64", "RF64"}
_EXACT_SUBTYPES = ("PCM_", "FLOAT", "DOUBLE")
"""Formats and subtypes that neither compress nor fill up a last block."""
_MAX_SECONDS = 60.0
"""A file of a second may claim more, but not be read as more than this."""


def formats() -> list[tuple[str, str]]:
    """Formats and subtypes that libsndfile writes to memory: raw ones have no header, SD2's is a second file beside."""
    return [
        (form, subtype)
        for form in soundfile.available_formats()
        if form not in ("RAW", "SD2")
        for subtype in soundfile.available_subtypes(form)
    ]


def prepare() -> Case:
    """Cases: ``read`` for what is sound, ``refused`` or ``damaged, read`` for what is not."""
    known = formats()
    detector = Detector("marvin")

    def case(random: Random, folder: Path) -> str:
        whole = random.random() < 0.15
        made = _encoded(random, known, whole=whole)
        if made is None:
            return "cannot be written"
        data, (form, subtype), seconds = made
        other = _encoded(random, known, whole=True)
        suffix = random.choice(sorted(AUDIO_SUFFIXES)) if random.random() < 0.3 else f".{form.lower()}"
        path = folder / f"recording{suffix}"
        path.write_bytes(data if whole else damaged(data, random, other[0] if other else b""))
        samples = read_audio(path)
        if samples.dtype != np.float32 or samples.ndim != 1 or not np.isfinite(samples).all():
            raise BrokenLawError(f"read as {samples.dtype} {samples.shape}, or not finite")
        if len(samples) > _MAX_SECONDS * SAMPLE_RATE:
            raise BrokenLawError(f"{len(data)} bytes were read as {len(samples) / SAMPLE_RATE:.0f} s")
        if (
            whole
            and form in _EXACT
            and subtype.startswith(_EXACT_SUBTYPES)
            and abs(len(samples) - seconds * SAMPLE_RATE) > 2
        ):
            raise BrokenLawError(f"{seconds} s of {form} were read as {len(samples)} samples at 16 kHz")
        for detection in detector.run(FileSource(path)):
            if not 0 <= detection.start < detection.end:
                raise BrokenLawError(f"a detection {detection}")
        return "read" if whole else "damaged, read"

    return case


def _encoded(
    random: Random, known: list[tuple[str, str]], *, whole: bool
) -> tuple[bytes, tuple[str, str], float] | None:
    """The bytes of a recording, its format and its seconds; ``None`` if libsndfile refuses that.

    Odd rates and values are left to formats that store them: encoders of others end the process.
    """
    form, subtype = random.choice(known)
    odd = not whole and form in _EXACT - {"FLAC"} and subtype in ("FLOAT", "DOUBLE") and random.random() < 0.2
    rate = random.choice(_ODD_RATES if odd and random.random() < 0.3 else _RATES)
    frames, channels = random.choice(_LENGTHS), random.choice((1, 1, 1, 2, 6))
    block = np.repeat(sound(random.randrange(2**32), frames)[:, None], channels, axis=1)
    if odd and len(block):
        block[random.randrange(len(block)) :][:1] = random.choice((np.nan, np.inf, 1e30))
    buffer = io.BytesIO()
    try:
        soundfile.write(buffer, block, rate, subtype=subtype, format=form)
    except (soundfile.LibsndfileError, ValueError, RuntimeError, TypeError):
        return None
    return buffer.getvalue(), (form, subtype), frames / rate
