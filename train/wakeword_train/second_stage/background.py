"""The background of a second stage: recordings, and parts of the starter pack, which are known as features only."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array, Scores
from wakeword.format.card import DEFAULT_HOP
from wakeword.model.model import Model
from wakeword.model.scorer import GroupScorer
from wakeword.verify.embedding import STEP_FRAMES, EmbeddingNetwork, embeddings_of
from wakeword.verify.phoneme_verifier import BLANK, PHONEME_SAMPLES, PhonemeVerifier
from wakeword.verify.quick_phonemes import STEPS, QuickKeyword
from wakeword.verify.verifier import PhonemeSound, frame_at
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_train.data.clips import Clip
from wakeword_train.data.packed import PackedStore, rounded
from wakeword_train.data.store import ClipStore
from wakeword_train.pack.starter import FRAMES_A_SECOND, FRAMES_OF_PHONEME, Phonemes
from wakeword_train.quick_gate import quick_outputs
from wakeword_train.second_stage.evidence import Evidence, EvidenceReader, window_logits
from wakeword_train.second_stage.looks.examples import Recordings


class LongSpeech:
    """Rows of background: first ``store``, then ``packed``."""

    def __init__(
        self,
        store: ClipStore | None,
        packed: PackedStore | None,
        heard: Phonemes | None = None,
        *,
        quick: Path | None = None,
    ) -> None:
        """``heard``: what another recogniser hears in the pack's recordings; ``quick``: the file of the quick one."""
        self._packed, self._heard, self._quick = packed, heard, quick
        self._parts = [part for part in (store, packed) if part is not None]
        self._places = [(part, place) for part in self._parts for place in range(len(part))]
        """The part of each row, and its place there."""
        self.clips: list[Clip] = [clip for part in self._parts for clip in part.clips]

    def __len__(self) -> int:
        return len(self.clips)

    @property
    def fingerprint(self) -> str:
        """Identifies the recordings."""
        return "+".join(part.fingerprint for part in self._parts)

    def hours(self, rows: Iterable[int]) -> float:
        """Hours of these rows."""
        return sum(self._seconds(row) for row in rows) / 3600

    def _seconds(self, row: int) -> float:
        part, place = self._places[row]
        return int(part.lengths[place]) / (SAMPLE_RATE if isinstance(part, ClipStore) else FRAMES_A_SECOND)

    def logits(self, row: int, model: Model, *, hop: int = DEFAULT_HOP) -> Scores:
        """The first stage's logits of a row, ``(windows,)``."""
        part, place = self._places[row]
        if isinstance(part, ClipStore):
            return window_logits(model, part.wave(place), hop=hop)
        return np.array(GroupScorer([model], hop=hop).logits(part.mfcc(place).numpy())[0], np.float64)

    def with_packed(self, recordings: Recordings) -> Recordings:
        """The embeddings of the recordings and of the packed rows, which have no variations."""
        packed = [] if self._packed is None else [self._packed.embeddings(row) for row in range(len(self._packed))]
        return Recordings([*recordings.clean, *packed], [*recordings.varied, *packed])

    def evidence(self, row: int, reader: EvidenceReader, logits: Scores) -> Evidence:
        """What both stages say of a row with these logits of the first."""
        part, place = self._places[row]
        if isinstance(part, ClipStore):
            return reader.read(part.wave(place), logits)
        heard = part.pack.phonemes if self._heard is None else self._heard
        return reader.read_with(logits, _PackedSound(part, place, heard, self._quick, reader).heard)

    def samples(self, row: int) -> Array:
        """A row of the store, ``(samples,)`` float32."""
        part, place = self._places[row]
        assert isinstance(part, ClipStore)
        return part.wave(place)


class _PackedSound:
    """What a second stage hears in a row of a pack: ``PhonemeSound`` too."""

    def __init__(
        self, store: PackedStore, row: int, phonemes: Phonemes, quick: Path | None, reader: EvidenceReader
    ) -> None:
        self._phonemes, self._network = phonemes, quick
        self._mfcc = store.mfcc(row)
        self._first = int(store.starts[row]) // FRAMES_OF_PHONEME
        before = torch.from_numpy(_silence(reader.stage.embedding))
        self._embeddings = torch.cat([before, store.embeddings(row).float()]).numpy()
        self._reader = reader

    def heard(self, frame: int) -> tuple[float, PhonemeSound]:
        """See ``evidence.Heard``."""
        end = (frame + 1) // STEP_FRAMES + HEAD_EMBEDDINGS
        return self._reader.stage.head(np.ascontiguousarray(self._embeddings[end - HEAD_EMBEDDINGS : end])), self

    @cached_property
    def _quick(self) -> Array:
        """What the quick recogniser hears, after ``STEPS`` steps in which it heard nothing yet."""
        assert self._network is not None
        heard = quick_outputs(self._mfcc.numpy(), self._network)
        return np.concatenate([np.repeat(heard[:1], STEPS, axis=0), heard])

    def quick_fit(self, keyword: QuickKeyword, end: int) -> float:
        """See ``PhonemeSound``."""
        last = (frame_at(end) + 1) // STEP_FRAMES
        return keyword.fit(self._quick[last : last + STEPS])

    def fit(self, verifier: PhonemeVerifier, end: int) -> float:
        """See ``PhonemeSound``."""
        tokens = verifier.network.tokens
        last = self._first + (frame_at(end) + 1) // FRAMES_OF_PHONEME
        first = max(last - FRAMES_A_SECOND * 2 // FRAMES_OF_PHONEME, self._first)
        return verifier.keyword.score(self._phonemes.between(first, last, len(tokens), tokens.index(BLANK)))


def _silence(network: EmbeddingNetwork) -> np.ndarray:
    """The embeddings of silence before a recording, ``(HEAD_EMBEDDINGS, 96)``."""
    found = embeddings_of(network, np.zeros(PHONEME_SAMPLES, np.float32))[-HEAD_EMBEDDINGS:]
    return np.asarray(found, np.float32)


def rounded_now_and_then(embeddings: Tensor, packed: PackedStore | None) -> Tensor:
    """Looks ``(looks, 16, 96)``, every second one rounded as the pack's are, if there is one."""
    if packed is None or not len(embeddings):
        return embeddings
    changed = embeddings.clone()
    changed[::2] = rounded(embeddings[::2].float(), packed.pack.embedding_codec).to(embeddings.dtype)
    return changed
