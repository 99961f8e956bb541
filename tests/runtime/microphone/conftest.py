"""Microphones for the tests: without a sound card, and without PortAudio."""

import sys
from collections.abc import Iterator

import pytest
from support.fake_portaudio import FakePortAudio
from support.virtual_microphone import VirtualMicrophone, running


@pytest.fixture(scope="session")
def microphone() -> Iterator[VirtualMicrophone]:
    """A microphone that several tests share and do not change."""
    with running() as started:
        yield started


@pytest.fixture
def own_microphone() -> Iterator[VirtualMicrophone]:
    """A microphone that the test may break."""
    with running() as started:
        yield started


@pytest.fixture
def portaudio(monkeypatch: pytest.MonkeyPatch) -> FakePortAudio:
    """The module that ``Microphone`` imports as sounddevice."""
    fake = FakePortAudio()
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    return fake
