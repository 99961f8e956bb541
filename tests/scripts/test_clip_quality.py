"""The check that clips hold speech, and the page about close words."""

import json
from pathlib import Path

import numpy as np
import pytest

from scripts.clip_quality import detect_speech, table
from scripts.make_near_negatives import section
from wakeword.audio.audio_file import write_audio
from wakeword.base.errors import DataError
from wakeword_tools.clips.manifest import MANIFEST
from wakeword_tools.clips.plan import ClipPart
from wakeword_tools.clips.synthesize import synthesize
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.kinds import Split


def test_speech_is_detected_with_its_length(tmp_path: Path) -> None:
    made = synthesize([ClipPart(["marvin", "hey computer"], english_voices(Split.TEST), 12, 0, 0.3)], tmp_path / "set")
    detected = list(detect_speech(made))
    assert all(clip.has_speech and clip.right_length for clip in detected)
    assert table([made]).splitlines()[-1] == "| espeak-ng | 12 | 100.0% | 100.0% | 0 |"


def test_clips_without_speech_are_found(tmp_path: Path) -> None:
    made = synthesize([ClipPart(["marvin"], english_voices(Split.TEST), 2, 0)], tmp_path / "set")
    files = [json.loads(line)["file"] for line in (made / MANIFEST).read_text().splitlines()]
    write_audio(made / files[0], np.zeros(8_000, np.float32))
    write_audio(made / files[1], np.random.default_rng(0).normal(0, 0.02, 8_000).astype(np.float32))
    assert not any(clip.has_speech or clip.right_length for clip in detect_speech(made))
    assert table([made]).splitlines()[-1] == "| espeak-ng | 2 | 0.0% | 0.0% | 1 |"


def test_a_folder_without_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"expected a manifest\.jsonl"):
        list(detect_speech(tmp_path))


def test_the_page_counts_homophones_and_every_text() -> None:
    page = section("off")
    assert "homophones among them: 0." in page
    bars = [line.split() for line in page.splitlines() if "█" in line]
    assert f"of the {sum(int(number) for _, number, _ in bars)} chosen" in page
