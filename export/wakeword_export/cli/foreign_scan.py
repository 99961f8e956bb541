"""What files of other engines find in recordings, for ``wakeword scan``."""

from collections.abc import Iterator, Sequence

import numpy as np

from wakeword.audio.detection import Detection
from wakeword.audio.pcm import SAMPLE_RATE, PcmStream
from wakeword.audio.sources import AudioSource
from wakeword.base.errors import AudioError, ConfigError
from wakeword.base.types import Array
from wakeword.batch.scanning import ScanWork
from wakeword.stream.trigger import Trigger
from wakeword_tools.contenders.foreign import ForeignModel
from wakeword_tools.measure.subject import HOP_SAMPLES, SubjectScorer, look

_NO_AUDIO: Array = np.zeros(0, np.float32)


class ForeignScan(ScanWork):
    """Runs the files' own engines; an event fires once, as with models of this project."""

    def __init__(self, models: Sequence[ForeignModel], *, threshold: float | None, point: str | None) -> None:
        """``threshold``: by default each file's cutoff, the only ``point``. ``ConfigError`` for another.

        So it is for two files of one phrase, in any case.
        """
        names = [model.card.phrase for model in models]
        if len({name.casefold() for name in names}) != len(names):
            raise ConfigError(f"expected one or more models with different keywords, got {names}")
        super().__init__([model.digest.encode() for model in models], threshold=threshold, point=point)
        self._foreign = list(models)
        self._thresholds = [model.card.point(point).threshold if threshold is None else threshold for model in models]

    def opened(self) -> "ForeignListener":
        """See ``ScanWork``."""
        return ForeignListener(self._foreign, self._thresholds)


class ForeignListener:
    """Files of other engines as ``batch.scanning.Listens``."""

    def __init__(self, models: Sequence[ForeignModel], thresholds: Sequence[float]) -> None:
        self._models, self._thresholds = models, thresholds
        self._scorer = SubjectScorer(models)

    def run(self, source: AudioSource) -> Iterator[Detection]:
        """The detections in a source, by their ends. They hold no audio.

        Raises ``AudioError`` after them if the source could not be read to its end.
        """
        pcm, length = PcmStream(source.sample_rate), 0
        failures: list[AudioError] = []

        def converted() -> Iterator[Array]:
            nonlocal length
            try:
                for block in source.blocks():
                    yield (samples := pcm.push(block))
                    length += len(samples)
            except AudioError as error:
                failures.append(error)
            yield (rest := pcm.flush())
            length += len(rest)

        found = []
        for model, threshold, scores in zip(
            self._models, self._thresholds, self._scorer.score(converted()), strict=True
        ):
            trigger = Trigger(threshold)
            for hop, score in enumerate(scores.tolist(), 1):
                fired = trigger.push(score)
                if fired is not None:
                    # The engines report some words in the silence after a recording.
                    end = min(hop * HOP_SAMPLES, length)
                    start = max(0, end - look(model)) / SAMPLE_RATE
                    found.append(Detection(model.card.phrase, fired, start, end / SAMPLE_RATE, _NO_AUDIO))
        yield from sorted(found, key=lambda one: one.end)
        if failures:
            raise failures[0]
