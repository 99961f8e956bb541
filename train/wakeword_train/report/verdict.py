"""What a model is worth, in words for someone who has never heard of recall."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from wakeword.base.text import counted
from wakeword.format.card import ModelCard
from wakeword.format.operating_point import OperatingPoint
from wakeword.format.point_warnings import is_supported, range_shown
from wakeword.takes.take import learn_voice
from wakeword_tools.engines.languages import ENGLISH, family_of, name_of_language
from wakeword_train.ear import ear_of_digest
from wakeword_train.points import COMPARED, ENROLMENT, FEW_PEOPLE, TYPED, by_synthetic_voices, found, is_by_luck

_GOOD, _FAIR = (0.85, 1.0, 0.1), (0.6, 3.0, 0.3)
"""Least share that is found, most false accepts an hour, and largest share of close words that fire. What other words teach
about people is less than the first, so that a word from its text alone is fair at best, until recordings of people tell."""


class VerdictGrade(StrEnum):
    """How good a model is, as far as its evidence goes."""

    GOOD = "good"
    FAIR = "fair"
    WEAK = "weak"


@dataclass(frozen=True)
class NextStep:
    """What would make a model better, and the commands that do it."""

    words: str
    commands: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.words}: {' and then '.join(self.commands)}" if self.commands else self.words


@dataclass(frozen=True)
class Verdict:
    """A grade and the sentences that explain it."""

    grade: VerdictGrade
    finds: str
    """How often it finds the word."""
    wakes: str
    """How often it wakes by mistake."""
    advice: tuple[NextStep, ...]
    """What would make it better, the most useful first."""
    why: tuple[str, ...] = ()
    """Sentences about figures that a reader would wonder at."""

    def __str__(self) -> str:
        return f"{self.grade}: {self.finds}; {self.wakes}"


def verdict(card: ModelCard, model: str = "MODEL") -> Verdict:
    """The verdict on a model at its default point. Without operating points it is weak, as nothing is known.

    ``model`` is its file, as the advice names it.
    """
    if not card.operating_points:
        return Verdict(
            VerdictGrade.WEAK,
            "finds the word no one knows how often",
            _WAKES_UNKNOWN,
            (_MORE_CLIPS, _takes(card.phrase, model)),
        )
    point = card.point()
    share = found(point)
    if by_synthetic_voices(point):
        finds, share = _found_by_synthetic(card, point)
    elif card.training.get("method") == TYPED:
        return _verdict_on_typed(card, point)
    elif card.training.get("method") == ENROLMENT:
        finds = (
            f"finds {_of_ten(share)} of your takes, each tried by a model that never heard it ({point.positives} takes)"
        )
    else:
        few = f" (there were only {point.positives})" if 0 < point.positives < FEW_PEOPLE else ""
        finds = f"finds {_of_ten(share)} recordings of people{few}"
    rate = point.target if point.kind == "fa_per_hour" else None
    wakes = _wakes(point, _counted_in_english(card))
    advice = tuple(_advice(card, point, share or found(point), rate, model))
    return Verdict(_grade(point, share, rate), finds, wakes, advice, tuple(_why(card, point, share)))


def _why(card: ModelCard, point: OperatingPoint, share: float) -> Iterator[str]:
    """Why people find more than voices do (``share``: people), and why a laxer point than the strictest is the default."""
    if share > found(point):
        yield (
            "People can be found more often than these voices, some of which sound like nobody: what voices find says "
            "little, so that other words, which people said, decide."
        )
    hourly = [one for one in card.operating_points if one.kind == point.kind == "fa_per_hour" and is_supported(one)]
    stricter = max((one for one in hourly if one.target < point.target), key=lambda one: one.target, default=None)
    if stricter is not None:
        reason = "would find too few"
        if is_by_luck(stricter):
            reason = (
                "would be set by luck, by the one sound that came nearest, as nothing in so few hours of speech woke it"
            )
        yield f"It may wake {_often(point.target)}, as the next stricter setting, {_often(stricter.target)}, {reason}."


def _found_by_synthetic(card: ModelCard, point: OperatingPoint) -> tuple[str, float]:
    """How often a word is found that next to no people said, and the share that counts for its grade."""
    own = ""
    if point.recall_synthetic is not None:
        of_people = counted(point.positives, "recording")
        own = f"; it found {round(point.recall * point.positives)} of only {of_people} of people"
    if card.language != ENGLISH:
        finds = (
            f"finds {_of_ten(found(point))} synthetic voices; how many people is not known, as what English words find "
            f"says nothing of {name_of_language(card.language)}{own}"
        )
        return finds, 0.0
    digest, phonemes = None, 0.0
    if card.verifier is not None:
        digest, phonemes = card.verifier.phonemes_digest, card.verifier.fusion.phonemes
    people = ear_of_digest(digest).people.people_found(found(point), phonemes)
    finds = (
        f"finds {_of_ten(people.middle)} people, if it does as {people.words} other words did, which were trained from "
        f"their text and said by people ({range_shown(people.low, people.high)} for nine of ten words{own})"
    )
    return finds, people.middle


def _advice(card: ModelCard, point: OperatingPoint, share: float, rate: float | None, model: str) -> Iterator[NextStep]:
    """What would make a model better, the most useful first; ``share``: what it finds, ``rate``: false accepts an hour that
    its point promises."""
    word = card.phrase
    unheard = _unheard_language(card)
    if unheard:
        own_radio = f"wakeword train {shlex.quote(word)}{_language(card)} --background radio/"
        yield NextStep(f"{unheard}; give an hour of your own radio in it", (own_radio,))
    if point.positives == point.synthetic:
        yield _takes(word, model)
    if share < _GOOD[0] and len(word) < _LONG:
        longer = "take a longer word or phrase: short ones sound like too much of what people say; this lists some"
        yield NextStep(longer, (f"wakeword check {shlex.quote(word)}{_language(card)}",))
    if unheard is None and (rate is None or rate > 0.5 or not is_supported(point)):
        # No command to copy: the card knows neither base nor takes, nor whether the word was wanted anyway.
        yield NextStep(
            "give hours of your own rooms and radio, as they prove, and allow, fewer mistakes: the same command, with "
            "--background my_rooms/ added"
        )


def _verdict_on_typed(card: ModelCard, point: OperatingPoint) -> Verdict:
    """The verdict on a model that was made from its text in seconds."""
    people = ear_of_digest(card.verifier.phonemes_digest if card.verifier else None).people
    measured = people.tell_of(card.language)
    judged_by, of_ten = "if its sounds are heard as well as other words'", "words"
    if card.language != ENGLISH:
        judged_by, of_ten = f"going by {people.words} words of {len(people.languages)} languages", "languages"
        if own := people.languages.get(family_of(card.language)):
            judged_by += f", {own[0]} of {own[1]} found in {name_of_language(card.language)}"
    finds = "made from its text, not trained: " + (
        f"finds {_of_ten(point.recall)} people, {judged_by} "
        f"({range_shown(point.recall_low, point.recall_high)} for nine of ten {of_ten}; fewer in noise)"
        if measured
        else f"how many people it finds is not known, as English words say nothing of {name_of_language(card.language)}"
    )
    better = (
        "train it, which takes some minutes: it then costs less while people talk, and your recordings can teach it. This "
        "judges the model, by what it hears; `wakeword check` judges the word, by what people say, and --anyway trains a "
        "poor one too"
    )
    of_people = ""
    if COMPARED in card.training:
        better, of_people = "train it with recordings of several people, who then decide", " --positives people/"
    advice = NextStep(better, (f"wakeword train {shlex.quote(card.phrase)}{_language(card)}{of_people} --anyway",))
    share = point.recall if measured else 0.0
    return Verdict(_grade(point, share, point.target), finds, _wakes(point, _counted_in_english(card)), (advice,))


def _language(card: ModelCard) -> str:
    """The option that a command for its word needs."""
    return "" if card.language == ENGLISH else f" --language {card.language}"


def _unheard_language(card: ModelCard) -> str | None:
    """That hardly any real speech of the word's language stands behind a model; ``None`` if some does."""
    hours = card.hours_by_language
    own = hours.get(card.language, 0.0)
    if card.language == ENGLISH or hours.get("own") or own >= _ENOUGH_HOURS:
        return None
    name = name_of_language(card.language)
    if own:
        return f"only {60 * own:.0f} minutes of real speech in {name} stand behind it, and more in other languages"
    return f"no real speech in {name} stands behind it: its mistakes were counted in English"


def _counted_in_english(card: ModelCard) -> bool:
    return _unheard_language(card) is not None and set(card.hours_by_language) <= {ENGLISH}


_ENOUGH_HOURS = 0.25
"""Hours of a language's speech that tell something of mistakes in it."""
_LONG = 8
_MORE_CLIPS = NextStep(
    "train it again, longer or with more clips or recordings: with these no threshold could be measured"
)
_WAKES_UNKNOWN = "wakes by mistake in talk nobody knows how often"


def _often(target: float) -> str:
    """A rate an hour, as so many times or once in so many hours."""
    hours = round(1 / target)
    return f"{target:g} times an hour" if hours < 1 else "once an hour" if hours == 1 else f"once in {hours} hours"


def _takes(word: str, model: str) -> NextStep:
    return NextStep(
        "record yourself ten times, and it learns your voice in some two minutes (talk: an hour or more of speech without "
        "the word). Train it anew, with --positives, only with recordings of several people",
        (
            shlex.join(["wakeword", "record", word, "--count", "10", "--out", "takes"]),
            learn_voice(model, Path("takes")),
        ),
    )


def _of_ten(share: float) -> str:
    """A share as so many of ten: all or none only where it was all or none."""
    if share in (0, 1):
        return f"{'all' if share else 'none'} of 10"
    tenths = round(10 * share)
    return {0: "hardly any of 10", 10: "nearly all of 10"}.get(tenths, f"about {tenths} of 10")


def _grade(point: OperatingPoint, share: float, rate: float | None) -> VerdictGrade:
    """The grade of the worst of what is found, of mistakes in speech, and of close words that fire.

    A rate that speech does not support is at most fair: it is hoped for, and was not shown.
    """
    close = point.fpr_near_negatives.value if point.fpr_near_negatives is not None else 0.0
    grades = ((VerdictGrade.GOOD, _GOOD), (VerdictGrade.FAIR, _FAIR))
    for grade, (least, most, closest) in grades if is_supported(point) else grades[1:]:
        if rate is not None and share >= least and rate <= most and close <= closest:
            return grade
    return VerdictGrade.WEAK


def times(count: int) -> str:
    """How often, in words."""
    return {0: "never", 1: "once"}.get(count, f"{count} times")


def _wakes(point: OperatingPoint, in_english: bool) -> str:
    measured = point.false_accepts_per_hour
    if point.kind != "fa_per_hour" or measured is None:
        return _WAKES_UNKNOWN
    close = point.fpr_near_negatives
    words = ""
    if close is not None and close.value > _GOOD[2]:
        words = f", and {_of_ten(close.value)} words that sound like it wake it too"
    return (
        f"may wake by mistake up to {_often(point.target)} of talking (it did so {times(measured.count)} in "
        f"{measured.trials:.1f} h of other people's {'English ' if in_english else ''}speech){words}"
    )
