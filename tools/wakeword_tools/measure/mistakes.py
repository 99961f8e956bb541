"""The worst mistakes of a model as audio, to listen to and to train against."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from wakeword.audio.audio_file import read_audio, write_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.files import new_folder, write_json
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.reading import ReadRecording
from wakeword_tools.measure.recordings import Scored
from wakeword_tools.measure.scores import ScoreSet, event_windows
from wakeword_tools.measure.subject import HOP_SAMPLES, Subject, SubjectScorer, first_end, look

FALSE_ACCEPTS = "false-accepts"
MISSED = "missed"
MAX_MISTAKES = 100
"""Number of mistakes of each sort that are saved, the worst ones."""

_BEFORE, _AFTER = 0.5, 0.25
"""Seconds of audio around the window of a false accept."""


@dataclass(frozen=True)
class Mistake:
    """A recording, or a place in one, that a model classified wrongly."""

    sort: str
    """``false-accepts`` or ``missed``."""
    group: str
    """Kind of the recording, in the plural."""
    file: str
    start: float
    """Start of the scored window, in seconds of the file, as ``wakeword scan`` reports it."""
    end: float
    score: float
    """Score of that window. For false accepts in background, the first window that reached the threshold."""
    peak: float
    """The highest score of the event, by which mistakes are ranked."""
    audio: str = ""
    """Path of the excerpt inside the folder."""


def find_mistakes(model: Subject, scored: Scored, scores: ScoreSet, threshold: float) -> list[Mistake]:
    """All mistakes at a threshold, the worst of each sort first."""
    window, first, scorer = look(model), first_end(model), SubjectScorer([model])

    def mistake(sort: str, kind: Kind, recording: ReadRecording, index: int, score: float, peak: float) -> Mistake:
        last = index * HOP_SAMPLES + first
        start, end = max(0, last - window) / SAMPLE_RATE, min(last / SAMPLE_RATE, recording.seconds)
        return Mistake(sort, kind.plural, recording.name, start, end, score, peak)

    accepted: list[Mistake] = []
    for kind, of_kind in ((Kind.NEGATIVE, scores.negatives), (Kind.NEAR_NEGATIVE, scores.near_negatives)):
        for recording, score in zip(scored.recordings[kind], of_kind.tolist(), strict=True):
            if score >= threshold:
                # The place in the clip was not kept: scoring the few wrong clips a second time is cheaper.
                index = int(np.argmax(scorer.score([read_audio(recording.path)])[0]))
                accepted.append(mistake(FALSE_ACCEPTS, kind, recording, index, score, score))
    for recording, stream in zip(scored.recordings[Kind.BACKGROUND], scores.streams, strict=True):
        for index in event_windows(stream, threshold):
            below = np.flatnonzero(stream[index:] < threshold)
            peak = float(stream[index : index + int(below[0]) if len(below) else None].max())
            accepted.append(mistake(FALSE_ACCEPTS, Kind.BACKGROUND, recording, index, float(stream[index]), peak))
    missed = [
        Mistake(MISSED, Kind.POSITIVE.plural, recording.name, 0.0, recording.seconds, score, score)
        for recording, score in zip(scored.recordings[Kind.POSITIVE], scores.positives.tolist(), strict=True)
        if score < threshold
    ]
    return sorted(accepted, key=lambda mistake: -mistake.peak) + sorted(missed, key=lambda mistake: mistake.peak)


def save_mistakes(folder: Path, mistakes: list[Mistake], *, most: int = MAX_MISTAKES) -> list[Mistake]:
    """Write the worst ``most`` mistakes of each sort into the new ``folder``: excerpts and ``index.json``.

    The folder appears when it is complete. Returns the saved mistakes. Raises ``ConfigError`` if the folder exists, and
    ``AudioFileError`` if a recording is no longer there.
    """
    chosen = [
        (number, mistake)
        for sort in (FALSE_ACCEPTS, MISSED)
        for number, mistake in enumerate([mistake for mistake in mistakes if mistake.sort == sort][:most], 1)
    ]
    saved: list[Mistake] = []
    with new_folder(folder, private=True) as target:
        for sort in (FALSE_ACCEPTS, MISSED):
            (target / sort).mkdir()
        by_file: dict[str, list[tuple[int, Mistake]]] = {}
        for number, mistake in chosen:
            by_file.setdefault(mistake.file, []).append((number, mistake))
        # By recording, so that a long one is decoded only once for all of its excerpts.
        for file, of_file in by_file.items():
            samples = read_audio(file)
            for number, mistake in of_file:
                audio = f"{mistake.sort}/{number:03}-{mistake.peak:.4f}-{Path(mistake.file).stem}.flac"
                first = max(0, round((mistake.start - _BEFORE) * SAMPLE_RATE)) if mistake.sort == FALSE_ACCEPTS else 0
                last = round((mistake.end + _AFTER) * SAMPLE_RATE)
                write_audio(target / audio, samples[first:last])
                saved.append(replace(mistake, audio=audio))
        saved.sort(key=lambda mistake: mistake.audio)
        write_json(target / "index.json", [asdict(mistake) for mistake in saved])
    return saved
