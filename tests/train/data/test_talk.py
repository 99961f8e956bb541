"""Laws of words amid other speech: the word stays, what surrounds it changes, silence and shares are respected."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.augment import level
from wakeword_train.data.clips import Clip
from wakeword_train.data.store import ClipStore
from wakeword_train.data.talk import amid_talk, talk_of

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
    before, after = (level(part) > 0 for part in (spoken[:, :BEGINS], spoken[:, ENDS:]))
    assert before.any()
    assert not before.all()
    assert after.any()
    assert not after.all()
    assert (before & after).any()


def test_the_other_speech_is_about_as_loud_as_the_word(tmp_path: Path) -> None:
    spoken = placed(tmp_path, words(200), 1.0)
    after = level(spoken[:, ENDS + 3_000 :])
    ratio = after[after > 0] / level(spoken[:, BEGINS:ENDS])[0]
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
