"""The commands with which a model learns its user's voice, as other commands and their advice print them whole."""

import shlex
from pathlib import Path

MIN_TAKES = 3
"""Fewer could not be held out in turn; ten are better."""
TALK = "talk: a folder with an hour or more of speech without the word, such as radio"
"""What the folder in the command is."""


def record_command(word: str) -> str:
    """The command that records ten takes of ``word``."""
    return shlex.join(["wakeword", "record", word, "--count", "10", "--out", "takes"])


def learn_voice(base: str, takes: Path) -> str:
    """The command that fine-tunes the model ``base``, a name or a file, on the folder ``takes``."""
    out = f"my-{Path(base).stem}.onnx".replace(" ", "-")
    return shlex.join(
        ["wakeword", "train", "--from", base, "--positives", str(takes), "--background", "talk", "--out", out]
    )
