"""Fixtures shared by all tests, and how they share the processors."""

import signal

import pytest
from hypothesis import settings
from support.builders import band_model_bytes

from wakeword import Model
from wakeword.model import parse_model

pytest_plugins = ["support.commands"]

# A shell that runs the tests in the background has them ignore Ctrl-C, and with them every program that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, and no deadline: a busy machine is no failure.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def low_model() -> Model:
    """Keyword "low": fires on the low bursts of ``builders.bursts``."""
    return parse_model(band_model_bytes("low", 1))


@pytest.fixture(scope="session")
def high_model() -> Model:
    """Keyword "high": fires on the high bursts of ``builders.bursts``."""
    return parse_model(band_model_bytes("high", -1))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Which tests go to one worker (``--dist loadgroup``), and what begins first.

    The tests of a file share what its fixtures made. Those that hear a virtual microphone do so in real time and would
    disturb each other. What takes long begins first, so that no worker ends with it alone.
    """
    groups: dict[pytest.Item, str] = {}
    for item in items:
        file = item.path.relative_to(item.config.rootpath).as_posix()
        groups[item] = "microphone" if "/microphone/" in file else file
        item.add_marker(pytest.mark.xdist_group(groups[item]))
    first = ["microphone", "tests/train/", "tests/experiments/", "tests/tools/"]

    def place(item: pytest.Item) -> int:
        return next((place for place, name in enumerate(first) if groups[item].startswith(name)), len(first))

    items.sort(key=place)
