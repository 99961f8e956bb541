"""The page, served as `wakeword web` does, and recordings for the browser's microphone."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from support.browser import RUNTIME, serving

from wakeword.audio.audio_file import read_audio
from wakeword.base.types import Array
from wakeword.browser.page_server import PAGE, PageServer, site_files
from wakeword.model.installed import assets_folder


@pytest.fixture(scope="session")
def demo() -> Array:
    """The demo recording, ``(samples,)``."""
    return read_audio(assets_folder() / "audio" / "demo.flac")


@pytest.fixture(scope="session")
def talk() -> Array:
    """The recording of sentences, ``(samples,)``: "jarvis" in three of them."""
    return read_audio(assets_folder() / "audio" / "sentences.flac")


@pytest.fixture(scope="session")
def calls(talk: Array) -> Array:
    """Two of its sentences with "jarvis", ``(samples,)``: ten seconds."""
    return np.concatenate([talk[: 7 * 16_000], talk[15 * 16_000 : 18 * 16_000]])


@pytest.fixture(scope="module")
def page() -> Iterator[PageServer]:
    """The page, until the module's tests are done."""
    with serving(PageServer(site_files(RUNTIME), home=PAGE, port=0)) as server:
        yield server


@pytest.fixture(scope="session")
def microphones(calls: Array, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """What a microphone hears, two times "jarvis" in ten seconds and then silence, as WAV files of two rates."""
    folder = tmp_path_factory.mktemp("microphones")
    heard = np.concatenate([calls, np.zeros(16_000, np.float32)])
    found = {}
    for rate in (44_100, 48_000):
        found[rate] = folder / f"{rate}.wav"
        soundfile.write(found[rate], soxr.resample(heard, 16_000, rate), rate, subtype="PCM_16")
    return found
