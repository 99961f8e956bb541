"""The detections in recordings, as work for one process or many: a pure function from a recording to its row."""

import dataclasses
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from wakeword.audio.detection import Detection
from wakeword.audio.sources import BlockSource, FileSource
from wakeword.base.errors import AudioError, AudioFormatError, naming
from wakeword.base.types import NO_SAMPLES, Samples
from wakeword.base.version import __version__
from wakeword.batch.inputs import Recording
from wakeword.batch.jobs.work import Report, Reported
from wakeword.engine import Detector
from wakeword.model.model import parse_model

_FIELDS = ("keyword", "score", "start", "end", "stage_one", "speaker")


@dataclass(frozen=True)
class Scanned:
    """What was found in one recording."""

    name: str
    seconds: float
    """Seconds of audio that were read."""
    cpu: float
    """Seconds of processor time."""
    detections: tuple[Detection, ...]
    """They hold no audio. With an ``error`` they are the detections in the part that could be read."""
    error: str | None = None
    """Why it could not be read, or not completely: in one line that names it."""


class ScanWork:
    """Finds the words of models in recordings: ``jobs.work.Work``. Rows are ``Scanned``.

    ``models``: the bytes of model files, which travel to the processes, as do the ``settings``, for ``Detector``: values
    that ``repr`` tells apart. ``detector`` is one of exactly this description, if there is one already, for work in this
    process.
    """

    def __init__(self, models: Sequence[bytes], detector: Detector | None = None, **settings: Any) -> None:
        self._models, self._detector, self._settings = list(models), detector, settings

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_detector": None}

    @property
    def digest(self) -> str:
        """SHA-256 of models, settings and the version of this package."""
        models = [hashlib.sha256(model).hexdigest() for model in self._models]
        return hashlib.sha256(repr((__version__, models, self._settings)).encode()).hexdigest()

    def begin(self, report: Report) -> Callable[[Recording], Scanned]:
        """Load the models. Raises ``ModelError`` and ``ConfigError`` as ``Detector`` does."""
        detector = self._detector or Detector([parse_model(model) for model in self._models], **self._settings)
        return partial(_scan, detector, report)

    def lost(self, item: Recording, reason: str) -> Scanned:
        """The row of a recording on which a process died."""
        return Scanned(item.name, 0.0, 0.0, (), f"{item.name}: {reason}")

    def is_final(self, row: Scanned) -> bool:
        """Whether all of it could be read."""
        return row.error is None

    def to_json(self, row: Scanned) -> dict[str, object]:
        """Every number keeps all digits, so that a resumed run gives the same rows as one that was not killed."""
        return {
            **{field.name: getattr(row, field.name) for field in dataclasses.fields(row)},
            "detections": [{name: getattr(detection, name) for name in _FIELDS} for detection in row.detections],
        }

    def from_json(self, content: Any) -> Scanned:
        """The row of ``to_json``."""
        found = tuple(Detection(audio=NO_SAMPLES, **each) for each in content["detections"])
        return Scanned(**{**content, "detections": found})


def _scan(detector: Detector, report: Report, recording: Recording) -> Scanned:
    started = time.process_time()
    reported = Reported(report, recording.size)
    detections: list[Detection] = []
    error = None
    seconds = 0.0

    def counted(file: FileSource) -> Iterator[Samples]:
        nonlocal seconds
        for block in file.blocks():
            seconds += len(block) / file.sample_rate
            reported.at(seconds, max(file.seconds, 1e-3))
            yield block

    try:
        with naming(recording.name, AudioFormatError):
            file = FileSource(recording.name)
            for detection in detector.run(BlockSource(file.sample_rate, counted(file))):
                detections.append(dataclasses.replace(detection, audio=NO_SAMPLES))
    except AudioError as problem:
        error = str(problem)
    reported.finish(seconds)
    return Scanned(recording.name, seconds, time.process_time() - started, tuple(detections), error)
