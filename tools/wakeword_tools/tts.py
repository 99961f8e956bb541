"""Text to speech: espeak-ng inside this process, and flite where it is installed."""

import _ctypes
import ctypes
import itertools
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import soxr
from numpy.typing import NDArray

from wakeword.audio import SAMPLE_RATE, read_audio
from wakeword.errors import SynthesisError
from wakeword.features import Array
from wakeword_tools.voices import ESPEAK, FLITE, Voice, espeak_voices, flite_voices


@dataclass(frozen=True)
class Prosody:
    """How something is said, each as a multiple of what is usual for the voice."""

    rate: float = 1.0
    """Speaking rate, 0.5 to 2."""
    pitch: float = 1.0
    """Mean pitch on the engine's own scale, 0 to 2."""
    pitch_range: float = 1.0
    """How far the pitch moves, 0 (monotone) to 2."""

    def __post_init__(self) -> None:
        if not (0.5 <= self.rate <= 2 and 0 <= self.pitch <= 2 and 0 <= self.pitch_range <= 2):
            raise SynthesisError(f"expected rate in 0.5..2, pitch and pitch_range in 0..2, got {self}")


@dataclass(frozen=True)
class Word:
    """A word of a text, and when it was spoken."""

    text: str
    start: float
    """Seconds from the first sample."""
    end: float
    """Where the next word begins, pauses between them included."""


class Synthesizer(Protocol):
    """An engine that speaks."""

    @property
    def engine(self) -> str:
        """Its name, as in ``Voice.engine``."""
        ...

    def voices(self) -> list[Voice]:
        """The voices that it has here, in a stable order."""
        ...

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """The text spoken: ``(samples,)`` float32 mono at 16 kHz, always the same for the same arguments.

        Raises ``SynthesisError`` if the text has nothing to pronounce, the voice is not one of ``voices`` or the
        engine fails.
        """
        ...


class _Event(ctypes.Structure):
    """``espeak_EVENT`` of espeak-ng's speak_lib.h, where the values below come from too."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(_Event))
_LIST_END, _WORD = 0, 1
_RETRIEVAL, _DONT_EXIT = 2, 0x8000
_UTF8_AND_PHONEMES = 1 | 0x100
_RATE, _VOLUME, _PITCH, _RANGE = 1, 2, 3, 4

# One library, one set of C globals in a process: its users take turns.
_ESPEAK_LOCK = threading.Lock()


class EspeakSynthesizer:
    """espeak-ng through ctypes, with the library and data of the ``espeakng-loader`` package.

    Text in ``[[...]]`` is taken as espeak-ng's phonemes: ``[[m'A@vIn]]``.

    The library is loaded anew for each text. Its pitch flutter, noise and filters go on from whatever was said
    before, and no call resets them; a fresh copy of its globals does, and costs half a millisecond.
    """

    engine = ESPEAK

    def __init__(self) -> None:
        try:
            import espeakng_loader
        except ImportError as error:
            raise SynthesisError(
                "speaking needs espeak-ng, which is not installed; install it: pip install 'wakeword[train]'"
            ) from error
        self._path = espeakng_loader.get_library_path()
        self._folder = tempfile.TemporaryDirectory(prefix="wakeword-espeak-")
        self._data = Path(self._folder.name)
        _copy_english(Path(espeakng_loader.get_data_path()), self._data)

    def voices(self) -> list[Voice]:
        """Every English accent by every usable variant that the installed data has."""
        variants = {path.name for path in (self._data / "voices" / "!v").iterdir()}
        return [voice for voice in espeak_voices() if voice.variant in variants]

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """See ``Synthesizer.speak``."""
        return self.speak_words(text, voice, prosody)[0]

    def speak_words(self, text: str, voice: Voice, prosody: Prosody | None = None) -> tuple[Array, list[Word]]:
        """``speak``, and when each word was spoken."""
        if not text.strip() or "\0" in text:
            raise SynthesisError(f"expected a text to speak, got {text!r}")
        if voice.engine != self.engine:
            raise SynthesisError(f"expected a voice of {self.engine}, got {voice.name!r}")
        with _ESPEAK_LOCK, self._library(voice, prosody or Prosody()) as (library, rate):
            native, words = _collect(library, text)
        if not native.any():
            raise SynthesisError(f"{voice.name} made no sound of {text!r}; write it as it is spoken")
        samples: Array = soxr.resample(native.astype(np.float32) / 32_768, rate, SAMPLE_RATE)
        ends = [start for start, _ in words[1:]] + [len(native)]
        return samples, [Word(word, start / rate, end / rate) for (start, word), end in zip(words, ends, strict=True)]

    @contextmanager
    def _library(self, voice: Voice, prosody: Prosody) -> Iterator[tuple[ctypes.CDLL, int]]:
        """A fresh instance of the library that speaks so, and the sample rate that it speaks at."""
        library = ctypes.CDLL(self._path)
        try:
            rate = library.espeak_Initialize(_RETRIEVAL, 0, str(self._data).encode(), _DONT_EXIT)
            if rate <= 0:
                raise SynthesisError(f"espeak-ng found no data in {self._data}; reinstall the package espeakng-loader")
            # Breath and noise: espeak-ng's own generator, begun from the clock, and for Klatt voices that of C.
            library.espeak_ng_SetRandSeed(ctypes.c_long(1))
            _c_library().srand(1)
            if library.espeak_SetVoiceByName(f"gmw/{voice.accent.lower()}+{voice.variant}".encode()):
                raise SynthesisError(f"expected a voice that espeak-ng has, got {voice.name!r}")
            # Half volume: at full volume the loudest variants clip. 175 words a minute and 50 of 100 are its defaults.
            for parameter, value in (
                (_RATE, 175 * prosody.rate),
                (_VOLUME, 50),
                (_PITCH, min(99, 50 * prosody.pitch)),
                (_RANGE, min(99, 50 * prosody.pitch_range)),
            ):
                library.espeak_SetParameter(parameter, round(value), 0)
            yield library, rate
        finally:
            library.espeak_Terminate()
            _unload(library)


def _collect(library: ctypes.CDLL, text: str) -> tuple[NDArray[np.int16], list[tuple[int, str]]]:
    """int16 samples ``(n,)`` of the text spoken, and each word with the sample that it begins at."""
    blocks: list[bytes] = []
    words: list[tuple[int, str]] = []

    def collect(samples: int | None, count: int, events: "ctypes._Pointer[_Event]") -> int:
        if samples and count > 0:
            blocks.append(ctypes.string_at(samples, 2 * count))
        for event in itertools.takewhile(lambda event: event.type != _LIST_END, events):
            if event.type == _WORD:
                begin = event.text_position - 1
                words.append((event.sample, text[begin : begin + event.length]))
        return 0

    callback = _Callback(collect)
    library.espeak_SetSynthCallback(callback)
    encoded = text.encode()
    if library.espeak_Synth(encoded, len(encoded) + 1, 0, 1, 0, _UTF8_AND_PHONEMES, None, None):
        raise SynthesisError(f"espeak-ng failed to speak {text!r}")
    return np.frombuffer(b"".join(blocks), "<i2").astype(np.int16), words


def _copy_english(data: Path, to: Path) -> None:
    """The English part of espeak-ng's data (1 MB), with the accents' files under lower-case names.

    espeak-ng asks for a voice's file in lower case, and reads all of its 250 voices where file names have capitals.
    That took 3 ms for each text.
    """
    try:
        for name in ("phontab", "phonindex", "phondata", "intonations", "en_dict"):
            shutil.copy(data / name, to)
        shutil.copytree(data / "voices" / "!v", to / "voices" / "!v")
        (to / "lang" / "gmw").mkdir(parents=True)
        for path in (data / "lang" / "gmw").glob("en*"):
            shutil.copy(path, to / "lang" / "gmw" / path.name.lower())
    except OSError as error:
        raise SynthesisError(f"could not copy espeak-ng's data from {data} to {to}: {error}") from error


def _c_library() -> ctypes.CDLL:
    return ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)


def _unload(library: ctypes.CDLL) -> None:
    if sys.platform == "win32":
        _ctypes.FreeLibrary(library._handle)
    else:
        _ctypes.dlclose(library._handle)


class FliteSynthesizer:
    """The ``flite`` program of the system, if it is there. Takes no phonemes."""

    engine = FLITE

    def __init__(self) -> None:
        program = shutil.which("flite")
        if program is None:
            raise SynthesisError("expected the program flite, found none; on Debian or Ubuntu: apt install flite")
        self._program = program

    def voices(self) -> list[Voice]:
        """The 16 kHz voices that this flite lists."""
        listed = self._run("-lv").partition(":")[2].split()
        return [voice for voice in flite_voices() if voice.variant in listed]

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """See ``Synthesizer.speak``. ``pitch`` shifts by that factor; ``pitch_range`` has no effect."""
        prosody = prosody or Prosody()
        if not any(character.isalnum() for character in text) or "[[" in text:
            raise SynthesisError(f"expected a text in plain words to speak with flite, got {text!r}")
        if voice.engine != self.engine:
            raise SynthesisError(f"expected a voice of {self.engine}, got {voice.name!r}")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "speech.wav"
            self._run(
                *("-voice", voice.variant, "--setf", f"duration_stretch={1 / prosody.rate:.4f}"),
                *("--setf", f"f0_shift={max(0.5, prosody.pitch):.4f}", "-t", text, "-o", str(path)),
            )
            return read_audio(path)

    def _run(self, *arguments: str) -> str:
        try:
            done = subprocess.run([self._program, *arguments], capture_output=True, text=True, timeout=30, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            raise SynthesisError(f"flite failed ({error}); try it by hand: {self._program} -lv") from error
        return done.stdout


def synthesizer(engine: str) -> Synthesizer:
    """The engine of that name. ``SynthesisError`` if it is unknown or not installed."""
    if engine == ESPEAK:
        return EspeakSynthesizer()
    if engine == FLITE:
        return FliteSynthesizer()
    raise SynthesisError(f"expected an engine among {ESPEAK}, {FLITE}, got {engine!r}")
