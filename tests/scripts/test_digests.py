"""Model files are written again with a digest of their own."""

import sys
from pathlib import Path

import pytest
from support.builders import band_model_bytes
from support.onnx_files import with_unsealed_metadata

from scripts import make_digests
from scripts.make_digests import with_digest
from wakeword import ModelError
from wakeword.format.digest import DIGEST_KEY, checked_metadata
from wakeword.model.installed import assets_folder
from wakeword.model.model import parse_model

GOOD = band_model_bytes("low", 1)


def edited() -> bytes:
    """The model as a program writes it that adds an entry after the digest."""
    entries = checked_metadata(GOOD).entries
    return with_unsealed_metadata(GOOD, {**entries, DIGEST_KEY: 64 * "0", "author": "somebody"})


def test_an_edited_file_gets_a_digest_and_keeps_what_was_added() -> None:
    made = with_digest(edited())
    assert parse_model(made).card == parse_model(GOOD).card
    assert checked_metadata(made).entries["author"] == "somebody"
    assert with_digest(made) == with_digest(edited()) == made


def test_shipped_models_stay_as_they_are() -> None:
    for path in (assets_folder() / "models").glob("*.onnx"):
        assert with_digest(path.read_bytes()) == path.read_bytes()


def test_a_change_that_was_meant_gets_a_new_digest() -> None:
    changed = GOOD.replace(b'"licence": "unknown"', b'"licence": "CC0-1.0"')
    with pytest.raises(ModelError, match="without a new digest"):
        parse_model(changed)
    assert parse_model(with_digest(changed)).card.licence == "CC0-1.0"


def test_a_file_that_is_no_model_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.onnx", tmp_path / "bad.onnx"
    good.write_bytes(edited())
    bad.write_bytes(b"no model")
    monkeypatch.setattr(sys, "argv", ["digests", str(bad), str(good)])
    with pytest.raises(SystemExit) as ended:
        make_digests.main()
    assert ended.value.code == 1
    assert bad.read_bytes() == b"no model"
    assert parse_model(good.read_bytes()).digest in capsys.readouterr().out
