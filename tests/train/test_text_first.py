"""Laws of what training keeps: the trained model, or the one that the text makes in seconds."""

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest

from wakeword.base.errors import ConfigError
from wakeword.model.installed import assets_folder
from wakeword.model.model import load_model, parse_model, read_model
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.cards import embed_card
from wakeword_train.data.clips import Clip
from wakeword_train.from_text import model_of_text
from wakeword_train.points import FEW_PEOPLE, TYPED, require_trained
from wakeword_train.recipe import default_recipe
from wakeword_train.report.verdict import verdict
from wakeword_train.second_stage.evidence import Evidence
from wakeword_train.second_stage.result import HeldOut, SecondStageResult
from wakeword_train.spoken_texts import SpokenKeyword
from wakeword_train.text_first import compared_with_text, keep_the_better
from wakeword_train.training import TrainingResult

CONFIG = dataclasses.replace(default_recipe(), keyword="jarvis")
SILENCE = np.zeros(4_000, np.float32)
"""In which the text alone finds nothing."""


@pytest.fixture(scope="module")
def of_text() -> bytes:
    """The model of the text, which takes seconds."""
    return model_of_text(SpokenKeyword.of(CONFIG))


def held_out(*, people: int, voices: int, found: int) -> HeldOut:
    """Clips of silence; both stages are sure of the word in the first ``found`` of people, and of voices."""
    clips = [
        Clip(
            Path(f"{engine}{number}.wav"),
            Kind.POSITIVE,
            "jarvis",
            f"{engine}:{number}",
            Split.VALIDATION,
            engine != "a",
        )
        for engine, count in (("a", people), ("kokoro", voices))
        for number in range(count)
    ]
    sure = [int(clip.path.stem.strip("akor")) < found for clip in clips]
    evidence = [Evidence(*np.array([[40.0 if one else -40.0]] * 3), np.zeros(1)) for one in sure]
    return HeldOut({Kind.POSITIVE: evidence}, {Kind.POSITIVE: clips}, 0.0, [SILENCE] * len(clips))


def result_of(path: Path, held: HeldOut) -> TrainingResult:
    """A training that made the included model."""
    shutil.copyfile(assets_folder() / "models" / "jarvis.onnx", path)
    card = read_model(path).card.verifier
    assert card is not None
    return TrainingResult(
        path, [], [], [], SecondStageResult(head=b"", card=card, held_out=held, description="", fingerprint="")
    )


@pytest.mark.parametrize(
    ("found", "of_text_found", "promise", "keeps_text"),
    [(3, 1, 2.0, True), (3, 0, 2.0, False), (0, 0, 2.0, False), (3, 1, 0.5, False)],
)
def test_the_text_is_kept_where_it_finds_more_and_promises_as_much_and_the_trained_one_is_not_lost(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    of_text: bytes,
    *,
    found: int,
    of_text_found: int,
    promise: float,
    keeps_text: bool,
) -> None:
    monkeypatch.setattr("wakeword_train.text_first.model_of_text", lambda spoken: of_text)
    monkeypatch.setattr("wakeword_train.text_first.stream_scores", lambda *_: np.array([float(of_text_found)]))
    path, trained = tmp_path / "jarvis.onnx", tmp_path / "work" / "jarvis-trained.onnx"
    trained.parent.mkdir()
    result = result_of(path, held_out(people=0, voices=6, found=found))
    card = read_model(path).card
    points = tuple(
        dataclasses.replace(one, target=promise) if one == card.point() else one for one in card.operating_points
    )
    path.write_bytes(embed_card(path.read_bytes(), dataclasses.replace(card, operating_points=points)))
    whole = path.read_bytes()
    line = keep_the_better(CONFIG, result, trained)
    card = read_model(path).card
    compared = card.training["compared"]
    assert trained.read_bytes() == whole
    assert (compared["default"]["trained"], compared["default"]["text"]) == (found / 6, of_text_found)
    assert compared["default"]["clips"] == 6
    assert line is not None
    assert f"{found / 6:.0%} of 6 held-out clips of synthetic voices at fa_per_hour" in line
    assert f"the text alone {of_text_found:.0%} at {parse_model(of_text).card.point().name}" in line
    assert (card.training["method"] == TYPED) == keeps_text
    if not keeps_text:
        assert line.startswith("kept the trained model")
        return
    assert line.startswith("kept the model of the text alone")
    assert load_model(path).card.verifier == parse_model(of_text).card.verifier
    # Whoever needs a trained network is told which file has it.
    with pytest.raises(ConfigError, match=r"made from its text.*take .*jarvis-trained\.onnx"):
        require_trained(card)
    assert verdict(card).advice[0].commands == ("wakeword train jarvis --positives people/ --anyway",)


def test_ten_people_decide_and_voices_no_more(tmp_path: Path, of_text: bytes) -> None:
    typed = parse_model(of_text)
    for people, of, clips in ((FEW_PEOPLE, "people", FEW_PEOPLE), (FEW_PEOPLE - 1, "synthetic voices", 12)):
        result = result_of(tmp_path / "jarvis.onnx", held_out(people=people, voices=12, found=people))
        assert result.second_stage is not None
        card = read_model(result.path).card
        compared = compared_with_text(card, result.second_stage, typed, ("kokoro",))
        assert (compared.of, compared.clips) == (of, clips)
        assert compared.trained == round(people / clips, 4)


def test_without_a_threshold_or_a_second_stage_nothing_is_compared(tmp_path: Path) -> None:
    result = result_of(tmp_path / "jarvis.onnx", held_out(people=0, voices=6, found=0))
    before = result.path.read_bytes()
    assert keep_the_better(CONFIG, dataclasses.replace(result, second_stage=None), tmp_path / "t.onnx") is None
    assert result.path.read_bytes() == before
    assert not (tmp_path / "t.onnx").exists()
