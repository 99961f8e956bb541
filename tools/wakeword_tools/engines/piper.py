"""Piper's neural voices, from files that the user provides: ``NAME.onnx`` with ``NAME.onnx.json`` next to it."""

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import soxr

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import SynthesisError, reason_of
from wakeword.base.files import resolved
from wakeword.base.types import Array
from wakeword_tools.engines.synthesizer import Engine, Prosody, require_plain_words
from wakeword_tools.engines.voice import Voice, no_sound, piper_folder, split_of_source

if TYPE_CHECKING:
    from piper import PiperVoice

PIPER = "piper"


class PiperSynthesizer:
    """Piper inside this process, through the package ``piper-tts``. Takes no phonemes."""

    engine = PIPER

    def __init__(self) -> None:
        try:
            import piper  # noqa: F401
        except ImportError as error:
            raise SynthesisError(
                "Piper voices need the package piper-tts; install it: pip install piper-tts"
            ) from error

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """``(samples,)``: see ``Synthesizer.speak``. Pitch has no effect.

        Piper's noise is turned off, as its seed cannot be set: without it the same text always sounds the same.
        """
        from piper import SynthesisConfig

        require_plain_words(text, self.engine)
        speaker = int(voice.variant) if voice.variant else None
        rate = (prosody or Prosody()).rate
        settings = SynthesisConfig(speaker_id=speaker, length_scale=1 / rate, noise_scale=0.0, noise_w_scale=0.0)
        chunks = list(_loaded(voice.locator).synthesize(text, syn_config=settings))
        if not chunks:
            raise no_sound(voice, text)
        native = np.concatenate([part.audio_float_array for part in chunks]).astype(np.float32)
        samples: Array = soxr.resample(native, chunks[0].sample_rate, SAMPLE_RATE)
        return samples


@cache
def _loaded(path: str) -> "PiperVoice":
    from piper import PiperVoice

    try:
        return PiperVoice.load(path)
    except Exception as error:  # any error of ONNX Runtime or of reading the JSON
        raise SynthesisError(f"{path}: expected a Piper voice, could not load it: {reason_of(error)}") from error


def piper_voices(path: Path | str) -> list[Voice]:
    """The voices of a file, or of all files inside a folder; a file with several speakers gives several voices.

    A hash of its source decides each speaker's split. Raises ``SynthesisError`` if there is no voice or one has no readable
    JSON next to it.
    """
    root = Path(path)
    files = sorted(root.rglob("*.onnx")) if root.is_dir() else [root]
    if not files or not all(file.is_file() for file in files):
        raise SynthesisError(f"{path}: expected a Piper voice (.onnx) or a folder of them, found none")
    return [voice for file in files for voice in _speakers(file)]


def _speakers(file: Path) -> list[Voice]:
    described = Path(f"{file}.json")
    try:
        card = json.loads(described.read_text(encoding="utf-8"))
        accent = str(card.get("language", {}).get("code") or card["espeak"]["voice"]).replace("_", "-")
        dataset = str(card.get("dataset") or file.stem)
        numbers = (card.get("speaker_id_map") or {"": 0}).items()
        speakers = {name: str(int(number)) if name else "" for name, number in numbers}
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise SynthesisError(f"{described}: expected the JSON of a Piper voice, got: {reason_of(error)}") from error
    voices = []
    for name, number in speakers.items():
        source = _source(dataset, name)
        voices.append(
            Voice(
                name=f"{PIPER}:{file.stem}" + (f"#{name}" if name else ""),
                engine=PIPER,
                accent=accent,
                variant=number,
                source=source,
                split=split_of_source(source),
                licence="see the voice's model card",
                locator=str(resolved(file)),
            )
        )
    return voices


def _source(dataset: str, speaker: str) -> str:
    """The speaker, at any quality of the voice. The speakers of CMU ARCTIC are also flite's."""
    if dataset.lower() == "arctic" and speaker:
        return f"flite:{speaker.lower()}"
    return f"{PIPER}:{dataset}" + (f"#{speaker}" if speaker else "")


def _available() -> str | None:
    folder = piper_folder()
    return None if folder is None or importlib.util.find_spec("piper") is None else f"{PIPER}:{folder}"


ENGINE = Engine(
    name=PIPER,
    voices=piper_voices,
    synthesizer=PiperSynthesizer,
    takes_place="FOLDER",
    kind="natural",
    available=_available,
)
