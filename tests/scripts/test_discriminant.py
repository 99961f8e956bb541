"""The directions that separate words are found, whatever else the embedding holds."""

import pytest
import torch

from scripts.encoder.discriminant import word_directions
from wakeword.base.errors import DataError


def spoken(words: int, clips: int, *, seed: int = 0) -> tuple[torch.Tensor, list[str]]:
    """Embeddings of 6 dimensions: words are in the first two, speakers, ten times as large, in the other four."""
    generator = torch.Generator().manual_seed(seed)
    of_word = torch.randn(words, 2, generator=generator).repeat_interleave(clips, dim=0)
    of_word = of_word + 0.2 * torch.randn(words * clips, 2, generator=generator)
    speaker = 10 * torch.randn(words * clips, 4, generator=generator)
    return torch.cat([of_word, speaker], dim=1), [f"w{word}" for word in range(words) for _ in range(clips)]


def test_words_are_found_and_speakers_are_not() -> None:
    directions = word_directions(*spoken(50, 20), 2)
    assert directions.shape == (6, 2)
    assert directions[:2].norm() > 20 * directions[2:].norm()


def test_the_variance_of_a_direction_is_the_share_that_words_explain() -> None:
    embeddings, words = spoken(50, 20)
    directions = word_directions(embeddings, words, 3)
    variance = (embeddings @ directions).var(dim=0)
    assert variance[:2].min() > 0.8
    assert variance[2] < 0.2


def test_rotation_and_scale_of_the_embedding_do_not_matter() -> None:
    embeddings, words = spoken(50, 20)
    turn = torch.linalg.qr(torch.randn(6, 6, generator=torch.Generator().manual_seed(3))).Q * 3.0
    one = embeddings @ word_directions(embeddings, words, 2)
    other = embeddings @ turn @ word_directions(embeddings @ turn, words, 2)
    # The same plane, up to signs: distances between clips are equal.
    assert torch.allclose(torch.cdist(one, one), torch.cdist(other, other), rtol=1e-2, atol=1e-2)


def test_words_said_once_do_not_count_and_too_few_are_refused() -> None:
    embeddings, words = spoken(5, 4)
    alone = torch.cat([embeddings, 100 * torch.ones(1, 6)])
    assert torch.allclose(word_directions(alone, [*words, "once"], 2), word_directions(embeddings, words, 2), atol=1e-5)
    with pytest.raises(DataError, match="more than 5 words with at least two clips"):
        word_directions(alone, [*words, "once"], 5)
    with pytest.raises(DataError, match="got 0 of 0"):
        word_directions(torch.empty(0, 6), [], 2)
