"""Close words are counted at the models' thresholds; recorded figures get intervals by speaker, or an error."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from wakeword.base.errors import ConfigError, DataError
from wakeword_experiments.one_class.published import CLOSE_WORDS
from wakeword_experiments.two_stages import regroup as regroup_module
from wakeword_experiments.two_stages.close_words import CLOSE, KEYWORD, WordEngine, close_words_page, points_of
from wakeword_experiments.two_stages.regroup import regroup
from wakeword_experiments.two_stages.two_stages_measure import TestClips as Clips
from wakeword_experiments.two_stages.two_stages_measure import share
from wakeword_experiments.two_stages.two_stages_run import Sources
from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.clips import Clip

POINTS = {"default": {"name": "fa_per_hour=0.5", "threshold": 0.5}, "fpr=0.03": {"name": "fpr=0.03", "threshold": 0.2}}


def rows(keyword: str) -> list[dict[str, object]]:
    """Two voices say everything: the first close word scores 0.3, the others 0.1, the keyword 0.9."""
    own = {"keyword": keyword, "engine": "made"}
    close = [
        {**own, "kind": CLOSE, "text": text, "voice": voice, "score": 0.3 if text == CLOSE_WORDS[keyword][0] else 0.1}
        for text in CLOSE_WORDS[keyword]
        for voice in "ab"
    ]
    return close + [{**own, "kind": KEYWORD, "text": keyword, "voice": voice, "score": 0.9} for voice in "ab"]


def people(keyword: str) -> dict[str, object]:
    clean = share(np.array([True, True, False, True]), ["x", "x", "y", "z"])
    return {
        "keyword": keyword,
        "stages": {"both": {"points": {label: {"people": {"clean": clean}} for label in POINTS}}},
    }


def test_close_words_are_counted_at_the_thresholds(tmp_path) -> None:
    words = list(CLOSE_WORDS)
    close_words_page(
        tmp_path,
        [row for word in words for row in rows(word)],
        dict.fromkeys(words, POINTS),
        {"words": [people(word) for word in words]},
        command="made by hand",
        seed=0,
        began=0.0,
    )
    page = (tmp_path / "close-words.md").read_text()
    for word in words:
        lines = [line for line in page.splitlines() if line.startswith(f"| {word} ")]
        assert len(lines) == len(CLOSE_WORDS[word]) + 3
        assert lines[0].endswith("| 0.0 % | 100.0 % |")
        assert lines[1].endswith("| 0.0 % | 0.0 % |")
        assert "0.0 % [0, 84] | 20.0 %" in lines[-3]
        assert "100.0 % [16, 100]" in lines[-2]
        assert "75 % [" in lines[-1]


def test_the_included_models_have_both_points() -> None:
    for word in CLOSE_WORDS:
        points = points_of(word)
        assert list(points) == ["default", "fpr=0.03"]
        assert all(0 < point["threshold"] < 1 for point in points.values())


@pytest.mark.parametrize("text", ["kokoro", "=3", "kokoro=0", "kokoro=many", ""])
def test_an_engine_without_a_number_of_clips_is_refused(text: str) -> None:
    assert WordEngine.parse("kokoro:folder=3") == WordEngine("kokoro:folder", 3)
    with pytest.raises(ConfigError, match="such as kokoro=20"):
        WordEngine.parse(text)


@dataclasses.dataclass
class FakeModel:
    card: object = dataclasses.field(default_factory=lambda: type("Card", (), {"phrase": "stop"}))


def test_recorded_figures_get_intervals_by_speaker(monkeypatch, tmp_path) -> None:
    def clip(kind: Kind, speaker: str) -> Clip:
        return Clip(tmp_path / f"{speaker}.flac", kind, "stop", speaker, Split.TEST, kind is Kind.NEAR_NEGATIVE)

    clips = [
        clip(Kind.POSITIVE, "ann"),
        clip(Kind.POSITIVE, "ann"),
        clip(Kind.POSITIVE, "bob"),
        clip(Kind.NEAR_NEGATIVE, "v"),
    ]
    monkeypatch.setattr(regroup_module, "read_model", lambda path: FakeModel())
    monkeypatch.setattr(regroup_module, "read_config", lambda path: None)
    monkeypatch.setattr(regroup_module, "gather_clips", lambda config, folders: clips)
    monkeypatch.setattr(regroup_module, "highest_scores", lambda score, some, mixer: np.full(len(some), 0.1))
    scores = {"clean": np.array([0.9, 0.9, 0.1]), "noisy": np.array([0.9, 0.1, 0.1])}
    monkeypatch.setattr(regroup_module, "people_scores", lambda score, test, report: scores)
    folder = tmp_path / "voices"
    folder.mkdir()
    figures = tmp_path / "figures.json"
    point = {
        "threshold": 0.5,
        "people": {"clean": share(scores["clean"] >= 0.5), "noisy": share(scores["noisy"] >= 0.5)},
        "close": {"clean": share(np.array([False]))},
    }
    record = {"words": [{"keyword": "stop", "stages": {"both": {"points": {"default": point}}}}]}
    figures.write_text(json.dumps(record))
    sources = Sources(tmp_path, folder, tmp_path)
    regroup([Path("stop.onnx")], tmp_path, sources, figures, print)
    again = json.loads(figures.read_text())["words"][0]["stages"]["both"]["points"]["default"]
    assert again["people"]["clean"]["by_group"]["groups"] == 2
    assert again["people"]["clean"]["found"] == 2
    assert Clips.of(clips).groups["people"] == ["ann", "ann", "bob"]
    scores["clean"] = np.zeros(3)
    with pytest.raises(DataError, match="expected the recorded 2 of 3 clips, found 0 of 3"):
        regroup([Path("stop.onnx")], tmp_path, sources, figures, print)
