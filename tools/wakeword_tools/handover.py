"""What a training leaves for an export: where its files are, and entries of the model's card."""

import re

STUDENT_FILE = "student.npz"
"""A network for microWakeWord's engines that was taught the word."""
ALONE = "alone"
"""Entry of a card's record of its head: ``{"hours": ..., "points": [[rate, logit], ...]}`` of the head alone."""


def file_stem(keyword: str) -> str:
    """The keyword as part of a file's or a folder's name, as of the folder of its training."""
    return "-".join(re.sub(r"[/\\]+|^\.+", " ", keyword).split())
