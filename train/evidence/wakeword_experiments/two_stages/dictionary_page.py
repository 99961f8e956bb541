"""The included models on close words from a dictionary, spoken by engines that training did not have."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.base.events import Line
from wakeword.model.installed import assets_folder
from wakeword.model.model import load_model
from wakeword_experiments.figures_report import Row, distinct, markdown_table, select, write_results
from wakeword_experiments.grouped import grouped_interval
from wakeword_experiments.two_stages.close_words import CLOSE, KEYWORD, WordEngine, points_of, scored_clips
from wakeword_experiments.two_stages.dictionary_words import FARTHEST, MAX_NEAR_WORDS, heard_in_training, near_words
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split

_KEYWORD_TIMES = 8
"""The keyword is spoken this many times as often as each close word."""
_OFTEN = 0.5


def measure_dictionary_words(
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
    parsed = [WordEngine.parse(text) for text in engines]
    voices = {engine: voices_unheard(engine.name) for engine in parsed}
    models = sorted(path.stem for path in (assets_folder() / "models").glob("*.onnx"))
    rows = [row for word in models for row in measure_keyword(word, voices, work, seed=seed, report=report)]
    record = json.loads(people.read_text(encoding="utf-8"))
    dictionary_page(out, rows, record, command=command, seed=seed)


def voices_unheard(engine: str) -> list[Voice]:
    """The voices of an engine that are not those of the train split."""
    return [voice for voice in english_voices(engines=[engine]) if voice.split is not Split.TRAIN]


def measure_keyword(
    keyword: str, voices: Mapping[WordEngine, Sequence[Voice]], work: Path, *, seed: int, report: Line
) -> list[Row]:
    """A row for each text and voice: its clips, how many reach the default point, and the highest score."""
    model = load_model(keyword)
    near = near_words(keyword)
    texts = [one.text for one in near]
    known = dict(zip(texts, heard_in_training(keyword, texts), strict=True))
    threshold = points_of(keyword)["default"]["threshold"]
    rows: list[Row] = []
    for kind, own, times in ((CLOSE, texts, 1), (KEYWORD, [keyword], _KEYWORD_TIMES)):
        for engine, some in voices.items():
            count = engine.per_text * times * len(own)
            name = some[0].name.rpartition(":")[0].replace(":", "-")
            folder = work / f"dictionary-{kind}-{keyword}-{name}-{count}-{seed}"
            report(f"{keyword}: {count} clips of {len(own)} texts by {engine.name}")
            clips = scored_clips(model, own, some, folder, count=count, seed=seed, fields={})
            rows += _by_text_and_voice(clips, threshold, {"keyword": keyword, "kind": kind})
    distances = {one.text: one.edits for one in near} | {keyword: 0}
    return [{**row, "edits": distances[row["text"]], "heard": known.get(row["text"], True)} for row in rows]


def _by_text_and_voice(clips: Sequence[Row], threshold: float, fields: Mapping[str, str]) -> list[Row]:
    rows: list[Row] = []
    for text in distinct(clips, "text"):
        for voice in distinct(clips, "name"):
            scores = np.array([clip["score"] for clip in select(clips, text=text, name=voice)])
            if len(scores):
                found, highest = int((scores >= threshold).sum()), float(scores.max())
                rows.append(
                    {**fields, "text": text, "voice": voice, "clips": len(scores), "found": found, "highest": highest}
                )
    return rows


def dictionary_page(
    out: Path, rows: Sequence[Row], people: Mapping[str, Any], *, command: str, seed: int
) -> list[Path]:
    """Write the record and the page; ``people`` is the record behind the page of accuracy."""
    close, keywords = select(rows, kind=CLOSE), distinct(rows, "keyword")
    voices = distinct(rows, "voice")
    body = [
        "Words of the CMU Pronouncing Dictionary, names and rare ones included, spoken by engines that training did not "
        "have, at the included models' default points. For each keyword those "
        f"{MAX_NEAR_WORDS} that are fewest edits from it (a phoneme added, left out or replaced; {FARTHEST} at most), "
        "without what sounds like it or contains its sound; the rule was settled before any of them was scored. "
        "Training had other close words: of a generator that weighs sounds, chooses common words and adds phrases and "
        "made-up words, spoken by espeak-ng, flite and Kokoro.",
        f"{_clips(close)} clips of {_texts(close)} texts in {len(voices)} voices, and {_clips(select(rows, kind=KEYWORD))} "
        "of the keywords. Brackets: 95 % intervals by text, and by voice for the keyword. *New*: without the texts that "
        "sound like a close word of training, chosen as today's generator chooses, or like a word that training had as "
        "another word. *Own generator*: the close words of [accuracy](../../../docs/accuracy.md), of the "
        "engines of training in other "
        "voices and texts.",
        markdown_table(
            ["", "texts", "they fire", "new texts", "they fire", "own generator", "the keyword is found"],
            [*(_line(rows, word, [word], people) for word in keywords), _line(rows, "all", keywords, people)],
        ),
        "The keyword's column says how far an engine is understood at all: where a voice's keyword is not found, that its "
        "close words do not fire says nothing.",
        "## By voice",
        "Close words that fire / keyword found.",
        markdown_table(["", *voices], [_by_voice(rows, word, voices) for word in keywords]),
        "`command:nanotts` is SVOX Pico, of which training had nothing. festival's two voices are of the speakers kal and "
        "slt, whom flite has too: as flite speaks them, kal is in the validation split, so thresholds were set with him, "
        "and slt in the test split. No model was trained on either.",
        "## By distance",
        markdown_table(
            ["edits", *map(str, range(1, FARTHEST + 1))],
            [
                [word, *(_rate(select(close, keyword=word, edits=e)) for e in range(1, FARTHEST + 1))]
                for word in keywords
            ],
        ),
        "## Texts that fire in half of their clips or more",
        *_often(close, keywords),
        "An engine reads a name as it sees fit, so a text need not be spoken as the dictionary says, and may be spoken "
        "like the keyword. Texts near a short keyword are many and most of them common; those near a long one are few.",
    ]
    settings = {"seed": seed, "points": {word: points_of(word)["default"] for word in keywords}}
    return write_results(
        out,
        "dictionary-words",
        title="Close words from a dictionary",
        command=command,
        settings=settings,
        rows=rows,
        body=body,
        seconds=None,  # clips that are there are used again, so it would say little
    )


def _line(rows: Sequence[Row], label: str, keywords: Sequence[str], people: Mapping[str, Any]) -> list[str]:
    own = [row for row in rows if row["keyword"] in keywords]
    close = select(own, kind=CLOSE)
    new = select(close, heard=False)
    points = [one["stages"]["both"]["points"]["default"] for one in people["words"] if one["keyword"] in keywords]
    counts = [point["close"]["clean"] for point in points]
    generator = sum(one["found"] for one in counts) / sum(one["of"] for one in counts)
    return [
        label,
        str(_texts(close)),
        _interval(close, "text"),
        str(_texts(new)),
        _interval(new, "text"),
        f"{100 * generator:.1f} %",
        _interval(select(own, kind=KEYWORD), "voice"),
    ]


def _clips(rows: Sequence[Row]) -> int:
    return sum(row["clips"] for row in rows)


def _texts(rows: Sequence[Row]) -> int:
    return len({(row["keyword"], row["text"]) for row in rows})


def _interval(rows: Sequence[Row], by: str) -> str:
    """The share of clips that reach the point, with the interval over the groups ``by`` of each keyword."""
    if not rows:
        return "–"
    found = [hit < row["found"] for row in rows for hit in range(row["clips"])]
    groups = [f"{row['keyword']} {row[by]}" if by == "text" else row[by] for row in rows for _ in range(row["clips"])]
    low, high = grouped_interval(found, groups)
    return f"{_rate(rows)} [{100 * low:.1f}, {100 * high:.1f}]"


def _rate(rows: Sequence[Row]) -> str:
    clips = _clips(rows)
    return f"{100 * sum(row['found'] for row in rows) / clips:.1f} %" if clips else "–"


def _by_voice(rows: Sequence[Row], keyword: str, voices: Sequence[str]) -> list[str]:
    own = select(rows, keyword=keyword)
    cells = (
        " / ".join(_rate(select(own, voice=voice, kind=kind)).removesuffix(" %") for kind in (CLOSE, KEYWORD))
        for voice in voices
    )
    return [keyword, *(f"{cell} %" for cell in cells)]


def _often(close: Sequence[Row], keywords: Sequence[str]) -> list[str]:
    """A line for each keyword with the texts that fire most, and their shares."""
    lines = []
    for keyword in keywords:
        own = select(close, keyword=keyword)
        shares = {
            text: sum(row["found"] for row in select(own, text=text))
            / sum(row["clips"] for row in select(own, text=text))
            for text in distinct(own, "text")
        }
        often = sorted((text for text in shares if shares[text] >= _OFTEN), key=lambda text: -shares[text])
        listed = ", ".join(f"{text} ({100 * shares[text]:.0f} %)" for text in often) or "none"
        silent = sum(not share for share in shares.values())
        lines.append(f"- {keyword}: {listed}. {silent} of {len(shares)} texts never fire.")
    return ["\n".join(lines)]
