"""The engines that this machine has, and the folder in which users keep voices."""

import importlib.util
import os
import shutil
from pathlib import Path

from wakeword.model.installed import user_folder

INSTALLED = "installed"
"""In place of an engine: all that this machine has."""


def voices_folder() -> Path:
    """The folder of the voices that a user has installed; it need not exist."""
    return user_folder("voices")


def kokoro_folder() -> Path | None:
    """The folder with Kokoro that ``wakeword voices install kokoro`` made; ``None`` if there is none."""
    folder = voices_folder() / "kokoro"
    return folder if (folder / "voices").is_dir() else None


def piper_folder() -> Path | None:
    """The folder with installed Piper voices; ``None`` if there is none."""
    folder = voices_folder() / "piper"
    return folder if folder.is_dir() and any(folder.glob("*.onnx")) else None


def fast_engines() -> tuple[str, ...]:
    """The engines of this machine that speak thousands of clips in minutes, as ``english_voices`` takes them."""
    return ("espeak-ng", "flite") if shutil.which("flite") else ("espeak-ng",)


def natural_engines() -> tuple[str, ...]:
    """The engines of this machine with voices that sound human, as ``english_voices`` takes them; there may be none."""
    found = []
    if os.environ.get("WAKEWORD_KOKORO") or kokoro_folder() is not None:
        found.append("kokoro")
    piper = piper_folder()
    if piper is not None and importlib.util.find_spec("piper") is not None:
        found.append(f"piper:{piper}")
    return tuple(found)


def resolved(engines: tuple[str, ...], *, natural: bool) -> tuple[str, ...]:
    """The engines with ``installed`` replaced by the engines of this machine: the natural ones, or the fast ones."""
    own = natural_engines() if natural else fast_engines()
    return tuple(dict.fromkeys(one for engine in engines for one in (own if engine == INSTALLED else (engine,))))
