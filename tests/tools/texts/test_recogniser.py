"""Laws of the tokens that may stand for the phonemes of a text, and of their costs."""

import json
from pathlib import Path

import pytest

from wakeword.model.installed import assets_folder, shipped_models
from wakeword.model.model import read_model
from wakeword.verify.shared import PHONEMES_FILE, file_digest, load_phonemes
from wakeword_tools.texts.recogniser import (
    CONFUSIONS_FILE,
    IPA,
    LEFT_OUT,
    foreign_variants,
    recogniser_variants,
    sound_costs,
    token_costs,
)


@pytest.mark.parametrize("word", sorted(shipped_models()))
def test_the_included_models_have_the_phonemes_of_the_included_recogniser(word: str) -> None:
    verifier = read_model(shipped_models()[word]).card.verifier
    assert verifier is not None
    if verifier.phonemes:
        digest = file_digest(assets_folder() / "encoders" / PHONEMES_FILE)
        network = load_phonemes(assets_folder() / "encoders" / PHONEMES_FILE, digest)
        ways = recogniser_variants(word, network.tokens)
        assert verifier.phonemes_digest == digest
        assert verifier.phonemes == tuple(way.variant for way in ways)
        assert verifier.phoneme_losses == tuple(way.losses for way in ways)


def counts() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = json.loads(
        (assets_folder("wakeword_tools") / "encoders" / CONFUSIONS_FILE).read_text()
    )["counts"]
    return found


def test_the_table_was_counted_with_the_network_that_is_installed() -> None:
    content = json.loads((assets_folder("wakeword_tools") / "encoders" / CONFUSIONS_FILE).read_text())
    assert content["phonemes_digest"] == file_digest(assets_folder() / "encoders" / PHONEMES_FILE)


@pytest.mark.parametrize("phoneme", sorted(IPA))
def test_what_is_heard_most_costs_nothing_and_rarer_tokens_cost_more(phoneme: str) -> None:
    costs, heard = token_costs()[phoneme], counts().get(phoneme, {})
    assert min(costs.values()) == 0
    assert set(IPA[phoneme].split()) <= set(costs)
    if sum(heard.values()) >= 100:
        ordered = sorted((token for token in costs if heard.get(token, 0) > 30), key=lambda token: -heard[token])
        assert [costs[token] for token in ordered] == sorted(costs[token] for token in ordered)
    assert LEFT_OUT not in costs


def test_every_variant_has_a_cost_for_each_token_and_only_known_tokens() -> None:
    known = {token for costs in token_costs().values() for token in costs} - {"ə"}
    ways = recogniser_variants("computer", known)
    assert ways
    for variant, losses in ways:
        assert [len(tokens) for tokens in variant] == [len(costs) for costs in losses]
        assert {token for tokens in variant for token in tokens} <= known
        assert all(min(costs) == 0 for costs in losses)
    assert recogniser_variants("computer", known - {"k", "kʰ"}) == ()


def table_of(folder: Path, counted: dict[str, dict[str, int]]) -> Path:
    """The file of what was heard for each sound."""
    path = folder / CONFUSIONS_FILE
    path.write_text(json.dumps({"counts": counted}, ensure_ascii=False), "utf-8")
    return path


def test_a_sound_costs_what_a_phoneme_of_the_same_counts_costs(tmp_path: Path) -> None:
    """Except for tokens that write a phoneme, which stand for it however seldom they were heard."""
    often = {phoneme: counted for phoneme, counted in counts().items() if sum(counted.values()) >= 100}
    assert often
    costs = sound_costs(table_of(tmp_path, often))
    assert costs.keys() == often.keys()
    for phoneme, own in costs.items():
        counted = {token: cost for token, cost in own.items() if token != phoneme}
        assert counted.items() <= token_costs()[phoneme].items()
        assert token_costs()[phoneme].keys() - own.keys() <= {*IPA[phoneme].split()}
        assert min(own.values()) == 0


def test_a_sound_of_any_language_is_what_was_heard_for_it_and_itself(tmp_path: Path) -> None:
    known = ("b", "d", "h", "k", "l", "p", "s", "t", "w", "ɔ", "ø")
    counted = {"k": {"h": 60, "t": 20, "k": 2, LEFT_OUT: 18}, "l": {"w": 39}, "p": {"b": 50}, "ɔ": {LEFT_OUT: 80}}
    costs = sound_costs(table_of(tmp_path, counted))
    (heard,) = foreign_variants("Klopp", "de", known, costs)
    assert heard.variant == (("h", "t", "k"), ("l",), ("ɔ",), ("b", "p"))
    assert heard.losses[0] == (0.0, 4.39, 9.94)  # 4 ln 3, and 4 ln 12 as no token is rarer than a twentieth
    (by_sound,) = foreign_variants("Klopp", "de", known)
    assert len(by_sound.variant) == len(heard.variant)
    (without,) = foreign_variants("Klopp", "de", ("b", "h", "l", "t", "ɔ"), costs)
    assert without.variant[0] == ("h", "t")
