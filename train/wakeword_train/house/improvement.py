"""A new version of a model from kept events: taught by one side of them, judged by the other, and kept if it is better."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from scipy import stats

from wakeword.base.errors import ConfigError, DataError
from wakeword.base.logistic import logit_of
from wakeword.format.verifier_card import FLOOR
from wakeword.model.candidate_looks import Looks
from wakeword.model.model import Model, parse_model
from wakeword.saving.kept_events import KeptEvent
from wakeword_tools.measure.cards import embed_card
from wakeword_train.house.house_unit import Judge, Lesson, taught
from wakeword_train.house.own_evidence import OwnEvidence
from wakeword_train.model.two_stage import head_of, with_verifier
from wakeword_train.points import require_trained

CERTAINTY = 0.95
_MOST_LOST = 100
"""At most one in so many takes, and in so many voices, may be lost."""
_PERSON, _RULE, _VOICE = 1.0, 0.5, 0.25
"""What a lesson counts: an event that a person labelled, a rule, or a voice."""


@dataclass(frozen=True)
class HouseEvent:
    """A kept event, heard by the first stage."""

    looks: Looks
    is_word: bool
    by_person: bool
    judges: bool

    @property
    def weight(self) -> float:
        """What it counts as a lesson."""
        return _PERSON if self.by_person else _RULE


@dataclass(frozen=True)
class Judgement:
    """What the version in force and the new one say of what the new one was not taught."""

    false_before: int
    """False wakes on the judging side."""
    false_fixed: int
    false_new: int
    """Events and other speech that did not wake the version in force, and wake the new one."""
    takes: int
    """True wakes, all of them."""
    takes_lost: int
    voices: int
    voices_lost: int
    taught: int
    """Events that it was taught."""
    rules_left_out: int = 0
    """Events that only a rule called false: they neither teach nor judge."""

    @property
    def chance(self) -> float:
        """How likely so many or more would be fixed if a change were as likely for the worse: the sign test."""
        changed = self.false_fixed + self.false_new
        return float(stats.binomtest(self.false_fixed, changed, 0.5, alternative="greater").pvalue) if changed else 1.0

    @property
    def reason(self) -> str | None:
        """Why the new version is not better, in one line; ``None`` if it is."""
        for what, lost, of in (("true wakes", self.takes_lost, self.takes), ("voices", self.voices_lost, self.voices)):
            if lost > of // _MOST_LOST:
                return f"it would lose {lost} of {of} {what}, more than one in a hundred"
        if self.chance > 1 - CERTAINTY:
            advice = "keep more events"
            if self.rules_left_out:
                advice = f"{self.rules_left_out} more are false by a rule alone, which is not enough: wakeword review"
            return (
                f"of {self.false_before} false wakes that it was not taught it ends {self.false_fixed} and begins "
                f"{self.false_new}: not better with {CERTAINTY:.0%} certainty; {advice}"
            )
        return None

    def figures(self) -> dict[str, float]:
        """The numbers by their names."""
        return {name: float(value) for name, value in dataclasses.asdict(self).items()}


@dataclass(frozen=True)
class House:
    """What a model is improved with: its first version, the version in force, events and the training's own evidence."""

    first: Judge
    now: Judge
    threshold: float
    """A logit."""
    events: Sequence[HouseEvent]
    voices: Sequence[Looks]
    voice_judges: Sequence[bool]
    background: Sequence[Looks] = field(default_factory=list)

    def usable(self) -> list[HouseEvent]:
        """The events without those that only a rule calls false.

        A rule calls a person false who is not understood afterwards, and neither voices nor true wakes of others tell what
        that costs: 108 such wakes of one person, with 307 true wakes of others, took 10 of 26 of the person's words.
        """
        return [one for one in self.events if one.is_word or one.by_person]

    def step(self) -> tuple[Judge, Judgement]:
        """The strongest new head that is better, or the gentlest one that is not, and what both versions say.

        A gentler unit ends no false wake that a stronger one does not end, so trying several proves nothing by chance.
        """
        lessons = [one for one in self.usable() if not one.judges]
        voices = zip(self.voices, self.voice_judges, strict=True)
        heads = taught(
            self.first,
            [
                *(Lesson(one.looks, one.is_word, one.weight) for one in lessons),
                *(Lesson(one, True, _VOICE) for one, judges in voices if not judges),
            ],
            self.threshold,
        )
        found = self.first, self.judged(self.first)
        for new in heads:
            found = new, self.judged(new)
            if found[1].reason is None:
                break
        return found

    def judged(self, new: Judge) -> Judgement:
        """What both versions say."""
        events = self.usable()
        before, fixed, begun = self._changes(new, [one.looks for one in events if one.judges and not one.is_word])
        takes, takes_lost, _ = self._changes(new, [one.looks for one in events if one.is_word])
        judges = [one for one, judges in zip(self.voices, self.voice_judges, strict=True) if judges]
        voices, voices_lost, _ = self._changes(new, judges)
        _, less, more = self._changes(new, self.background)
        return Judgement(
            *(before, fixed, begun + max(0, more - less), takes, takes_lost, voices, voices_lost),
            taught=sum(not one.judges for one in events),
            rules_left_out=len(self.events) - len(events),
        )

    def _changes(self, new: Judge, some: Sequence[Looks]) -> tuple[int, int, int]:
        """How many fire now, how many of these no longer do, and how many begin to."""
        before, after = (
            np.array([layer.best(one) >= self.threshold for one in some], bool) for layer in (self.now, new)
        )
        return int(before.sum()), int((before & ~after).sum()), int((after & ~before).sum())


def judge_of(model: Model, data: bytes) -> Judge:
    """The head and fusion of a model's file. ``ConfigError`` for a model of one stage."""
    if model.card.verifier is None:
        raise ConfigError(f"expected a model of two stages for {model.card.phrase!r}, got one; train it again")
    require_trained(model.card)
    return Judge(head_of(data), model.card.verifier.fusion)


def house_of(
    first: bytes,
    now: bytes,
    events: Sequence[KeptEvent],
    own: Callable[[Model], OwnEvidence],
    *,
    threshold: float | None = None,
) -> House:
    """Hear the labelled events with the first stage. Raises ``ConfigError``, and ``DataError`` without such an event.

    ``threshold``: the score in use; by default the one of the default point.
    """
    model = parse_model(first)
    layer = judge_of(model, first)
    current = judge_of(parse_model(now), now)
    used = model.card.point().threshold if threshold is None else threshold
    used = min(max(used, FLOOR), 1 - FLOOR)
    labelled = [(one, one.is_word) for one in events if one.is_word is not None]
    if not labelled:
        raise DataError(f"expected events of {model.card.phrase!r} with a label, got none; label some: wakeword review")
    heard = []
    for event, is_word in labelled:
        if (looks := event.looks(model)) is not None:
            # A stream may have ended with a false wake: whether it would have woken a moment later is not known.
            judges = event.judges and (is_word or event.is_whole)
            heard.append(HouseEvent(looks, is_word, event.by_person, judges))
    evidence = own(model)
    return House(
        layer,
        current,
        logit_of(used),
        heard,
        evidence.voices,
        evidence.judges,
        evidence.background,
    )


def model_with(first: bytes, new: Judge, judged: Judgement) -> bytes:
    """The file of the first version with a new head; its points stay, its card says what was judged."""
    card = parse_model(first).card
    assert card.verifier is not None
    data = with_verifier(
        first,
        new.data,
        card.verifier,
        operating_points=card.operating_points,
        default_point=card.default_point,
        head_training=card.training.get("head"),
    )
    made = parse_model(data).card
    record = {"date": datetime.now(UTC).date().isoformat(), **judged.figures()}
    return embed_card(data, dataclasses.replace(made, training={**made.training, "improved": record}))
