"""Installing models into the user's folder, where every command finds them by name.

A model gets into the folder only after it was read as every model is, its digest and its self-tests included.
"""

from pathlib import Path

from wakeword.base.errors import ConfigError, ModelError, naming
from wakeword.base.files import write_whole
from wakeword.base.text import shortened
from wakeword.model.installed import model_name, named, nearest_name, shipped_models, user_folder, user_models
from wakeword.model.model import parse_model, read_model_bytes


def install_model(source: str, *, name: str | None = None, replace: bool = False) -> Path:
    """Install the model of a file under ``name``; by default its phrase, as ``model_name`` writes it; return its path.

    Raises ``ConfigError`` for a name of an included model, for one that is taken unless ``replace``, and for an address;
    ``ModelError`` for what cannot be read or is no model; ``OSError`` if it cannot be written.
    """
    if "://" in source:
        raise ConfigError(f"expected a file, got the address {shortened(source)}; get it first, as with curl -fLO")
    with naming(source, ModelError):
        data = read_model_bytes(source)
        model = parse_model(data)
        _ = model.second_stage  # checks its parts and its self-test
    chosen = _free_name(model.card.phrase if name is None else name, replace=replace)
    path = user_folder("models") / f"{chosen}.onnx"
    write_whole(path, data)
    return path


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
