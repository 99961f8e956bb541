"""The page in a real Chromium: microphone, recordings, models, states, no network, and everybody can use it."""

import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
import soundfile
from support import ROOT
from support.browser import RUNTIME, WEB, in_browser, needs_browser, serving

from wakeword import Detector
from wakeword.audio.audio_file import read_audio
from wakeword.base.types import Array
from wakeword.browser.page_server import PageServer
from wakeword.browser.runtime import DIGESTS
from wakeword.model.installed import assets_folder, shipped_models
from wakeword.model.model import load_model
from wakeword.verify.shared import EMBEDDING_FILE, PHONEMES_FILE

pytestmark = [needs_browser, pytest.mark.slow]


def seen_in(page: PageServer, scenario: str, **job: Any) -> Any:
    """What a scenario of ``browser.mjs`` has seen, in which nothing was asked of another host and nothing went wrong."""
    seen = in_browser({"url": page.url, "scenario": scenario, "shots": os.environ.get("WAKEWORD_SHOTS"), **job})
    hosts = {urlsplit(url).netloc for url in seen["requests"] if not url.startswith(("blob:", "data:"))}
    assert hosts == {urlsplit(page.url).netloc}
    assert len(seen["requests"]) >= 10
    assert [problem for problem in seen["problems"] if "ERR_INTERNET_DISCONNECTED" not in problem] == []
    return seen


@pytest.mark.parametrize("rate", [None, 44_100, 48_000])
def test_a_microphone_is_heard_as_the_file_is(
    rate: int | None, page: PageServer, microphones: dict[int, Path], calls: Array
) -> None:
    """``None``: the browser brings it to 16 kHz; else it is one that refuses to, at this rate."""
    recording = microphones[rate or 48_000]
    seen = seen_in(page, "listens", microphone=str(recording), rate=rate, detections=2)
    assert seen["rate"] == (rate or 16_000)
    expected = Detector("jarvis").push(calls)
    assert [one["keyword"] for one in seen["found"]] == [one.keyword for one in expected] == ["jarvis"] * 2
    assert "Listening" in seen["status"]
    # Its windows do not begin where those of the file begin, so scores differ.
    assert all(one["score"] >= round(load_model("jarvis").card.point().threshold, 3) for one in seen["found"])


def test_a_busy_page_misses_nothing(page: PageServer, microphones: dict[int, Path]) -> None:
    seen = seen_in(page, "listens", microphone=str(microphones[48_000]), detections=2, busy=True)
    assert [one["keyword"] for one in seen["found"]] == ["jarvis"] * 2


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("refused", "was refused. Allow it"),
        ("none", "No microphone was found. Connect one"),
        ("suspended", "Press “Go on”"),
        ("lost", "The microphone is gone"),
    ],
)
def test_each_state_says_what_to_do(scenario: str, words: str, page: PageServer, microphones: dict[int, Path]) -> None:
    """After "suspended" and "lost" the page listens again, which the scenarios wait for."""
    assert words in seen_in(page, scenario, microphone=str(microphones[48_000]))["status"]


def test_recordings_are_scanned(page: PageServer, talk: Array, tmp_path: Path) -> None:
    recording = tmp_path / "talk.wav"
    soundfile.write(recording, np.stack([talk, talk], axis=1), 16_000, subtype="FLOAT")
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"RIFF....WAVE")
    files = {"recording": str(recording), "name": recording.name, "broken": str(broken)}
    seen = seen_in(page, "scans", files=files)
    expected = [(one.keyword, one.end, one.score) for one in Detector("jarvis").push(talk)]
    assert len(expected) == 3
    for scanned in (seen["demo"], seen["file"]):
        assert f"{len(expected)} detections" in scanned["status"]
        for row, (keyword, end, score) in zip(scanned["found"], expected, strict=True):
            minutes, seconds = row["time"].split(":")
            assert row["keyword"] == keyword
            assert 60 * int(minutes) + float(seconds) == pytest.approx(end, abs=0.006)
            assert row["score"] == pytest.approx(score, abs=0.001)
    assert "damaged" in seen["broken"]


def test_models_are_checked_and_their_promises_shown(page: PageServer, tmp_path: Path) -> None:
    model = tmp_path / "mine.onnx"
    model.write_bytes(shipped_models()["marvin"].read_bytes())
    damaged = tmp_path / "damaged.onnx"
    data = bytearray(model.read_bytes())
    data[len(data) // 3] ^= 1
    damaged.write_bytes(data)
    seen = seen_in(page, "models", files={"model": str(model), "damaged": str(damaged)})
    assert "damaged.onnx: expected a file of the digest" in seen["damaged"]["status"]
    assert seen["damaged"]["words"] == ["jarvis"]
    assert seen["dropped"] == ["jarvis", "marvin"]
    assert re.fullmatch(
        r"It finds 20 of 20 recordings .*, and woke once by mistake in 6\.9 hours of other speech .*", seen["promised"]
    )
    assert seen["between"]["point"] == "own"
    assert re.match("Between two|More sensitive", seen["between"]["promise"])
    assert seen["shown"]["chosen"] == "at most one mistake in 2 hours"
    assert seen["shown"]["more"] > 0
    assert re.search("(?i)threshold|operating point|stage|fpr|fa_per", seen["text"]) is None
    # A file that was dropped cannot be remembered, words can.
    assert sorted(seen["kept"]) == ["computer", "jarvis"]


def test_takes_are_a_folder_for_training(page: PageServer, tmp_path: Path) -> None:
    clips = sorted((assets_folder() / "audio").glob("marvin-*.flac"))
    once = np.concatenate([np.concatenate([read_audio(clip), np.zeros(8_000, np.float32)]) for clip in clips])
    noise = np.random.default_rng(0).normal(0, 1e-4, 20 * len(once)).astype(np.float32)
    microphone = tmp_path / "microphone.wav"
    soundfile.write(microphone, np.tile(once, 20) + noise, 16_000, subtype="PCM_16")
    archive = tmp_path / "takes.zip"
    seen = seen_in(page, "takes", microphone=str(microphone), files={"zip": str(archive)})
    assert seen["shared"] == {"state": "listening", "opened": 1}
    assert seen["name"] == "marvin.zip"
    assert "wakeword train --from marvin --positives marvin/" in seen["status"]
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None
        opened.extractall(tmp_path)
    takes = sorted((tmp_path / "marvin").glob("*.wav"))
    assert [take.name for take in takes] == [f"marvin-000{number}.wav" for number in range(1, 6)]
    for take in takes:
        samples = read_audio(take)
        about = json.loads(take.with_suffix(".json").read_text())
        assert about["keyword"] == "marvin"
        assert 0 <= about["word"][0] < about["word"][1] <= len(samples) / 16_000
        assert about["level_db"] > about["noise_db"]
        assert np.abs(samples).max() > 0.01


def test_without_a_network_all_of_it_works(page: PageServer) -> None:
    seen = seen_in(page, "offline")
    assert "Offline" in seen["network"]
    assert "detections" in seen["status"]


def test_everybody_can_use_it(page: PageServer) -> None:
    """axe-core finds nothing, in light and dark, on a screen and on a phone; and the Tab key reaches all controls."""
    seen = seen_in(page, "accessible")
    assert seen["found"] == []
    assert seen["passed"] >= 40
    assert {"listen", "verify", "recording", "demo", "model", "take-word", "take"} <= set(seen["reached"])


def test_the_ten_lines_of_the_documentation_listen(microphones: dict[int, Path], tmp_path: Path) -> None:
    lines = re.search(r"```html\n(.*?)```", (ROOT / "docs" / "browser.md").read_text(encoding="utf-8"), re.DOTALL)
    assert lines is not None
    assert len(lines[1].splitlines()) <= 10
    (tmp_path / "index.html").write_text(
        f'<!doctype html><meta charset="utf-8"><title>mine</title><link rel="icon" href="data:,">{lines[1]}'
    )
    files = {"page/index.html": tmp_path / "index.html", "page/models/jarvis.onnx": shipped_models()["jarvis"]}
    for name in (EMBEDDING_FILE, PHONEMES_FILE):
        files[f"page/encoders/{name}"] = assets_folder() / "encoders" / name
    modules = "page/node_modules"
    files |= {f"{modules}/wakeword-web/src/{file.name}": file for file in (WEB / "src").glob("*.js")}
    files |= {f"{modules}/onnxruntime-web/dist/{name}": RUNTIME / name for name in DIGESTS}
    with serving(PageServer(files, home="page/", port=0)) as server:
        del server.headers["Content-Security-Policy"]  # for the page's own script
        told = seen_in(server, "embedded", microphone=str(microphones[44_100]))["told"]
    keyword, end, score = told.split()
    assert keyword == "jarvis"
    assert 1 < float(end) < 12
    assert 0.4 < float(score) <= 1
