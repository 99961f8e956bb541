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
    wakes = [one for one in events if one.client and not one.near_miss]
    return [_counted(word, heard.get(Listened(word.phrase, word.threshold), ListenedTime()), wakes) for word in words]


def _counted(word: OfferedWord, heard: ListenedTime, wakes: Iterable[SavedPair]) -> dict[str, object]:
    # Wakes of before the hours, and at other thresholds, are no part of the count.
    of_word = [
        one
        for one in wakes
        if heard.since
        and (one.keyword, one.threshold) == (word.phrase, word.threshold)
        and one.time[: len(heard.since)] >= heard.since
    ]
    no, yes = (sum(one.is_word is is_word for one in of_word) for is_word in (False, True))
    # A limit may have deleted some, and for others the disk had no room.
    unlabelled = max(0, max(heard.wakes, len(of_word)) - no - yes)
    hours = heard.seconds / 3_600
    found: dict[str, object] = {"word": word.phrase, "promised": word.promise, "hours": hours, "no": no}
    found |= {"unlabelled": unlabelled, "verdict": "too few hours to tell"}
    if hours > 0:
        low, high = poisson_rate(no, hours)
        found |= {"counted": no / hours, "low": low, "high": high}
        found["verdict"] = _verdict(word.promise, low, high, poisson_rate(no + unlabelled, hours)[1])
    return found


def _verdict(promise: float | None, low: float, high: float, highest: float) -> str:
    """``highest``: the upper end if all wakes without a label were false."""
    if promise is None:
        return "nothing is promised an hour at this point"
    if low > promise:
        return "broken"
    if highest <= promise:
        return "kept"
    return "too few labels to tell" if high <= promise else "too few hours to tell"
