"""The content of a batch, and windows that are used twice."""

from pathlib import Path

import numpy as np
import soundfile
import torch
from support.small_world import small_config, write_world
from torch import Tensor

from wakeword_tools.kinds import Kind, Split
from wakeword_train import DataFolders
from wakeword_train.data.augment import AugmentationConfig
from wakeword_train.data.batches import BatchSampler, load_stores
from wakeword_train.data.clips import Clip
from wakeword_train.data.store import ClipStore
from wakeword_train.data.weights import clip_weights
from wakeword_train.training import gather_clips

# Nothing that changes log mel energies: a window that is used twice is then identical.
PLAIN = AugmentationConfig(tilt=0.0, warp=0.0, mask_probability=0.0)


def sampler(world: Path, reuse: int) -> BatchSampler:
    config = small_config()
    return BatchSampler(
        load_stores(gather_clips(config, DataFolders(speech_commands=world)), Split.TRAIN),
        mix=config.mix,
        augmentation=PLAIN,
        window=64,
        batch_size=16,
        reuse=reuse,
        generator=torch.Generator().manual_seed(0),
    )


def frames(made: BatchSampler, batches: int) -> Tensor:
    """Consecutive batches, ``(batches, batch, frames * n_mfcc)``."""
    return torch.stack([made.next().frames.flatten(1) for _ in range(batches)])


def different(windows: Tensor) -> int:
    return len({tuple(row[:64].tolist()) for row in windows.flatten(0, 1)})


def test_windows_are_used_as_often_as_configured(tmp_path: Path) -> None:
    world = write_world(tmp_path / "world")
    assert different(frames(sampler(world, 1), 20)) == 20 * 16
    # Five batches of windows serve twenty; the probability that all twenty miss a given window is 0.8^20.
    assert 0.9 * 5 * 16 < different(frames(sampler(world, 4), 20)) <= 5 * 16


def test_a_row_that_is_used_again_keeps_its_label(tmp_path: Path) -> None:
    made = sampler(write_world(tmp_path / "world"), 4)
    batches = [made.next() for _ in range(20)]
    assert all(torch.equal(batch.labels, batches[0].labels) for batch in batches)
    label_of: dict[tuple[float, ...], float] = {}
    for batch in batches:
        for row, label in zip(batch.frames.flatten(1)[:, :64].tolist(), batch.labels.tolist(), strict=True):
            assert label_of.setdefault(tuple(row), label) == label


def test_engines_are_drawn_in_proportion_to_the_square_root_of_their_voices(tmp_path: Path) -> None:
    tone = tmp_path / "tone.wav"
    soundfile.write(tone, 0.1 * np.sin(np.arange(8_000) / 5), 16_000)
    counts = {"fast": (4, 300), "human": (16, 32)}
    clips = [
        Clip(tone, Kind.POSITIVE, "low", speaker, Split.TRAIN, synthetic)
        for speaker, synthetic in [
            *((f"{engine}:{i % voices}", True) for engine, (voices, n) in counts.items() for i in range(n)),
            *((f"person {i}", False) for i in range(5)),
        ]
    ]
    weights = clip_weights(ClipStore(clips), Kind.POSITIVE, 0.4)
    engine = [clip.speaker.partition(":")[0] if clip.synthetic else "recorded" for clip in clips]
    share = {name: float(weights[torch.tensor([one == name for one in engine])].sum()) for name in set(engine)}
    assert abs(share["recorded"] - 0.4) < 1e-9
    assert abs(share["human"] - 2 * share["fast"]) < 1e-9


def test_ways_given_as_phonemes_are_drawn_as_one_other_word(tmp_path: Path) -> None:
    """Ten ways with a few clips each would otherwise outweigh the word as it is usually said."""
    tone = tmp_path / "tone.wav"
    soundfile.write(tone, 0.1 * np.sin(np.arange(8_000) / 5), 16_000)
    said = ["computer"] * 100 + [f"[[k0mpju:t{index % 10}]]" for index in range(25)]
    clips = [Clip(tone, Kind.POSITIVE, text, "voice:a", Split.TRAIN, True) for text in said]
    weights = clip_weights(ClipStore(clips), Kind.POSITIVE, 0.5)
    assert abs(float(weights[100:].sum() / weights[:100].sum()) - 0.5) < 1e-9


def test_a_close_word_that_has_no_spelling_counts_as_any_other(tmp_path: Path) -> None:
    tone = tmp_path / "tone.wav"
    soundfile.write(tone, 0.1 * np.sin(np.arange(8_000) / 5), 16_000)
    said = [text for text in ("commuter", "[[k@mpj'u:l3]]", "[[g@mpj'u:t3]]") for _ in range(5)]
    clips = [Clip(tone, Kind.NEAR_NEGATIVE, text, "voice:a", Split.TRAIN, True) for text in said]
    weights = clip_weights(ClipStore(clips), Kind.NEAR_NEGATIVE, 0.5)
    assert weights.max() == weights.min()
