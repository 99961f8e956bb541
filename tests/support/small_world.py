"""A tiny data set for training in seconds: the keyword is a low and then a high tone, other words are mostly one tone."""

from pathlib import Path

import numpy as np
import soundfile

from wakeword_tools.clips.manifest import write_manifest
from wakeword_tools.kinds import WORD_KINDS, Split
from wakeword_train.config import AugmentationConfig, NetworkConfig, ScheduleConfig, SecondStageConfig, TrainConfig
from wakeword_train.data.clips import Clip, read_folder

RATE = 16_000


def tones(pitches: tuple[float, ...], random: np.random.Generator) -> np.ndarray:
    """Tones of 0.2 s one after the other, in a little noise, 1.2 s in total."""
    samples = 1e-3 * random.standard_normal(round(1.2 * RATE))
    at = round(random.uniform(0.1, 0.4) * RATE)
    for pitch in pitches:
        t = np.arange(round(0.2 * RATE)) / RATE
        samples[at : at + len(t)] += 0.2 * np.sin(2 * np.pi * pitch * random.uniform(0.95, 1.05) * t)
        at += len(t)
    return samples.astype(np.float32)


def write_world(root: Path, *, speakers: int = 16) -> Path:
    """``root`` in the layout of Speech Commands: the word ``updown`` and others."""
    random = np.random.default_rng(0)
    words = {"updown": (400.0, 2_000.0), "low": (400.0,), "high": (2_000.0,), "downup": (2_000.0, 400.0)}
    for word, pitches in words.items():
        (root / word).mkdir(parents=True)
        for speaker in range(speakers):
            path = root / word / f"{speaker:08x}_nohash_0.wav"
            soundfile.write(path, tones(pitches, random), RATE)
    return root


def small_config(**changes: object) -> TrainConfig:
    """The configuration of a run that takes seconds."""
    defaults: dict[str, object] = {
        "keyword": "updown",
        "split": "dealt",
        # The one with the most parts, so that they are tested too.
        "method": "drocc-lf",
        "network": NetworkConfig(hidden_size=16),
        "schedule": ScheduleConfig(
            warmup_epochs=2, epochs=4, steps_per_epoch=12, batch_size=32, learning_rate=1e-2, averaging=0.8
        ),
        "augmentation": AugmentationConfig(reverb_probability=0.1, noise_probability=0.3),
        "second_stage": SecondStageConfig(enabled=False),
    }
    return TrainConfig(**{**defaults, **changes})  # type: ignore[arg-type]


SMALL_SECOND_STAGE = SecondStageConfig(
    units=8, epochs=3, warmup_epochs=2, steps_per_epoch=4, batch_size=32, mining_rounds=1, mined=50, looks=32, folds=2
)
"""A second stage that is trained in seconds."""


def write_background(root: Path, *, speakers: int = 6, seconds: float = 8.0) -> Path:
    """Long recordings of other words in ``root``, one for each speaker."""
    random = np.random.default_rng(1)
    root.mkdir(parents=True)
    for speaker in range(speakers):
        pieces = [tones((float(random.choice([400.0, 2_000.0])),), random) for _ in range(round(seconds / 1.2))]
        soundfile.write(root / f"{100 + speaker:08x}_nohash_0.wav", np.concatenate(pieces), RATE)
    return root


def write_voices(root: Path, pitches: tuple[float, ...], text: str) -> Path:
    """Clips of synthetic voices, in every split."""
    random = np.random.default_rng(2)
    rows = []
    root.mkdir(parents=True)
    for index in range(180):
        soundfile.write(root / f"{index}.wav", tones(pitches, random), RATE)
        split = (Split.TRAIN, Split.TRAIN, Split.VALIDATION)[index % 3]
        rows.append({"file": f"{index}.wav", "text": text, "source": f"voice:{index % 9}", "split": split.value})
    write_manifest(root, rows)
    return root


def run_of_tones(root: Path) -> Path:
    """The folder of a training of "updown" with a few clips, as ``wakeword train`` leaves it in ``root``."""
    random, run = np.random.default_rng(0), root / "updown"
    sounds = {"positives": (400.0, 2_000.0), "near_negatives": (2_000.0, 400.0), "negatives": (400.0,)}
    for kind, pitches in sounds.items():
        for split in (Split.TRAIN, Split.VALIDATION):
            folder, rows = run / "synthesised" / f"{kind}-{split}-{'0' * 12}", []
            for number in range(8):
                name = f"{number}.wav"
                rows.append({"file": name, "text": "updown", "source": f"{split} {number % 3}", "split": split})
                folder.mkdir(parents=True, exist_ok=True)
                soundfile.write(folder / name, tones(pitches, random), 16_000)
            write_manifest(folder, rows)
    return run


def clips_of_run(run: Path) -> list[Clip]:
    """The clips in such a folder."""
    kinds = {kind.plural: kind for kind in WORD_KINDS}
    folders = sorted((run / "synthesised").iterdir())
    return [clip for folder in folders for clip in read_folder(folder, kinds[folder.name.split("-")[0]])]
