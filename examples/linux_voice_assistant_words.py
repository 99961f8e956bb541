"""Words of this project in linux-voice-assistant, a satellite of Home Assistant, beside the words that it brings along.

    python examples/linux_voice_assistant_words.py --word jarvis --word my_word.onnx --name Kitchen

linux-voice-assistant finds wake words itself and asks no Wyoming server, so this program starts it with our engine
inside. Install both into one environment, linux-voice-assistant as its own pages say; options that are not listed with
``--help`` go to it as they are. Home Assistant then offers the words in the satellite's list of wake words.

A wake word there is a JSON file and a ``MicroWakeWord``, which is given features instead of audio. Here a JSON file may
name an ``.onnx`` model, ``Features`` lets the features carry the audio along that they were made of, and ``Word`` is a
``MicroWakeWord`` that gives this audio to a ``Detector``.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from wakeword import Detector, Model, WakewordError, load_model, shipped_models

try:
    from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures
except ImportError as error:
    raise SystemExit(
        "expected linux-voice-assistant and its pymicro-wakeword in this environment, got "
        f"{error.name!r} missing; install them as https://github.com/OHF-Voice/linux-voice-assistant says"
    ) from error

NEUTRAL = 0.5
"""Where the slider of sensitivity in Home Assistant stands at first: the model's default operating point."""


class Frame(np.ndarray):
    """Features of 10 ms, and the audio that has come since the previous ones: 16-bit PCM at 16 kHz."""

    audio = b""


class Features(MicroWakeWordFeatures):
    """The features of linux-voice-assistant, which carry their audio along."""

    _pending = b""

    def process_streaming(self, audio_bytes: bytes) -> Iterator[Frame]:
        self._pending += audio_bytes
        for features in super().process_streaming(audio_bytes):
            frame = np.asarray(features).view(Frame)
            frame.audio, self._pending = self._pending, b""
            yield frame


def threshold_at(model: Model, slider: float) -> float:
    """The threshold for a position of the slider, from 0 to 1, which is higher for fewer false alarms.

    ``NEUTRAL`` is the model's default operating point. Its other points stand at equal distances to the left and to the
    right, in the order of their thresholds, so that 0 is the most sensitive one. Right of the strictest is a threshold
    that is ten times closer to 1. In between, the logit of the threshold is interpolated.
    """
    default = model.card.point().threshold
    thresholds = {point.threshold for point in model.card.operating_points}
    lower = sorted(one for one in thresholds if one < default)
    higher = sorted(one for one in thresholds if one > default)
    higher.append(1 - (1 - max([default, *higher])) / 10)
    positions = [*np.linspace(0, NEUTRAL, len(lower), endpoint=False), NEUTRAL]
    positions += [*np.linspace(NEUTRAL, 1, len(higher) + 1)[1:]]
    logits = [math.log(one / (1 - one)) for one in (*lower, default, *higher)]
    return 1 / (1 + math.exp(-np.interp(slider, positions, logits)))


class Word(MicroWakeWord):
    """A model of ours as linux-voice-assistant uses a wake word."""

    def __init__(self, name: str, model: Model) -> None:
        # Not that of the base class, which loads a network of its own format.
        self.id = name
        self.wake_word = model.card.phrase
        self.debug_probabilities = False
        self._model = model
        self.probability_cutoff = NEUTRAL

    @property
    def probability_cutoff(self) -> float:
        """The position of the slider. It is set again with each block of audio."""
        return self._slider

    @probability_cutoff.setter
    def probability_cutoff(self, slider: float) -> None:
        if slider != getattr(self, "_slider", None):
            # Where somebody moves the slider, the second of audio that the old detector has heard may be lost.
            self._slider = slider
            self.detector = Detector(self._model, threshold=threshold_at(self._model, slider))

    def process_streaming(self, features: Frame) -> bool:
        """Whether the word ended in the audio of these features."""
        return self.detector.process_streaming(features.audio)

    def reset(self) -> None:
        self.detector.reset()

    def close(self) -> None:
        """Nothing has to be released. The base class calls this when the object is deleted."""


def write_words(folder: Path, words: list[str]) -> list[str]:
    """For each word a JSON file as linux-voice-assistant reads them; returns their names. Raises ``ModelError``."""
    shipped = shipped_models()
    names = []
    for word in words:
        path = Path(shipped.get(word, word)).resolve()
        config = {
            "type": "micro",
            "wake_word": load_model(word).card.phrase,
            "model": str(path),
            "trained_languages": [],
            "micro": {"probability_cutoff": NEUTRAL},
        }
        (folder / f"{path.stem}.json").write_text(json.dumps(config), encoding="utf-8")
        names.append(path.stem)
    return names


def add_words_to(program: object) -> None:
    """Let linux-voice-assistant, the module ``linux_voice_assistant.__main__``, load our models and hear audio."""
    its_own = MicroWakeWord.from_config

    def from_config(config_path: str | Path, *arguments: object) -> MicroWakeWord:
        model = json.loads(Path(config_path).read_text(encoding="utf-8"))["model"]
        if Path(model).suffix == ".onnx":
            return Word(Path(model).stem, load_model(model))
        return its_own(config_path, *arguments)

    MicroWakeWord.from_config = staticmethod(from_config)
    program.MicroWakeWordFeatures = Features  # type: ignore[attr-defined]


def main() -> None:
    parser = argparse.ArgumentParser(
        description="linux-voice-assistant with words of this project.", allow_abbrev=False
    )
    parser.add_argument("--word", action="append", required=True, help="an included word or a model file; repeatable")
    options, theirs = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        names = write_words(Path(folder), options.word)
        from linux_voice_assistant import __main__ as program

        add_words_to(program)
        sys.argv[1:] = ["--wake-word-dir", folder, "--wake-model", names[0], *theirs]
        program.run()


if __name__ == "__main__":
    try:
        main()
    except WakewordError as error:
        raise SystemExit(str(error)) from error
