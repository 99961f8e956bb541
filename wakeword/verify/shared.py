"""The networks that the models of all words share: files next to the models, named in a card by their digest."""

import ctypes
from collections.abc import Collection
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import onnxruntime

from wakeword.base.errors import ModelError, raising
from wakeword.base.files import file_sha256
from wakeword.format.session import open_session
from wakeword.verify.embedding import EmbeddingNetwork
from wakeword.verify.phoneme_verifier import TOKENS_KEY, PhonemeNetwork, tokens_of_text
from wakeword.verify.quick_phonemes import QuickPhonemes

EMBEDDING_FILE = "embedding.onnx"
PHONEMES_FILE = "phonemes.onnx"
QUICK_FILE = "quick.onnx"
EAR, LANGUAGES = "ear", "languages"
"""The extras that install a recogniser besides the included one."""
_HEARD = {EAR: "words that were trained from their text", LANGUAGES: "words of other languages than English"}


def recogniser_folders() -> dict[str, Path]:
    """The folders of installed recognisers besides the included one, each by the extra that installs it."""
    found = {extra: find_spec(f"wakeword_{extra}") for extra in _HEARD}
    folders = {extra: Path(one.origin).parent for extra, one in found.items() if one is not None and one.origin}
    return {extra: folder for extra, folder in folders.items() if (folder / PHONEMES_FILE).is_file()}


def recogniser_extra(language: str) -> str:
    """The extra that installs the recogniser of words of a language."""
    return EAR if language == "en" else LANGUAGES


def file_digest(path: Path) -> str:
    """SHA-256 of a shared network, in hex. ``ModelError`` if it cannot be read."""
    said = f"{path}: expected the shared network of second stages, got"
    with raising(ModelError, said, OSError, hint="; install wakeword again"):
        return file_sha256(path)


@lru_cache(maxsize=2)
def load_embedding(path: Path, digest: str) -> EmbeddingNetwork:
    """The embedding network, loaded once in a process. ``ModelError`` if the file is missing or has another digest."""
    return EmbeddingNetwork(_open(_file_of(path, digest)))


@lru_cache(maxsize=8)  # paths, which take a digest of each file to resolve
def load_phonemes(path: Path, digest: str, extras: Collection[str] = (EAR, LANGUAGES)) -> PhonemeNetwork:
    """The phoneme recogniser of this digest, loaded once in a process: ``path``, or one in ``recogniser_folders``.

    ``ModelError`` if the file is missing, or if none has the digest; it names ``extras``, which may install that one.
    """
    return _recogniser(_file_of(path, digest, extras), digest)


@lru_cache(maxsize=1 + len(_HEARD))
def _recogniser(path: Path, digest: str) -> PhonemeNetwork:
    session = _open(path)
    return PhonemeNetwork(session, _tokens(session))


@lru_cache(maxsize=2)
def load_quick(path: Path, digest: str) -> QuickPhonemes:
    """The quick recogniser of this digest, loaded once in a process, found, and refused, as by ``load_phonemes``."""
    session = _open(_file_of(path, digest))
    return QuickPhonemes(EmbeddingNetwork(session), _tokens(session))


def _tokens(session: onnxruntime.InferenceSession) -> list[str]:
    return tokens_of_text(session.get_modelmeta().custom_metadata_map.get(TOKENS_KEY))


def _file_of(path: Path, digest: str, extras: Collection[str] = ()) -> Path:
    """The file of this digest: ``path``, or one of its name in ``recogniser_folders``."""
    if (found := file_digest(path)) == digest:
        return path
    folders = recogniser_folders()
    others = [other for folder in folders.values() if (other := folder / path.name).is_file()]
    if (named := next((other for other in others if file_digest(other) == digest), None)) is not None:
        return named
    # One that is installed is of another version.
    missing = [extra for extra in extras if extra not in folders]
    install = "".join(
        f'pip install "wakeword[{extra}]", which has the one of {_HEARD[extra]}, or ' for extra in missing
    )
    raise ModelError(
        f"{path}: expected the shared network of digest {digest[:16]}, with which the model was trained, got "
        f"{found[:16]}; {install}train the model again, or run it without its second stage (--no-verify)"
    )


def _open(path: Path) -> onnxruntime.InferenceSession:
    # From the path and without an arena: 5 MB less of memory for the recogniser, in the same time.
    session = open_session(path, arena=False)
    # What loading has freed goes back to the system, 40 MB for the recogniser. Other libraries than glibc give it back by
    # themselves, or cannot be asked.
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
    return session
