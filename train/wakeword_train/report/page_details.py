"""The section of the page for those who know the words: thresholds, curves, and the clips of the training."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from wakeword.format.card import ModelCard
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.scores import ScoreSet, events_at
from wakeword_tools.page.charts import curve_of_epochs, curve_of_thresholds
from wakeword_tools.page.markup import bullets, sound, text
from wakeword_train.data.clips import Clip
from wakeword_train.points import found
from wakeword_train.second_stage.result import SecondStageResult
from wakeword_train.training import TrainingResult

_EXAMPLES = 8
_THRESHOLDS = 60


def details(card: ModelCard, result: TrainingResult) -> str:
    """A closed section with all that a layman does not need, as HTML."""
    parts = [
        _points(card),
        _curve(card, result.second_stage),
        _epochs(result),
        _examples(result.clips),
        _voices(result.clips),
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
    curve = curve_of_thresholds(_rates(second.scores()), chosen=chosen)
    words = (
        f"What it finds of the word, against its mistakes in {second.held_out.hours:.1f} h of speech of other people; "
        "the dot is the default."
    )
    return f"<h3>Finds and mistakes</h3><p>{words}</p>{curve}" if curve else ""


def _rates(scores: ScoreSet) -> list[tuple[float, float]]:
    """False accepts an hour and the share found, at thresholds from strict to lax."""
    if not scores.hours:
        return []
    thresholds = np.quantile(scores.positives, np.linspace(1, 0, _THRESHOLDS))
    return [
        (events_at(scores.streams, float(threshold)) / scores.hours, float((scores.positives >= threshold).mean()))
        for threshold in thresholds
        if threshold > scores.least_threshold
    ]


def _epochs(result: TrainingResult) -> str:
    curve = curve_of_epochs([report.recall["words"] for report in result.reports])
    words = "What its first stage found of held-out clips while it was trained, at 3 % of other words."
    return f"<h3>Training</h3><p>{words}</p>{curve}"


def _examples(clips: Sequence[Clip]) -> str:
    """A few of the synthetic clips that it was trained on, by different voices."""
    made = [clip for clip in clips if clip.kind is Kind.POSITIVE and clip.synthetic and clip.split is Split.TRAIN]
    chosen: dict[str, Clip] = {}
    # Engines in turn, so that one with many voices does not hide the others.
    for place in range(_EXAMPLES):
        for engine in dict.fromkeys(_engine(clip) for clip in made):
            own = list({clip.speaker: clip for clip in made if _engine(clip) == engine}.values())
            if place < len(own):
                chosen[own[place].speaker] = own[place]
    items = bullets(f"{text(speaker)} {sound(clip.path)}" for speaker, clip in list(chosen.items())[:_EXAMPLES])
    return f"<h3>What it was trained on</h3><p>Some of the voices:</p>{items}" if items else ""


def _voices(clips: Iterable[Clip]) -> str:
    counts = Counter(
        (_engine(clip) if clip.synthetic else "recordings", clip.kind.plural.replace("_", " "))
        for clip in clips
        if clip.split is not Split.TEST and not clip.is_packed
    )
    rows = "".join(
        f"<tr><td>{text(engine)}</td><td>{text(kind)}</td><td>{n}</td></tr>"
        for (engine, kind), n in sorted(counts.items())
    )
    return f"<table><tr><th>from</th><th>what</th><th>clips</th></tr>{rows}</table>" if rows else ""


def _engine(clip: Clip) -> str:
    return clip.speaker.partition(":")[0]
