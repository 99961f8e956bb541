"""A model file is checked before it is used."""

import ast
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.builders import N_MFCC, WINDOW, band_model_bytes, random_model, random_model_bytes, with_card
from support.onnx_files import with_metadata

import wakeword.model.installed
from wakeword import ConfigError, FeatureConfig, ModelError, load_model
from wakeword.base.logistic import score_of_logit
from wakeword.format.card import METADATA_KEY
from wakeword.format.digest import sealed
from wakeword.model.model import MAX_FILE_BYTES, parse_model, read_model

ROOT = Path(__file__).parents[3]
GOOD = band_model_bytes("low", 1)
CARD = parse_model(GOOD).card


def with_card_entries(model: bytes = GOOD, **entries: Any) -> bytes:
    """A model file with some entries of its card replaced, unchecked."""
    card = json.loads(parse_model(model).card.to_json())
    return with_metadata(model, {METADATA_KEY: json.dumps({**card, **entries})})


OTHER_FEATURES = FeatureConfig(f_max=7_000.0)

BAD = {
    "not ONNX": (b"RIFF....WAVE" * 100, "expected a model file of wakeword"),
    "empty": (b"", "expected a model file of wakeword"),
    "truncated": (GOOD[: len(GOOD) // 2], "expected a model file of wakeword"),
    "no card": (with_metadata(GOOD, {"author": "somebody"}), "without a wakeword card"),
    "card is no JSON": (with_metadata(GOOD, {METADATA_KEY: "{"}), "malformed"),
    "other schema": (with_card_entries(schema=1), "schema 4, got 1"),
    "other features": (with_card(GOOD, dataclasses.replace(CARD, features=OTHER_FEATURES)), "expected features .* of"),
    "changed features": (with_card_entries(features=dataclasses.asdict(OTHER_FEATURES)), "own fingerprint"),
    # Another name of the same length, wherever it occurs.
    "other names": (sealed(GOOD.replace(b"picks", b"other")), "expected a graph"),
    # The graphs differ in the sign of one weight.
    "other weights": (with_card(band_model_bytes("high", -1), CARD), "self-test failed"),
    "other self-test": (with_card_entries(self_test={"logit": 0.0}), "self-test failed"),
    "self-test of NaN": (with_card_entries(self_test={"logit": float("nan")}), "malformed"),
    "tolerance of its own": (with_card_entries(self_test={"logit": 0.0, "tolerance": 1e9}), "malformed"),
    "window without end": (with_card_entries(window=10**12), "window of 1 to 1000 frames"),
    "window of another type": (with_card_entries(window=98.0), "malformed"),
    "other window": (with_card_entries(random_model_bytes(), window=50), "self-test failed"),
    "hidden stack": (with_card_entries(random_model_bytes("last", 2), stack=1), "does not run"),
    "window no multiple of the stack": (with_card_entries(stack=3), "multiple of stack"),
}


@pytest.mark.parametrize("name", BAD)
def test_files_that_are_not_what_they_claim_are_refused_by_name(tmp_path: Path, name: str) -> None:
    data, reason = BAD[name]
    path = tmp_path / "bad.onnx"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=rf"bad\.onnx: .*{reason}"):
        read_model(path)


def test_files_over_the_size_limit_are_refused_without_reading_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "huge.onnx"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    monkeypatch.setattr(wakeword.model.model, "parse_model", lambda *_, **__: pytest.fail("was read"))
    with pytest.raises(ModelError, match=rf"at most {MAX_FILE_BYTES} bytes"):
        read_model(path)


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.onnx.*No such file"):
        read_model(tmp_path / "nowhere.onnx")
    with pytest.raises(ModelError, match="directory"):
        read_model(tmp_path)
    with pytest.raises(ModelError, match="no model for keyword 'xylophone'"):
        load_model("xylophone")


def test_a_good_file_keeps_its_card(tmp_path: Path) -> None:
    path = tmp_path / "low.onnx"
    path.write_bytes(GOOD)
    assert load_model(path).card == load_model(str(path)).card == CARD


def test_shipped_models_are_found_by_keyword(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "low.onnx").write_bytes(GOOD)
    monkeypatch.setattr(wakeword.model.installed, "assets_folder", lambda: tmp_path)
    assert load_model("low").card == CARD
    with pytest.raises(ModelError, match=r"no model.*shipped: low"):
        load_model("high")


def test_providers_are_checked() -> None:
    with pytest.raises(ConfigError, match="cpu or cuda, got 'tpu'"):
        parse_model(GOOD, provider="tpu")


def test_rows_score_as_their_windows_alone() -> None:
    frames = np.random.default_rng(0).normal(-5, 10, (WINDOW, N_MFCC)).astype(np.float32)
    model = random_model("mean")
    # Row 1 begins ten frames late: its window is shorter.
    picks = model.picks(WINDOW, 2)
    picks[:10, 1] = 0
    alone = [model.advance(part, model.start(1))[0][0] for part in (frames, frames[10:])]
    np.testing.assert_allclose(model.advance(frames, model.start(2), picks)[0], alone, atol=1e-5)


def test_scores_keep_their_order_where_float32_would_tie() -> None:
    scores = [score_of_logit(logit) for logit in (-1e30, -800, -20, 0, 17, 17.5, 30)]
    assert scores[3] == 0.5
    assert (np.diff(scores[1:]) > 0).all()
    assert min(scores) >= 0
    assert max(scores) < 1


def test_a_bound_graph_equals_plain_calls() -> None:
    model, hops = random_model("attention", 2), np.random.default_rng(0).normal(-5, 10, (3, 8, N_MFCC))
    frames, logit = np.zeros((8, N_MFCC), np.float32), np.zeros(3, np.float32)
    here, there, state = model.start(3), model.start(3), model.start(3)
    run = model.bind(frames, model.picks(8, 3), here, logit=logit, next_state=there)
    for hop in hops.astype(np.float32):
        frames[:] = hop
        run()
        logits, state = model.advance(hop, state)
        np.testing.assert_array_equal(logit, logits)
        for bound, called, begun in zip(there, state, here, strict=True):
            np.testing.assert_array_equal(bound, called)
            begun[:] = bound


def test_nothing_in_the_project_reads_pickles() -> None:
    forbidden = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
    for path in [
        file for package in ("wakeword", "train", "tools", "export") for file in (ROOT / package).rglob("*.py")
    ]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert not forbidden & {alias.name.split(".")[0] for alias in node.names}, path
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in forbidden, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                allowed = {keyword.arg: keyword.value for keyword in node.keywords}
                if ast.unparse(node.func) == "torch.load":
                    assert ast.unparse(allowed["weights_only"]) == "True", path
                assert "allow_pickle" not in allowed, path
