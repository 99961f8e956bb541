"""Words of many languages: which are drawn, and what the page says of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wakeword.base.errors import DataError
from wakeword_experiments.two_stages.people_range import typed_found
from wakeword_experiments.two_stages.two_stages_measure import share
from wakeword_experiments.two_stages.typed_words import FITS, score_of_fit
from wakeword_experiments.two_stages.words_of_languages import chosen_words, countries_page


def record_of(shares: dict[str, float]) -> dict[str, Any]:
    """A record in which each language finds its share of twenty words at every point."""
    words = []
    for name, found in shares.items():
        at = share(np.arange(20) < 20 * found)
        point = {"threshold": score_of_fit(-1.0), "events": 1, "clean": at, "noisy": at, "room": at}
        of_words = [{"word": str(number)} for number in range(20)]
        text = {"speakers": 1, "hours": 2.0, "at_fits": [found] * len(FITS), "of_words": of_words}
        text |= dict.fromkeys(("default", "at_rate", "at_one"), point)
        words.append({"keyword": name, "language": name[:2].lower(), "collection": name, "text": text})
    return {"date": "2026-01-01", "command": "made", "fits": FITS, "words": words}


def test_the_same_words_are_drawn_however_many_are_wanted(tmp_path: Path) -> None:
    for name in "abcdefgh":
        (tmp_path / name).mkdir()
    assert chosen_words(tmp_path, 3) == chosen_words(tmp_path, 8)[:3]
    assert sorted(chosen_words(tmp_path, 99)) == sorted(tmp_path.iterdir())


def test_a_language_without_words_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a folder of recordings for each word"):
        chosen_words(tmp_path / "de", 3)


def test_the_page_has_a_row_a_language_and_means_over_languages() -> None:
    page = countries_page(record_of({"German": 0.9, "French": 0.5}), "figures.json")
    assert "| German | 1 | 20 | 90 / 90 / 90" in page
    assert "| **mean** | | 40 | 70 / 70 / 70 | 2 |" in page


def test_languages_are_the_words_by_which_a_new_word_is_judged() -> None:
    found = typed_found(record_of({"German": 0.9, "French": 0.5, "Dutch": 0.7}))
    ranges = found.without_collections()
    assert set(ranges) == {"German", "French", "Dutch"}
    assert all(ends is not None and 0 < ends[0] < ends[1] < 1 for ends in ranges.values())
