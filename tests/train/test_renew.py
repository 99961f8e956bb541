"""Models that are kept get another recogniser: theirs is the one of this version, and all that was chosen stays."""

import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wakeword import Detector
from wakeword.base.errors import ConfigError, ModelError, WakewordError
from wakeword.cli.app import app
from wakeword.format.verifier_card import VerifierCard
from wakeword.model.installed import assets_folder, shipped_models
from wakeword.model.model import parse_model, read_model, read_model_bytes
from wakeword.verify.phoneme_verifier import PhonemeNetwork
from wakeword.verify.shared import PHONEMES_FILE, load_phonemes
from wakeword_tools.measure.cards import embed_card
from wakeword_tools.texts.recogniser import HeardAs, foreign_variants, recogniser_variants
from wakeword_train import from_text as from_text_module
from wakeword_train.ear import TextEar
from wakeword_train.from_text import model_from_text
from wakeword_train.model.two_stage import shipped_digests
from wakeword_train.renew import renew_model
from wakeword_train.spoken_texts import SpokenKeyword

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
    assert renew_model(path)
    made = read_model(path)
    assert made.card.verifier == card.verifier
    assert made.card.operating_points == card.operating_points
    assert made.card.training == {card.MEASURED_WITH: OLD, **card.training}
    assert made.second_stage is not None
    renewed = path.read_bytes()
    assert not renew_model(path)
    assert path.read_bytes() == renewed


@pytest.mark.parametrize("old", [{"quick_digest": OLD}, {"phonemes_digest": OLD, "quick_digest": OLD}])
def test_a_word_from_its_text_gets_the_quick_recogniser_of_this_version(tmp_path: Path, old: dict[str, str]) -> None:
    path = model_from_text("computer", tmp_path / "computer.onnx")
    made = read_model(path).card
    assert made.verifier is not None
    other = dataclasses.replace(made.verifier, quick_gate=-0.5, **old)
    path.write_bytes(embed_card(path.read_bytes(), dataclasses.replace(made, verifier=other)))
    assert renew_model(path)
    assert read_model(path).card.verifier == made.verifier
    assert read_model(path).second_stage is not None
    assert not renew_model(path)


def test_a_model_without_phonemes_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "alexa.onnx"
    shutil.copy(shipped_models()["alexa"], path)
    assert not renew_model(path)
    assert path.read_bytes() == shipped_models()["alexa"].read_bytes()


def written_for_another(word: str, path: Path, **training: object) -> None:
    """A model as it was trained with another recogniser."""
    shipped = read_model_bytes(shipped_models()["marvin"])
    card = parse_model(shipped).card
    assert card.verifier is not None
    old = dataclasses.replace(card.verifier, phonemes_digest=OLD)
    changed = dataclasses.replace(card, phrase=word, verifier=old, training={**card.training, **training})
    path.write_bytes(embed_card(shipped, changed))


def test_each_form_of_a_word_is_written_anew_in_its_language(tmp_path: Path, network: PhonemeNetwork) -> None:
    plan = {"synthesis": {"also": ["computer"], "say": []}}
    written_for_another("marvin", tmp_path / "two.onnx", config=plan)
    assert renew_model(tmp_path / "two.onnx")
    verifier = read_model(tmp_path / "two.onnx").card.verifier
    assert verifier is not None
    assert set(verifier.phonemes) == {
        way.variant for word in ("marvin", "computer") for way in recogniser_variants(word, network.tokens)
    }
    written_for_another("ich", tmp_path / "ich.onnx", config={}, language="de")
    assert renew_model(tmp_path / "ich.onnx")
    verifier = read_model(tmp_path / "ich.onnx").card.verifier
    assert verifier is not None
    assert verifier.phonemes == (foreign_variants("ich", "de", network.tokens)[0].variant,)


@pytest.mark.parametrize("config", [[], None, {"synthesis": None}, {"synthesis": {"also": 5, "say": [7]}}])
def test_a_record_of_training_may_hold_anything(tmp_path: Path, config: object) -> None:
    written_for_another("marvin", tmp_path / "mine.onnx", config=config)
    assert renew_model(tmp_path / "mine.onnx")


def test_a_word_that_cannot_be_said_leaves_its_file_as_it_is(tmp_path: Path) -> None:
    written_for_another("北京", tmp_path / "word.onnx", config={})
    before = (tmp_path / "word.onnx").read_bytes()
    with pytest.raises(WakewordError, match="pronounce as English"):
        renew_model(tmp_path / "word.onnx")
    assert (tmp_path / "word.onnx").read_bytes() == before


def test_a_model_of_another_recogniser_says_how_to_renew_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.onnx"
    written_for_another("marvin", path)
    with pytest.raises(ModelError, match="`wakeword renew MODEL`"):
        Detector(path)
    said = CliRunner().invoke(app, ["renew", str(path)]).output
    assert said.startswith(f"{path}: renewed; ")
    assert "wakeword calibrate" in said
    Detector(path)


def changed(path: Path) -> bytes:
    """Another model of the same word and recogniser."""
    data, card = read_model_bytes(path), read_model(path).card
    return embed_card(data, dataclasses.replace(card, training={**card.training, "mine": "other"}))


def test_a_model_that_is_replaced_while_it_is_renewed_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.onnx"
    written_for_another("marvin", path)
    other = changed(path)
    made = from_text_module.with_phonemes

    def meanwhile(verifier: VerifierCard, spoken: SpokenKeyword, ways: Sequence[HeardAs], ear: TextEar) -> VerifierCard:
        path.write_bytes(other)
        return made(verifier, spoken, ways, ear)

    with monkeypatch.context() as patched:
        patched.setattr(from_text_module, "with_phonemes", meanwhile)
        with pytest.raises(ConfigError, match="the model was replaced meanwhile"):
            renew_model(path)
    assert path.read_bytes() == other
    assert renew_model(path)
    assert read_model(path).card.training["mine"] == "other"
