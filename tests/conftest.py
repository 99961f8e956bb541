"""Fixtures shared by all tests."""

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
