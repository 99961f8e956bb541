"""What the card of a word promises, against what was counted in this house."""

from collections.abc import Iterable, Mapping

from wakeword.base.poisson import poisson_rate
from wakeword.saving.sorting import SavedPair
from wakeword_serve.hours import Listened, ListenedTime
from wakeword_serve.words import OfferedWord


def promise_and_count(
    words: Iterable[OfferedWord], heard: Mapping[Listened, ListenedTime], events: Iterable[SavedPair]
) -> list[dict[str, object]]:
    """For each word, for JSON: its promise of false accepts an hour, and the wakes that were none in the hours listened."""
    wakes = [event for event in events if event.client and not event.near_miss]
    return [_counted(word, heard.get(Listened(word.phrase, word.threshold), ListenedTime()), wakes) for word in words]


def _counted(word: OfferedWord, heard: ListenedTime, wakes: Iterable[SavedPair]) -> dict[str, object]:
    # Wakes of before the hours, and at other thresholds, are no part of the count.
    own = [
        wake
        for wake in wakes
        if heard.since
        and (wake.keyword, wake.threshold) == (word.phrase, word.threshold)
        and wake.time[: len(heard.since)] >= heard.since
    ]
    no, yes = (sum(wake.is_word is is_word for wake in own) for is_word in (False, True))
    # A limit may have deleted some, and for others the disk had no room.
    unlabelled = max(0, max(heard.wakes, len(own)) - no - yes)
    hours = heard.seconds / 3_600
    counts = {"word": word.phrase, "promised": word.promise, "hours": hours, "no": no, "unlabelled": unlabelled}
    if not hours:
        return {**counts, "verdict": "too few hours to tell"}
    low, high = poisson_rate(no, hours)
    verdict = _verdict(word.promise, low, high, poisson_rate(no + unlabelled, hours)[1])
    return {**counts, "verdict": verdict, "counted": no / hours, "low": low, "high": high}


def _verdict(promise: float | None, low: float, high: float, highest: float) -> str:
    """``highest``: the upper end if all wakes without a label were false."""
    if promise is None:
        return "nothing is promised an hour at this point"
    if low > promise:
        return "broken"
    if highest <= promise:
        return "kept"
    return "too few labels to tell" if high <= promise else "too few hours to tell"
