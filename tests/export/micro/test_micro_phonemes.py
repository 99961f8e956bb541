"""The phonemes of a word on a device are the search of ``KeywordPhonemes`` in what the network says, step by step."""

from pathlib import Path

import numpy as np
import pytest
from support.micro_nets import WAYS, random_frames, random_head, random_net, random_phonemes, random_word

from wakeword.verify.phoneme_verifier import KeywordPhonemes
from wakeword_export.micro.int8_phonemes import OF_FIT, MicroPhonemes, MicroWord
from wakeword_export.micro.int8_word import HELD, MicroWordNet
from wakeword_export.micro.mixed_net import whole_steps

FRAMES = random_frames(360, seed=3)


def fits_of(word: MicroWord) -> np.ndarray:
    found: np.ndarray = (word.fits(word.network.steps(FRAMES)).astype(float) - OF_FIT.zero) * OF_FIT.scale
    return found


@pytest.mark.parametrize("ways", [WAYS, WAYS[:1], WAYS[1:]])
def test_it_finds_what_the_search_finds(ways: list) -> None:
    network = random_phonemes()
    losses = [tuple(tuple(0.5 * n for n in range(len(phoneme))) for phoneme in way) for way in ways]
    word = MicroWord.of(network, ways, losses)
    assert word is not None
    steps = (network.steps(FRAMES).astype(float) - network.outputs.zero) * network.outputs.scale
    said = (steps @ network.weight.T + network.bias).astype(np.float32)
    search = KeywordPhonemes(ways, network.tokens, losses)
    # The search looks for the best end in all that it is given; whole numbers lose a little at each of the steps.
    best = np.maximum.accumulate(fits_of(word))
    expected = np.array([search.score(said[: step + 1]) for step in range(len(said))])
    assert expected[-1] > expected[20]
    told = expected > -3
    assert told.sum() > 40
    assert np.abs(best - expected)[told].max() < 0.15


def test_a_word_too_far_from_what_is_heard_is_dead_and_comes_back() -> None:
    word = random_word()
    begun = word.fits(word.network.steps(np.concatenate([random_frames(900, seed=4), FRAMES])))
    assert np.array_equal(begun[-60:], word.fits(word.network.steps(FRAMES))[-60:])


def test_tokens_that_the_network_lacks_are_left_out() -> None:
    network = random_phonemes()
    plain = MicroWord.of(network, [(("a",), ("b",), ("a",))], [])
    strange = MicroWord.of(network, [(("a",), ("b", "ʒ"), ("a",)), (("ʒ",), ("a",))], [])
    assert plain is not None
    assert strange is not None
    steps = network.steps(FRAMES)
    assert np.array_equal(plain.fits(steps), strange.fits(steps))
    assert MicroWord.of(network, [(("ʒ",), ("a",))], []) is None
    assert MicroWord.of(network, [], []) is None


def test_a_fit_and_a_head_are_added_to_the_student() -> None:
    word, student, head = random_word(), random_net(), random_head()
    fits, steps = fits_of(word), word.network.steps(FRAMES)
    held = np.array([fits[max(0, step - HELD + 1) : step + 1].max() for step in range(len(fits))])
    nets = ((student, whole_steps(FRAMES)), (head, steps))
    alone = [(net.logits(inputs) - float(net.last.outputs.zero)) * net.last.outputs.scale for net, inputs in nets]
    assert min(logits.std() for logits in alone) > 0.2
    expected = 256 / (1 + np.exp(-(sum(alone) + 2 * held + 3.25)))
    found = MicroWordNet(student, word, head).outputs(FRAMES).astype(float)
    assert expected.std() > 5
    assert np.abs(found - expected).max() < 6  # steps of the logit


def test_the_file_of_the_network_is_the_network(tmp_path: Path) -> None:
    network = random_phonemes()
    np.savez(tmp_path / "own.npz", **network.arrays())
    read = MicroPhonemes.read(tmp_path / "own.npz")
    assert np.array_equal(read.steps(FRAMES), network.steps(FRAMES))
    assert read.tokens == network.tokens
    assert np.allclose(read.weight, network.weight, atol=2e-3)
    included = MicroPhonemes.read()
    assert included.steps(FRAMES).shape == (len(FRAMES) // 3, included.weight.shape[1])
