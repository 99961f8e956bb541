"""Words that tell windows apart: what is compared is how well a detector's search would find them."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from scripts.ear.distilling import DeviceLessons
from scripts.ear.word_contrast import WordContrast, fits, heard_sounds
from wakeword.verify.phoneme_verifier import BLANK, WORD_BOUNDARY, KeywordPhonemes

TOKENS = ("a", "e", "i", "m", "s", "t", WORD_BOUNDARY, BLANK)
SOUNDS, WINDOWS, OUTPUTS = 6, 12, 60


def said_in(windows: int, random: np.random.Generator) -> NDArray[np.float16]:
    """Words of four sounds, each for two outputs, with a pause after it."""
    said = np.full((windows, OUTPUTS, len(TOKENS)), 0.005, np.float16)
    heard = np.full((windows, OUTPUTS), TOKENS.index(BLANK))
    for window in heard:
        for word in range(3):
            first = 2 + 20 * word
            window[first : first + 8] = np.repeat(random.permutation(SOUNDS)[:4], 2)
            window[first + 9] = TOKENS.index(WORD_BOUNDARY)
    np.put_along_axis(said, heard[:, :, None], 0.9, axis=2)
    return said


@pytest.fixture
def lessons() -> DeviceLessons:
    said = said_in(WINDOWS, np.random.default_rng(1))
    return DeviceLessons(np.zeros((WINDOWS, 1, 1), np.uint8), np.arange(WINDOWS), said, TOKENS)


def loss_of(lessons: DeviceLessons, logits: torch.Tensor) -> float:
    contrast = WordContrast(lessons, np.random.default_rng(2))
    places = np.tile(np.arange(OUTPUTS), (WINDOWS, 1))
    return float(contrast.loss(logits.detach(), np.arange(WINDOWS), places, slack=3))


def test_what_fits_at_its_best_end_is_what_a_detector_finds() -> None:
    random = np.random.default_rng(0)
    for word in ("mast", "time", "aaa", "see"):
        heard = torch.log_softmax(torch.from_numpy(2 * random.standard_normal((40, len(TOKENS)))), dim=1).float()
        lost = heard - heard.max(dim=1, keepdim=True).values
        between = lost[:, [TOKENS.index(BLANK), TOKENS.index(WORD_BOUNDARY)]].amax(dim=1)
        sounds = torch.tensor([[*(TOKENS.index(one) for one in word), 0, 0]])
        own = fits(lost[None], between[None], sounds, torch.tensor([len(word)]))
        wanted = KeywordPhonemes([[[one] for one in word]], TOKENS).score(heard.numpy())
        assert own.shape == (1, 40)
        assert float(own.max()) == pytest.approx(wanted, abs=1e-4)


def test_a_sound_is_heard_once_and_words_begin_after_a_boundary(lessons: DeviceLessons) -> None:
    for said in lessons.said:
        heard = heard_sounds(said, TOKENS)
        assert [one.begins for one in heard] == [True, False, False, False] * 3
        assert [said[one.place].argmax() for one in heard] == [one.token for one in heard]


def test_a_sound_may_begin_unsure_and_one_that_stays_so_is_not_heard(lessons: DeviceLessons) -> None:
    said = lessons.said[0].copy()
    first, second, third = (one.place for one in heard_sounds(said, TOKENS)[:3])
    said[first, said[first].argmax()] = 0.3
    said[second : second + 2] /= 3
    heard = heard_sounds(said, TOKENS)
    assert heard[0].place == first + 1
    assert heard[0].begins
    assert heard[1].place == third
    assert not heard[1].begins
    assert len(heard) == len(heard_sounds(lessons.said[0], TOKENS)) - 1


def test_who_says_what_is_heard_tells_windows_apart_and_who_hears_another_window_does_not(
    lessons: DeviceLessons,
) -> None:
    right = torch.log(torch.from_numpy(lessons.said.astype(np.float32)))
    silent = torch.zeros_like(right)
    assert loss_of(lessons, right) < 0.01 < 1 < loss_of(lessons, silent) < loss_of(lessons, right.roll(1, dims=0))


def test_only_what_differs_between_tokens_counts(lessons: DeviceLessons) -> None:
    logits = torch.randn(
        (WINDOWS, OUTPUTS, len(TOKENS)), generator=torch.Generator().manual_seed(3), requires_grad=True
    )
    louder = logits + torch.linspace(-3, 3, OUTPUTS)[:, None]
    assert loss_of(lessons, logits) == pytest.approx(loss_of(lessons, louder), abs=1e-4)
    contrast = WordContrast(lessons, np.random.default_rng(2))
    contrast.loss(logits, np.arange(WINDOWS), np.tile(np.arange(OUTPUTS), (WINDOWS, 1)), slack=3).backward()
    assert logits.grad is not None
    assert logits.grad.abs().max() > 0
    assert logits.grad.sum(dim=2).abs().max() < 1e-5


def test_windows_in_which_too_little_is_heard_teach_nothing(lessons: DeviceLessons) -> None:
    lessons.said[:] = 0
    lessons.said[:, :, TOKENS.index(BLANK)] = 1
    assert loss_of(lessons, torch.randn((WINDOWS, OUTPUTS, len(TOKENS)))) == 0
