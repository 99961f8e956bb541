"""Commands with models of two stages."""

import json
from pathlib import Path

import pytest
import soundfile
from support.builders import ALWAYS, NEVER, TWO_STAGE, band_model_bytes, bursts, two_stage_bytes


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "bursts.wav"
    soundfile.write(path, bursts(4.0, {1.3: "low", 3.0: "low"}), 16_000, subtype="FLOAT")
    return path


def model_file(folder: Path, **changes: object) -> Path:
    path = folder / "low.onnx"
    path.write_bytes(two_stage_bytes(band_model_bytes("low", 1), gate=0.0, **changes))  # type: ignore[arg-type]
    return path


@pytest.mark.parametrize(
    "command", [("scan", "--format", "json"), ("listen", "--json", "--input")], ids=["scan", "listen"]
)
def test_both_stages_are_in_the_json_of_a_detection(
    cli, tmp_path: Path, recording: Path, command: tuple[str, ...]
) -> None:
    model = ("--model", model_file(tmp_path, fusion=ALWAYS))
    two, one = (
        [json.loads(line) for line in cli(*command, recording, *model, *option).out.splitlines()]
        for option in ((), ("--no-verify",))
    )
    assert len(two) == len(one) == 2
    for found, alone in zip(two, one, strict=True):
        assert found["stage_one"] == alone["score"]
        assert found["score"] != alone["score"]
        assert "stage_one" not in alone
        assert found["end"] == alone["end"]


def test_no_verify_finds_what_the_second_stage_refuses(cli, tmp_path: Path, recording: Path) -> None:
    model = ("--model", model_file(tmp_path, fusion=NEVER))
    assert cli("scan", recording, *model).out == ""
    assert len(cli("scan", recording, *model, "--no-verify").out.splitlines()) == 2


def test_info_shows_the_second_stage(cli) -> None:
    shown = cli("info", "--json", TWO_STAGE)
    assert shown.status == 0
    verifier = json.loads(shown.out)["verifier"]
    assert {"gate", "stage_one_points"} <= set(verifier)
    assert verifier["span"] == 24
    assert '["a", "ɑ"], ["n"]' in json.dumps(verifier, ensure_ascii=False)


def test_info_refuses_a_model_whose_shared_network_is_another(cli, tmp_path: Path) -> None:
    shown = cli("info", model_file(tmp_path, embedding_digest=64 * "0"))
    assert shown.status == 1
    assert "embedding.onnx: expected the shared network" in shown.err
