"""Tables for people, on stdout."""

import sys
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

from wakeword.base.text import printable

_WIDTH_OF_A_FILE = 160


def console() -> Console:
    """Stdout: as wide as the terminal, and wide enough for every table if it is a file or a pipe."""
    # Names in square brackets are no markup.
    width = None if sys.stdout.isatty() else _WIDTH_OF_A_FILE
    return Console(width=width, highlight=False, markup=False, emoji=False)


class _Printable(Table):
    """A table with cells that show names of files and devices as ``text.printable`` does."""

    def add_row(self, *cells: RenderableType | None, **settings: Any) -> None:
        super().add_row(*(printable(cell) if isinstance(cell, str) else cell for cell in cells), **settings)


def table(title: str, *columns: str) -> Table:
    """A table with names in the first column and figures in the others."""
    made = _Printable(title=printable(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        made.add_column(printable(column), justify="right" if number else "left", no_wrap=number == 0)
    return made
