"""Virtual microphones for the tests."""

from collections.abc import Iterator

import pytest
from virtual_microphone import VirtualMicrophone, running


@pytest.fixture(scope="session")
def microphone() -> Iterator[VirtualMicrophone]:
    """A microphone that several tests share and leave as it is."""
    with running() as started:
        yield started


@pytest.fixture
def own_microphone() -> Iterator[VirtualMicrophone]:
    """A microphone that the test may break."""
    with running() as started:
        yield started
