"""What a script says of an error."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from wakeword.base.errors import WakewordError


@contextmanager
def one_line_errors() -> Iterator[None]:
    """A known error is one line on stderr and exit status 1; a decorator of what ``typer`` runs, too."""
    try:
        yield
    except WakewordError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None
