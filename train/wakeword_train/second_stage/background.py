"""The background of a second stage: recordings, and parts of the starter pack, which are known as features only."""

from collections.abc import Iterable
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array, Scores
from wakeword.model.model import Model
from wakeword.model.scorer import DEFAULT_HOP, GroupScorer
from wakeword.verify.embedding import STEP_FRAMES, EmbeddingNetwork, embeddings_of
from wakeword.verify.phoneme_verifier import BLANK, PHONEME_SAMPLES, PhonemeVerifier
from wakeword.verify.quick_phonemes import STEPS, QuickKeyword
from wakeword.verify.verifier import PhonemeSound, frame_at
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_train.data.clips import Clip
from wakeword_train.data.packed import PackedStore, rounded
from wakeword_train.data.store import ClipStore
from wakeword_train.pack.speech_pack import FRAMES_A_SECOND, FRAMES_OF_PHONEME, Phonemes
from wakeword_train.quick_gate import heard_quickly
from wakeword_train.second_stage.evidence import Evidence, EvidenceReader, window_logits
from wakeword_train.second_stage.looks.examples import Recordings


class LongSpeech:
    """Rows of background: first ``store``, then ``packed``."""

    def __init__(self, store: ClipStore | None, packed: PackedStore | None, heard: Phonemes | None = None) -> None:
        """``heard``: what another recogniser hears in the pack's recordings."""
        self._store = store
        self._packed = packed
        self._heard = packed.pack.phonemes if heard is None and packed is not None else heard
        self._audio = len(store) if store is not None else 0
        self.clips: list[Clip] = [
            *(store.clips if store is not None else ()),
            *(packed.clips if packed is not None else ()),
        ]

    def __len__(self) -> int:
        return len(self.clips)

    @property
    def fingerprint(self) -> str:
        """Identifies the recordings."""
        parts = [part.fingerprint for part in (self._store, self._packed) if part is not None]
        return "+".join(parts)

    def hours(self, rows: Iterable[int]) -> float:
        """Hours of these rows."""
        return sum(self._seconds(row) for row in rows) / 3600

    def _seconds(self, row: int) -> float:
        if row < self._audio:
            assert self._store is not None
            return int(self._store.lengths[row]) / SAMPLE_RATE
        assert self._packed is not None
        return int(self._packed.lengths[row - self._audio]) / FRAMES_A_SECOND

    def logits(self, row: int, model: Model, *, hop: int = DEFAULT_HOP) -> Scores:
        """The first stage's logits of a row, ``(windows,)``."""
        if row < self._audio:
            return window_logits(model, self.samples(row), hop=hop)
        assert self._packed is not None
        frames = self._packed.mfcc(row - self._audio).numpy()
        return np.array(GroupScorer([model], hop=hop).logits(frames)[0], np.float64)

    def with_packed(self, recordings: Recordings) -> Recordings:
        """The embeddings of the recordings and of the packed rows, which have no variations."""
        packed = [] if self._packed is None else [self._packed.embeddings(row) for row in range(len(self._packed))]
        return Recordings([*recordings.clean, *packed], [*recordings.varied, *packed])

    def evidence(self, row: int, reader: EvidenceReader, logits: Scores) -> Evidence:
        """What both stages say of a row with these logits of the first."""
        if row < self._audio:
            return reader.read(self.samples(row), logits)
        assert self._packed is not None
        assert self._heard is not None
        return reader.read_with(logits, _PackedSound(self._packed, row - self._audio, self._heard, reader).heard)

    def samples(self, row: int) -> Array:
        """A row of the store, ``(samples,)`` float32."""
        assert self._store is not None
        return self._store.wave(row)


class _PackedSound:
    """What a second stage hears in a row of a pack: ``PhonemeSound`` too."""

    def __init__(self, store: PackedStore, row: int, phonemes: Phonemes, reader: EvidenceReader) -> None:
        self._phonemes = phonemes
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
        heard = heard_quickly(self._mfcc.numpy())
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
