"""What a training leaves for an export: where its files are, and entries of the model's card."""

import lzma
import re
import zlib
from zipfile import BadZipFile

from wakeword.base.files import DAMAGED

STUDENT_FILE = "student.npz"
"""A network for microWakeWord's engines that was taught the word."""
HEAD_FILE = "head.npz"
"""Heads for openWakeWord's engines that were taught the word."""
DAMAGED_ARCHIVE = (OSError, *DAMAGED, EOFError, MemoryError, RuntimeError, BadZipFile, zlib.error, lzma.LZMAError)
"""What numpy and its libraries raise for a file of arrays that is damaged, or has other ones than expected."""
HEAD_ALONE_KEY = "alone"
"""Entry of a card's record of its head: ``{"hours": ..., "points": [[rate, logit], ...]}`` of the head alone."""


def file_stem(keyword: str) -> str:
    """The keyword as part of a file's or a folder's name, as of the folder of its training."""
    return "-".join(re.sub(r"[/\\]+|^\.+", " ", keyword).split())
