"""linux-voice-assistant for the tests of its example: a stand-in, and the real one where it is installed.

Both find words in folders of JSON files, load them, and give them the features of blocks of audio. The real one needs a
sound card and a player, which are left out. Its packages are not dependencies of anything here.
"""

import importlib
import importlib.util
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Protocol

import numpy as np

MISSING = [
    name
    for name in ("linux_voice_assistant", "pymicro_wakeword", "pyopen_wakeword", "aioesphomeapi", "getmac")
    if importlib.util.find_spec(name) is None
]
"""What the real program lacks here."""

Wakes = list[tuple[int, str]]
"""Which block of audio woke the satellite, and the phrase of the word."""


class Satellite(Protocol):
    """How the tests use either."""

    program: ModuleType
    """``linux_voice_assistant.__main__``."""

    def listen(self, folder: Path, audio: np.ndarray, *, block: int, slider: float | None = None) -> Wakes:
        """Load every word in a folder and process 16-bit audio at 16 kHz with the slider of sensitivity there."""
        ...


def blocks_of(audio: np.ndarray, length: int) -> Iterator[np.ndarray]:
    """The whole blocks of that many samples."""
    for start in range(0, len(audio) - length + 1, length):
        yield audio[start : start + length]


# --- the stand-in


class MicroWakeWord:
    """A word of its own, of which the stand-in knows that it was loaded and gets features."""

    def __init__(self, name: str, phrase: str) -> None:
        self.id, self.wake_word, self.probability_cutoff = name, phrase, 0.7
        self.frames: list[np.ndarray] = []

    @staticmethod
    def from_config(config_path: Path, libtensorflowlite_c_path: Path | None = None) -> "MicroWakeWord":
        config = json.loads(Path(config_path).read_text())
        return MicroWakeWord(Path(config["model"]).stem, config["wake_word"])

    def process_streaming(self, features: np.ndarray) -> bool:
        self.frames.append(np.concatenate([features, features], axis=1))
        return False

    def close(self) -> None:
        raise AssertionError("expected that words of ours do not release what they do not have")

    def __del__(self) -> None:
        with suppress(AssertionError):
            self.close()


class MicroWakeWordFeatures:
    """40 figures for every 10 ms; the first for 30 ms."""

    def __init__(self) -> None:
        self._samples = 0
        self._frames = 0

    def process_streaming(self, audio_bytes: bytes) -> Iterator[np.ndarray]:
        self._samples += len(audio_bytes) // 2
        while (self._frames + 3) * 160 <= self._samples:
            self._frames += 1
            yield np.full((1, 1, 40), self._frames, np.float64)


class StandIn:
    """Loads and feeds words as linux-voice-assistant does."""

    def __init__(self, install: Callable[[str, ModuleType], None]) -> None:
        engine, package = ModuleType("pymicro_wakeword"), ModuleType("linux_voice_assistant")
        self.word: Any = type("MicroWakeWord", (MicroWakeWord,), {"from_config": MicroWakeWord.from_config})
        engine.MicroWakeWord = self.word  # type: ignore[attr-defined]
        engine.MicroWakeWordFeatures = MicroWakeWordFeatures  # type: ignore[attr-defined]
        self.program: Any = ModuleType("linux_voice_assistant.__main__")
        self.program.MicroWakeWordFeatures = MicroWakeWordFeatures
        package.__main__ = self.program  # type: ignore[attr-defined]
        for module in (engine, package, self.program):
            install(module.__name__, module)

    def listen(self, folder: Path, audio: np.ndarray, *, block: int, slider: float | None = None) -> Wakes:
        configs = {path: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
        words = {path: self.word.from_config(path) for path in configs}
        features = self.program.MicroWakeWordFeatures()
        wakes = []
        for number, samples in enumerate(blocks_of(audio, block)):
            frames = list(features.process_streaming(samples.astype("<i2").tobytes()))
            for path, word in words.items():
                word.probability_cutoff = configs[path]["micro"]["probability_cutoff"] if slider is None else slider
                # Every frame, also after one that wakes.
                if sum(bool(word.process_streaming(frame)) for frame in frames):
                    wakes.append((number, word.wake_word))
        return wakes


# --- the real one


class _EndOfAudioError(BaseException):
    """Not an ``Exception``: the loop catches those."""


class Real:
    """Its own search for words, its own loading, and its own loop over the microphone."""

    def __init__(self, install: Callable[[str, ModuleType], None]) -> None:
        for name in ("soundcard", "mpv"):
            stub: Any = ModuleType(name)
            stub.MPV = object
            install(name, stub)
        self.program = importlib.import_module("linux_voice_assistant.__main__")

    def listen(self, folder: Path, audio: np.ndarray, *, block: int, slider: float | None = None) -> Wakes:
        program: Any = self.program
        its_own = Path(program.__file__).parents[1] / "wakewords"
        available = program.find_available_wake_words([its_own, folder], "stop")
        names = sorted(path.stem for path in folder.glob("*.json"))
        words, active, _ = program.load_wake_models(available, names, "okay_nabu")
        assert active == set(names)
        wakes: Wakes = []
        passed = -1

        @contextmanager
        def recorder(**_: object) -> Iterator[SimpleNamespace]:
            blocks = blocks_of(audio, block)

            def record(count: int) -> np.ndarray:
                nonlocal passed
                passed += 1
                samples = next(blocks, None)
                if samples is None:
                    raise _EndOfAudioError
                # As the loop turns it back into integers, cutting off what is behind the point.
                return (samples.astype(np.float64) + 0.5 * np.sign(samples))[:, None] / 32767

            yield SimpleNamespace(record=record)

        entities = SimpleNamespace(
            sensitivity_1_number_entity=None, sensitivity_2_number_entity=None, stop_sensitivity_number_entity=None
        )
        state = SimpleNamespace(
            audio_input_channels=1,
            mic_volume=100,
            preferences=SimpleNamespace(
                mic_auto_gain=0,
                mic_noise_suppression=0,
                wake_word_1_sensitivity=slider,
                wake_word_2_sensitivity=slider,
            ),
            satellite=SimpleNamespace(
                _is_streaming_audio=False,
                handle_audio=lambda *_: None,
                wakeup=lambda word: wakes.append((passed, word.wake_word)),
                stop=lambda: None,
                state=entities,
                send_messages=lambda _: None,
            ),
            wake_words=words,
            available_wake_words=available,
            active_wake_words=active,
            wake_words_changed=False,
            wake_word_1_threshold=0.7,
            wake_word_2_threshold=0.7,
            stop_word=program.load_stop_model([its_own], "stop"),
            stop_word_threshold=0.5,
            refractory_seconds=0.0,  # of the wall clock, and this is faster than real time
            muted=False,
        )
        with suppress(_EndOfAudioError):
            program.process_audio(state, SimpleNamespace(name="file", recorder=recorder), block)
        return wakes
