"""The page, served as `wakeword web` does, and recordings for the browser's microphone."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from support.browser import RUNTIME, serving

from wakeword.audio.pcm import read_audio
from wakeword.base.types import Array
from wakeword.browser.page_server import PAGE, PageServer, site_files
from wakeword.model.installed import assets_folder


@pytest.fixture(scope="session")
def demo() -> Array:
    """The demo recording, ``(samples,)``."""
    return read_audio(assets_folder() / "audio" / "demo.flac")


@pytest.fixture(scope="module")
def page() -> Iterator[PageServer]:
    """The page, until the module's tests are done."""
    with serving(PageServer(site_files(RUNTIME), home=PAGE, port=0)) as server:
        yield server


@pytest.fixture(scope="session")
def microphones(demo: Array, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """What a microphone hears, two times "marvin" in ten seconds and then silence, as WAV files of two rates."""
    folder = tmp_path_factory.mktemp("microphones")
    heard = np.concatenate([demo[: 10 * 16_000], np.zeros(16_000, np.float32)])
    found = {}
    for rate in (44_100, 48_000):
        found[rate] = folder / f"{rate}.wav"
        soundfile.write(found[rate], soxr.resample(heard, 16_000, rate), rate, subtype="PCM_16")
    return found
