"""One training run, from folders of recordings to a model file."""

import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from wakeword.base.errors import ConfigError, DataError
from wakeword.base.files import file_sha256
from wakeword.format.card import ModelCard, SelfTest
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.kinds import Kind, Split
from wakeword_train.config import TrainConfig
from wakeword_train.data.batches import BatchSampler, load_stores
from wakeword_train.data.clips import Clip, deal_speakers, hold_out, read_folder, read_speech_commands, without_fold
from wakeword_train.data.packed import PackedStore, packed_clips
from wakeword_train.data.store import Stores, note_faults
from wakeword_train.epochs import best_epoch, build_network, fit, validation_set
from wakeword_train.model.export import export_model
from wakeword_train.model.network import begin_with_encoder, encoder_path
from wakeword_train.model.two_stage import shipped_digests
from wakeword_train.pack.starter import pack_path, read_pack
from wakeword_train.second_stage.result import SecondStageResult
from wakeword_train.training_run import DataFolders, EpochReport, TrainingRun, made_with, todays_version

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrainingResult:
    """A finished run."""

    path: Path
    clips: list[Clip]
    """All clips with their splits."""
    validation: list[Clip]
    """Clips of the validation split that could be read, for calibration."""
    reports: list[EpochReport]
    second_stage: SecondStageResult | None = None
    """The second stage, if one was trained, with what was held out."""


def check_keyword(config: TrainConfig) -> None:
    """Raise ``ConfigError`` if the configuration names no keyword."""
    if not config.keyword.strip():
        raise ConfigError("expected a keyword to train, got none; name it, as in: wakeword train 'hey zorvella'")


def check_device(device: str) -> None:
    """Raise ``ConfigError`` if torch has no such device here."""
    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device cuda was asked for, but torch finds none; use --device cpu")


def gather_clips(config: TrainConfig, data: DataFolders) -> list[Clip]:
    """All clips that the folders hold, each with its kind, speaker and split. ``DataError`` if a class is missing."""
    clips: list[Clip] = []
    validation, testing = config.validation_share, config.test_share
    read = partial(read_folder, keyword=config.keyword, also=config.synthesis.also)
    if data.speech_commands is not None:
        words = read_speech_commands(data.speech_commands, config.keyword)
        clips += deal_speakers(words, validation=validation, testing=testing) if config.split == "dealt" else words
    for kind, roots in data.by_kind.items():
        for root in roots:
            placed = {clip.speaker: clip.split for clip in clips}
            shares = (validation, testing)
            if kind is Kind.BACKGROUND and config.second_stage.enabled:
                shares = (config.background_evidence, 0.0)
            clips += read(root, kind, placed=placed, validation=shares[0], testing=shares[1])
    if config.starter_pack:
        clips = _with_pack(config, clips)
    if config.hold_out_recorded:
        clips = hold_out(clips, Kind.POSITIVE)
    _check_classes(config, clips)
    return clips


def _with_pack(config: TrainConfig, clips: list[Clip]) -> list[Clip]:
    """The clips, and the clips of the starter pack; speech of the same people that was also given as audio is left out."""
    pack = read_pack(pack_path(config.starter_pack))
    if config.second_stage.enabled and (pack.embedding_digest, pack.phonemes_digest) != shipped_digests():
        raise DataError(f"{pack.path}: expected features of the networks that are included, got others; make it again")
    own = [
        clip for clip in clips if clip.kind is not Kind.BACKGROUND or (clip.path.stem, clip.speaker) not in pack.heard
    ]
    return own + packed_clips(pack, (config.keyword, *config.synthesis.also), validation=config.background_evidence)


def _check_classes(config: TrainConfig, clips: list[Clip]) -> None:
    positives = [clip for clip in clips if clip.kind is Kind.POSITIVE]
    if not positives:
        raise DataError(
            f"expected recordings of {config.keyword!r}, found none; name a folder of them with --positives, "
            "or let them be synthesised ([synthesis] positives in the configuration)"
        )
    for split in (Split.TRAIN, Split.VALIDATION):
        for what, of_class in (
            ("positives", [clip for clip in positives if clip.split is split]),
            ("negatives", [clip for clip in clips if clip.kind is not Kind.POSITIVE and clip.split is split]),
        ):
            if not of_class:
                raise DataError(
                    f"expected {what} in the {split.value} split, got none of {len(clips)} clips; give three "
                    "or more speakers (files of one speaker are named speaker_nohash_0.wav, speaker_nohash_1.wav, ...), "
                    'or deal out those of an excerpt of Speech Commands again with split = "dealt" in the configuration'
                )


def train_first_stage(run: TrainingRun, out: Path, *, fold: int | None = None) -> TrainingResult:
    """Train a model for the run's keyword and write it, without operating points yet, to ``out``.

    Raises ``ConfigError`` or ``DataError`` before anything is written. Repeatable on the CPU. ``fold``: the
    part of the background, of ``config.background_folds``, that is left out.
    """
    config = run.config
    check_keyword(config)
    check_device(run.device)
    # Checked before the recordings are read; the card describes the file as it was then.
    encoder = describe_encoder(config)
    clips = gather_clips(config, run.folders)
    if fold is not None:
        clips = without_fold(clips, fold, config.background_folds)
    stores = load_stores(clips, Split.TRAIN)
    sampler = BatchSampler(
        stores,
        mix=config.mix,
        augmentation=config.augmentation,
        mining=config.mining,
        reuse=config.schedule.reuse,
        window=config.network.window,
        batch_size=config.schedule.batch_size,
        generator=torch.Generator().manual_seed(config.seed),
        packed=PackedStore.of(clip for clip in clips if clip.split is Split.TRAIN),
    )
    for kind, store in stores.items():
        log.info("train on %d %s clips, %.2f h, %d skipped", len(store), kind.value, store.hours, store.skipped)
    held_out = load_stores(clips, Split.VALIDATION)
    if fold is None:
        note_faults((*stores.values(), *held_out.values()), run.events)
    packed = PackedStore.of(clip for clip in clips if clip.split is Split.VALIDATION)
    validation = validation_set(held_out, config.network.window, packed=packed)
    trained = 0 if fold is None else fold + 1
    network, reports = fit(run, sampler, validation, trained=trained)
    card = ModelCard(
        phrase=config.keyword,
        version=todays_version(),
        window=config.network.window,
        self_test=SelfTest(0.0),
        training=provenance(config, stores, held_out, reports)
        | encoder
        | _describe_pack(sampler, packed)
        | _describe_languages(config, (stores, held_out), (sampler.packed, packed)),
        licence=config.licence,
    )
    network.round_to_half()
    export_model(network, card, out)
    heard = [clip for store in held_out.values() for clip in store.clips]
    return TrainingResult(out, clips, heard, reports)


def provenance(config: TrainConfig, stores: Stores, held_out: Stores, reports: list[EpochReport]) -> dict[str, object]:
    """The card's record of a run: settings, data, versions, date, and the chosen epoch with its adversary."""
    return {
        "method": config.method,
        "seed": config.seed,
        "config": dataclasses.asdict(config),
        "data": {kind.value: store.record for kind, store in stores.items()},
        "validation": {kind.value: store.record for kind, store in held_out.items()},
        "best_epoch": dataclasses.asdict(best_epoch(reports)),
        "epochs": len(reports),
        "engines": sorted({clip.engine for store in stores.values() for clip in store.clips if clip.synthetic}),
        **made_with(),
    }


def _describe_pack(sampler: BatchSampler, packed: PackedStore | None) -> dict[str, object]:
    """The card's record of the starter pack: no one in it is a stranger to the model."""
    own = [store for store in (sampler.packed, packed) if store is not None]
    if not own:
        return {}
    return {
        "starter_pack": {
            "digest": own[0].pack.digest,
            "licence": own[0].pack.licence,
            "people": len(own[0].pack.people),
            "hours": {"train" if store is sampler.packed else "validation": round(store.hours, 4) for store in own},
        }
    }


def _describe_languages(
    config: TrainConfig, stores: Sequence[Stores], packed: Sequence[PackedStore | None]
) -> dict[str, object]:
    """The card's record of the keyword's language, and of the hours of background: the pack's are English."""
    own = sum(part[Kind.BACKGROUND].hours for part in stores if Kind.BACKGROUND in part)
    of_pack = sum(store.hours for store in packed if store is not None)
    hours = {name: round(value, 2) for name, value in ((ENGLISH, of_pack), ("own", own)) if value}
    return {"language": config.language, "background_hours": hours}


def describe_encoder(config: TrainConfig) -> dict[str, object]:
    """The card's record of the encoder. ``ConfigError`` if it cannot be read or fits a network of another shape."""
    if not config.encoder:
        return {"encoder": "", "encoder_held_out_words": []}
    path = encoder_path(config.encoder)
    origin = begin_with_encoder(build_network(config), path)
    return {"encoder": file_sha256(path)[:16], "encoder_held_out_words": origin.get("held_out_words", [])}
