"""Close words are counted at the thresholds of the models."""

import numpy as np
import pytest

from wakeword.base.errors import ConfigError
from wakeword_experiments.one_class.published import CLOSE_WORDS
from wakeword_experiments.two_stages.close_words import CLOSE, KEYWORD, WordEngine, close_words_page, points_of
from wakeword_experiments.two_stages.two_stages_measure import share

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
