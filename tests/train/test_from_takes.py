"""Laws of what takes teach a model that was made from its text."""

import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import typer

from wakeword import AudioFileError, ConfigError, DataError
from wakeword.audio.audio_file import write_audio
from wakeword.base.types import Array
from wakeword.model.model import read_model
from wakeword.verify.phoneme_verifier import PhonemeNetwork, PhonemeVerifier
from wakeword_tools.measure.cards import embed_card
from wakeword_train import from_takes, model_from_text
from wakeword_train.ear import ear_of
from wakeword_train.from_takes import Learned, _nearest, is_typed, learn_takes, make_learned
from wakeword_train.from_text import LEARNED_WAYS_KEY
from wakeword_train.points import base_model
from wakeword_train.train_options import TrainOptions

GERMAN = ("k", "ɔ", "n", "b", "j", "u", "t", "ɚ")
"""How some people say "computer", heard as it is said."""
SHORT = ("ə", "n", "t", "ə", "n", "t")
"""Sounds that are said all the time."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_from_text("computer", tmp_path_factory.mktemp("typed") / "computer.onnx")


def heard(tokens: Sequence[str]) -> Array:
    """A look at a take in which the recogniser is sure of these sounds, ``(frames, tokens)``."""
    known = ear_of("en").network.tokens
    frames = ["<blank>"] * 30 + [token for one in tokens for token in (one, one, "<blank>")] + ["<blank>"] * 30
    look = np.full((len(frames), len(known)), -12.0, np.float32)
    look[np.arange(len(frames)), [known.index(token) for token in frames]] = -0.01
    return look


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """A folder of takes in which the recogniser hears these sounds."""

    def takes(*sounds: Sequence[str]) -> Path:
        folder = tmp_path / "takes"
        folder.mkdir()
        for number in range(len(sounds)):
            write_audio(folder / f"{number}.wav", np.zeros(16_000, np.float32))
        looks = iter(map(heard, sounds))

        def best_look(word: PhonemeVerifier, _: Array) -> dict[PhonemeNetwork, Array]:
            look = next(looks)
            return {network: look for network in (word.network, word.opinion) if network}

        monkeypatch.setattr(from_takes, "_best_look", best_look)
        return folder

    return takes


def test_the_stretch_nearest_to_the_word_is_found_amid_other_sounds() -> None:
    word = (("a", "e"), ("b",), ("c",), ("d",))
    assert _nearest(word, list("xxabcdxx")) == (0.0, tuple("abcd"))
    assert _nearest(word, list("xebcdx")) == (0.0, tuple("ebcd"))
    assert _nearest(word, list("xxabdxx")) == (0.25, tuple("abd"))
    assert _nearest(word, list("xxabxdxx")) == (0.25, tuple("abxd"))
    assert _nearest(word, []) == (1.0, ())


def test_a_way_that_takes_share_is_learned_and_found(base: Path, said, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    out = tmp_path / "mine.onnx"
    before = base.read_bytes()
    learned = learn_takes(base, [said(GERMAN, GERMAN, GERMAN)], out)
    assert learned.ways == (GERMAN,)
    assert (learned.takes, learned.found_before, learned.found) == (3, 0, 3)
    assert base.read_bytes() == before
    card, mine = read_model(base).card, read_model(out).card
    assert card.verifier is not None
    assert mine.verifier is not None
    assert mine.verifier.phonemes == (*card.verifier.phonemes, tuple((token,) for token in GERMAN))
    assert mine.point().threshold <= card.point().threshold
    assert mine.point().target <= card.point().target
    assert mine.training[LEARNED_WAYS_KEY] == [list(GERMAN)]


def test_sounds_that_speech_is_full_of_are_not_learned(
    base: Path, said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(from_takes, "_DIFFERENT", 1.0)
    learned = learn_takes(base, [said(SHORT, SHORT, SHORT)], tmp_path / "mine.onnx")
    assert learned.ways == ()
    assert (tmp_path / "mine.onnx").read_bytes() == base.read_bytes()


def test_what_earlier_takes_taught_stays(base: Path, said, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Also if the next takes teach nothing new. What one take teaches is not counted as found in it."""
    first = learn_takes(base, [said(GERMAN)], tmp_path / "mine.onnx")
    assert (first.ways, first.found) == ((GERMAN,), 0)
    (tmp_path / "takes").rename(tmp_path / "first")
    learned = learn_takes(tmp_path / "mine.onnx", [said(GERMAN)], tmp_path / "again.onnx")
    assert (learned.ways, learned.found_before) == ((), 1)
    assert (tmp_path / "again.onnx").read_bytes() == (tmp_path / "mine.onnx").read_bytes()


def test_takes_of_another_word_are_refused(base: Path, said, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DataError, match="expected recordings of 'computer', got 2 recordings in which nothing sounds"):
        learn_takes(base, [said("sts", "mlm")], tmp_path / "mine.onnx")
    assert not (tmp_path / "mine.onnx").exists()


def test_what_cannot_teach_is_refused(base: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="recordings of 'computer'"):
        learn_takes(base, [], tmp_path / "mine.onnx")
    with pytest.raises(AudioFileError, match="audio files"):
        learn_takes(base, [empty], tmp_path / "mine.onnx")
    assert not is_typed("jarvis")
    with pytest.raises(ConfigError, match="made from its text"):
        learn_takes(base_model("jarvis"), [base.parent / "none"], tmp_path / "mine.onnx")
    with pytest.raises(typer.BadParameter, match="--background"):
        make_learned(TrainOptions(base=str(base), background=[empty]))
    assert not (tmp_path / "mine.onnx").exists()


def test_points_that_calibration_added_are_named_when_they_are_lost(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def learned(base: Path, folders: Sequence[Path], out: Path) -> Learned:
        shutil.copy(base, out)
        return Learned((), 1, 0, 1)

    monkeypatch.setattr(from_takes, "learn_takes", learned)
    card = read_model(base).card
    own = dataclasses.replace(card.point(), name="fa_per_hour=0.25", target=0.25, threshold=0.9, data="my recordings")
    calibrated = dataclasses.replace(card, operating_points=(own, *card.operating_points))
    (tmp_path / "calibrated.onnx").write_bytes(embed_card(base.read_bytes(), calibrated))
    for model, are_lost in ((base, False), (tmp_path / "calibrated.onnx", True)):
        out = tmp_path / f"{model.stem}-mine.onnx"
        options = TrainOptions(base=str(model), positives=[tmp_path], out=out)
        assert make_learned(options) == out
        printed = capsys.readouterr().err
        assert (f"are gone ({own.name})" in printed) == are_lost
        assert "--positives" not in printed  # as it has just learned


@pytest.mark.parametrize(("found", "why"), [(2, "only takes that it misses"), (1, "found 1 of them before, and what")])
def test_takes_that_teach_nothing_are_said_to_change_nothing(found: int, why: str) -> None:
    told = Learned((), 2, found, found).told(Path("a.onnx"), Path("b.onnx"))
    assert told.startswith("learned nothing new from 2 takes, so that b.onnx hears what a.onnx does: ")
    assert why in told
    assert Learned((GERMAN,), 2, found, found).told(Path("a"), Path("b")).startswith("learned 1 new way to say it")


def test_a_word_next_to_a_model_is_named_as_what_it_is(base: Path, tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match=r"^a WORD and --seed cannot be given with --from"):
        make_learned(TrainOptions(word="computer", base=str(base), positives=[tmp_path], seed=1))
