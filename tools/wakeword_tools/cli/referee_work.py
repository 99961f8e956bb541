"""The work of ``wakeword compare --engine``: engines and recordings to one table, a page and JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE, read_audio
from wakeword.base.errors import ConfigError
from wakeword.base.files import write_whole
from wakeword.base.text import printable
from wakeword.checkup.processor import cost
from wakeword.cli.tables import console, table
from wakeword.engine import Detector
from wakeword_tools.cli.evaluate_work import warn_of_few_hours, warn_of_seen_recordings
from wakeword_tools.cli.measure_options import CompareOptions
from wakeword_tools.cli.scoring import give_results, scoring
from wakeword_tools.contenders.foreign import ForeignModel
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.recordings import Scored
from wakeword_tools.measure.referee import Standing, judge, only_one_finds, speakers_named
from wakeword_tools.measure.subject import Subject, one_word, read_engine
from wakeword_tools.page.markup import COLOURS, bullets, curves_of_thresholds, document, sound, text

_SECONDS, _TURNS, _BLOCK = 30, 3, 1_280
_RATE = 0.5
_FIGURES = "false accepts", "delay, 95 % below"


def compare_engines(options: CompareOptions) -> None:
    """Measure all engines at the same false accepts an hour; print the table, and write page and report.

    Raises ``ConfigError`` for an unknown engine or one that is not installed and for models of different words,
    ``CalibrationError`` for too few hours, ``ModelError`` and ``DataError`` for files that cannot be read or used.
    """
    given = [*(f"ours:{name}" for name in (options.old, options.new) if name), *(options.engine or ())]
    if len(set(given)) != len(given):
        raise ConfigError("expected different engines, got one of them twice")
    if not options.others.background:
        raise ConfigError("expected --background, in which false accepts are counted, got none")
    read = [read_engine(text) for text in given]
    files, models = [file for file, _ in read], [model for _, model in read]
    word = one_word(models)
    rate = _RATE if options.fa_per_hour is None else options.fa_per_hour
    used = models if options.verify else [model.stage_one() for model in models]
    with scoring(options, files, used, verify=options.verify, delays=True) as (scored,):
        warn_of_seen_recordings(dict(zip(given, used, strict=True)), scored)
        standings = judge(used, scored, rate)
        warn_of_few_hours(scored.sets[0].hours, rate)
        content = _content(word, given, standings, scored, rate)
        for one, took in zip(content["engines"], _costs(files, models, scored, verify=options.verify), strict=True):
            one["cpu_ms_per_second"] = took
        give_results(options, content, lambda: _print(word, scored, content))
        if options.page is not None:
            write_whole(options.page, referee_page(content).encode())


def _content(
    word: str, given: Sequence[str], standings: Sequence[Standing], scored: Scored, rate: float
) -> dict[str, Any]:
    """The figures as JSON: the same for any number of processes."""
    positives, background = scored.recordings[Kind.POSITIVE], scored.recordings[Kind.BACKGROUND]
    engines = []
    for name, one, only in zip(given, standings, only_one_finds(standings), strict=True):
        row = {"engine": name, **asdict(one), "only": [positives[place].name for place in only]}
        del row["found"]
        engines.append(row)
    return {
        "word": word,
        "fa_per_hour": rate,
        "hours": scored.sets[0].hours,
        "left_out_seconds": sum(one.left_out for one in background),
        "positives": len(positives),
        "speakers": speakers_named(positives),
        "fingerprint": scored.fingerprint,
        "engines": engines,
    }


def _costs(files: Sequence[Path], models: Sequence[Subject], scored: Scored, *, verify: bool) -> list[float]:
    """CPU milliseconds of each engine per second of background, as an application runs it.

    It is the first recording of at least half a minute, or else the longest.
    """
    chosen = max(scored.recordings[Kind.BACKGROUND], key=lambda one: min(one.seconds, _SECONDS))
    pcm = (np.clip(read_audio(chosen.path)[: _SECONDS * SAMPLE_RATE], -1, 1) * 32_767).astype(np.int16)
    pieces = [pcm[start : start + _BLOCK] for start in range(0, len(pcm), _BLOCK)]
    listeners = [
        model.engine.start([model.given])
        if isinstance(model, ForeignModel)
        else Detector(file, threshold=1.0, verify=verify).push
        for file, model in zip(files, models, strict=True)
    ]
    turns = [[cost(one, pieces, len(pcm) / SAMPLE_RATE) for one in listeners] for _ in range(_TURNS)]
    return [median(one.cpu_ms_per_second for one in of_engine) for of_engine in zip(*turns, strict=True)]


def _print(word: str, scored: Scored, content: dict[str, Any]) -> None:
    rate = content["fa_per_hour"]
    columns = ("found, % (95 %)", "- the first", *_FIGURES, "CPU ms/s", "alone")
    made = table(f"all at {rate:g} false accepts an hour; * where the interval excludes zero", "", *columns)
    for one in content["engines"]:
        name, _, place = one["engine"].partition(":")
        made.add_row(printable(f"{name}:{Path(place).name}"), *cells(one), str(len(one["only"])))
    heading = f"'{word}': {scored.description}, {speakers_in_words(content)}"
    console().print(printable(heading), made, sep="\n")


_MOST = 20
"""Recordings of each engine that are played."""


def referee_page(content: Mapping[str, Any]) -> str:
    """The page as HTML, from the figures of the JSON; recordings that are no files here are named and not played."""
    engines = content["engines"]
    columns = ("engine", "found, % (95 %)", "against the first, points", *_FIGURES, "CPU ms a second")
    colours = [COLOURS[number % len(COLOURS)] if len(engines) > 1 else "" for number in range(len(engines))]
    chosen = [(one["false_accepts_per_hour"]["value"], one["recall"]) for one in engines]
    parts = [
        f"<h1>{text(content['word'])}</h1>",
        f"<p>Each engine at the threshold that keeps {content['fa_per_hour']:g} false accepts an hour in these "
        f"{content['hours']:.2f} h of background, on {content['positives']} recordings of the word "
        f"({speakers_in_words(content)}), each in a stream of its own room noise. Intervals draw speakers and minutes "
        "again and choose each threshold again.</p>",
        f"<table><tr>{''.join(f'<th>{name}</th>' for name in columns)}</tr>",
        *(_row(one, colour) for one, colour in zip(engines, colours, strict=True)),
        "</table>",
        curves_of_thresholds([one["curve"] for one in engines], chosen=chosen),
        *(_only(one) for one in engines),
    ]
    return document(content["word"], parts)


def speakers_in_words(content: Mapping[str, Any]) -> str:
    """How many speakers the recordings of the word name."""
    count = content["speakers"]
    return "no speakers named: intervals by recording, too narrow" if count is None else f"{count} speakers"


def cells(engine: Mapping[str, Any]) -> list[str]:
    """The figures of an engine, in words: recall, difference, false accepts, delay, processor time."""
    change, delay, fired = engine["difference"], engine["delay"], engine["false_accepts_per_hour"]
    return [
        _percent(engine["recall"], engine["low"], engine["high"], ""),
        "" if change is None else _percent(change["second"] - change["first"], change["low"], change["high"], "+"),
        f"{fired['count']}, {fired['value']:.2f} an hour",
        "" if delay is None else f"{delay['median']:.2f} s, {delay['percentile_95']:.2f} s",
        f"{engine['cpu_ms_per_second']:.1f}",
    ]


def _percent(value: float, low: float, high: float, sign: str) -> str:
    """With its interval; a difference, which has a sign, is marked where its interval excludes zero."""
    mark = " *" if sign and (low > 0 or high < 0) else ""
    return f"{100 * value:{sign}.1f} ({100 * low:{sign}.1f} to {100 * high:{sign}.1f}){mark}"


def _row(engine: Mapping[str, Any], colour: str) -> str:
    return f'<tr><td style="color:{colour}">{text(engine["engine"])}</td>' + "".join(
        f"<td>{text(cell)}</td>" for cell in cells(engine)
    )


def _only(engine: Mapping[str, Any]) -> str:
    found = engine["only"]
    rows = [f"{sound(Path(name))} {text(Path(name).name)}" for name in found[:_MOST]]
    return f"<h2>Found by {text(engine['engine'])} alone: {len(found)}</h2>{bullets(rows)}"
