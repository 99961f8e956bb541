"""Engines on the benchmark's file of each word: the words that they miss at 0.1 false alarms an hour."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.audio.audio_listing import audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import DataError
from wakeword.base.events import Line
from wakeword.base.files import write_json, write_whole
from wakeword.base.types import Scores
from wakeword.model.installed import model_file
from wakeword_experiments.figures_report import kept_rows, made_by
from wakeword_experiments.picovoice.mixture import AFTER, GAP, Mixture, SpokenPart, noise_files, utterances_of
from wakeword_experiments.picovoice.picovoice_page import FROM_TEXT, TRAINED, picovoice_page
from wakeword_tools.contenders.foreign import ForeignModel
from wakeword_tools.measure.comparison import Resample, resampled
from wakeword_tools.measure.scores import ScoreSet, events_at, threshold_allowing_events
from wakeword_tools.measure.subject import HOP_SAMPLES, Subject, SubjectScorer, first_end, read_subject
from wakeword_tools.measure.thresholds import just_above, threshold_allowing

RATES = (0.1, 0.5, 1.0)
"""False alarms an hour at which words are counted that are missed; the benchmark's is the first."""
_MAX_PER_HOUR = 2.0
"""False alarms an hour at which a curve ends."""
_RESAMPLES = 500


@dataclass(frozen=True)
class Material:
    """What the file is made of."""

    benchmark: Path
    """A checkout of the benchmark, or a folder with one of recordings for each word."""
    speech: Sequence[Path]
    noise: Sequence[Path]
    hours: float

    def recordings(self, word: str) -> list[Path]:
        """The recordings of a word. ``DataError`` if there are none."""
        names = {word, word.replace(" ", "-"), word.replace(" ", "_")}
        places = [place / name for place in (self.benchmark / "audio", self.benchmark) for name in sorted(names)]
        found = [path for place in places if place.is_dir() for path in audio_files(place)]
        if not found:
            raise DataError(f"{self.benchmark}: expected recordings of {word!r} in audio/{word}, found none")
        return found


def run_picovoice(engines: Sequence[str], material: Material, out: Path, *, command: str, report: Line) -> None:
    """Measure the engines, each given as a name or a file and on its own word, and write record and page.

    Words of an earlier record there stay in it. Raises as ``read_subject`` does, and ``DataError`` for missing material.
    """
    by_word: dict[str, dict[str, Subject]] = {}
    for engine in engines:
        subject = read_subject(model_file(engine))
        by_word.setdefault(subject.card.phrase.casefold(), {})[engine] = subject
    figures, utterances = out / "picovoice.json", utterances_of(material.speech)
    for word, subjects in by_word.items():
        measured = measure_word(word, subjects, material, utterances, report)
        known = kept_rows(figures, "words")
        record = {
            **made_by(command),
            "words": sorted([*(one for one in known if one["word"] != word), measured], key=lambda one: one["word"]),
        }
        write_json(figures, record)
        write_whole(figures.with_suffix(".md"), picovoice_page(record, figures=figures.name).encode())


def measure_word(
    word: str, subjects: Mapping[str, Subject], material: Material, utterances: Sequence[SpokenPart], report: Line
) -> dict[str, Any]:
    """All engines of a word on its file: the words missed at ``RATES`` with their 95 % intervals, and the curve."""
    # The benchmark means to leave these out too, but compares with transcripts in capitals.
    speech = [one for one in utterances if not one.told.says(word)]
    mixture = Mixture(material.recordings(word), speech, noise_files(material.noise), hours=material.hours)
    report(f"{word}: {mixture.hours:.2f} h, {mixture.hours_heard:.2f} h of them speech, {len(mixture.words)} words")
    streams = SubjectScorer(list(subjects.values())).score(mixture.blocks())
    sets = [score_set(subject, stream, mixture) for subject, stream in zip(subjects.values(), streams, strict=True)]
    resamples = resampled(sets, resamples=_RESAMPLES)
    drawn = np.array([[[_missed_in(one, rate) for one in draw] for rate in RATES] for draw in resamples])
    found = []
    for place, (engine, subject) in enumerate(subjects.items()):
        missed = {
            f"{rate:g}": [missed_of(sets[place], rate), *np.percentile(drawn[:, row, place], [2.5, 97.5]).tolist()]
            for row, rate in enumerate(RATES)
        }
        found.append({"engine": _name(engine, subject), "missed": missed, "curve": curve_of(sets[place])})
        report(f"{engine}: {100 * missed['0.1'][0]:.1f} % missed at 0.1 an hour")
    return {
        "word": word,
        "recordings": len(mixture.words),
        "hours": mixture.hours,
        "hours_heard": mixture.hours_heard,
        "utterances": len(speech),
        "left_out": len(utterances) - len(speech),
        "speech": [folder.name for folder in material.speech],
        "noise": [folder.name for folder in material.noise],
        "engines": found,
    }


def curve_of(scores: ScoreSet) -> list[tuple[float, float]]:
    """False alarms an hour and the share of words found, at ever lower thresholds."""
    events = int(_MAX_PER_HOUR * scores.hours)
    allowed = {*range(min(events, 10) + 1), *np.geomspace(10, max(10, events), 12).astype(int).tolist()}
    points: dict[float, float] = {}
    for count in sorted(one for one in allowed if one <= events):
        lowest = max(threshold_allowing_events(scores.streams, count), scores.least_threshold, just_above(0.0))
        points[events_at(scores.streams, lowest) / scores.hours] = float(np.mean(scores.positives >= lowest))
    return sorted(points.items())


def _name(engine: str, subject: Subject) -> str:
    if isinstance(subject, ForeignModel):
        return f"{subject.engine.distribution} {subject.engine.version}"
    verifier = subject.card.verifier
    if verifier is not None and verifier.by_phonemes_alone:
        return FROM_TEXT
    recorded = subject.card.training.get("data", {}).get("positive", {})
    alone = recorded and recorded["clips"] == recorded["synthetic"]
    return TRAINED if alone else f"wakeword, {Path(engine).stem}"


def score_set(subject: Subject, stream: Scores, mixture: Mixture) -> ScoreSet:
    """The best score of each word, until half a second after its end, and the scores ``(windows,)`` of all the rest."""
    ends = (np.arange(len(stream)) * HOP_SAMPLES + first_end(subject)) / SAMPLE_RATE
    rest, best = stream.copy(), []
    for start, end in mixture.words:
        first, last, again = np.searchsorted(ends, [start, end + AFTER, end + GAP], side="right").tolist()
        best.append(stream[first:last].max(initial=0.0))
        rest[first:again] = 0.0
    return ScoreSet(np.array(best), np.zeros(0), streams=[rest], hours=mixture.hours)


def missed_of(scores: ScoreSet, rate: float) -> float:
    """The share of words missed at a rate of false alarms an hour, between two numbers of events in proportion."""
    return _between(
        scores.positives, rate * scores.hours, lambda allowed: threshold_allowing_events(scores.streams, allowed)
    )


def _missed_in(drawn: Resample, rate: float) -> float:
    return _between(drawn.positives, rate * drawn.hours, lambda allowed: threshold_allowing(drawn.peaks, allowed))


def _between(positives: Scores, events: float, threshold: Callable[[int], float]) -> float:
    fewer = int(events + 1e-9)
    low, high = (float(np.mean(positives < max(threshold(allowed), just_above(0.0)))) for allowed in (fewer, fewer + 1))
    return low + (events - fewer) * (high - low)
