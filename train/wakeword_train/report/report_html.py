"""The page about a model: one HTML file that loads nothing, in plain words, with sounds to click."""

import shlex
from collections.abc import Sequence
from functools import partial
from html import escape
from pathlib import Path

from wakeword.base.text import counted
from wakeword.format.card import ModelCard
from wakeword.format.operating_point import OperatingPoint
from wakeword.format.verifier_card import VerifierCard
from wakeword_tools.kinds import Kind
from wakeword_tools.texts.phonemes import known_ways, words_of
from wakeword_train.data.clips import Clip
from wakeword_train.report.markup import bullets, commands, document, sound, spoken
from wakeword_train.report.verdict import NextStep, times, verdict
from wakeword_train.second_stage.result import HeldOut, SecondStageResult
from wakeword_train.training import TrainingResult


def page(card: ModelCard, result: TrainingResult, *, model: str) -> str:
    """The page about a model as HTML; ``model``: its file's name, for commands.

    All text from outside is escaped, and the page may load nothing but what it holds.
    """
    judged = verdict(card, model)
    first = NextStep("try it", (f"wakeword listen --model {shlex.quote(model)}",))
    steps = "".join(
        f"<li>{escape(step.words[0].upper() + step.words[1:])}.{commands(step.commands)}</li>"
        for step in (first, *judged.advice, _improve(model))
    )
    parts = [
        f"<h1>{escape(card.phrase)}</h1><p>A wake word, trained on {escape(card.version)}.</p>",
        f'<p class="{judged.grade}"><b>{judged.grade.capitalize()}.</b> '
        f"It {escape(judged.finds)}; it {escape(judged.wakes)}.</p>",
        *(f"<p>{escape(sentence)}</p>" for sentence in judged.why),
        findings(card, result.second_stage),
        f"<h2>What to do next</h2><ol>{steps}</ol>",
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


_MAX_ROWS = 12
"""Voices, or words, in a list."""


HeardClips = Sequence[tuple[Clip, float]]
"""Held-out clips, each with its highest score."""


def heard_clips(card: VerifierCard, held_out: HeldOut, kind: Kind) -> HeardClips:
    """The held-out clips of a kind, the highest score first."""
    scores = [float(one.scores(card.gate, card.fusion).max()) for one in held_out.of(kind)]
    return sorted(zip(held_out.clips.get(kind, ()), scores, strict=True), key=lambda one: -one[1])


def findings(card: ModelCard, second: SecondStageResult | None) -> str:
    """The three sections at the default point, as HTML; empty without operating points."""
    if not card.operating_points:
        return ""
    point = card.point()
    hears, misses, fired = _found(point), "", ""
    if second is not None:
        heard = partial(heard_clips, second.card, second.held_out)
        hears += _found_in_noise(second, point.threshold)
        misses = _misses(heard(Kind.POSITIVE), point.threshold)
        fired = _close_words(heard(Kind.NEAR_NEGATIVE), point.threshold)
    sections = {
        "What it hears": bullets(hears),
        "What it misses": misses,
        "What wakes it by mistake": bullets(_mistakes(point)) + fired,
    }
    return "".join(f"<h2>{title}</h2>{text}" for title, text in sections.items() if text)


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


def _found_in_noise(second: SecondStageResult, threshold: float) -> list[str]:
    noisy = second.held_out.noisy
    if noisy is None or not noisy.of(Kind.POSITIVE):
        return []
    heard = heard_clips(second.card, noisy, Kind.POSITIVE)
    return [_line(sum(score >= threshold for _, score in heard), len(heard), "in noise, faint or as loud as the word")]


def _line(found: int, total: int, of: str) -> str:
    return f"It found <b>{found} of {counted(total, 'recording')}</b> {of}."


def _misses(heard: HeardClips, threshold: float) -> str:
    """The voices that it misses most, each with the sound that it is least sure of."""
    missed = [clip for clip, score in reversed(heard) if score < threshold]
    if not missed:
        return f"<p>None of {counted(len(heard), 'recording')}.</p>" if heard else ""
    own: dict[str, list[Clip]] = {}
    for clip in missed:
        own.setdefault(clip.speaker, []).append(clip)
    totals = {who: sum(clip.speaker == who for clip, _ in heard) for who in own}
    worst = sorted(own, key=lambda who: -len(own[who]) / totals[who])
    items = [
        f"{'voice' if own[who][0].synthetic else 'speaker'} {escape(who)}: {len(own[who])} of {totals[who]} missed "
        f"{sound(own[who][0].path)}"
        for who in worst[:_MAX_ROWS]
    ]
    more = f", the worst {_MAX_ROWS} of {len(own)}" if len(own) > _MAX_ROWS else ""
    return f"<p>{len(missed)} of {counted(len(heard), 'recording')}, by these voices{more}:</p>{bullets(items)}"


def _mistakes(point: OperatingPoint) -> list[str]:
    """How often it woke in speech, at other words and at words that sound like it; what was not measured says so."""
    speech = point.false_accepts_per_hour
    lines = ["Talk of other people: not measured."]
    if speech is not None:
        lines = [f"Talk of other people: it woke {times(speech.count)} in {speech.trials:.1f} hours."]
    others = {"other words": point.fpr_negatives, "words that sound like it": point.fpr_near_negatives}
    for what, rate in others.items():
        if rate is not None:
            lines.append(f"Recordings of {what}: {rate.count} of {rate.trials:.0f} woke it.")
    return lines


def _close_words(heard: HeardClips, threshold: float) -> str:
    """The words that sound like it and wake it, each once: words of the dictionary, which people say, before others,
    and the surest of either first."""
    fired: dict[str, Path] = {}
    for clip, score in heard:
        if score >= threshold:
            fired.setdefault(clip.word, clip.path)
    first = sorted(fired, key=lambda word: not all(map(known_ways, words_of(word))))
    items = [f"{spoken(word)} {sound(fired[word])}" for word in first[:_MAX_ROWS]]
    more = f" ({_MAX_ROWS} of {len(fired)}: real words, then the surest)" if len(fired) > _MAX_ROWS else ""
    return f"<p>These words sound like it and woke it{more}:</p>{bullets(items)}" if items else ""
