"""The figures of one word: people of the test split, speech by cross-validation, and what each part of the verdict adds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wakeword.audio.audio_file import pcm_blocks, read_audio
from wakeword.base.errors import CalibrationError
from wakeword.base.events import Line
from wakeword.base.poisson import poisson_rate
from wakeword.base.types import Array, Scores
from wakeword.model.model import Model, read_model
from wakeword_experiments.grouped import grouped_interval
from wakeword_experiments.two_stages.conditions import Condition, from_quiet_microphone
from wakeword_experiments.two_stages.measured_rooms import Room, in_rooms
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.intervals import clopper_pearson
from wakeword_tools.measure.latency import latency, spoken_word
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.rates import choose_fa_per_hour
from wakeword_tools.measure.reading import HashedBlocks, ReadRecording
from wakeword_tools.measure.scores import ScoreSet, events_at, stream_scores
from wakeword_train.data.clips import Clip
from wakeword_train.second_stage.evidence import Evidence
from wakeword_train.second_stage.fusion_fit import fit_fusion, fusion_groups
from wakeword_train.second_stage.result import HeldOut, SecondStageResult

SNR = 10.0
"""Ratio of the word to the noise in the noisy condition, dB."""
RATE, CONFIDENCE = 0.5, 0.8
"""The rate of false accepts an hour at which parts are compared, and the confidence of the point's rule."""

Score = Callable[[Array], Scores]
"""A recording, ``(samples,)`` at 16 kHz -> one score for each hop, ``(windows,)``."""


@dataclass(frozen=True)
class TestClips:
    """The clips of the test split."""

    people: Sequence[Clip]
    voices: Sequence[Clip]
    """Synthetic positives."""
    others: Sequence[Clip]
    close: Sequence[Clip]
    noise: Sequence[Path]

    @property
    def groups(self) -> dict[str, list[str]]:
        """What clips of a kind share: their speaker, or the text of words that are not the keyword."""
        return {
            "people": [clip.speaker for clip in self.people],
            "voices": [clip.speaker for clip in self.voices],
            "others": [clip.word for clip in self.others],
            "close": [clip.word for clip in self.close],
        }

    @classmethod
    def of(cls, clips: Iterable[Clip]) -> "TestClips":
        """Those among all clips of a run."""
        own = [clip for clip in clips if clip.split is Split.TEST]

        def kind(wanted: Kind, synthetic: bool | None = None) -> list[Clip]:
            return [clip for clip in own if clip.kind is wanted and synthetic in (None, clip.synthetic)]

        noise = [clip.path for clip in kind(Kind.NOISE)]
        return cls(
            kind(Kind.POSITIVE, False), kind(Kind.POSITIVE, True), kind(Kind.NEGATIVE), kind(Kind.NEAR_NEGATIVE), noise
        )


def measure_word(path: Path, result: SecondStageResult, clips: Iterable[Clip], report: Line) -> dict[str, Any]:
    """The record of one word's model of two stages and of its first stage alone."""
    both = read_model(path)
    test = TestClips.of(clips)
    word = both.card.phrase
    record: dict[str, Any] = {
        "keyword": word,
        "people": {"clips": len(test.people), "speakers": len({clip.speaker for clip in test.people})},
        "held_out": result.description,
        "candidates_per_hour": None
        if result.card.candidates_per_hour is None
        else result.card.candidates_per_hour.value,
        "fusion": vars(result.card.fusion),
        "gate": result.card.gate,
        "stages": {},
        "parts": compare_parts(result),
    }
    for name, model in (("both", both), ("first", both.stage_one())):
        report(f"{word}: {name}")
        scores = scores_by_group(partial(stream_scores, model), test, report)
        evidence = result.scores() if name == "both" else result.stage_one_scores()
        default = model.card.point()
        points = {point.name: point for point in model.card.operating_points}
        chosen = {"fpr=0.03": points.get("fpr=0.03"), "default": default}
        record["stages"][name] = {
            "points": {
                label: {"name": point.name, **rates_at(point.threshold, scores, evidence, test.groups)}
                for label, point in chosen.items()
                if point is not None
            },
            "cross_validated": cross_validated(evidence, default.target if default.kind == "fa_per_hour" else RATE),
            "delay": _delay(model, test.people, default.threshold),
        }
    return record


def scores_by_group(score: Score, test: TestClips, report: Line) -> dict[str, dict[str, Scores]]:
    """Group of test clips -> condition -> the highest score of each of its clips."""
    return {
        "people": people_scores(score, test, report),
        "voices": {"clean": highest_scores(score, test.voices, None)},
        "others": {"clean": highest_scores(score, test.others, None)},
        "close": {"clean": highest_scores(score, test.close, None)},
    }


def people_scores(score: Score, test: TestClips, report: Line) -> dict[str, Scores]:
    """The highest score of each recorded positive as it is, and with noise."""
    mixer = NoiseMixer(test.noise, warn=report)
    return {"clean": highest_scores(score, test.people, None), "noisy": highest_scores(score, test.people, mixer)}


def scores_of_people(model: Model, test: TestClips, rooms: Sequence[Room], report: Line) -> dict[str, Scores]:
    """The highest score of each recording as it is, in noise, quiet and, where there are some, in rooms."""
    people = people_scores(partial(stream_scores, model), test, report)
    faint = from_quiet_microphone(read_audio(clip.path) for clip in test.people)
    people["quiet"] = np.array([float(stream_scores(model, one).max()) for one in faint])
    if rooms:
        said = [Condition("", clip.speaker, read_audio(clip.path)) for clip in test.people]
        people["room"] = np.array([float(stream_scores(model, one.samples).max()) for one in in_rooms(said, rooms)])
    return people


def recall_of(model: Model, test: TestClips, threshold: float, report: Line) -> dict[str, Any]:
    """The share of recorded positives that reach a threshold, with the interval, in both conditions."""
    found = people_scores(partial(stream_scores, model), test, report)
    return {condition: share(scores >= threshold, test.groups["people"]) for condition, scores in found.items()}


def highest_scores(score: Score, clips: Sequence[Clip], mixer: NoiseMixer | None) -> Scores:
    """The highest score of each clip, ``(n,)``; with a mixer, 10 dB above the noise that it mixes in."""
    found = []
    for clip in clips:
        samples = read_audio(clip.path)
        if mixer is not None:
            samples = mixer.mix(samples, recording_of(clip.path), snr=SNR)
        found.append(float(score(samples).max()))
    return np.array(found)


def recording_of(path: Path) -> ReadRecording:
    """A file as it was read, with the digest by which its noise is drawn."""
    hashed = HashedBlocks(pcm_blocks(path))
    for _ in hashed:
        pass
    return hashed.recording(str(path))


def rates_at(
    threshold: float,
    scores: Mapping[str, Mapping[str, Scores]],
    evidence: ScoreSet,
    groups: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """The rates at a threshold: of test clips, with the ``groups`` of ``TestClips``, and events in held-out speech."""
    rates = {
        kind: {condition: share(values >= threshold, groups[kind]) for condition, values in some.items() if len(values)}
        for kind, some in scores.items()
    }
    events = events_at(evidence.streams, threshold)
    return {
        "threshold": threshold,
        **rates,
        "events": events,
        "hours": evidence.hours,
        "per_hour": [events / evidence.hours, *poisson_rate(events, evidence.hours)] if evidence.hours else None,
    }


def share(found: NDArray[np.bool_], groups: Sequence[str] | None = None) -> dict[str, Any]:
    """A share with its exact interval; with ``groups``, the speaker or text of each clip, also the interval by these."""
    count = int(found.sum())
    record: dict[str, Any] = {
        "found": count,
        "of": len(found),
        "rate": count / len(found),
        "interval": clopper_pearson(count, len(found)),
    }
    if groups is not None:
        record["by_group"] = {"groups": len({*groups}), "interval": grouped_interval(found, groups)}
    return record


def interval_of(shared: Mapping[str, Any]) -> tuple[float, float]:
    """The interval of a recorded ``share`` by speaker or text, or by clip where the record lacks that."""
    low, high = shared.get("by_group", shared)["interval"]
    return low, high


def cross_validated(evidence: ScoreSet, rate: float) -> dict[str, Any]:
    """Events in held-out speech at thresholds that were chosen on other speech by the rule of a point of that rate.

    Each third of the recordings in turn: the threshold comes from the other two.
    """
    streams = list(evidence.streams)
    events, hours, thresholds = 0, 0.0, []
    lengths = np.array([len(stream) for stream in streams], float)
    lengths *= evidence.hours / max(1.0, lengths.sum())
    for fold in range(3):
        own = np.arange(len(streams)) % 3 == fold
        rest = ScoreSet(
            positives=evidence.positives,
            negatives=evidence.negatives,
            streams=[stream for stream, mine in zip(streams, own, strict=True) if not mine],
            hours=float(lengths[~own].sum()),
            least_threshold=evidence.least_threshold,
        )
        threshold = _threshold(rest, rate)
        thresholds.append(threshold)
        events += events_at([stream for stream, mine in zip(streams, own, strict=True) if mine], threshold)
        hours += float(lengths[own].sum())
    return {
        "events": events,
        "hours": hours,
        "per_hour": [events / hours, *poisson_rate(events, hours)] if hours else None,
        "thresholds": thresholds,
    }


def _threshold(scores: ScoreSet, rate: float) -> float:
    try:
        return choose_fa_per_hour(scores, rate, confidence=CONFIDENCE).threshold
    except CalibrationError:
        return choose_fa_per_hour(scores, rate).threshold


def compare_parts(result: SecondStageResult) -> dict[str, Any]:
    """Validation recall at half a false accept an hour with each part of the verdict, fusion fitted anew for each."""
    held_out, gate = result.held_out, result.card.gate
    found: dict[str, Any] = {}
    for name, embedding, phonemes in (
        ("first stage", False, False),
        ("first stage + embedding", True, False),
        ("first stage + phonemes", False, True),
        ("both", True, True),
    ):
        if phonemes and not result.card.phonemes:
            continue
        if name == "first stage":
            scores = result.stage_one_scores()
        else:
            parts = HeldOut(
                {kind: [_without(one, embedding) for one in some] for kind, some in held_out.evidence.items()},
                held_out.clips,
                held_out.hours,
            )
            fusion = fit_fusion(fusion_groups(parts), gate, phonemes=phonemes)
            scores = parts.score_set(lambda one, fusion=fusion: one.scores(gate, fusion))  # type: ignore[misc]
        threshold = choose_fa_per_hour(scores, RATE).threshold
        found[name] = {
            "threshold": threshold,
            "recall": share(scores.positives >= threshold),
            "synthetic": share(scores.synthetic_positives >= threshold) if len(scores.synthetic_positives) else None,
            "close": share(scores.near_negatives >= threshold) if len(scores.near_negatives) else None,
        }
    return found


def _without(one: Evidence, embedding: bool) -> Evidence:
    """The evidence without the head's verdict, if that is to be left out."""
    if embedding:
        return one
    return Evidence(one.logits, one.best, np.where(np.isnan(one.embedding), np.nan, 0.0), one.phonemes)


def _delay(model: Model, people: Sequence[Clip], threshold: float) -> dict[str, Any] | None:
    words = [spoken_word(model, read_audio(clip.path)) for clip in people]
    found = latency(model, words, threshold)
    return None if found is None else {"found": found.found, "median": found.median, "p95": found.percentile_95}
