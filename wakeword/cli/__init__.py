"""The command line: each command parses, calls and prints."""

from wakeword.cli.app import app, main

__all__ = ["app", "main"]
