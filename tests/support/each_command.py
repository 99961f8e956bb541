"""The commands as parameters of a test: what is not installed, as only the runtime is, is skipped."""

from importlib.util import find_spec

import pytest

from wakeword.cli.app import COMMANDS

INSTALLED_COMMANDS = [name for name, one in COMMANDS.items() if find_spec(one.place.split(".")[0]) is not None]


def needs_command(name: str) -> pytest.MarkDecorator:
    """Skips a test where the package of a command is not installed."""
    return pytest.mark.skipif(name not in INSTALLED_COMMANDS, reason=f"{name} is not part of the runtime")


def each_command(*names: str) -> list[object]:
    """Parameters for these commands, or for all."""
    return [pytest.param(name, marks=needs_command(name)) for name in names or COMMANDS]
