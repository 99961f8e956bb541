"""The command line: each command parses, calls and prints.

This module and ``starting`` import nothing that takes time, so that a command reacts to Ctrl-C before the rest is imported.
"""

from wakeword.cli.starting import exit_at_signals, open_closed_streams

__all__ = ["main"]


def main() -> None:
    """Run the command line.

    Exit status 0, 1 for an error (one line on stderr), 2 for wrong usage, 130 and 143 at Ctrl-C and SIGTERM.
    """
    exit_at_signals()
    open_closed_streams()
    from wakeword.cli.app import run

    run()
