"""Installing models into the user's folder, where every command finds them by name.

A model is copied from a file or downloaded over https. It gets into the folder only after it was read as every model is,
its digest and its self-tests included.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from wakeword.base.errors import ConfigError, ModelError, naming
from wakeword.base.fetching import fetched
from wakeword.base.files import write_whole
from wakeword.base.text import printable, shortened
from wakeword.model.installed import model_name, named, nearest_name, shipped_models, user_folder, user_models
from wakeword.model.model import MAX_FILE_BYTES, Model, parse_model, read_model_bytes

_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True)
class Installed:
    """A model that was installed."""

    name: str
    path: Path
    model: Model
    sha256: str
    """SHA-256 of the whole file, in hex, as ``sha256sum`` prints it."""


def install_model(
    source: str, *, name: str | None = None, sha256: str | None = None, replace: bool = False
) -> Installed:
    """Install the model of a file or an https address under ``name``; by default its phrase, as ``model_name`` writes it.

    ``sha256``, if given, must be the digest of the file. Raises ``ConfigError`` for a name of an included model, for one
    that is taken unless ``replace``, and for an address that is not https; ``ModelError`` for what cannot be got or is no
    model; ``OSError`` if it cannot be written.
    """
    wanted = None if sha256 is None else _checked_sha256(sha256)
    downloads = _is_address(source)
    data = b"".join(fetched(source, most=MAX_FILE_BYTES, failure=ModelError)) if downloads else _read(source)
    found = hashlib.sha256(data).hexdigest()
    if wanted is not None and found != wanted:
        raise ModelError(f"{printable(source)}: expected a file of SHA-256 {wanted}, got one of {found}; not installed")
    with naming(source, ModelError):
        model = parse_model(data)
        _ = model.second_stage  # checks its parts and its self-test
    chosen = _free_name(model.card.phrase if name is None else name, replace=replace)
    path = user_folder("models") / f"{chosen}.onnx"
    write_whole(path, data)
    return Installed(chosen, path, model, found)


def remove_model(name: str) -> Path:
    """Remove a model from the user's folder; return the path that it had. ``ConfigError`` if it has none of that name."""
    own = user_models()
    path = named(name, own)
    if path is None:
        if named(name, shipped_models()) is not None:
            raise ConfigError(f"expected an installed model, got {name!r}, which comes with the package and stays")
        nearest = nearest_name(name, own)
        meant = "" if nearest is None else f"; did you mean {shortened(nearest)}?"
        known = f"expected an installed model ({', '.join(own) or 'none'}), got {shortened(repr(name))}"
        raise ConfigError(f"{known}{meant or '; wakeword models lists them'}")
    path.unlink()
    return path


def _checked_sha256(text: str) -> str:
    digits = text.strip().casefold()
    if len(digits) != 64 or not _HEX.issuperset(digits):
        raise ConfigError(f"expected a SHA-256 of 64 hex digits, got {shortened(repr(text))}")
    return digits


def _free_name(text: str, *, replace: bool) -> str:
    """The name of a model in the user's folder."""
    name = model_name(text)
    if not name:
        raise ConfigError(
            f"expected a name with a letter or a digit, got {shortened(repr(text))}; give one with --name"
        )
    if named(name, shipped_models()) is not None:
        raise ConfigError(
            f"expected another name than {name!r}, which is that of an included model; give one with --name, for instance "
            f"my-{name}"
        )
    taken = named(name, user_models())
    if taken is not None and not replace:
        raise ConfigError(f"expected a name that is free, got {name!r}; give another with --name, or --replace")
    # A file that was put there by hand can be spelt in another way: two of one name would be one too many.
    return name if taken is None else taken.stem


def _read(source: str) -> bytes:
    with naming(source, ModelError):
        return read_model_bytes(source)


def _is_address(source: str) -> bool:
    """Whether ``source`` is an address. ``ConfigError`` for one that is not https."""
    scheme = urlsplit(source).scheme if "://" in source else ""
    if scheme and scheme != "https":
        raise ConfigError(f"expected an https address or a file, got {shortened(source)}; download it by other means")
    return bool(scheme)
