"""``listen``, ``scan`` and ``info`` say the same of the operating point that is used."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import band_model_bytes

from wakeword.format.operating_point import OperatingPoint, Rate
from wakeword.format.point_warnings import warnings_of
from wakeword.model.model import read_model
from wakeword_tools.measure.cards import write_card

RATE = OperatingPoint("fa_per_hour=0.5", "fa_per_hour", 0.5, 0.6, 0.9, 0.8, 0.95, "x", positives=9, synthetic=9)
CLIPS = OperatingPoint("fpr=0.03", "fpr", 0.03, 0.5, 0.9, 0.8, 0.95, "x", fpr_negatives=Rate(0.02, 0, 0.1, 2, 100))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "doubtful.onnx"
    path.write_bytes(band_model_bytes("low", 1))
    card = read_model(path).card
    write_card(path, dataclasses.replace(card, operating_points=(RATE, CLIPS), default_point=RATE.name))
    return path


def test_the_warnings_of_the_chosen_point_are_the_same_everywhere(cli, model: Path, tmp_path: Path) -> None:
    quiet = tmp_path / "quiet.wav"
    soundfile.write(quiet, np.zeros(16_000), 16_000)
    commands = [("scan", quiet), ("listen", "--input", quiet)]
    for chosen, options in ((RATE, ()), (CLIPS, ("--point", "fpr=0.03"))):
        wanted = list(warnings_of([("low", chosen)]))
        assert wanted
        for command in commands:
            done = cli(*command, "--model", model, *options)
            assert done.status == 0, done.err
            assert [line for line in done.err.splitlines() if line.startswith("warning")] == wanted
        assert set(wanted) <= set(cli("info", "--json", model).err.splitlines())
    # A threshold of the user's own is no point.
    assert not any("warning" in cli(*command, "--model", model, "--threshold", "0.9").err for command in commands)
