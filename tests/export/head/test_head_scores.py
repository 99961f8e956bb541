"""What a head hears of recordings: each once, background only in its parts, and nothing of what cannot be read."""

import base64
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import colours

from wakeword.base.errors import DataError
from wakeword.format.digest import checked_metadata
from wakeword.model.installed import assets_folder, shipped_models
from wakeword.verify.embedding import STEP_SAMPLES
from wakeword.verify.shared import EMBEDDING_FILE
from wakeword.verify.verifier_head import HEAD_KEY, Head
from wakeword_export.head.listener import HeadListener, exported_scores
from wakeword_export.head.oww_features import LEADING_SILENCE, OwwFeatures
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.recordings import Selection
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.transcripts import TimedText

WORD = assets_folder() / "audio" / "marvin-david.flac"
OTHER = assets_folder() / "audio" / "other-seven.flac"


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.flac"
    soundfile.write(path, 0.1 * colours(10, np.random.default_rng(0)), 16_000)
    return path


def heard(recordings: Selection, said: list[str]) -> ScoreSet:
    metadata, _ = checked_metadata(shipped_models()["marvin"].read_bytes())
    head = Head(base64.b64decode(metadata[HEAD_KEY]))
    features = OwwFeatures(assets_folder() / "encoders" / EMBEDDING_FILE)
    return exported_scores(HeadListener(head, features), recordings, warn=said.append)


def test_the_word_scores_above_another_word(talk: Path) -> None:
    found = heard(Selection({Kind.POSITIVE: [OTHER, WORD], Kind.BACKGROUND: [talk]}), [])
    other, word = found.positives
    assert word > 0.9 > 0.1 > other
    assert found.hours == pytest.approx(10 / 3600)


def test_only_windows_inside_a_part_count(talk: Path) -> None:
    (whole,) = heard(Selection({Kind.BACKGROUND: [talk]}), []).streams
    assert len(whole) == pytest.approx((LEADING_SILENCE + 160_000) / STEP_SAMPLES, abs=26)
    found = heard(Selection({Kind.BACKGROUND: [talk]}, {talk: [TimedText(talk, 2.0, 7.0)]}), [])
    (stream,) = found.streams
    inside = stream > 0
    assert np.array_equal(stream[inside], whole[inside])
    # A window takes 2 s.
    assert 0.08 * inside.sum() == pytest.approx(3.0, abs=0.2)
    assert found.hours < 10 / 3600


def test_copies_and_damaged_files_are_left_out_and_reported(talk: Path, tmp_path: Path) -> None:
    copy, damaged, said = tmp_path / "copy.flac", tmp_path / "damaged.flac", list[str]()
    copy.write_bytes(talk.read_bytes())
    damaged.write_bytes(b"nothing")
    found = heard(Selection({Kind.BACKGROUND: [talk, copy, damaged]}), said)
    assert len(found.streams) == 1
    assert len(said) == 2
    with pytest.raises(DataError, match="expected long recordings without the word"):
        heard(Selection({Kind.BACKGROUND: [damaged]}), said)
