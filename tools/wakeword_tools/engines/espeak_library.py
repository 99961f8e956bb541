"""espeak-ng's C library through ctypes: a fresh instance for each use, and the calls to it."""

import _ctypes
import ctypes
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wakeword.base.errors import SynthesisError, raising
from wakeword_tools.engines.synthesizer import Prosody
from wakeword_tools.engines.voice import Voice

_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_RETRIEVAL, _DONT_EXIT = 2, 0x8000
_UTF8, _PHONEMES, _IPA = 1, 0x100, 2
TIED = 0x80
"""Flag for ``reading``: the mark is put within one sound instead of between sounds."""
_RATE, _VOLUME, _PITCH, _RANGE = 1, 2, 3, 4

# A process has one set of the library's C globals, so users take turns.
_ESPEAK_LOCK = threading.Lock()


@contextmanager
def fresh_library(path: str, data: Path, voice: Voice, prosody: Prosody) -> Iterator[tuple[ctypes.CDLL, int]]:
    """A fresh instance of the library at ``path`` with this voice and prosody, and its sample rate.

    ``data`` has the files of the voice's accent: see ``copy_language``.

    The pitch flutter, noise and filters of an instance depend on what it spoke before, and no call resets them; a fresh
    copy of its globals does, in half a millisecond. Raises ``SynthesisError`` if the library finds no data in ``data``
    or does not know the voice.
    """
    with _ESPEAK_LOCK:
        library = ctypes.CDLL(path)
        try:
            rate = library.espeak_Initialize(_RETRIEVAL, 0, str(data).encode(), _DONT_EXIT)
            if rate <= 0:
                raise SynthesisError(f"espeak-ng found no data in {data}; reinstall the package espeakng-loader")
            _prepare(library, data, voice, prosody)
            yield library, rate
        finally:
            library.espeak_Terminate()
            _unload(library)


def _prepare(library: ctypes.CDLL, data: Path, voice: Voice, prosody: Prosody) -> None:
    # Breath and noise: espeak-ng's own generator, seeded from the clock, and for Klatt voices the generator of C.
    library.espeak_ng_SetRandSeed(ctypes.c_long(1))
    ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).srand(1)
    place = _place_of(data, voice.accent.lower())
    if library.espeak_SetVoiceByName(f"{place}+{voice.variant}".encode()):
        raise SynthesisError(f"expected a voice that espeak-ng has, got {voice.name!r}")
    # A quarter of the volume, as the loudest variants clip from half the volume on; 175 words a minute and 50 of 100
    # are espeak-ng's defaults.
    for parameter, value in (
        (_RATE, 175 * prosody.rate),
        (_VOLUME, 25),
        (_PITCH, min(99, 50 * prosody.pitch)),
        (_RANGE, min(99, 50 * prosody.pitch_range)),
    ):
        library.espeak_SetParameter(parameter, round(value), 0)


@cache
def _place_of(data: Path, accent: str) -> str:
    """The file of an accent in the folder of languages: ``gmw/de``; what does not exist the library refuses."""
    found = next((data / "lang").rglob(accent), data / "lang" / "gmw" / accent)
    return found.relative_to(data / "lang").as_posix()


def collect(library: ctypes.CDLL, text: str, heard: Callable[[int], object] = lambda events: None) -> NDArray[np.int16]:
    """int16 samples ``(n,)`` of the spoken text; ``heard`` gets the address of each list of ``espeak_EVENT``."""
    blocks: list[bytes] = []

    def keep(samples: int | None, count: int, events: int) -> int:
        if samples and count > 0:
            blocks.append(ctypes.string_at(samples, 2 * count))
        heard(events)
        return 0

    callback = _Callback(keep)
    library.espeak_SetSynthCallback(callback)
    data = text.encode()
    if library.espeak_Synth(data, len(data) + 1, 0, 1, 0, _UTF8 | _PHONEMES, None, None):
        raise SynthesisError(f"espeak-ng failed to speak {text!r}")
    return np.frombuffer(b"".join(blocks), "<i2").astype(np.int16)


def reading(library: ctypes.CDLL, text: str, mark: str, *, flags: int = 0, own: bool = False) -> str:
    """The IPA of a text in one line, with a ``mark`` between symbols and a space between words.

    ``own``: the library's own phonemes.
    """
    library.espeak_TextToPhonemes.restype = ctypes.c_char_p
    rest, kind, clauses = ctypes.c_char_p(text.replace("\0", " ").encode()), 0 if own else _IPA, list[bytes]()
    while rest.value:
        clauses.append(library.espeak_TextToPhonemes(ctypes.byref(rest), _UTF8, kind | flags | ord(mark) << 8))
    return " ".join(b" ".join(clauses).decode().split())


def copy_english(data: Path, to: Path) -> None:
    """The English part of espeak-ng's data (1 MB), with the accents' files under lower-case names.

    espeak-ng looks for a voice's file in lower case, and if file names have capitals it reads all of its 250 voices.
    This took 3 ms for each text.
    """
    with raising(SynthesisError, f"could not copy espeak-ng's data from {data} to {to}", OSError):
        for name in ("phontab", "phonindex", "phondata", "intonations", "en_dict"):
            shutil.copy(data / name, to)
        shutil.copytree(data / "voices" / "!v", to / "voices" / "!v")
        (to / "lang" / "gmw").mkdir(parents=True)
        for path in (data / "lang" / "gmw").glob("en*"):
            shutil.copy(path, to / "lang" / "gmw" / path.name.lower())


def copy_language(data: Path, file: Path, to: Path) -> None:
    """Add a language to the copy ``to``: its ``file``, under a lower-case name, and its dictionary."""
    fields = dict(line.split()[:2] for line in file.read_text("utf-8", "replace").splitlines() if len(line.split()) > 1)
    dictionary = f"{fields.get('dictionary', file.name.lower().partition('-')[0])}_dict"
    target = to / file.relative_to(data).parent / file.name.lower()
    with raising(SynthesisError, f"could not copy espeak-ng's data from {data} to {to}", OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        if not (data / dictionary).is_file():
            raise SynthesisError(
                f"espeak-ng has no dictionary of {file.name}, so it cannot read it; take another language"
            )
        shutil.copy(data / dictionary, to)
        shutil.copy(file, target)


def _unload(library: ctypes.CDLL) -> None:
    if sys.platform == "win32":
        _ctypes.FreeLibrary(library._handle)
    else:
        _ctypes.dlclose(library._handle)
