"""The page about a model: one HTML file that loads nothing, in plain words, with sounds to click."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wakeword.base.files import write_whole
from wakeword.base.text import counted
from wakeword.format.card import ModelCard
from wakeword.format.operating_point import OperatingPoint, Rate
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.referee import curve_of
from wakeword_tools.page.markup import (
    bullets,
    commands,
    curves_of_thresholds,
    document,
    sound,
    spoken,
    text,
)
from wakeword_train.data.clips import Clip
from wakeword_train.points import found
from wakeword_train.report.verdict import NextStep, verdict
from wakeword_train.second_stage.result import HeldOut, SecondStageResult
from wakeword_train.training import TrainingResult


def write_page(path: Path, card: ModelCard, result: TrainingResult, *, model: str) -> None:
    """Write the page about a model to ``path``, complete or not at all. ``model``: its file's name, for commands."""
    write_whole(path, page(card, result, model=model).encode())


def page(card: ModelCard, result: TrainingResult, *, model: str) -> str:
    """The page as HTML. All text from outside is escaped, and the page may load nothing but what it holds."""
    judged = verdict(card, model)
    first = NextStep("try it", (f"wakeword listen --model {shlex.quote(model)}",))
    steps = "".join(
        f"<li>{text(step.words[0].upper() + step.words[1:])}.{commands(step.commands)}</li>"
        for step in (first, *judged.advice, _improve(model))
    )
    parts = [
        f"<h1>{text(card.phrase)}</h1><p>A wake word, trained on {text(card.version)}.</p>",
        f'<p class="{judged.grade}"><b>{judged.grade.capitalize()}.</b> '
        f"It {text(judged.finds)}; it {text(judged.wakes)}.</p>",
        findings(card, result.second_stage),
        f"<h2>What to do next</h2><ol>{steps}</ol>",
        details(card, result),
    ]
    return document(card.phrase, parts)


def _improve(model: str) -> NextStep:
    file, better = shlex.quote(model), shlex.quote(f"better-{model}")
    return NextStep(
        "use it for some days, say which sounds were the word, and fine-tune it on them",
        (
            f"wakeword listen --model {file} --keep audio",
            "wakeword review",
            f"wakeword train --from {file} --extend-negatives KEPT --background my_room/ --out {better}",
        ),
    )


_EXAMPLES = 8
_MOST_AN_HOUR = 20.0
"""False accepts an hour up to which the curve is drawn."""


def details(card: ModelCard, result: TrainingResult) -> str:
    """A closed section with all that a layman does not need, as HTML."""
    parts = [
        _points(card),
        _curve(card, result.second_stage),
        _examples(result.clips),
    ]
    return f"<details><summary>Details</summary>{''.join(parts)}</details>"


def _points(card: ModelCard) -> str:
    if not card.operating_points:
        return ""
    rows = "".join(
        f"<tr><td><code>{text(point.name)}</code>{' (default)' if point.name == card.default_point else ''}</td>"
        f"<td>{point.threshold:.3f}</td><td>{found(point):.0%}</td>"
        f"<td>{'' if point.false_accepts_per_hour is None else f'{point.false_accepts_per_hour.value:.2f}'}</td></tr>"
        for point in card.operating_points
    )
    return (
        "<h3>Thresholds</h3><table><tr><th>point</th><th>threshold</th><th>finds</th><th>mistakes an hour</th></tr>"
        f"{rows}</table>"
    )


def _curve(card: ModelCard, second: SecondStageResult | None) -> str:
    """What it finds against its mistakes, at all thresholds."""
    if second is None or not card.operating_points:
        return ""
    point = card.point()
    chosen = (0.0 if point.false_accepts_per_hour is None else point.false_accepts_per_hour.value, point.recall)
    scores = second.scores()
    curve = curves_of_thresholds([curve_of(scores, _MOST_AN_HOUR)] if scores.hours else [], chosen=[chosen])
    words = (
        f"What it finds of the word, against its mistakes in {second.held_out.hours:.1f} h of speech of other people; "
        "the dot is the default."
    )
    return f"<h3>Finds and mistakes</h3><p>{words}</p>{curve}" if curve else ""


def _examples(clips: Sequence[Clip]) -> str:
    """A few of the synthetic clips that it was trained on, by different voices."""
    made = [clip for clip in clips if clip.kind is Kind.POSITIVE and clip.synthetic and clip.split is Split.TRAIN]
    chosen: dict[str, Clip] = {}
    # Engines in turn, so that one with many voices does not hide the others.
    for place in range(_EXAMPLES):
        for engine in dict.fromkeys(clip.engine for clip in made):
            own = list({clip.speaker: clip for clip in made if clip.engine == engine}.values())
            if place < len(own):
                chosen[own[place].speaker] = own[place]
    items = bullets(f"{text(speaker)} {sound(clip.path)}" for speaker, clip in list(chosen.items())[:_EXAMPLES])
    return f"<h3>What it was trained on</h3><p>Some of the voices:</p>{items}" if items else ""


_MOST = 12
"""Voices, or words, in a list."""


@dataclass(frozen=True)
class HeardClip:
    """A held-out clip and its highest score."""

    clip: Clip
    score: float


def heard_clips(second: SecondStageResult, kind: Kind, *, held_out: HeldOut | None = None) -> list[HeardClip]:
    """The held-out clips of a kind, the highest score first; ``held_out``: other clips than the result has."""
    heard = second.held_out if held_out is None else held_out
    scores = [float(one.scores(second.card.gate, second.card.fusion).max()) for one in heard.of(kind)]
    pairs = zip(heard.clips.get(kind, ()), scores, strict=False)
    return sorted((HeardClip(clip, score) for clip, score in pairs), key=lambda one: -one.score)


def findings(card: ModelCard, second: SecondStageResult | None) -> str:
    """The three sections at the default point, as HTML; empty without operating points."""
    if not card.operating_points:
        return ""
    point = card.point()
    hears = bullets([*_found(point), *_found_in_noise(second, point.threshold)])
    misses = "" if second is None else _misses(heard_clips(second, Kind.POSITIVE), point.threshold)
    fired = "" if second is None else _close_words(heard_clips(second, Kind.NEAR_NEGATIVE), point.threshold)
    return (
        (f"<h2>What it hears</h2>{hears}" if hears else "")
        + (f"<h2>What it misses</h2>{misses}" if misses else "")
        + f"<h2>What wakes it by mistake</h2>{bullets(_mistakes(point))}{fired}"
    )


def _found(point: OperatingPoint) -> list[str]:
    """How many recordings of people it finds, and of synthetic voices; none where the card has no numbers."""
    lines = []
    if point.positives:
        who = "synthetic voices" if point.synthetic == point.positives else "people"
        lines.append(_line(round(point.recall * point.positives), point.positives, f"by {who} that it never heard"))
    if point.recall_synthetic is not None:
        voices = point.recall_synthetic
        lines.append(_line(voices.count, round(voices.trials), "by synthetic voices that it never heard"))
    return lines


def _found_in_noise(second: SecondStageResult | None, threshold: float) -> list[str]:
    noisy = None if second is None else second.held_out.noisy
    if second is None or noisy is None or not noisy.of(Kind.POSITIVE):
        return []
    heard = heard_clips(second, Kind.POSITIVE, held_out=noisy)
    return [_line(sum(one.score >= threshold for one in heard), len(heard), "in noise, faint or as loud as the word")]


def _line(found: int, total: int, of: str) -> str:
    return f"It found <b>{found} of {counted(total, 'recording')}</b> {of}."


def _misses(heard: list[HeardClip], threshold: float) -> str:
    """The voices that it misses most, each with the sound that it is least sure of."""
    missed = [one for one in reversed(heard) if one.score < threshold]
    if not missed:
        return f"<p>None of {counted(len(heard), 'recording')}.</p>" if heard else ""
    own: dict[str, list[HeardClip]] = {}
    for one in missed:
        own.setdefault(one.clip.speaker, []).append(one)
    totals = {speaker: sum(one.clip.speaker == speaker for one in heard) for speaker in own}
    worst = sorted(own, key=lambda speaker: -len(own[speaker]) / totals[speaker])
    items = [
        f"{_who(own[speaker][0].clip)}: {len(own[speaker])} of {totals[speaker]} missed {sound(own[speaker][0].clip.path)}"
        for speaker in worst[:_MOST]
    ]
    more = f", the worst {_MOST} of {len(own)}" if len(own) > _MOST else ""
    return f"<p>{len(missed)} of {counted(len(heard), 'recording')}, by these voices{more}:</p>{bullets(items)}"


def _who(clip: Clip) -> str:
    return f"{'voice' if clip.synthetic else 'speaker'} {text(clip.speaker)}"


def _mistakes(point: OperatingPoint) -> list[str]:
    """How often it woke in speech, at other words and at words that sound like it; what was not measured says so."""
    speech, words = point.false_accepts_per_hour, point.fpr_negatives
    lines = ["Talk of other people: not measured."]
    if speech is not None:
        times = {0: "never", 1: "once"}.get(speech.count, f"{speech.count} times")
        lines = [f"Talk of other people: it woke {times} in {speech.trials:.1f} hours."]
    lines += _woke("other words", words) + _woke("words that sound like it", point.fpr_near_negatives)
    return lines


def _woke(what: str, rate: Rate | None) -> list[str]:
    return [] if rate is None else [f"Recordings of {what}: {rate.count} of {rate.trials:.0f} woke it."]


def _close_words(heard: list[HeardClip], threshold: float) -> str:
    """The words that sound like it and wake it, each once, the surest first."""
    fired: dict[str, HeardClip] = {}
    for one in heard:
        if one.score >= threshold:
            fired.setdefault(one.clip.word, one)
    items = [f"{spoken(one.clip.word)} {sound(one.clip.path)}" for one in list(fired.values())[:_MOST]]
    more = f" (the surest {_MOST} of {len(fired)})" if len(fired) > _MOST else ""
    return f"<p>These words sound like it and woke it{more}:</p>{bullets(items)}" if items else ""
