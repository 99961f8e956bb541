"""Personal enrolment: a model fine-tuned on a few recordings of its user."""

import copy
import dataclasses
import hashlib
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import torch
from torch import Tensor

from wakeword.audio.audio_listing import all_audio_files
from wakeword.base.errors import DataError
from wakeword.format.card import ModelCard
from wakeword.model.model import read_model_bytes
from wakeword.takes.take import MIN_TAKES
from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.augment import AugmentationConfig
from wakeword_train.data.batches import BatchSampler, load_stores
from wakeword_train.data.clips import Clip, read_folder
from wakeword_train.data.store import ClipStore, Stores, note_faults
from wakeword_train.data.weights import MixConfig
from wakeword_train.fields import MANY, CheckedSettings, Within
from wakeword_train.fitting import Trainer, shuffled
from wakeword_train.methods.losses import cross_entropy
from wakeword_train.model.export import export_model
from wakeword_train.model.from_onnx import TrainedModel, network_from, renormalise
from wakeword_train.model.network import WakeWordNetwork
from wakeword_train.model.two_stage import copy_verifier
from wakeword_train.points import ENROLMENT
from wakeword_train.training_run import DataFolders, Phase, TrainingEvents, made_with, todays_version

_OWNER = "owner"
_TAKES = MixConfig(positive=0.75, fragment=0.25, negative=0, near_negative=0, background=0, noise=0)
"""Fragments of the takes are the only negatives in this voice and from this microphone."""
_OTHERS = MixConfig(positive=0.15, fragment=0.05)
_OTHERS_ALONE = MixConfig(positive=1e-6, fragment=0)
"""As ``_OTHERS``, for data without positives of other voices."""
_AVERAGING = 0.98
_WEIGHT_DECAY = 1e-4
_EVIDENCE = 0.85
"""Share of the background that shows how often the model fires: some minutes are enough to fine-tune against."""


@dataclass(frozen=True)
class EnrolConfig(CheckedSettings):
    """How a model is fine-tuned."""

    takes: Annotated[int, Within(8, MANY)] = 900
    """Augmented windows of the takes, and of fragments of them."""
    others: Annotated[int, Within(8, MANY)] = 3_000
    """Augmented windows of everything else."""
    epochs: tuple[int, int] = (4, 3)
    """Epochs of training the pooling and the head alone, then all weights."""
    learning_rates: tuple[float, float] = (1e-2, 3e-4)
    """Learning rates of these two stages."""
    folds: Annotated[int, Within(2, MANY)] = 3
    """Parts of the takes that are held out in turn to measure recall."""
    seed: int = 0
    batch_size: Annotated[int, Within(8, MANY)] = 128
    augmentation: AugmentationConfig = field(default_factory=AugmentationConfig)


@dataclass(frozen=True)
class Fold:
    """A model that was fine-tuned on a part of the takes."""

    path: Path
    held_out: list[Path]
    """Takes that it was not trained on."""


@dataclass(frozen=True)
class Enrolment:
    """A fine-tuned model, without operating points yet, and what is needed to measure it."""

    path: Path
    folds: list[Fold]
    negatives: list[Clip]
    """Clips that are not the keyword, noise included, and that none of the models was trained on."""


def own_takes(folders: Sequence[Path], phrase: str) -> list[Clip]:
    """The takes in these folders, in order. Raises ``AudioFileError`` for an empty folder, ``DataError`` for too few."""
    files = all_audio_files(folders)
    if len(files) < MIN_TAKES:
        raise DataError(
            f"expected {MIN_TAKES} or more recordings of {phrase!r}, better 10, got {len(files)}; "
            f"make them: wakeword record {phrase!r} --out {folders[0] if folders else 'my_clips'}"
        )
    return [Clip(path, Kind.POSITIVE, phrase, _OWNER, Split.TRAIN) for path in files]


def enrol(
    base: Path,
    takes: Sequence[Clip],
    others: DataFolders,
    out: Path,
    *,
    config: EnrolConfig | None = None,
    events: TrainingEvents | None = None,
) -> Enrolment:
    """Fine-tune the first stage of the model ``base`` on ``takes``; write it to ``out``, and the folds next to it.

    A second stage is kept: it knows the word from many voices, and stays as strict as it was.

    ``others``: clips it must stay silent for, and positives of other voices. ``events`` gets its phases.
    Raises ``ModelError`` or ``ConfigError`` for a model that cannot be trained further, and ``DataError`` without
    negatives, or if no take can be read.
    """
    config, events = config or EnrolConfig(), events or TrainingEvents()
    trained = network_from(base)
    events.phase(Phase.READING, 0.0)
    own = ClipStore(takes)
    note_faults([own], events)
    clips = _others(others, trained.card.phrase)
    stores = load_stores(clips, Split.TRAIN)
    events.phase(Phase.READING, 0.4)
    enroller = _Enroller(trained, own, stores, config)
    events.phase(Phase.READING, 1.0)
    card = dataclasses.replace(
        trained.card,
        version=todays_version(),
        operating_points=(),
        default_point=None,
        training=_provenance(base, trained.card, own, stores, config),
    )
    folds = []
    count = min(config.folds, len(own))

    def fit(number: int, part: Sequence[Clip]) -> WakeWordNetwork:
        return enroller.fit(part, lambda done: events.phase(Phase.FIRST, (number + done) / (count + 1)))

    for number in range(count):
        left = own.clips[number::count]
        path = out.with_suffix(f".fold{number + 1}.onnx")
        export_model(fit(number, [take for take in own.clips if take not in left]), card, path)
        copy_verifier(base, path)
        folds.append(Fold(path, [take.path for take in left]))
    export_model(fit(count, own.clips), card, out)
    copy_verifier(base, out)
    negatives = [clip for clip in clips if clip.split is Split.VALIDATION and clip.kind is not Kind.POSITIVE]
    return Enrolment(out, folds, negatives)


class _Enroller:
    """A model to start from, and the windows of everything except the takes, drawn once for all fits."""

    def __init__(self, trained: TrainedModel, own: ClipStore, others: Stores, config: EnrolConfig) -> None:
        self._config = config
        self._window = trained.card.window
        self._others = others
        self._base = trained.network
        mix = _OTHERS if Kind.POSITIVE in others else _OTHERS_ALONE
        frames, self._labels = self._bank({Kind.POSITIVE: own, **others}, mix, config.others)
        renormalise(self._base, frames.mean(dim=(0, 1)), frames.std(dim=(0, 1)))
        self._inputs = self._base.normalise(frames)

    def fit(self, takes: Sequence[Clip], share: Callable[[float], None]) -> WakeWordNetwork:
        """The model, fine-tuned on these takes. ``share`` is told how much is done, 0..1.

        Stem and LSTM are frozen until pooling and head have adapted to the new voice. Trained from the start, at the
        learning rate that the adaptation needs, they forget other voices: recall of three other speakers at 3 % false
        positives fell from 85 to 71 %; with this order it rose to 90 %.
        """
        config = self._config
        frames, labels = self._bank({**self._others, Kind.POSITIVE: ClipStore(takes)}, _TAKES, config.takes)
        inputs, labels = torch.cat([self._inputs, self._base.normalise(frames)]), torch.cat([self._labels, labels])
        network = copy.deepcopy(self._base)
        passed = itertools.count(2)
        share(1 / (1 + sum(config.epochs)))
        for stage, (epochs, rate) in enumerate(zip(config.epochs, config.learning_rates, strict=True)):
            for part in (network.stem, network.lstm):
                if part is not None:
                    part.requires_grad_(stage == 1)
            seed = config.seed + stage
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                generator = torch.Generator().manual_seed(seed)
                trainer = Trainer(network, rate, _WEIGHT_DECAY, _AVERAGING, generator)
                for epoch in range(epochs):
                    trainer.set_rate(epoch / max(1, epochs - 1))
                    trainer.epoch(cross_entropy, shuffled(inputs, labels, config.batch_size, generator))
                    share(next(passed) / (1 + sum(config.epochs)))
            network.load_state_dict(trainer.averaged.state_dict())
        network.round_to_half()
        return network.eval()

    def _bank(self, stores: Stores, mix: MixConfig, windows: int) -> tuple[Tensor, Tensor]:
        """Augmented windows ``(n, window, n_mfcc)`` and their labels ``(n,)``."""
        config = self._config
        sampler = BatchSampler(
            stores,
            mix=mix,
            augmentation=config.augmentation,
            window=self._window,
            batch_size=config.batch_size,
            generator=torch.Generator().manual_seed(config.seed),
        )
        batches = [sampler.next() for _ in range(math.ceil(windows / config.batch_size))]
        return torch.cat([batch.frames for batch in batches]), torch.cat([batch.labels for batch in batches])


def _others(folders: DataFolders, phrase: str) -> list[Clip]:
    """Everything except the takes, without utterances of ``phrase`` in background.

    Raises ``DataError`` without words or speech other than the keyword.
    """
    clips: list[Clip] = []
    for kind, roots in folders.by_kind.items():
        # Nearly all of the background is held out, and all of it if there are too few speakers to divide them.
        read = partial(read_folder, validation=_EVIDENCE, testing=0.0) if kind is Kind.BACKGROUND else read_folder
        own = [clip for root in roots for clip in read(root, kind, keyword=phrase)]
        if kind is Kind.BACKGROUND and not any(clip.split is Split.VALIDATION for clip in own):
            own = [dataclasses.replace(clip, split=Split.VALIDATION) for clip in own]
        clips += own
    if not any(clip.kind not in (Kind.POSITIVE, Kind.NOISE) and clip.split is Split.TRAIN for clip in clips):
        raise DataError("expected recordings without the keyword to fine-tune against, got none; give --negatives")
    return clips


def _provenance(
    base: Path, card: ModelCard, takes: ClipStore, others: Stores, config: EnrolConfig
) -> dict[str, object]:
    """The card's record of a fine-tuned model."""
    fingerprint = hashlib.sha256(read_model_bytes(base)).hexdigest()[:16]
    source = f"fine-tuned from {card.phrase} {card.version} ({fingerprint}), {len(takes)} own recordings"
    return {
        "method": ENROLMENT,
        "source": source,
        "seed": config.seed,
        "config": dataclasses.asdict(config),
        "takes": takes.record,
        "data": {kind.value: store.record for kind, store in others.items()},
        "from": dict(card.training),
        **made_with(),
    } | {key: card.training[key] for key in ("language", "background_hours") if key in card.training}
