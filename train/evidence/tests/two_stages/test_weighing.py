"""Laws of the comparison of rules that weigh the parts of both stages."""

import json
from pathlib import Path

import numpy as np
import pytest

from wakeword.base.errors import DataError
from wakeword_experiments.two_stages.weighing import judged, read_looks, weighing_page, write_looks
from wakeword_experiments.two_stages.weighing_rules import (
    Looks,
    WordLooks,
    event_scores,
    learned_weights,
    recall,
    surprises,
    threshold_at,
    weighted,
)


def looks(random: np.random.Generator, count: int, centre: float, phonemes: float) -> Looks:
    """Candidates a second and more apart, of which the phonemes of every fourth were not asked for."""
    fits = -np.abs(random.normal(phonemes, 0.5, count))
    fits[::4] = np.nan
    parts = (10.0 * np.arange(count), random.normal(centre, 1, count) + 1, random.normal(centre, 1, count), fits)
    return np.stack(parts, axis=1)


def word(seed: int = 0, *, people: float = 3.0, name: str = "word") -> WordLooks:
    random = np.random.default_rng(seed)
    conditions = {name: [looks(random, 5, people, 0.5) for _ in range(40)] for name in ("clean", "noisy", "quiet")}
    return WordLooks(
        name, {"100": 1.0, "350": -5.0}, conditions, [looks(random, 50, 0.0, 3.0) for _ in range(20)], 10.0, (1, 1, 2)
    )


@pytest.mark.parametrize("rate", [0.1, 0.5, 2.0])
def test_no_more_events_than_allowed_are_above_the_threshold(rate: float) -> None:
    own = word()
    events = event_scores(own.background, -5.0, weighted((1, 1, 3)))
    threshold = threshold_at(events, own.hours, rate)
    assert (events > threshold).sum() <= rate * own.hours
    assert (events >= threshold).sum() == int(rate * own.hours) + 1


def test_a_higher_gate_never_has_more_events_and_finds_nobody_that_a_lower_one_cannot() -> None:
    own, rule = word(), weighted((1, 1, 3))
    counts = [len(event_scores(own.background, gate, rule)) for gate in (-5.0, 1.0, 3.0, 99.0)]
    assert counts[-1] == 0
    assert all(recall(own, "100", rule)[name] <= 1 for name in own.people)


def test_scale_of_the_weights_changes_nothing() -> None:
    own = word()
    assert recall(own, "350", weighted((1, 1, 3))) == recall(own, "350", weighted((2, 2, 6)))


def test_a_surprise_rises_with_every_part_and_goes_on_beyond_the_background() -> None:
    own = word()
    rule = surprises(own.background, own.hours, -5.0)
    grid = np.linspace(-3, 12, 40)
    for part in range(3):
        parts = np.tile([0.0, 0.0, -2.0], (len(grid), 1))
        parts[:, part] = grid if part < 2 else grid - 12
        assert (np.diff(rule(parts)) >= 0).all()
    assert rule(np.array([[30.0, 0.0, -2.0]])) > rule(np.array([[20.0, 0.0, -2.0]]))


def test_what_is_learned_gives_weight_to_the_part_that_tells() -> None:
    random = np.random.default_rng(1)

    def only_phonemes(count: int, fit: float) -> Looks:
        noise = random.normal(0, 2, (2, count))
        return np.stack([2.0 * np.arange(count), *noise, -np.abs(random.normal(fit, 0.4, count))], axis=1)

    people = {name: [only_phonemes(4, 0.2) for _ in range(40)] for name in ("clean", "noisy", "quiet")}
    own = WordLooks("word", {"350": -20.0}, people, [only_phonemes(50, 3.0) for _ in range(20)], 10.0, (1, 1, 3))
    assert learned_weights([own], "350")[2] >= 4


def test_looks_of_an_earlier_version_are_named_by_their_file(tmp_path: Path) -> None:
    old = tmp_path / "one.json"
    write_looks(old, word(0, name="one"))
    old.write_text(json.dumps({key: value for key, value in json.loads(old.read_text()).items() if key != "weights"}))
    with pytest.raises(DataError, match=r"one\.json: expected looks with weights"):
        read_looks(old)


def test_each_word_is_judged_by_what_the_others_taught_and_looks_are_kept_exactly(tmp_path: Path) -> None:
    words = [word(0, name="one"), word(1, name="two", people=2.0)]
    write_looks(tmp_path / "one.json", words[0])
    again = read_looks(tmp_path / "one.json")
    for name, some in words[0].people.items():
        for kept, read in zip(some, again.people[name], strict=True):
            np.testing.assert_array_equal(kept, read)
    record = judged([again, words[1]])
    assert record["learned"]["one"] == learned_weights([words[1]], "350")
    record = json.loads(json.dumps({**record, "command": "made", "date": "2026-01-01"}))
    page = weighing_page(record, figures="weighing.json")
    assert "| one | 40 |" in page
    assert "| **mean** |" in page
