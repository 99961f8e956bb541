"""What the words with recordings of people say of a word without: the numbers of ``assets/text-alone.json``.

A range is to hold for nine of ten words that it was not made from. Words of one collection resemble each other, so each
word is compared with the words of the other collections, and the errors of this comparison set the width.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from wakeword.base.logistic import logit_of
from wakeword.base.types import Scores
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.measure.intervals import clopper_pearson
from wakeword_train.typed_points import FUSION

WITHIN = 0.9
"""Share of the words that a range is to hold. Its width is made for that share, or for the larger one that a record says,
where the first did not hold so many words of collections that were left out."""
_SIDES = {True: "told", False: "untold"}


def logits_of(shares: Scores, counts: Scores) -> Scores:
    """Shares of so many recordings as logits, with half a recording more on both sides: none and all are finite."""
    found: Scores = np.log((shares * counts + 0.5) / (counts - shares * counts + 0.5))
    return found


def half_width(logits: Scores, collections: Sequence[str], within: float = WITHIN) -> float:
    """Half of a range's width, in logits.

    ``logits[j, k]``, ``(words, words)``, is what word k finds where word j is judged; NaN where k says nothing of it.
    """
    groups = np.array(collections)
    apart: NDArray[np.bool_] = (groups[:, None] != groups) & np.isfinite(logits)
    counts = apart.sum(axis=1)
    others = np.where(apart, logits, 0.0).sum(axis=1)[counts > 0] / counts[counts > 0]
    errors = np.diag(logits)[counts > 0] - others
    if not len(errors):
        return math.nan  # of one collection: what others differ by is not known
    return float(t.ppf((1 + within) / 2, len(errors) - 1) * np.sqrt(np.mean(np.square(errors))))


def range_of(logits: Scores, width: float) -> tuple[float, float]:
    """The lowest and the highest share of people, from what other words find, ``(words,)``."""
    low, high = 1 / (1 + np.exp(-(np.nanmean(logits) + np.array([-width, width]))))
    return float(low), float(high)


class WordsFound:
    """The words of one kind of model, each at its own default point."""

    def __init__(
        self,
        words: Sequence[Mapping[str, Any]],
        found: Scores,
        sides: Sequence[bool] | None = None,
        *,
        within: float = WITHIN,
    ) -> None:
        """``words``: of a record. ``found[j, k]``: the share of people of word k where word j is judged,
        ``(words, words)``. ``sides``: words of one side say nothing of words of the other."""
        self.within = within
        self.names = [word["keyword"] for word in words]
        self.collections = [word["collection"] for word in words]
        self.counts = np.array([word["text"]["default"]["clean"]["of"] for word in words], np.float64)
        self.shares = np.array([word["text"]["default"]["clean"]["rate"] for word in words])
        self.logits = logits_of(found, self.counts)
        np.fill_diagonal(self.logits, logits_of(self.shares, self.counts))
        if sides is not None:
            same = np.array(sides)
            self.logits[same[:, None] != same] = np.nan

    def width(self) -> float:
        """Half of the width that all words together set."""
        return half_width(self.logits, self.collections, self.within)

    def without_collections(self) -> dict[str, tuple[float, float] | None]:
        """The range of each word from the words of other collections alone; ``None`` if these say nothing of it."""
        ranges = dict[str, tuple[float, float] | None]()
        for row, name in enumerate(self.names):
            kept = np.array([other != self.collections[row] for other in self.collections])
            others = self.logits[row, kept]
            width = half_width(
                self.logits[np.ix_(kept, kept)], [self.collections[at] for at in np.flatnonzero(kept)], self.within
            )
            known = np.isfinite(others).any() and math.isfinite(width)
            ranges[name] = range_of(others, width) if known else None
        return ranges


def typed_found(record: Mapping[str, Any]) -> WordsFound:
    """The words of the record of ``typed``: others are judged where their phonemes fit as well as a word's default asks."""
    words = record["words"]
    fits = [_fit(word["text"]["default"]["threshold"]) for word in words]
    return WordsFound(words, np.array([_at(record, fit) for fit in fits]), within=record.get("within", WITHIN))


def trained_found(record: Mapping[str, Any], weight: float) -> WordsFound:
    """The words of the record of ``anyword``, on two sides: with half of ``weight`` for phonemes or more, and with less."""
    words = record["words"]
    shares = np.array([word["text"]["default"]["clean"]["rate"] for word in words])
    return WordsFound(words, np.tile(shares, (len(words), 1)), [is_told(word, weight) for word in words])


def is_told(word: Mapping[str, Any], weight: float) -> bool:
    """Whether a word's phonemes tell it from speech."""
    return bool(word["text"]["phonemes"] >= weight / 2)


def _at(record: Mapping[str, Any], fit: float) -> Scores:
    return np.array([np.interp(fit, record["fits"], word["text"]["at_fits"]) for word in record["words"]])


def _fit(threshold: float) -> float:
    return (logit_of(threshold) - FUSION.bias) / FUSION.phonemes


def text_alone_content(
    anyword: Mapping[str, Any], typed: Mapping[str, Any], weights: Sequence[float]
) -> dict[str, Any]:
    """The content of ``assets/text-alone.json``, from both records and the weights of the parts."""
    trained, from_text = trained_found(anyword, weights[2]), typed_found(typed)
    sides = np.array([is_told(word, weights[2]) for word in anyword["words"]])
    found = dict[str, Any]()
    for side, name in _SIDES.items():
        own = trained.shares[sides == side]
        low, high = range_of(logits_of(own, trained.counts[sides == side]), trained.width())
        found[name] = {"words": len(own), **_rounded(low=low, middle=own.mean(), high=high)}
    voices = [word["text"]["promised"] for word in anyword["words"]]
    least = min(clopper_pearson(one["recall"] * one["synthetic"], one["synthetic"])[0] for one in voices)
    shares = np.array([_at(typed, fit) for fit in typed["fits"]])
    clean = {word.get("language", ENGLISH): word["text"]["default"]["clean"] for word in typed["words"]}
    languages = {code: [one["found"], one["of"]] for code, one in sorted(clean.items()) if code != ENGLISH}
    ends = [range_of(logits_of(some, from_text.counts), from_text.width()) for some in shares]
    return {
        "made_by": "python -m wakeword_experiments text-alone, from the records of anyword and typed "
        "(train/evidence/results), and weighing",
        "weights": list(weights),
        "trained": {**found, "voices": round(least, 3)},
        "typed": {
            "words": sum(len(word["text"].get("of_words", [word])) for word in typed["words"]),
            **({"languages": languages} if languages else {}),
            "fits": list(typed["fits"]),
            "low": [round(low, 3) for low, _ in ends],
            "middle": [round(float(some.mean()), 3) for some in shares],
            "high": [round(high, 3) for _, high in ends],
        },
    }


def _rounded(**figures: float) -> dict[str, float]:
    return {name: round(float(value), 3) for name, value in figures.items()}


def range_page(anyword: Mapping[str, Any], typed: Mapping[str, Any], weights: Sequence[float]) -> str:
    """The page in Markdown: what each word finds, and the range that the other collections' words gave for it."""
    lines = [
        "# The range of what a word from its text finds",
        "",
        "The verdict says which share of people a word finds at its default, going by other words. Here each word, as "
        "recorded, is compared with the range that the words of the other collections alone give: no word of its own "
        "collection had a part in middle or width. What ships comes from all words.",
        "",
        "The middle is the mean of the others' logits: of a model from a text, where their phonemes have to fit as well as "
        "the word's default asks; of a trained model, of the words that phonemes tell from speech as well, or do not. The "
        f"width is Student's t for {typed.get('within', WITHIN):.0%} times the root mean square of the errors that the "
        "others' words have by each other's collections.",
    ]
    for title, found in (
        ("From the text, without training", typed_found(typed)),
        ("Trained from the text alone", trained_found(anyword, weights[2])),
    ):
        ranges = found.without_collections()
        judged = [(share, ends) for share, ends in zip(found.shares, ranges.values(), strict=True) if ends]
        within = sum(low <= share <= high for share, (low, high) in judged)
        mean = np.mean([high - low for _, (low, high) in judged] or [math.nan])
        lines += [
            "",
            f"## {title}",
            "",
            "| | collection | recordings | found | range | |",
            "| --- | --- | ---: | ---: | ---: | --- |",
        ]
        for at, (name, ends) in enumerate(ranges.items()):
            share = found.shares[at]
            said = "not judged: no word of its side | " if ends is None else f"{ends[0]:.0%} to {ends[1]:.0%} | "
            said += "" if ends is None else "within" if ends[0] <= share <= ends[1] else "**outside**"
            lines.append(f"| {name} | {found.collections[at]} | {found.counts[at]:.0f} | {share:.0%} | {said} |")
        lines += ["", f"{within} of {len(judged)} words lie within; the mean range is {100 * mean:.0f} points wide."]
        if not judged:
            lines[-1] = (
                "Without one of two collections the other's words do not tell how far collections differ: not judged."
            )
    return "\n".join([*lines, "", "Made by `python -m wakeword_experiments text-alone`.", ""])
