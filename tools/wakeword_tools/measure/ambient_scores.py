"""Ambient hours as background: the scores that a model gives to what `wakeword record --ambient` has kept."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import DataError
from wakeword.base.events import Line
from wakeword.base.logistic import score_of_logit
from wakeword.base.text import counted
from wakeword.base.types import Scores
from wakeword.format.verifier_card import unverified_score
from wakeword.model.model import Model
from wakeword.saving.ambient_segment import Segment, first_stage_id, segments_of
from wakeword.saving.kept_events import kept_events
from wakeword_tools.measure.reading import ReadRecording
from wakeword_tools.measure.score_work import ScoredFile

_AROUND = 1.0
"""Seconds around a wake: no window that reaches into them counts."""


@dataclass(frozen=True)
class AmbientHours:
    """What was kept for the first stage of a model."""

    files: Sequence[ScoredFile]
    """Each stretch without a gap, as a background recording."""
    wakes: int
    """Wakes that a person labelled as the word, and that are left out."""


def wakes_of(kept: Path, keyword: str) -> list[float]:
    """When a person said a word, according to the labels in a folder of kept events: seconds of the system's clock."""
    if not kept.is_dir():
        return []
    said = []
    for event in kept_events(kept, keyword):
        if event.is_word:
            with suppress(ValueError, OverflowError):  # no time
                said.append(datetime.fromisoformat(event.time).timestamp())
    return said


def ambient_hours(folder: Path, model: Model, wakes: Sequence[float], *, warn: Line) -> AmbientHours:
    """The hours in a folder that the first stage of ``model`` has heard, without the wakes.

    Damaged files, hours of other first stages and looks that lack what this version asks are lines to ``warn``. Raises
    ``DataError`` if nothing is left.
    """
    wanted, window = first_stage_id(model), model.card.features.samples_in(model.card.window)
    own, others = [], 0
    for segment in _segments(folder, warn):
        if segment.mark == wanted and segment.window == window:
            own.append(segment)
        else:
            others += segment.samples
    if others:
        hours = others / SAMPLE_RATE / 3600
        warn(f"{folder}: {hours:.2f} h of words with another first stage than {model.card.phrase!r} left out")
    if not own:
        raise DataError(
            f"{folder}: expected ambient hours of {model.card.phrase!r}, found none; record some: wakeword record "
            "--ambient 2h with --keyword or --model"
        )
    files, heard, lacking = [], [], 0
    for stretch in _stretches(own):
        scores, lacks = _scores(stretch, model)
        times = np.concatenate([one.clock for one in stretch])
        touched = [(times >= wake - _AROUND) & (times <= wake + window / SAMPLE_RATE + _AROUND) for wake in wakes]
        outside = ~np.any([np.zeros(len(times), bool), *touched], axis=0)
        heard += [wake for wake, some in zip(wakes, touched, strict=True) if some.any()]
        lacking += lacks
        seconds = sum(one.samples for one in stretch) / SAMPLE_RATE
        left_out = min(seconds, float((~outside).sum()) * stretch[0].step / SAMPLE_RATE)
        name = f"{stretch[0].piece}-{stretch[0].first}"
        digest = hashlib.sha256(name.encode() + scores.tobytes()).hexdigest()
        recording = ReadRecording(f"{folder}/{name}", seconds, digest, left_out)
        files.append(ScoredFile(recording, [[np.where(outside, scores, 0.0)]]))
    if lacking:
        warn(f"{counted(lacking, 'look')} lack what this version of the model asks; they count as its best score")
    return AmbientHours(files, len(set(heard)))


def _segments(folder: Path, warn: Line) -> Iterator[Segment]:
    for path in sorted(folder.glob("[!.]*.npz")):
        try:
            with np.load(path) as arrays:
                found = segments_of(arrays)
        except FileNotFoundError:  # its process has just put it into a larger file, or it was too old
            continue
        except Exception as error:  # numpy, zipfile and zlib raise many kinds of errors for a damaged file
            warn(f"skipped: {path}: expected ambient hours, got a damaged file ({type(error).__name__})")
            continue
        yield from found


def _stretches(segments: Iterable[Segment]) -> Iterator[list[Segment]]:
    """Segments that follow each other without a gap; what is there twice counts once."""
    stretch: list[Segment] = []
    for one in sorted(segments, key=lambda one: (one.piece, one.first, -len(one.logits))):
        if stretch and one.piece == stretch[-1].piece:
            after = stretch[-1].first + len(stretch[-1].logits)
            if one.first < after:
                continue
            if one.first == after:
                stretch.append(one)
                continue
        if stretch:
            yield stretch
        stretch = [one]
    if stretch:
        yield stretch


def _scores(stretch: Sequence[Segment], model: Model) -> tuple[Scores, int]:
    """The model's score of each window, ``(windows,)``, and how many looks lack what it asks."""
    stage, found, lacking = model.second_stage, [], 0
    for segment in stretch:
        for number, logit in enumerate(segment.logits.tolist()):
            look = segment.looks.get(number)
            if stage is None:
                found.append(score_of_logit(logit))
            elif look is None:
                found.append(unverified_score(logit, stage.card.gate))
            else:
                score, is_whole = stage.score_again(look)
                lacking += not is_whole
                found.append(score)
    return np.array(found), lacking
