"""Laws of a cutoff: it keeps the rate where there are hours for it, and foresees no more events than there are."""

import numpy as np
import pytest

from wakeword_export.micro.cutoff import MAX_CUTOFF, MIN_CUTOFF, chosen_cutoff, threshold_of
from wakeword_export.micro.mixed_net import MICRO_WINDOW, STRIDE
from wakeword_tools.measure.scores import ScoreSet, events_at

WHOLE = MICRO_WINDOW * 255


def heard(events: int = 60, *, hours: float = 8.0, word: float = 0.99) -> ScoreSet:
    """A stream with events with logits that fall off exponentially, and 20 recordings of the word."""
    stream = np.zeros(round(hours * 120_000))
    for number in range(events):
        logit = -3 + np.log(events / (number + 1))
        stream[100 + 200 * number] = np.round(WHOLE / (1 + np.exp(-logit))) / WHOLE
    return ScoreSet(np.full(20, word), np.zeros(0), streams=[stream], hours=hours, hop=STRIDE)


def test_the_rate_is_kept() -> None:
    for rate in (0.5, 1.0, 2.0):
        found = heard()
        cutoff, _ = chosen_cutoff(found, rate, warn=pytest.fail)
        assert events_at(found.streams, threshold_of(cutoff), hop=STRIDE) <= rate * 8
        assert MIN_CUTOFF <= cutoff <= MAX_CUTOFF


def test_where_nothing_was_heard_it_does_not_fire_at_everything() -> None:
    cutoff, _ = chosen_cutoff(heard(events=1), 0.5, warn=lambda line: None)
    assert cutoff == MIN_CUTOFF


def test_a_higher_rate_gives_no_higher_cutoff() -> None:
    cutoffs = [chosen_cutoff(heard(), rate, warn=lambda line: None)[0] for rate in (0.5, 1.0, 2.0, 5.0)]
    assert cutoffs == sorted(cutoffs, reverse=True)
    assert cutoffs[0] > cutoffs[-1]


def test_few_hours_give_a_stricter_cutoff_than_their_highest_event_and_a_laxer_promise() -> None:
    found, said = heard(hours=0.5), list[str]()
    cutoff, promise = chosen_cutoff(found, 0.5, warn=said.append)
    assert threshold_of(cutoff) > max(stream.max() for stream in found.streams)
    assert promise.target == "fa_per_hour=5"
    assert "support only" in said[0]


def test_the_promise_counts_the_words_that_are_found() -> None:
    for word, count in ((0.05, 0), (0.99, 20)):
        _, promise = chosen_cutoff(heard(word=word), 0.5, warn=lambda line: None)
        (rates,) = promise.rates.values()
        assert rates.recall is not None
        assert rates.recall.count == count


def test_the_least_mean_that_fires_is_above_the_cutoff() -> None:
    for cutoff in (1, 100, MAX_CUTOFF):
        assert cutoff * MICRO_WINDOW < threshold_of(cutoff) * WHOLE <= cutoff * MICRO_WINDOW + 1 + 1e-9
