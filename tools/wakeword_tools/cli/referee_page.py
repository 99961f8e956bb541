"""The page of a comparison of engines: a table, the curves, and what only one of them finds, to be played."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wakeword_tools.page.charts import COLOURS, curves_of_thresholds
from wakeword_tools.page.markup import bullets, document, sound, text

_MOST = 20
"""Recordings of each engine that are played."""


def referee_page(content: Mapping[str, Any]) -> str:
    """The page as HTML, from the figures of the JSON; recordings that are no files here are named and not played."""
    engines = content["engines"]
    columns = (
        "engine",
        "found, % (95 %)",
        "against the first, points",
        "false accepts",
        "delay, 95 % below",
        "CPU ms a second",
    )
    chosen = [(one["false_accepts_per_hour"]["value"], one["recall"]) for one in engines]
    parts = [
        f"<h1>{text(content['word'])}</h1>",
        f"<p>Each engine at the threshold that keeps {content['fa_per_hour']:g} false accepts an hour in these "
        f"{content['hours']:.2f} h of background, on {content['positives']} recordings of the word "
        f"({speakers_in_words(content)}), each in a stream of its own room noise. Intervals draw speakers and minutes "
        "again and choose each threshold again.</p>",
        f"<table><tr>{''.join(f'<th>{name}</th>' for name in columns)}</tr>",
        *(_row(one, colour) for one, colour in zip(engines, _colours(engines), strict=True)),
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


def _colours(engines: Sequence[Mapping[str, Any]]) -> list[str]:
    return [COLOURS[number % len(COLOURS)] if len(engines) > 1 else "" for number in range(len(engines))]


def _row(engine: Mapping[str, Any], colour: str) -> str:
    return f'<tr><td style="color:{colour}">{text(engine["engine"])}</td>' + "".join(
        f"<td>{text(cell)}</td>" for cell in cells(engine)
    )


def _only(engine: Mapping[str, Any]) -> str:
    found = engine["only"]
    rows = [f"{sound(Path(name))} {text(Path(name).name)}" for name in found[:_MOST]]
    return f"<h2>Found by {text(engine['engine'])} alone: {len(found)}</h2>{bullets(rows)}"
