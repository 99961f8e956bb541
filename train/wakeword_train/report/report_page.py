"""The page about a model: one HTML file that loads nothing, with sounds to click."""

import base64
import html
import io
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from wakeword.audio.pcm import SAMPLE_RATE, read_audio
from wakeword.base.errors import AudioError
from wakeword.base.files import replacing
from wakeword.format.card import ModelCard
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.scores import ScoreSet, events_at
from wakeword_train.data.clips import Clip
from wakeword_train.points import found
from wakeword_train.report.charts import curve_of_epochs, curve_of_thresholds
from wakeword_train.report.verdict import verdict
from wakeword_train.second_stage.result import SecondStageResult
from wakeword_train.training import TrainingResult

_MOST_FIRED, _EXAMPLES = 12, 8
_LONGEST = 3 * SAMPLE_RATE
_THRESHOLDS = 60
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h1{margin-bottom:0}.good,.fair,.weak{padding:.8rem 1rem;border-radius:.5rem}.good{background:#dff3e3}
.fair{background:#fdf2d0}.weak{background:#fbe0dd}table{border-collapse:collapse}
td,th{padding:.2rem .8rem .2rem 0;text-align:left}
svg{width:100%;max-width:34rem}svg path{fill:none;stroke:#0b62a4;stroke-width:2}svg circle{fill:#c33}svg line{stroke:#ccc}
svg text{font-size:11px;fill:#555}audio{height:2rem;vertical-align:middle}li{margin:.3rem 0}
code{background:#eee;padding:.1rem .3rem}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}.good{background:#1f3d27}.fair{background:#463b12}
.weak{background:#4a211d}code{background:#333}svg text{fill:#aaa}svg path{stroke:#6bb3e8}}
"""


@dataclass(frozen=True)
class FiredClip:
    """A close word at which the model fires."""

    clip: Clip
    score: float


def fired_close_words(second: SecondStageResult, threshold: float) -> list[FiredClip]:
    """The held-out close words that reach a threshold, the highest score first."""
    fusion, gate = second.card.fusion, second.card.gate
    heard = second.held_out
    scores = [float(one.scores(gate, fusion).max()) for one in heard.of(Kind.NEAR_NEGATIVE)]
    pairs = zip(heard.clips.get(Kind.NEAR_NEGATIVE, ()), scores, strict=False)
    return sorted((FiredClip(clip, score) for clip, score in pairs if score >= threshold), key=lambda one: -one.score)


def write_page(path: Path, card: ModelCard, result: TrainingResult, *, model: str) -> None:
    """Write the page about a model to ``path``, complete or not at all. ``model``: its file's name, for commands."""
    with replacing(path) as temporary:
        temporary.write_text(page(card, result, model=model), encoding="utf-8")


def page(card: ModelCard, result: TrainingResult, *, model: str) -> str:
    """The page as HTML. All text from outside is escaped, and the page may load nothing but what it holds."""
    judged = verdict(card, model)
    parts = [
        f"<h1>{_text(card.phrase)}</h1><p>A wake word, trained on {_text(card.version)}.</p>",
        f'<p class="{judged.grade}"><b>{judged.grade.capitalize()}.</b> '
        f"It {_text(judged.finds)}; it {_text(judged.wakes)}.</p>",
        "".join(f"<p>{_text(line[0].upper() + line[1:])}.</p>" for line in judged.advice),
        f"<p>Try it: <code>wakeword listen --model {_text(shlex.quote(model))}</code></p>",
        _points(card),
        _curves(card, result),
        _close_words(card, result),
        _examples(result.clips),
        _voices(result.clips),
    ]
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        'media-src data:">'
        f"<title>{_text(card.phrase)}</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _points(card: ModelCard) -> str:
    if not card.operating_points:
        return ""
    rows = "".join(
        f"<tr><td><code>{_text(point.name)}</code>{' (default)' if point.name == card.default_point else ''}</td>"
        f"<td>{point.threshold:.3f}</td><td>{found(point):.0%}</td>"
        f"<td>{'' if point.false_accepts_per_hour is None else f'{point.false_accepts_per_hour.value:.2f}'}</td></tr>"
        for point in card.operating_points
    )
    return (
        "<h2>Thresholds</h2><table><tr><th>point</th><th>threshold</th><th>finds</th><th>mistakes an hour</th></tr>"
        f"{rows}</table>"
    )


def _curves(card: ModelCard, result: TrainingResult) -> str:
    epochs = curve_of_epochs([report.recall["words"] for report in result.reports])
    thresholds = ""
    if result.second_stage is not None and card.operating_points:
        scores, point = result.second_stage.scores(), card.point()
        chosen = (0.0 if point.false_accepts_per_hour is None else point.false_accepts_per_hour.value, point.recall)
        thresholds = curve_of_thresholds(_rates(scores), chosen=chosen)
    training = (
        f"<p>What its first stage found of held-out clips while it was trained, at 3 % of other words.</p>{epochs}"
    )
    return (
        f"<h2>Curves</h2><p>What it finds of the word, against its mistakes in {_text(_hours(result))} of speech of other "
        f"people; the dot is the default.</p>{thresholds}"
        f"{training}"
        if thresholds
        else f"<h2>Training</h2>{training}"
    )


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


def _hours(result: TrainingResult) -> str:
    return "" if result.second_stage is None else f"{result.second_stage.held_out.hours:.1f} h"


def _close_words(card: ModelCard, result: TrainingResult) -> str:
    if result.second_stage is None or not card.operating_points:
        return ""
    fired = fired_close_words(result.second_stage, card.point().threshold)
    total = len(result.second_stage.held_out.of(Kind.NEAR_NEGATIVE))
    if not fired:
        return f"<h2>Close words</h2><p>None of {total} words that sound like it woke it.</p>"
    seen: dict[str, FiredClip] = {}
    for one in fired:
        seen.setdefault(one.clip.word, one)
    items = "".join(
        f"<li>{_text(one.clip.word)} ({one.score:.2f}) {_sound(one.clip.path)}</li>"
        for one in list(seen.values())[:_MOST_FIRED]
    )
    return (
        f"<h2>Close words</h2><p>{len(fired)} of {total} clips of words that sound like it woke it, the surest first:</p>"
        f"<ul>{items}</ul>"
    )


def _examples(clips: Sequence[Clip]) -> str:
    """A few of the synthetic clips that it was trained on, by different voices."""
    spoken = [clip for clip in clips if clip.kind is Kind.POSITIVE and clip.synthetic and clip.split is Split.TRAIN]
    chosen: dict[str, Clip] = {}
    # Engines in turn, so that one with many voices does not hide the others.
    for place in range(_EXAMPLES):
        for engine in dict.fromkeys(_engine(clip) for clip in spoken):
            own = list({clip.speaker: clip for clip in spoken if _engine(clip) == engine}.values())
            if place < len(own):
                chosen[own[place].speaker] = own[place]
    items = "".join(
        f"<li>{_text(speaker)} {_sound(clip.path)}</li>" for speaker, clip in list(chosen.items())[:_EXAMPLES]
    )
    return f"<h2>What it was trained on</h2><p>Some of the voices:</p><ul>{items}</ul>" if items else ""


def _voices(clips: Iterable[Clip]) -> str:
    counts = Counter(
        (_engine(clip) if clip.synthetic else "recordings", clip.kind.plural.replace("_", " "))
        for clip in clips
        if clip.split is not Split.TEST and not clip.is_packed
    )
    rows = "".join(
        f"<tr><td>{_text(engine)}</td><td>{_text(kind)}</td><td>{n}</td></tr>"
        for (engine, kind), n in sorted(counts.items())
    )
    return f"<table><tr><th>from</th><th>what</th><th>clips</th></tr>{rows}</table>" if rows else ""


def _engine(clip: Clip) -> str:
    return clip.speaker.partition(":")[0]


def _sound(path: Path) -> str:
    """A player that holds the sound; nothing for a file that cannot be read any more."""
    try:
        samples = read_audio(path)[:_LONGEST]
    except (AudioError, OSError):
        return ""
    held = io.BytesIO()
    soundfile.write(held, samples, SAMPLE_RATE, format="FLAC", subtype="PCM_16")
    data = base64.b64encode(held.getvalue()).decode()
    return f'<audio controls preload="none" src="data:audio/flac;base64,{data}"></audio>'


def _text(text: str) -> str:
    return html.escape(text)
