"""Models that are kept get another recogniser: theirs is the one of this version, and all that was chosen stays."""

import dataclasses
import shutil
from pathlib import Path

import pytest

from scripts.renew_phonemes import MEASURED_WITH, renew
from wakeword.base.errors import ConfigError
from wakeword.model.installed import assets_folder, shipped_models
from wakeword.model.model import parse_model, read_model, read_model_bytes
from wakeword.verify.phoneme_verifier import PhonemeNetwork
from wakeword.verify.shared import PHONEMES_FILE, load_phonemes
from wakeword_tools.measure.cards import embed_card
from wakeword_tools.texts.recogniser import recogniser_variants
from wakeword_train.model.two_stage import shipped_digests

OLD = "0" * 64


@pytest.fixture(scope="module")
def network() -> PhonemeNetwork:
    return load_phonemes(assets_folder() / "encoders" / PHONEMES_FILE, shipped_digests()[1])


@pytest.mark.parametrize("word", sorted(shipped_models()))
def test_the_included_models_have_the_phonemes_of_the_included_recogniser(word: str, network: PhonemeNetwork) -> None:
    verifier = read_model(shipped_models()[word]).card.verifier
    assert verifier is not None
    if verifier.phonemes:
        ways = recogniser_variants(word, network.tokens)
        assert verifier.phonemes_digest == shipped_digests()[1]
        assert verifier.phonemes == tuple(way.variant for way in ways)
        assert verifier.phoneme_losses == tuple(way.losses for way in ways)


def test_only_the_phonemes_are_written_anew(tmp_path: Path) -> None:
    shipped = read_model_bytes(shipped_models()["marvin"])
    card = parse_model(shipped).card
    assert card.verifier is not None
    old = dataclasses.replace(card.verifier, phonemes_digest=OLD, phonemes=((("m",),),), phoneme_losses=(((0.0,),),))
    path = tmp_path / "marvin.onnx"
    path.write_bytes(embed_card(shipped, dataclasses.replace(card, verifier=old)))
    assert renew(path)
    made = read_model(path)
    assert made.card.verifier == card.verifier
    assert made.card.operating_points == card.operating_points
    assert made.card.training == {**card.training, MEASURED_WITH: OLD}
    assert made.second_stage is not None
    renewed = path.read_bytes()
    assert renew(path)
    assert path.read_bytes() == renewed


def test_a_model_without_phonemes_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "alexa.onnx"
    shutil.copy(shipped_models()["alexa"], path)
    assert not renew(path)
    assert path.read_bytes() == shipped_models()["alexa"].read_bytes()


def test_a_word_of_another_language_is_refused(tmp_path: Path) -> None:
    shipped = read_model_bytes(shipped_models()["marvin"])
    card = parse_model(shipped).card
    assert card.verifier is not None
    old = dataclasses.replace(card.verifier, phonemes_digest=OLD)
    path = tmp_path / "ich.onnx"
    german = dataclasses.replace(card, verifier=old, training={**card.training, "language": "de"})
    path.write_bytes(embed_card(shipped, german))
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="expected an English word, got one of 'de'"):
        renew(path)
    assert path.read_bytes() == before
