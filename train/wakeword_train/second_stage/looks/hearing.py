"""What both stages say of held-out clips, as work for processes; also of clips in noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wakeword.base.errors import WorkerError
from wakeword.base.types import Array, Scores
from wakeword.batch.jobs.work import Report
from wakeword.format.verifier_card import VerifierCard
from wakeword.model.candidate_looks import window_logits
from wakeword.model.installed import assets_folder
from wakeword.model.model import read_model
from wakeword.takes.word_region import Region
from wakeword.verify.shared import EMBEDDING_FILE, PHONEMES_FILE, load_embedding, load_phonemes
from wakeword.verify.verifier import SecondStage
from wakeword.verify.verifier_head import Head
from wakeword_tools.kinds import Kind
from wakeword_train.second_stage.evidence import Evidence, EvidenceReader

_SECONDS_OF_CLIP = 4.0
"""Seconds of audio that cost the first stage as much as both take for a clip."""
SNR = (0.0, 20.0)
"""Ratios of the word to the noise, dB."""


@dataclass(frozen=True)
class HeldOutClip:
    """A clip to hear: a piece of work."""

    kind: Kind
    row: int
    reader: int
    """Number of the head that judges it."""
    samples: Array
    """``(samples,)`` float32."""
    logits: Scores | None = None
    """The first stage's, if they are known."""
    noisy: bool = False
    """Whether noise was mixed in."""
    size: float = 1.0
    seconds: float = _SECONDS_OF_CLIP

    @property
    def key(self) -> str:
        """Its name."""
        return f"{self.kind.value} {self.row}" + " in noise" * self.noisy


class HearingWork:
    """Hears clips: ``wakeword.batch.jobs.work.Work``. Rows are their ``Evidence``."""

    def __init__(self, stage_one: Path, card: VerifierCard, heads: Sequence[bytes], *, probe: float) -> None:
        """``stage_one``: the first stage's file. ``heads``: ONNX files; each item names one."""
        self._stage_one, self._card, self._heads, self._probe = stage_one, card, heads, probe

    def begin(self, report: Report) -> Callable[[HeldOutClip], Evidence]:
        """Load the networks."""
        model = read_model(self._stage_one)
        readers = readers_of(self._card, self._heads, model.card.window, probe=self._probe)

        def hear(item: HeldOutClip) -> Evidence:
            logits = window_logits(model, item.samples) if item.logits is None else item.logits
            evidence = readers[item.reader].read(item.samples, logits)
            report(item.size, item.seconds)
            return evidence

        return hear

    def lost(self, item: HeldOutClip, reason: str) -> Evidence:
        """Nothing stands for it. Raises ``WorkerError``."""
        raise WorkerError(f"expected what both stages hear in {item.key}, but {reason}; take fewer --jobs")


def readers_of(card: VerifierCard, heads: Sequence[bytes], window: int, *, probe: float) -> list[EvidenceReader]:
    """A reader with each head, an ONNX file; ``window`` and ``probe`` as for ``EvidenceReader``."""
    folder = assets_folder() / "encoders"
    embedding = load_embedding(folder / EMBEDDING_FILE, card.embedding_digest)
    phonemes = load_phonemes(folder / PHONEMES_FILE, card.phonemes_digest) if card.phonemes_digest else None
    stages = [SecondStage(card, Head(head), embedding, phonemes) for head in heads]
    return [EvidenceReader(stage, window, probe=probe) for stage in stages]


def in_noise(samples: Array, word: Region, noise: Array, snr: float) -> Array:
    """A clip in noise of the same length, ``snr`` dB under the speech of its word: ``(samples,)`` float32."""
    assert noise.shape == samples.shape
    speech, other = (float(np.mean(np.square(x, dtype=np.float64))) for x in (samples[word.start : word.end], noise))
    gain = np.sqrt(speech / max(other, 1e-12) * 10 ** (-snr / 10))
    mixed: Array = (samples + np.float32(gain) * noise).clip(-1, 1).astype(np.float32)
    return mixed
