"""The page of the comparison, every figure on it from the rows and from the intervals beside them."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wakeword_experiments.figures_report import (
    Row,
    distinct,
    markdown_table,
    mean_and_spread,
    plus_minus,
    select,
    write_results,
)
from wakeword_experiments.ten_words.effects import Arm, Effect, best_poolings, by_word, decide, effect, of_arm
from wakeword_experiments.ten_words.ten_words_evidence import DRAWS, Resampled
from wakeword_experiments.ten_words.ten_words_figure import forest
from wakeword_experiments.ten_words.ten_words_plan import BASELINE, INCUMBENT, METHODS, NO_ASCENT, POOLINGS, TUNING

NAME = "ten-words"
PROTOCOL = "ten-words-protocol.md"
_COUNTS = ("train ", "validation ", "test ")
"""Beginnings of the names of numbers of clips, which are the same for all runs of a word."""


def write_page(
    out: Path,
    rows: Sequence[Row],
    resampled: Resampled,
    *,
    settings: Mapping[str, Any],
    close: Mapping[str, Mapping[str, Sequence[str]]],
    command: str,
) -> None:
    """Write the page, its picture and its rows as ``ten-words`` into ``out``.

    ``rows``: those of ``run_grid`` with ``pooling``, of whole seeds. ``settings`` and ``close``, the close words by word
    and split, go into the record.
    """
    arms = best_poolings(rows)
    effects = _effects(rows, arms)
    intervals = {_pair(one): resampled.interval(one.better, one.worse) for one in effects}
    decision = decide(rows)
    clips = {word: _clips(select(rows, word=word)[0]) for word in distinct(rows, "word")}
    record = {
        **settings,
        "pooling of each method": {method: arm.pooling for method, arm in arms.items()},
        "decision": dataclasses.asdict(decision),
        "effects": [_recorded(one, intervals[_pair(one)]) for one in effects],
        "clips": clips,
        "close words": close,
    }
    body = [
        f"**{decision.reason}**",
        _introduction(rows, clips),
        "## Recall at equal false positives",
        "Thresholds at which 3 or 5 % of the test's negatives fire, other words and close words in equal numbers; means "
        "over words and seeds, ± the standard deviation of the words' means.",
        _recalls(rows),
        "## With thresholds from validation",
        "As they would be set in use; the rates are those of the test.",
        _set_on_validation(rows),
        "## Differences, with words as the unit",
        f"Recall at 3 % mixed, in points. *Over words*: Student's 95 % interval of the {len(clips)} words' means over "
        f"seeds. *Over all*: 95 % of {DRAWS} draws of words, of the test's speakers and voices, and of seeds. First each "
        "method with the pooling that its validation scores prefer, which is what the rule looks at; then by pooling.",
        _differences(effects, intervals),
        _untuned(rows, effects[0]),
        "## By word",
        "Recall at 3 % mixed, mean over seeds, each method with its pooling.",
        _by_word(rows, arms),
        "## The adversary",
        "The mean loss of the points as negatives in the epoch that was kept, before the ascent and after.",
        _health(rows),
    ]
    gains = [one for one in effects if one.worse == arms[BASELINE] and one.better in arms.values()]
    write_results(
        out,
        NAME,
        title="Ten words: what each method finds more than cross-entropy",
        command=command,
        settings=record,
        rows=[_short(row) for row in rows],
        body=[part for part in body if part],
        figure=forest(gains, {METHODS[one.better.method]: intervals[_pair(one)] for one in gains}),
    )


def _effects(rows: Sequence[Row], arms: Mapping[str, Arm]) -> list[Effect]:
    """All differences on the page, each once."""
    others = [method for method in METHODS if method != BASELINE]
    rivals = [method for method in others if method != INCUMBENT]
    pairs = [(arms[method], arms[BASELINE]) for method in [INCUMBENT, *rivals]]
    pairs += [(arms[INCUMBENT], arms[method]) for method in rivals]
    for pooling in POOLINGS:
        pairs += [(Arm(method, pooling), Arm(BASELINE, pooling)) for method in others]
        pairs += [(Arm(INCUMBENT, pooling), Arm(method, pooling)) for method in rivals]
    pairs += [(Arm(method, "mean"), Arm(method, "attention")) for method in METHODS]
    return [effect(rows, better, worse) for better, worse in dict.fromkeys(pairs)]


def _pair(one: Effect) -> tuple[Arm, Arm]:
    return one.better, one.worse


def _recorded(one: Effect, interval: tuple[float, float]) -> dict[str, Any]:
    return {
        "better": list(one.better),
        "worse": list(one.worse),
        "mean": round(one.mean, 4),
        "over words": [round(one.low, 4), round(one.high, 4)],
        "over all": [round(end, 4) for end in interval],
        "by word": {word: round(gain, 4) for word, gain in one.gains.items()},
    }


def _clips(row: Row) -> dict[str, int]:
    return {name: int(value) for name, value in row.items() if name.startswith(_COUNTS)}


def _short(row: Row) -> Row:
    """A row without what the settings hold."""
    return {
        name: round(value, 2) if isinstance(value, float) else value
        for name, value in row.items()
        if not name.startswith(_COUNTS)
    }


def _introduction(rows: Sequence[Row], clips: Mapping[str, Mapping[str, int]]) -> str:
    def span(name: str) -> str:
        numbers = [of_word[name] for of_word in clips.values()]
        return str(min(numbers)) if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"

    seeds = len(distinct(rows, "seed"))
    tuned = " and ".join(f'"{word}"' for word, _ in TUNING)
    return (
        f"Words: {', '.join(clips)}; {seeds} seed{'' if seeds == 1 else 's'}, {len(rows)} trainings. Each word has "
        f"{span('train positive')} recordings to train on and is tested on {span('test real')} of other speakers, on "
        f"{span('test generic')} recordings of other words and on {span('test close')} synthesised close words; no close "
        f"word and no synthetic voice is in training. Settings were chosen on the validation clips of {tuned}, with a seed "
        f"of their own. The [protocol]({PROTOCOL}) was settled before the first run, the rule for the default with it.\n\n"
        "Both sides of every difference are trained on the same windows: of the word and of "
        f"{span('train negative')} recordings of other words, all of Speech Commands and mixed with the same noise. The "
        "people of the test are of that collection too, so no figure here is of another one; for the included models there "
        "are some of [other collections](collections.md)."
    )


def _arms() -> list[Arm]:
    return [Arm(method, pooling) for method in METHODS for pooling in POOLINGS]


def _over_words(rows: Sequence[Row], arm: Arm, field: str) -> str:
    return plus_minus(by_word(rows, arm, field).values())


def _recalls(rows: Sequence[Row]) -> str:
    columns = {
        "recall@3": "3 % mixed",
        "recall@5": "5 % mixed",
        "recall@3 generic": "3 % other words",
        "recall@3 close": "3 % close words",
        "validation": "validation",
        "seconds": "CPU seconds a run",
    }
    lines = [[str(arm), *(_over_words(rows, arm, field) for field in columns)] for arm in _arms()]
    return markdown_table(["", *columns.values()], lines)


def _set_on_validation(rows: Sequence[Row]) -> str:
    lines = []
    for arm in _arms():
        cells = []
        for rate in ("3", "5"):
            close, generic = (
                mean_and_spread(row[f"set fpr@{rate} {group}"] for row in of_arm(rows, arm))[0]
                for group in ("close", "generic")
            )
            recall = _over_words(rows, arm, f"set recall@{rate}")
            cells += [recall, f"{(close + generic) / 2:.1f}", f"{generic:.1f} / {close:.1f}"]
        lines.append([str(arm), *cells])
    names = [
        name
        for rate in ("3", "5")
        for name in (f"recall, {rate} % on validation", "mixed FPR", "FPR, other / close words")
    ]
    return markdown_table(["", *names], lines)


def _differences(effects: Sequence[Effect], intervals: Mapping[tuple[Arm, Arm], tuple[float, float]]) -> str:
    lines = []
    for one in effects:
        low, high = intervals[_pair(one)]
        lines.append(
            [
                f"{one.better} over {one.worse}",
                f"{one.mean:+.1f}",
                f"{one.low:.1f} to {one.high:.1f}",
                f"{low:.1f} to {high:.1f}",
                f"{one.words_ahead} of {len(one.gains)}",
            ]
        )
    return markdown_table(["", "points", "over words", "over all", "words ahead"], lines)


def _untuned(rows: Sequence[Row], of_incumbent: Effect) -> str:
    """The gain on the words on which no setting was chosen."""
    tuned = [word for word, _ in TUNING]
    others = [row for row in rows if row["word"] not in tuned]
    if len(distinct(others, "word")) < 2:
        return ""
    rest = effect(others, of_incumbent.better, of_incumbent.worse)
    return (
        f"{rest.better} over {rest.worse} without {' and '.join(tuned)}, on whose validation clips settings were chosen: "
        f"{rest.mean:+.1f} ({rest.low:.1f} to {rest.high:.1f})."
    )


def _by_word(rows: Sequence[Row], arms: Mapping[str, Arm]) -> str:
    words = distinct(rows, "word")
    lines = [[str(arm), *(f"{figure:.1f}" for figure in by_word(rows, arm).values())] for arm in arms.values()]
    return markdown_table(["", *words], lines)


def _health(rows: Sequence[Row]) -> str:
    names = ("loss_before", "loss_after", "inside", "outside")
    lines = [
        [str(arm), *(plus_minus((row[f"adversary {name}"] for row in of_arm(rows, arm)), digits=2) for name in names)]
        for arm in _arms()
        if arm.method in (NO_ASCENT, "drocc-oe", INCUMBENT)
    ]
    header = ["", "before", "after", "share pushed out to the radius", "share pulled in"]
    return markdown_table(header, lines)
