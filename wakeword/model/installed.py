"""The models that commands and programs know by name: those that come with the package, and the user's own.

The user's are the files of one folder, ``user_folder("models")``; a file's name without ``.onnx`` is the name of the model.
A name of the package always means the model of the package, so that it means the same on every machine: a file of that name
in the user's folder is not used.
"""

import os
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from wakeword.base.checks import file_path
from wakeword.base.errors import ModelError
from wakeword.base.text import letters_of, shortened

HOME_VARIABLE = "WAKEWORD_HOME"
"""Environment variable that names the folder in place of the system's own."""


def assets_folder(package: str = "wakeword") -> Path:
    """The folder of the files that a package of this project reads: inside the package, or in the checkout."""
    inside = Path(str(files(package)))
    places = [folder / "assets" for folder in (inside, *inside.parents[:2])]
    return next(filter(Path.is_dir, places), places[0])


def encoders_folder(package: str = "wakeword") -> Path:
    """The folder of the networks that all words share."""
    return assets_folder(package) / "encoders"


def shipped_models() -> dict[str, Path]:
    """The models that come with the package: keyword -> file."""
    return {path.stem: path for path in sorted((assets_folder() / "models").glob("*.onnx"))}


def user_folder(name: str) -> Path:
    """The folder ``name`` of what a user has installed; it need not exist.

    In ``$WAKEWORD_HOME`` if that is set, and otherwise where the system keeps the data of programs:
    ``~/.local/share/wakeword`` on Linux.
    """
    home = os.environ.get(HOME_VARIABLE)
    if home:
        return Path(home) / name
    # Imported here: importing takes time, and a program that gives the path of a model never asks for this folder.
    from platformdirs import user_data_path

    return user_data_path("wakeword", appauthor=False) / name


def model_name(text: str) -> str:
    """A name as files have it: ``Hey Zorvella`` and ``hey-zorvella`` are the same, ``hey-zorvella``."""
    name = letters_of(text.casefold(), kept="_.", between="-").strip("-.")
    return name if re.search(r"\w", name) else ""


def user_models() -> dict[str, Path]:
    """The models in the user's folder: name -> file."""
    return {path.stem: path for path in sorted(user_folder("models").glob("*.onnx")) if path.is_file()}


def named(name: str, models: Mapping[str, Path]) -> Path | None:
    """The file of the model of this name among ``models``; ``None`` if there is none.

    An exact name first, then one that differs only in case, spaces and punctuation.
    """
    if name in models or Path(name).name != name:  # what has a folder in it is a path
        return models.get(name)
    return next((path for other, path in models.items() if model_name(other) == model_name(name)), None)


def find_model(name: str, shipped: Mapping[str, Path]) -> Path | None:
    """The file of a model that is known by this name, one of the package first; ``None`` if there is none."""
    return named(name, shipped) or named(name, user_models())


def _models_next_to(path: Path) -> dict[str, Path]:
    """The model files in the folder of a path, the current one for a bare name: name -> file."""
    return {file.stem: file for file in sorted(path.parent.glob("*.onnx"))}


def _unknown_model(name: str, shipped: Mapping[str, Path]) -> ModelError:
    """The error for a name that no model has."""
    own = [file for file in user_models() if named(file, shipped) is None]
    installed = f"; installed: {', '.join(map(shortened, own))}" if own else ""
    nearest = nearest_name(name, [*shipped, *own, *_models_next_to(Path(name))])
    then = ";" if nearest is None else f": did you mean {shortened(nearest)}? If not,"
    return ModelError(
        f"no model for keyword {shortened(repr(name))} (shipped: {', '.join(shipped) or 'none'}{installed}){then} "
        "train one, install one with `wakeword models install`, or give a file"
    )


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The one of ``known`` that a misspelt name was probably meant to be; ``None`` if none is like it."""
    # Imported here, as only a mistake needs it.
    from difflib import get_close_matches

    spelt = {model_name(name): name for name in known}
    found = get_close_matches(model_name(name), spelt, n=1)
    return spelt[found[0]] if found else None


def model_file(name: Path | str) -> Path:
    """The file of a model that is known by its keyword, included or installed; any other name is the name of a file.

    A name that ends in ``.onnx`` is always the name of a file; for any other one it may be left out. Raises ``ModelError``
    without such a keyword or file.
    """
    if not str(name).strip() or name == Path():
        raise ModelError("expected a model's name or file, got an empty one or a folder; `wakeword models` lists them")
    path = file_path(name, "a keyword or the path of a model file")
    if path.suffix == ".onnx":
        return path
    shipped = shipped_models()
    known = find_model(str(name), shipped) or (None if path.is_file() else named(path.name, _models_next_to(path)))
    if known is None and not path.exists():
        raise _unknown_model(str(name), shipped)
    return known or path


def names_model(word: str) -> bool:
    """Whether a word in place of a recording is a model's name or file, and nothing else of this name exists."""
    if word.endswith(".onnx") or Path(word).exists():
        return word.endswith(".onnx")
    try:
        model_file(word)
    except (ModelError, OSError, ValueError):
        return False
    return True
