"""Laws of words amid other speech: the word stays, what surrounds it changes, silence and shares are respected."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from torch import Tensor

from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.augment import AugmentationConfig, root_mean_square
from wakeword_train.data.batches import BatchSampler
from wakeword_train.data.clips import Clip
from wakeword_train.data.mixed_sounds import amid_talk, talk_of
from wakeword_train.data.store import ClipStore
from wakeword_train.data.weights import MixConfig
from wakeword_train.second_stage.looks.cutter import LookCutter

BEGINS, ENDS = 6_000, 10_000
SAMPLES = 16_000


def store(folder: Path, kind: Kind = Kind.BACKGROUND) -> ClipStore:
    path = folder / f"{kind.value}.wav"
    soundfile.write(path, 0.1 * np.random.default_rng(0).standard_normal(80_000), 16_000)
    return ClipStore([Clip(path, kind, "talk", "someone", Split.TRAIN)])


def words(count: int) -> torch.Tensor:
    """A tone in silence."""
    waves = torch.zeros(count, SAMPLES)
    waves[:, BEGINS:ENDS] = 0.1 * torch.sin(torch.arange(ENDS - BEGINS) * 0.3)
    return waves


def placed(folder: Path, waves: torch.Tensor, share: float) -> torch.Tensor:
    count = len(waves)
    begins, ends = torch.full((count,), BEGINS), torch.full((count,), ENDS)
    generator = torch.Generator().manual_seed(0)
    return amid_talk(waves, begins, ends, talk=store(folder), share=share, generator=generator)


def test_the_word_itself_is_untouched_and_its_surroundings_are_spoken_over(tmp_path: Path) -> None:
    waves = words(200)
    spoken = placed(tmp_path, waves, 1.0)
    assert torch.equal(spoken[:, BEGINS:ENDS], waves[:, BEGINS:ENDS])
    before, after = (root_mean_square(part) > 0 for part in (spoken[:, :BEGINS], spoken[:, ENDS:]))
    assert before.any()
    assert not before.all()
    assert after.any()
    assert not after.all()
    assert (before & after).any()


def test_the_other_speech_is_about_as_loud_as_the_word(tmp_path: Path) -> None:
    spoken = placed(tmp_path, words(200), 1.0)
    after = root_mean_square(spoken[:, ENDS + 3_000 :])
    ratio = after[after > 0] / root_mean_square(spoken[:, BEGINS:ENDS])[0]
    assert 0.3 < ratio.min() < ratio.max() < 1.4


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_as_many_rows_are_changed_as_asked_for(tmp_path: Path, share: float) -> None:
    waves = words(1_000)
    changed = (placed(tmp_path, waves, share) != waves).any(dim=1)
    # 0.92 of the chosen rows have speech on at least one side.
    assert changed.float().mean().item() == pytest.approx(0.92 * share, abs=0.04)


def test_a_word_that_fills_the_window_stays_as_it_is(tmp_path: Path) -> None:
    waves = 0.1 * torch.randn(8, SAMPLES, generator=torch.Generator().manual_seed(1))
    begins, ends = torch.full((8,), -100), torch.full((8,), SAMPLES + 100)
    generator = torch.Generator().manual_seed(0)
    spoken = amid_talk(waves, begins, ends, talk=store(tmp_path), share=1.0, generator=generator)
    assert torch.equal(spoken, waves)


def test_other_words_stand_in_for_long_recordings(tmp_path: Path) -> None:
    background, negative = store(tmp_path), store(tmp_path, Kind.NEGATIVE)
    assert talk_of({Kind.BACKGROUND: background, Kind.NEGATIVE: negative}) is background
    assert talk_of({Kind.NEGATIVE: negative}) is negative
    assert talk_of({}) is None


def test_nothing_is_drawn_for_a_share_of_nothing(tmp_path: Path) -> None:
    """So that a recipe without other speech gives the model that it gave before there was any."""
    generator = torch.Generator().manual_seed(0)
    before, waves = generator.get_state(), words(4)
    begins, ends = torch.full((4,), BEGINS), torch.full((4,), ENDS)
    assert amid_talk(waves, begins, ends, talk=store(tmp_path), share=0.0, generator=generator) is waves
    assert torch.equal(generator.get_state(), before)


@pytest.mark.parametrize("stage", ["first", "second"])
def test_each_stage_speaks_around_the_word_where_it_is(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At any speed: outside of what it takes for the word, a window of a tone in silence is silent."""
    path = tmp_path / "word.wav"
    soundfile.write(path, np.pad(0.1 * np.sin(np.arange(6_400) * 0.3), 12_800), 16_000)
    said = ClipStore([Clip(path, Kind.POSITIVE, "word", "someone", Split.TRAIN)])
    talk, augmentation = store(tmp_path), AugmentationConfig(speed=0.3, talk_probability=0.25)
    lengths: list[Tensor] = []

    def spy(
        waves: Tensor, begins: Tensor, ends: Tensor, *, talk: ClipStore, share: float, generator: torch.Generator
    ) -> Tensor:
        time = torch.arange(waves.shape[1])
        outside = (time < begins[:, None]) | (time >= ends[:, None])
        assert (waves * outside).abs().max() < 1e-3
        assert (waves.abs().amax(dim=1) > 0.05).all()
        assert share == 0.25
        lengths.append(ends - begins)
        return waves

    generator = torch.Generator().manual_seed(0)
    if stage == "first":
        monkeypatch.setattr("wakeword_train.data.batches.amid_talk", spy)
        stores = {Kind.POSITIVE: said, Kind.BACKGROUND: talk}
        made = BatchSampler(
            stores, mix=MixConfig(), augmentation=augmentation, window=96, batch_size=64, generator=generator
        )
        made.next()
    else:
        monkeypatch.setattr("wakeword_train.second_stage.looks.cutter.amid_talk", spy)
        # Other speech before the clip is apart from this.
        cutter = LookCutter({Kind.NEGATIVE: talk}, augmentation, generator)
        cutter.words(said, torch.zeros(64, dtype=torch.int64))
    (found,) = lengths
    assert 1.3 * found.min() < found.max()
