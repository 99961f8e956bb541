"""Files in folders of any depth, and the folders in which they cannot be looked for."""

import errno
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from wakeword.base.errors import reason_of

_NO_FILE = (errno.ENOENT, errno.ELOOP)
"""What the system says of a link to nothing, or in a circle."""


@dataclass
class Listing:
    """What was found in a folder and below it."""

    files: list[Path] = field(default_factory=list)
    """Sorted."""
    unsearched: dict[Path, str] = field(default_factory=dict)
    """Folders that could not be searched, or not completely, with the reason: files in them can be missing."""
    left_out: list[Path] = field(default_factory=list)
    """Files that cannot be read here, although their names say that they are wanted; sorted."""


def files_below(root: Path, is_wanted: Callable[[str], bool]) -> Listing:
    """The files with wanted names in ``root`` and below it; links to files count, links to folders do not."""
    found = Listing()
    # Neither pathlib nor, before Python 3.12, os.walk: both recurse, and a tree can be deeper than Python's stack.
    waiting = [os.fspath(root)]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as scanned:
                entries = list(scanned)
        except OSError as error:
            found.unsearched[Path(folder)] = reason_of(error)
            continue
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif is_wanted(entry.name) and stat.S_ISREG(entry.stat().st_mode):
                    found.files.append(Path(entry.path))
            except OSError as error:
                # The folder is at fault, not the file: a user who may list a folder may still not look into it.
                if error.errno not in _NO_FILE:
                    found.unsearched[Path(folder)] = reason_of(error)
    found.files.sort()
    return found
