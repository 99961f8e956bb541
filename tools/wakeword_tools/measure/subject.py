"""What is measured: a model of this project, or a file of another engine. All figures need a few facts of either."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wakeword.audio.features import FeatureConfig
from wakeword.audio.pcm import SAMPLE_RATE, int16_of
from wakeword.base.errors import ConfigError, ModelError, naming
from wakeword.base.text import printable
from wakeword.base.types import Array, Scores
from wakeword.format.card import DEFAULT_HOP
from wakeword.model.model import Model, read_model, read_model_bytes
from wakeword_tools.contenders.foreign import ForeignCard, ForeignModel, parse_foreign
from wakeword_tools.measure.scores import RecordingScorer

Subject = Model | ForeignModel
SubjectData = bytes | ForeignModel
"""From which another process loads a subject."""
HOP_SAMPLES = DEFAULT_HOP * FeatureConfig().hop_length
"""Samples between two scores. Other engines score more often: the best score of a hop loses no peak, and events are counted
on the same grid for all."""
_LOOK = 2 * SAMPLE_RATE
"""Samples that a score of another engine judges, about: 16 embeddings of openWakeWord span 1.98 s."""
_AFTER = SAMPLE_RATE
"""Silence after a recording: the engines report a word some time after its end."""


def read_subject(path: Path) -> Subject:
    """Load and check a file: a model of this project, or what belongs, by its content, to another engine.

    Raises as ``read_model_bytes``, ``parse_foreign`` and ``read_model`` do, in one line that names the file.
    """
    with naming(path, ModelError, ConfigError):
        foreign = parse_foreign(path, read_model_bytes(path))
    return foreign or read_model(path)


def one_word(subjects: Sequence[Subject]) -> str:
    """The phrase that all subjects are for. ``ConfigError`` for several.

    A file that names no phrase is taken to be for the same as the others.
    """
    cards = [subject.card for subject in subjects]
    named = [card.phrase for card in cards if not isinstance(card, ForeignCard) or card.names_phrase]
    words = {phrase.casefold() for phrase in named}
    if len(words) > 1:
        raise ConfigError(f"expected models of one word, to compare on the same recordings, got {sorted(words)}")
    return (named or [card.phrase for card in cards])[0]


def look(subject: Subject) -> int:
    """Samples that one score judges."""
    card = subject.card
    return _LOOK if isinstance(card, ForeignCard) else card.features.samples_in(card.window)


def first_end(subject: Subject) -> int:
    """Samples from the start of a stream to the end of its first score; the others follow one hop apart."""
    return HOP_SAMPLES if isinstance(subject, ForeignModel) else look(subject)


class SubjectScorer:
    """Scores recordings, one after the other, with models of this project and of other engines."""

    def __init__(self, subjects: Sequence[Subject]) -> None:
        own = [subject for subject in subjects if isinstance(subject, Model)]
        self._own = RecordingScorer(own) if own else None
        self._subjects = subjects

    def score(self, blocks: Iterable[Array]) -> list[Scores]:
        """Blocks of a recording, each ``(samples,)`` float32 at 16 kHz -> one score per hop for each model, ``(windows,)``.

        Models of this project are scored as by ``RecordingScorer``. Other engines hear a second of silence after the
        recording. Raises ``ModelError`` for a score of theirs that is no probability.
        """
        foreign = [_Hearing(subject) for subject in self._subjects if isinstance(subject, ForeignModel)]

        def passing() -> Iterator[Array]:
            for block in blocks:
                for hearing in foreign:
                    hearing.push(block)
                yield block

        if self._own is None:
            for _ in passing():
                pass
        own, others = iter([] if self._own is None else self._own.score(passing())), iter(foreign)
        return [next(own) if isinstance(subject, Model) else next(others).end() for subject in self._subjects]


class _Hearing:
    """A recording as a running engine hears it, hop by hop, from a fresh state."""

    def __init__(self, model: ForeignModel) -> None:
        self._name = f"{printable(model.card.phrase)}, a file of {model.card.engine}"
        self._stream = model.stream
        self._stream.reset()
        self._kept: NDArray[np.int16] = np.zeros(0, np.int16)
        self._scores: list[float] = []

    def push(self, block: Array) -> None:
        # As 16-bit integers, which is what the engines take.
        self._kept = np.concatenate([self._kept, int16_of(block)])
        whole = len(self._kept) // HOP_SAMPLES * HOP_SAMPLES
        for hop in self._kept[:whole].reshape(-1, HOP_SAMPLES):
            if not 0 <= (score := self._stream.push(hop)) <= 1:
                raise ModelError(f"{self._name}: expected scores of 0 to 1, got {score:.3g}; get the file again")
            self._scores.append(score)
        self._kept = self._kept[whole:]

    def end(self) -> Scores:
        self.push(np.zeros(_AFTER + -(len(self._kept) + _AFTER) % HOP_SAMPLES, np.float32))
        return np.array(self._scores, np.float64)
