"""False accepts of a model of two stages in the speech that its training held out, with noise mixed in."""

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from wakeword.base.poisson import poisson_rate
from wakeword.base.types import Array
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.reading import ReadRecording
from wakeword_tools.measure.scores import events_at
from wakeword_train.second_stage.build import SecondStageTraining
from wakeword_train.second_stage.evidence import Evidence, candidate_runs, readers_of, window_logits
from wakeword_train.second_stage.result import SecondStageResult

RATIOS = (20.0, 10.0)
"""Ratios of the mean level of a recording of speech, pauses included, to that of the noise, dB."""


def measure_noisy_speech(
    training: SecondStageTraining, result: SecondStageResult, mixer: NoiseMixer, threshold: float
) -> dict[str, Any]:
    """Ratio -> events at ``threshold`` in the held-out recordings of which there is audio, and how often the second stage
    begins to look. Each recording is in one noise, and judged by a first stage and a head that were not trained on it."""
    rows = _rows(training)
    return {
        f"{ratio:g}": _counted(training, result, rows, threshold, partial(_mixed, mixer, snr=ratio)) for ratio in RATIOS
    }


def _mixed(mixer: NoiseMixer, samples: Array, *, snr: float) -> Array:
    recording = ReadRecording("", 0.0, hashlib.sha256(samples.tobytes()).hexdigest())
    return mixer.mix(samples, recording, snr=snr, speech=samples)


def _counted(
    training: SecondStageTraining,
    result: SecondStageResult,
    rows: Sequence[int],
    threshold: float,
    change: Callable[[Array], Array],
) -> dict[str, Any]:
    card = result.card
    # Phonemes are asked for wherever the running engine would, which may be elsewhere than in training.
    found = evidence_of(training, result, rows, change, probe=-math.inf)
    hours = training.speech.hours(rows)
    events = events_at([one.scores(card.gate, card.fusion) for one in found], threshold)
    looks = sum(candidate_runs(one.best, card.gate) for one in found)
    return {
        "events": events,
        "hours": hours,
        "per_hour": [events / hours, *poisson_rate(events, hours)] if hours else None,
        "candidates_per_hour": looks / hours if hours else None,
    }


def evidence_of(
    training: SecondStageTraining,
    result: SecondStageResult,
    rows: Iterable[int],
    change: Callable[[Array], Array],
    *,
    probe: float,
) -> list[Evidence]:
    """What both stages say of the held-out recordings ``rows`` after ``change``; ``probe`` as for ``EvidenceReader``."""
    readers = readers_of(result.card, result.fold_heads, training.model.card.window, probe=probe)
    found = []
    for row in rows:
        clip = training.speech.clips[row]
        samples = change(training.speech.samples(row))
        judge = training.judge(clip)
        assert judge is not None  # or it would not be held out
        found.append(readers[training.fold(clip)].read(samples, window_logits(judge, samples)))
    return found


def _rows(training: SecondStageTraining) -> list[int]:
    return [row for row in training.held_out().get(Kind.BACKGROUND, []) if not training.speech.clips[row].is_packed]
