"""The folders in which a user keeps voices."""

from pathlib import Path

from wakeword.model.installed import user_folder


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
