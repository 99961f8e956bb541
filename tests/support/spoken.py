"""Voices of a program, as ``--engine command:FILE.toml`` has them."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from wakeword_tools.engines.command_engine import read_command_voices
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split


def command_voices(command: str, names: Sequence[str] = ("default",), *, split: Split | None = None) -> list[Voice]:
    """The voices of a command line."""
    with tempfile.TemporaryDirectory() as folder:
        return read_command_voices(command_file(Path(folder), command, names, split=split))


def command_file(
    folder: Path, command: str, names: Sequence[str] = ("default",), *, split: Split | None = None
) -> Path:
    """A file that describes a command."""
    stated = f"split = {json.dumps(split)}\n" if split else ""
    voices = "".join(f"[[voices]]\nname = {json.dumps(name)}\n{stated}" for name in names)
    path = folder / "command.toml"
    path.write_text(f"command = {json.dumps(command)}\n{voices}", encoding="utf-8")
    return path
