"""The networks that the models of all words share: files next to the models, named in a card by their digest."""

import ctypes
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import onnxruntime

from wakeword.base.errors import ModelError, reason_of
from wakeword.base.files import file_sha256
from wakeword.format.session import open_session
from wakeword.verify.embedding import EmbeddingNetwork
from wakeword.verify.phoneme_verifier import TOKENS_KEY, PhonemeNetwork, tokens_of_text
from wakeword.verify.quick_phonemes import QuickPhonemes

EMBEDDING_FILE = "embedding.onnx"
PHONEMES_FILE = "phonemes.onnx"
QUICK_FILE = "quick.onnx"


def ear_folder() -> Path | None:
    """The folder of the package wakeword-ear, which has a recogniser that hears more; ``None`` without it."""
    found = find_spec("wakeword_ear")
    return Path(found.origin).parent if found is not None and found.origin else None


def file_digest(path: Path) -> str:
    """SHA-256 of a shared network, in hex. ``ModelError`` if it cannot be read."""
    try:
        return file_sha256(path)
    except OSError as error:
        raise ModelError(
            f"{path}: expected the shared network of second stages, got: {reason_of(error)}; install wakeword again"
        ) from error


@lru_cache(maxsize=2)
def load_embedding(path: Path, digest: str) -> EmbeddingNetwork:
    """The embedding network, loaded once in a process. ``ModelError`` if the file is missing or has another digest."""
    return EmbeddingNetwork(_open(path, digest))


@lru_cache(maxsize=4)  # paths, which take a digest of each file to resolve
def load_phonemes(path: Path, digest: str) -> PhonemeNetwork:
    """The phoneme recogniser of this digest, loaded once in a process: ``path``, or the one in ``ear_folder``.

    ``ModelError`` if the file is missing, or if neither has the digest.
    """
    ear = ear_folder()
    if ear is not None and file_digest(path) != digest == file_digest(ear / PHONEMES_FILE):
        path = ear / PHONEMES_FILE
    return _recogniser(path, digest)


@lru_cache(maxsize=2)
def _recogniser(path: Path, digest: str) -> PhonemeNetwork:
    session = _open(path, digest)
    return PhonemeNetwork(session, _tokens(session))


@lru_cache(maxsize=2)
def load_quick(path: Path, digest: str) -> QuickPhonemes:
    """The quick recogniser, loaded once in a process. ``ModelError`` if the file is missing or has another digest."""
    session = _open(path, digest)
    return QuickPhonemes(EmbeddingNetwork(session), _tokens(session))


def _tokens(session: onnxruntime.InferenceSession) -> list[str]:
    return tokens_of_text(session.get_modelmeta().custom_metadata_map.get(TOKENS_KEY))


def _open(path: Path, digest: str) -> onnxruntime.InferenceSession:
    found = file_digest(path)
    if found != digest:
        # With the ear, it is of another version.
        other = 'pip install "wakeword[ear]", which has the one of words that were trained from their text, or '
        raise ModelError(
            f"{path}: expected the shared network of digest {digest[:16]}, with which the model was trained, got "
            f"{found[:16]}; {'' if ear_folder() else other}train the model again, or run it without its second stage "
            "(--no-verify)"
        )
    # From the path and without an arena: 5 MB less of memory for the recogniser, in the same time.
    session = open_session(path, arena=False)
    _give_back_memory()
    return session


def _give_back_memory() -> None:
    """Give the system back what loading has freed, where the C library can: 40 MB for the recogniser."""
    # Other libraries than glibc give it back by themselves, or cannot be asked.
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
