"""Tables for people, on stdout."""

import sys

from rich import box
from rich.console import Console
from rich.table import Table

_WIDTH_OF_A_FILE = 160


def console() -> Console:
    """Stdout: as wide as the terminal, and wide enough for every table if it is a file or a pipe."""
    return Console(width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE, highlight=False)


def table(title: str, *columns: str) -> Table:
    """A table whose first column holds names and the others figures."""
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        made.add_column(column, justify="right" if number else "left", no_wrap=number == 0)
    return made
