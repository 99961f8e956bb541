"""The work of ``wakeword compare``: models and engines of others, and recordings, to one table, a verdict and JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from wakeword.base.errors import ConfigError
from wakeword.base.text import printable
from wakeword.cli.console import note
from wakeword.cli.tables import console, table
from wakeword.model.installed import model_file
from wakeword_tools.cli.evaluate_work import warn_of_few_hours, warn_of_seen_recordings
from wakeword_tools.cli.measure_options import CompareOptions
from wakeword_tools.cli.scoring import give_results, scoring
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.comparison import Standing, judge, only_one_finds, speakers_named
from wakeword_tools.measure.paired import PairedDifference
from wakeword_tools.measure.recordings import Scored
from wakeword_tools.measure.subject import one_word, read_subject


def compare(options: CompareOptions) -> None:
    """Measure all models at the same false accepts an hour; print the table and the verdict, and write the report.

    Raises ``ConfigError`` for an engine that is not installed and for models of different words,
    ``CalibrationError`` for too few hours, ``ModelError`` and ``DataError`` for files that cannot be read or used.
    """
    engines = options.models
    if len(set(engines)) != len(engines):
        raise ConfigError("expected different engines, got one of them twice")
    files = [model_file(name) for name in engines]
    models = [read_subject(file) for file in files]
    word, rate = one_word(models), options.fa_per_hour
    used = models if options.verify else [model.stage_one() for model in models]
    (scored,) = scoring(options, files, used, verify=options.verify, delays=True)
    warn_of_seen_recordings(dict(zip(engines, used, strict=True)), scored)
    if scored.sets[0].only_synthetic:
        note("warning: all positives are synthetic; with people the answer can be another")
    standings = judge(used, scored, rate)
    warn_of_few_hours(scored.sets[0].hours, rate)
    judged = [_Judged(*row) for row in zip(engines, standings, only_one_finds(standings), strict=True)]
    give_results(options, _content(word, judged, scored, rate), lambda: _print(word, scored, judged, rate))


class _Judged(NamedTuple):
    """An engine by the name it was given, and the places of the words that no other one finds."""

    name: str
    standing: Standing
    only: list[int]


def _content(word: str, judged: Sequence[_Judged], scored: Scored, rate: float) -> dict[str, object]:
    """The figures as JSON: the same for any number of processes."""
    positives, background = scored.recordings[Kind.POSITIVE], scored.recordings[Kind.BACKGROUND]
    engines = []
    for name, standing, only in judged:
        row = {"engine": name, **asdict(standing), "only": [positives[place].name for place in only]}
        del row["found"]
        engines.append(row)
    return {
        "word": word,
        "fa_per_hour": rate,
        "hours": scored.sets[0].hours,
        "left_out_seconds": sum(recording.left_out for recording in background),
        "positives": len(positives),
        "speakers": speakers_named(positives),
        "fingerprint": scored.fingerprint,
        "engines": engines,
    }


def _print(word: str, scored: Scored, judged: Sequence[_Judged], rate: float) -> None:
    screen, count, at = console(), speakers_named(scored.recordings[Kind.POSITIVE]), f"{rate:g} false accepts an hour"
    speakers = "no speakers named: intervals by recording, too narrow" if count is None else f"{count} speakers"
    screen.print(printable(f"'{word}': {scored.description}, {speakers}"))
    columns = ("found, % (95 %)", "- the first", "false accepts", "delay, 95 % below", "alone")
    made = table(f"all at {at}; * where the interval excludes zero", "", *columns)
    for engine in judged:
        made.add_row(_label(engine.name), *_cells(engine))
    screen.print(made)
    for name, standing, _ in judged:
        if standing.difference is not None:
            screen.print(_verdict((judged[0].name, name), standing.difference, at), soft_wrap=True)


def _label(engine: str) -> str:
    """The name as it was given, of a path only the file's."""
    return printable(Path(engine).name)


def _cells(judged: _Judged) -> list[str]:
    """The figures of an engine, in words: recall, difference, false accepts, delay, words that no other one finds."""
    standing = judged.standing
    change, delay, fired = standing.difference, standing.delay, standing.false_accepts_per_hour
    return [
        _percent(standing.recall, standing.low, standing.high, ""),
        "" if change is None else _percent(change.second - change.first, change.low, change.high, "+"),
        f"{fired.count}, {fired.value:.2f} an hour",
        "" if delay is None else f"{delay.median:.2f} s, {delay.percentile_95:.2f} s",
        str(len(judged.only)),
    ]


def _percent(value: float, low: float, high: float, sign: str) -> str:
    """With its interval; a difference, which has a sign, is marked where its interval excludes zero."""
    mark = " *" if sign and (low > 0 or high < 0) else ""
    return f"{100 * value:{sign}.1f} ({100 * low:{sign}.1f} to {100 * high:{sign}.1f}){mark}"


def _verdict(names: tuple[str, str], change: PairedDifference, rate: str) -> str:
    """Which of two finds more at the same ``rate``, in one line."""
    first, other = map(_label, names)
    if change.low <= 0 <= change.high:
        return f"No difference between {first} and {other} is clear at {rate}: more recordings may show one."
    better, worse = (first, other) if change.high < 0 else (other, first)
    return f"{better} finds more than {worse} at {rate}."
