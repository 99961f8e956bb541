"""``wakeword info`` and ``wakeword models``: what a user asks first comes first, in lines that fit."""

import dataclasses
from pathlib import Path

import pytest

from wakeword.format.card import ModelCard
from wakeword.format.operating_point import OperatingPoint, Rate
from wakeword.format.point_warnings import hourly_shown, limits
from wakeword.model.installed import shipped_models
from wakeword.model.model import load_model, read_model


@pytest.mark.parametrize("word", sorted(shipped_models()))
def test_the_first_lines_say_what_the_model_is_for_and_how_often_it_is_wrong(cli, word: str) -> None:
    card = read_model(shipped_models()[word]).card
    point, before = card.point(), ["measured"] if card.MEASURED_WITH in card.training else []
    shown = cli("info", word)
    assert (shown.status, shown.err) == (0, "")
    lines = shown.out.splitlines()
    names = [line[:15].strip() for line in lines if line[:15].strip()]
    assert names == ["listens for", "finds people", "fires wrongly", *before, "default point", "version", "more"]
    assert len(lines) <= 12
    text = " ".join(line[15:] for line in lines)
    close = point.fpr_near_negatives
    assert close is not None
    for part in (
        *(word, point.name, f"{hourly_shown(point):.2f} times an hour"),
        f"{close.count} of {close.trials:g} ({close.value:.0%}) words that sound like it",
    ):
        assert part in text


def test_what_the_folds_of_marvin_found_is_shown(cli) -> None:
    text = " ".join(cli("info", "marvin").out.split())
    assert "92% of the time (62% to 100%): 12 of 13 recordings" in text
    assert "that did not know the speaker; this file alone found 2 of 2" in text
    assert "0.24 times an hour of speech (mean of these models, 6.9 h each)" in text
    (row,) = (line for line in cli("models").out.splitlines() if line.startswith("marvin "))
    assert all(part in row for part in ("0.923 (0.624-0.999)", "13 by folds", "0.24"))
    assert cli("models").err == ""


def test_info_and_the_warnings_say_the_same_of_what_a_file_was_measured_on(cli) -> None:
    text = " ".join(cli("info", "marvin").out.split())
    (point,) = (one for one in load_model("marvin").card.operating_points if one.name == "fpr=0.05")
    (limit,) = (one for one in limits(point) if one.startswith("recall"))
    assert limit.startswith("recall was measured on 2 recordings of the word by this file alone; ")
    assert "this file alone found 2 of 2" in text


@pytest.mark.parametrize("command", [["models"], *(["info", word] for word in shipped_models())])
def test_no_line_is_longer_than_a_screen_is_wide(cli, command: list[str]) -> None:
    # The table of models has eight columns.
    assert max(map(len, cli(*command).out.splitlines())) <= (100 if command == ["models"] else 80)


def test_a_card_that_says_little_is_no_error(models: Path, monkeypatch: pytest.MonkeyPatch, cli) -> None:
    model = read_model(models / "low.onnx")
    bare = OperatingPoint("fpr=0.03", "fpr", 0.03, 0.5, 0.9, 0.8, 0.95, "my own recordings")
    voices = dataclasses.replace(bare, positives=40, synthetic=40, false_accepts_per_hour=Rate(0.5, 0.1, 2, 1, 2.0))

    def shown(**fields: object) -> str:
        model.card = dataclasses.replace(model.card, **fields)  # type: ignore[arg-type]
        monkeypatch.setattr("wakeword.cli.info.load_model", lambda name: model)
        return " ".join(cli("info", "low").out.split())

    assert "90% of the time (80% to 95%): my own recordings fires wrongly not measured" in shown(
        operating_points=(bare,)
    )
    assert "36 of 40 synthetic clips" in (text := shown(operating_points=(voices,)))
    assert "0.50 times an hour of speech (0.10 to 2.00, from 2.0 h)" in text
    assert "people" not in text
    assert "none; give --threshold or --point (fpr=0.03)" in shown(default_point=None)
    assert "calibrate it" in shown(operating_points=())
    assert isinstance(model.card, ModelCard)
