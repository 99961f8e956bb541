"""The included models on the paper's own close words, synthesised in voices of the test split."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from wakeword.audio.audio_file import read_audio
from wakeword.base.errors import ConfigError
from wakeword.base.events import Line
from wakeword.model.model import Model, load_model
from wakeword_experiments.figures_report import Row, distinct, markdown_table, select, write_results
from wakeword_experiments.grouped import grouped_interval
from wakeword_experiments.one_class.published import CLOSE_WORDS
from wakeword_experiments.two_stages.two_stages_measure import interval_of
from wakeword_tools.clips.manifest import MANIFEST, read_manifest
from wakeword_tools.clips.plan import ClipPart
from wakeword_tools.clips.synthesize import synthesize
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split
from wakeword_tools.measure.scores import clip_score
from wakeword_tools.texts.splits import split_texts

_MAX_PAUSE = 0.2
KEYWORD, CLOSE = "keyword", "close"
"""The two kinds of clips: of the keyword itself, and of the close words."""


@dataclass(frozen=True)
class WordEngine:
    """A speech engine as ``english_voices`` takes it, and how many clips of each text it speaks."""

    name: str
    per_text: int

    @classmethod
    def parse(cls, text: str) -> "WordEngine":
        """From ``NAME=CLIPS``, for instance ``kokoro=20``. Raises ``ConfigError`` for anything else."""
        name, _, clips = text.partition("=")
        if not name or not clips.isdecimal() or int(clips) < 1:
            raise ConfigError(f"expected an engine and its clips of each text, such as kokoro=20, got {text!r}")
        return cls(name, int(clips))


def measure_close_words(
    engines: Sequence[str],
    people: Path,
    work: Path,
    out: Path,
    *,
    seed: int,
    command: str,
    report: Line,
) -> None:
    """Synthesise, score, and write the page; ``people`` is the record behind the page of accuracy."""
    began = process_time()
    parsed = [WordEngine.parse(text) for text in engines]
    rows = [row for word in CLOSE_WORDS for row in measure_keyword(word, parsed, work, seed=seed, report=report)]
    points = {word: points_of(word) for word in CLOSE_WORDS}
    record = json.loads(people.read_text(encoding="utf-8"))
    close_words_page(out, rows, points, record, command=command, seed=seed, began=began)


def measure_keyword(keyword: str, engines: Sequence[WordEngine], work: Path, *, seed: int, report: Line) -> list[Row]:
    """A row for each clip: its text, voice, and the score that the included model gives it."""
    model = load_model(keyword)
    rows: list[Row] = []
    for kind, texts in ((CLOSE, CLOSE_WORDS[keyword]), (KEYWORD, (keyword,))):
        for engine in engines:
            voices = english_voices(Split.TEST, engines=[engine.name])
            count = engine.per_text * (len(texts) if kind == CLOSE else 2)
            folder = work / f"{kind}-{keyword}-{engine.name.partition(':')[0]}-{count}-{seed}"
            report(f"{keyword}: {count} clips of {', '.join(texts)} by {engine.name}")
            fields = {"keyword": keyword, "kind": kind}
            rows += scored_clips(model, texts, voices, folder, count=count, seed=seed, fields=fields)
    return [{name: value for name, value in row.items() if name != "name"} for row in rows]


def scored_clips(
    model: Model,
    texts: Sequence[str],
    voices: Sequence[Voice],
    folder: Path,
    *,
    count: int,
    seed: int,
    fields: Mapping[str, str],
) -> list[Row]:
    """A row for each clip, with ``fields``, its score, and its voice (``name``) and speaker (``voice``).

    The clips are synthesised into ``folder`` unless it is there.
    """
    if not folder.is_dir():
        synthesize([ClipPart(texts, voices, count, seed, _MAX_PAUSE)], folder)
    return [
        {
            **fields,
            "text": row.text,
            "engine": row.content["engine"],
            "voice": row.source,
            "name": row.content["voice"],
            "score": clip_score(model, read_audio(folder / row.file)),
        }
        for row in read_manifest(folder / MANIFEST)
    ]


def points_of(keyword: str) -> dict[str, dict[str, Any]]:
    """The default point of the included model, and ``fpr=0.03``, by the labels of the tables."""
    card = load_model(keyword).card
    named = {point.name: point for point in card.operating_points}
    points = {"default": card.point(), "fpr=0.03": named.get("fpr=0.03")}
    return {label: {"name": p.name, "threshold": p.threshold} for label, p in points.items() if p is not None}


def close_words_page(
    out: Path,
    rows: Sequence[Row],
    points: Mapping[str, Mapping[str, Mapping[str, Any]]],
    people: Mapping[str, Any],
    *,
    command: str,
    seed: int,
    began: float,
) -> list[Path]:
    """Write the record and the page; ``people`` is the record behind the page of accuracy."""
    keywords = distinct(rows, "keyword")
    labels = list(points[keywords[0]])
    body = [
        "The paper's close words (Goyal et al., 2020, table 9), synthesised in voices of the test split, and what the "
        "included models of two stages make of them at their own thresholds. The close words come from the generator of "
        "training, in other voices; people are recordings of the corpus that training used, of other speakers. Brackets: "
        "95 % intervals by voice, and by speaker for people.",
        markdown_table(
            ["", "", *(f"at `{label}`" if label != "default" else "default" for label in labels)],
            [line for keyword in keywords for line in _lines(keyword, rows, points[keyword], people)],
        ),
        _heard(keywords)
        + " [Accuracy](../../../docs/accuracy.md) has the close words of this project's own generator.",
    ]
    settings = {"seed": seed, "points": points, "splits": {word: _splits(word) for word in keywords}}
    return write_results(
        out,
        "close-words",
        title="The paper's close words",
        command=command,
        settings=settings,
        rows=rows,
        body=body,
        seconds=process_time() - began,
    )


def _splits(keyword: str) -> dict[str, str]:
    of_split = split_texts(keyword, CLOSE_WORDS[keyword])
    return {text: split.value for split, texts in of_split.items() for text in texts}


def _heard(keywords: Sequence[str]) -> str:
    """Whether training had these texts, in one sentence or two."""
    seen = [text for keyword in keywords for text, split in _splits(keyword).items() if split != Split.TEST.value]
    texts = f"may have had {', '.join(seen)}" if seen else "had none of these texts, which are all on its test split"
    return (
        f'Of synthesised close words training {texts}; "one" is also a word of Speech Commands, heard as another word.'
    )


def _lines(
    keyword: str, rows: Sequence[Row], points: Mapping[str, Mapping[str, Any]], people: Mapping[str, Any]
) -> list[list[str]]:
    """The lines of one keyword: each close word, all of them by engine, the keyword by engine, and people."""
    own = select(rows, keyword=keyword)
    thresholds = [point["threshold"] for point in points.values()]
    lines = [
        [keyword, f"*{text}*", *_shares(select(own, kind=CLOSE, text=text), thresholds, bare=True)]
        for text in CLOSE_WORDS[keyword]
    ]
    for kind, label in ((CLOSE, "all close words"), (KEYWORD, "the word itself")):
        for engine in distinct(own, "engine"):
            some = select(own, kind=kind, engine=engine)
            lines.append([keyword, f"{label}, {engine} ({len(some)} clips)", *_shares(some, thresholds)])
    stages = next(word for word in people["words"] if word["keyword"] == keyword)["stages"]["both"]["points"]
    recalls = []
    for label in points:
        clean = stages[label]["people"]["clean"]
        low, high = interval_of(clean)
        recalls.append(f"{100 * clean['rate']:.0f} % [{100 * low:.0f}, {100 * high:.0f}]")
    count = stages["default"]["people"]["clean"]["of"]
    return [*lines, [keyword, f"the word itself, people ({count} recordings)", *recalls]]


def _shares(rows: Sequence[Row], thresholds: Sequence[float], *, bare: bool = False) -> list[str]:
    scores = np.array([row["score"] for row in rows])
    voices = [row["voice"] for row in rows]
    shown = []
    for threshold in thresholds:
        found = scores >= threshold
        low, high = grouped_interval(found, voices)
        interval = "" if bare else f" [{100 * low:.0f}, {100 * high:.0f}]"
        shown.append(f"{100 * found.mean():.1f} %{interval}")
    return shown
