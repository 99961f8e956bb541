"""The examples that a head is trained on: embeddings of looks at words, and of long recordings."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from wakeword.audio.pcm import INT16_STEP, SAMPLE_RATE
from wakeword.base.events import Events
from wakeword.base.files import replacing
from wakeword.base.types import Array
from wakeword.model.installed import encoders_folder
from wakeword.verify.embedding import DIMENSION, EmbeddingNetwork, embeddings_of
from wakeword.verify.shared import EMBEDDING_FILE, load_embedding
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_tools.kinds import Kind
from wakeword_tools.training_record import DAMAGED_ARCHIVE
from wakeword_train.data.augment import AugmentationConfig
from wakeword_train.data.household import HouseholdSounds, household_of
from wakeword_train.data.mixed_sounds import talk_of
from wakeword_train.data.store import ClipStore
from wakeword_train.data.weights import FRAGMENT, HOUSEHOLD, clip_weights
from wakeword_train.model.two_stage import shipped_digests
from wakeword_train.second_stage.looks.cutter import WARMED_LOOK_SAMPLES, LookCutter, varied_spectra

_HOUSEHOLD_LOOKS = 600
_BATCH = 32
_MAX_LOOKS = {Kind.POSITIVE: 40, Kind.NEAR_NEGATIVE: 4, Kind.NEGATIVE: 2, Kind.NOISE: 2}
"""Most looks at one clip."""
_FRAGMENTS = 0.3
"""Looks at parts of positives, as a share of those at whole ones."""
_PIECE = 10 * SAMPLE_RATE
"""Samples of a long recording that share a room and a noise."""


@dataclass(frozen=True)
class WordExamples:
    """Looks at clips of one kind."""

    embeddings: Tensor
    """``(looks, 16, 96)`` half."""
    rows: Tensor
    """The clip of each look, ``(looks,)``."""
    weights: Tensor
    """How often each is drawn, ``(looks,)``."""


@dataclass(frozen=True)
class Recordings:
    """Embeddings of long recordings."""

    clean: list[Tensor]
    """One ``(n, 96)`` half for each clip; embedding k ends with MFCC frame 8 k + 7."""
    varied: list[Tensor]
    """The same in other rooms, noises and channels."""


class ExampleMaker:
    """Computes examples, or takes them from the cache. Repeatable: each part has a generator of its own."""

    def __init__(
        self,
        stores: Mapping[Kind, ClipStore],
        augmentation: AugmentationConfig,
        cache: Path,
        *,
        seed: int,
        events: Events,
    ) -> None:
        digest = shipped_digests().embedding
        self._network = load_embedding(encoders_folder() / EMBEDDING_FILE, digest)
        self._stores = stores
        self._augmentation = augmentation
        self._cache = cache
        self._seed = seed
        self._events = events
        self._origin: dict[str, object] = {
            "embedding": digest,
            "augmentation": repr(augmentation),
            "seed": seed,
            "noise": self._fingerprint(Kind.NOISE),
        }

    @cached_property
    def household(self) -> HouseholdSounds | None:
        """The sounds that are mixed into words, with voices of other words; ``None`` if none are asked for."""
        return household_of(self._stores.get(Kind.NEGATIVE), seed=self._seed) if self._augmentation.household else None

    @cached_property
    def _wordless(self) -> HouseholdSounds | None:
        """Those that are mixed into background: without voices, as it is kept for all keywords."""
        return household_of(None, seed=self._seed) if self._augmentation.household else None

    def cutter(self) -> LookCutter:
        """What mixes noise into words, from the beginning of its randomness."""
        return LookCutter(self._stores, self._augmentation, torch.Generator().manual_seed(self._seed), self.household)

    def household_alone(self) -> dict[str, WordExamples]:
        """Looks at household sounds, for the head to stay silent at; none if there are no such sounds."""
        if self.household is None:
            return {}
        self._events.note(f"embed {_HOUSEHOLD_LOOKS} looks at household sounds")

        key = self._origin | {"part": HOUSEHOLD, "voices": self._voices()}
        batches = (_BATCH,) * (_HOUSEHOLD_LOOKS // _BATCH)
        kept = kept_arrays(self._cache, key, lambda: self._embedded(lambda cutter: map(cutter.household, batches)))
        embeddings = kept["embeddings"]
        count = len(embeddings)
        return {HOUSEHOLD: WordExamples(embeddings, torch.zeros(count, dtype=torch.int64), torch.ones(count))}

    def words(self, kind: Kind, looks: int, *, recorded: float) -> dict[str, WordExamples]:
        """Looks at the clips of a kind, ``looks`` of people and as many of each engine, and of positives at parts of them.

        At each clip there is one look or more, up to a number that depends on the kind.
        """
        store = self._stores[kind]
        copies = _looks_at_each(store, looks, _MAX_LOOKS[kind])
        weights = clip_weights(store, kind, recorded)
        names = {kind.value: (1.0, False)} | ({FRAGMENT: (_FRAGMENTS, True)} if kind is Kind.POSITIVE else {})
        examples = {}
        for name, (share, fragment) in names.items():
            rows = torch.arange(len(store)).repeat_interleave((copies * share).ceil().long())
            self._events.note(f"embed {len(rows)} looks at {name.replace('_', ' ')}s")
            key = {"part": name, "store": store.fingerprint, "copies": len(rows), "before": self._before()}
            key |= {"voices": self._voices()}
            made = kept_arrays(self._cache, self._origin | key, partial(self._looks, store, rows, fragment))
            examples[name] = WordExamples(made["embeddings"], rows, weights[rows] / copies[rows])
        return examples

    def recordings(self) -> Recordings:
        """The background, as it is and varied. Each recording is kept by itself, for all keywords that have it."""
        store = self._stores.get(Kind.BACKGROUND)
        if store is None:
            return Recordings([], [])
        self._events.note(f"embed {store.hours:.1f} h of background twice")
        generator = torch.Generator().manual_seed(self._seed)
        cutter = LookCutter(self._stores, self._augmentation, generator, self._wordless)
        recordings = []
        for start, length in zip(store.starts.tolist(), store.lengths.tolist(), strict=True):
            samples = store.samples[start : start + length]
            digest = hashlib.sha256(samples.numpy().tobytes()).hexdigest()
            generator.manual_seed(int(digest[:8], 16) + self._seed)
            key = self._origin | {"part": "recording", "samples": digest}
            recordings.append(kept_arrays(self._cache, key, partial(self._recording, samples, cutter)))
        return Recordings([clip["clean"] for clip in recordings], [clip["varied"] for clip in recordings])

    def _looks(self, store: ClipStore, rows: Tensor, fragment: bool) -> dict[str, Tensor]:
        batches = torch.split(rows, _BATCH)
        return self._embedded(lambda cutter: (cutter.words(store, batch, fragment=fragment) for batch in batches))

    def _embedded(self, cut: Callable[[LookCutter], Iterable[Tensor]]) -> dict[str, Tensor]:
        """Embeddings of looks. What is drawn to cut a batch of them comes before what is drawn to embed it."""
        generator = torch.Generator().manual_seed(self._seed)
        cutter = LookCutter(self._stores, self._augmentation, generator, self.household)
        return {"embeddings": torch.cat([embeddings_of_looks(self._network, part, generator) for part in cut(cutter)])}

    def _recording(self, samples: Tensor, cutter: LookCutter) -> dict[str, Tensor]:
        """Embeddings of ``(samples,)`` int16, as they are and varied by ``cutter``."""
        waves = samples.float() * INT16_STEP
        pieces = torch.nn.functional.pad(waves, (0, -len(waves) % _PIECE)).view(-1, _PIECE)
        changed = torch.cat([cutter.varied(some) for some in torch.split(pieces, 8)]).flatten()[: len(waves)]
        parts = {"clean": waves, "varied": changed}
        return {way: embeddings_of_recording(self._network, cut) for way, cut in parts.items()}

    def _before(self) -> str:
        """What may be said before a word, and after it."""
        talk = talk_of(self._stores) if self._augmentation.talk_probability else None
        return self._fingerprint(Kind.BACKGROUND) or (talk.fingerprint if talk else "")

    def _voices(self) -> str:
        """What is heard as voices in household sounds."""
        return self._fingerprint(Kind.NEGATIVE) if self._augmentation.household else ""

    def _fingerprint(self, kind: Kind) -> str:
        return self._stores[kind].fingerprint if kind in self._stores else ""


def _looks_at_each(store: ClipStore, looks: int, most: int) -> Tensor:
    """How many looks there are at each clip, ``(clips,)``."""
    groups = [clip.engine for clip in store.clips]
    sizes = Counter(groups)
    return torch.tensor([max(1, min(most, -(-looks // sizes[group]))) for group in groups])


_THREADS = 2
_VERSION = 1
"""Version of the way in which looks are cut and varied: embeddings of another version are computed again."""


def embeddings_of_looks(network: EmbeddingNetwork, waves: Tensor, generator: torch.Generator) -> Tensor:
    """``(batch, WARMED_LOOK_SAMPLES)`` -> what a head judges, of other vocal tracts: ``(batch, 16, 96)`` half."""
    assert waves.shape[1] == WARMED_LOOK_SAMPLES

    def embedded(spectra: Array) -> Array:
        embeddings, _ = network.advance(spectra, network.start())
        return embeddings[-HEAD_EMBEDDINGS:]

    # Each look is computed by itself, so that threads change no digit.
    with ThreadPoolExecutor(_THREADS) as pool:
        power = torch.from_numpy(np.stack([*pool.map(network.power, map(np.ascontiguousarray, waves.numpy()))]))
        looks = [*pool.map(embedded, varied_spectra(power, generator).numpy())]
    embeddings = np.stack(looks) if looks else np.zeros((0, HEAD_EMBEDDINGS, DIMENSION))
    return torch.from_numpy(embeddings.astype(np.float16))


def embeddings_of_recording(network: EmbeddingNetwork, samples: Tensor) -> Tensor:
    """All embeddings of ``(samples,)`` float32 -> ``(n, 96)`` half: embedding k ends with MFCC frame 8 k + 7."""
    return torch.from_numpy(embeddings_of(network, samples.numpy()).astype(np.float16))


def kept_arrays(folder: Path, key: dict[str, object], compute: Callable[[], dict[str, Tensor]]) -> dict[str, Tensor]:
    """The arrays of any shape that a folder keeps under the hash of ``key``, which is all that they were computed from.

    Without them, or if they are damaged, what ``compute`` gives.
    """
    text = json.dumps({"version": _VERSION, **key}, sort_keys=True)
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.npz"
    try:
        with np.load(path) as kept:
            return {name: torch.from_numpy(kept[name]) for name in kept.files}
    except DAMAGED_ARCHIVE:
        pass
    found = compute()
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **{name: value.numpy() for name, value in found.items()})  # type: ignore[arg-type]  # numpy: allow_pickle
    return found
