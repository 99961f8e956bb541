"""espeak-ng inside this process, with nothing to install by hand."""

import _ctypes
import ctypes
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

from wakeword.audio import SAMPLE_RATE
from wakeword.errors import SynthesisError
from wakeword.features import Array
from wakeword_tools.engines.synthesizer import Prosody, Word
from wakeword_tools.engines.voices import ESPEAK, Voice, espeak_voices


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
_UTF8, _PHONEMES, _IPA, _TIED = 1, 0x100, 2, 0x80
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
        variants = {path.name for path in (self._data / "voices" / "!v").iterdir()}
        self._voices = {voice: None for voice in espeak_voices() if voice.variant in variants}

    def voices(self) -> list[Voice]:
        """Every English accent by every usable variant that the installed data has."""
        return list(self._voices)

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """See ``Synthesizer.speak``."""
        return self.speak_words(text, voice, prosody)[0]

    def speak_words(self, text: str, voice: Voice, prosody: Prosody | None = None) -> tuple[Array, list[Word]]:
        """``speak``, and when each word was spoken."""
        if not text.strip() or "\0" in text:
            raise SynthesisError(f"expected a text to speak, got {text!r}")
        # espeak-ng itself would speak an unknown variant as its default speaker, without a word.
        if voice not in self._voices:
            raise SynthesisError(f"expected a voice of {self.engine}, got {voice.name!r}")
        with _ESPEAK_LOCK, self._library(voice, prosody or Prosody()) as (library, rate):
            native, words = _collect(library, text)
        if not native.any():
            raise SynthesisError(f"{voice.name} made no sound of {text!r}; write it as it is spoken")
        samples: Array = soxr.resample(native.astype(np.float32) / 32_768, rate, SAMPLE_RATE)
        ends = [start for start, _ in words[1:]] + [len(native)]
        return samples, [Word(word, start / rate, end / rate) for (start, word), end in zip(words, ends, strict=True)]

    def phonemes(self, texts: Sequence[str], accent: str) -> list[list[str]]:
        """How that accent reads each text: IPA symbols, a stress mark before its vowel, for all words in a row.

        Raises ``SynthesisError`` on an unknown accent.
        """
        with _ESPEAK_LOCK, self._library(self._of_accent(accent), Prosody()) as (library, _):
            library.espeak_TextToPhonemes.restype = ctypes.c_char_p
            return [_read(library, text) for text in texts]

    def ipa(self, text: str, accent: str) -> str:
        """How that accent reads the text: its IPA in one line, a space between words, ``^`` within what is one sound
        (``d^ʒ``). ``[[...]]`` is taken as phonemes. Raises ``SynthesisError`` on an unknown accent.
        """
        with _ESPEAK_LOCK, self._library(self._of_accent(accent), Prosody()) as (library, _):
            _collect(library, ".")  # only speaking turns the reading of [[...]] on, and it stays on
            library.espeak_TextToPhonemes.restype = ctypes.c_char_p
            return " ".join(" ".join(_clauses(library, text, _TIED | ord("^") << 8)).split())

    def _of_accent(self, accent: str) -> Voice:
        voice = next((voice for voice in self._voices if voice.accent == accent), None)
        if voice is None:
            raise SynthesisError(f"expected an accent of {self.engine}, got {accent!r}")
        return voice

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
            # A quarter of the volume, as the loudest variants clip from half on; 175 words a minute and 50 of 100 are
            # espeak-ng's own defaults.
            for parameter, value in (
                (_RATE, 175 * prosody.rate),
                (_VOLUME, 25),
                (_PITCH, min(99, 50 * prosody.pitch)),
                (_RANGE, min(99, 50 * prosody.pitch_range)),
            ):
                library.espeak_SetParameter(parameter, round(value), 0)
            yield library, rate
        finally:
            library.espeak_Terminate()
            _unload(library)


@cache
def shared_espeak() -> EspeakSynthesizer:
    """One for the whole process: each copies its data."""
    return EspeakSynthesizer()


def _collect(library: ctypes.CDLL, text: str) -> tuple[NDArray[np.int16], list[tuple[int, str]]]:
    """int16 samples ``(n,)`` of the text spoken, and each word with the sample that it begins at."""
    blocks: list[bytes] = []
    words: list[tuple[int, str]] = []

    def collect(samples: int | None, count: int, events: "ctypes._Pointer[_Event]") -> int:
        if samples and count > 0:
            blocks.append(ctypes.string_at(samples, 2 * count))
        index = 0
        while (event := events[index]).type != _LIST_END:
            if event.type == _WORD:
                begin = event.text_position - 1
                words.append((event.sample, text[begin : begin + event.length]))
            index += 1
        return 0

    callback = _Callback(collect)
    library.espeak_SetSynthCallback(callback)
    encoded = text.encode()
    if library.espeak_Synth(encoded, len(encoded) + 1, 0, 1, 0, _UTF8 | _PHONEMES, None, None):
        raise SynthesisError(f"espeak-ng failed to speak {text!r}")
    return np.frombuffer(b"".join(blocks), "<i2").astype(np.int16), words


def _read(library: ctypes.CDLL, text: str) -> list[str]:
    clauses = _clauses(library, text, ord("_") << 8)
    return [symbol for clause in clauses for word in clause.split() for symbol in word.split("_") if symbol]


def _clauses(library: ctypes.CDLL, text: str, marks: int) -> Iterator[str]:
    """The IPA of each clause; ``marks`` say what stands between symbols."""
    rest = ctypes.c_char_p(text.replace("\0", " ").encode())
    while rest.value:
        clause: bytes = library.espeak_TextToPhonemes(ctypes.byref(rest), _UTF8, _IPA | marks)
        yield clause.decode()


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
