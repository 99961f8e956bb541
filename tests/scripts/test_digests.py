"""Model files are written again with a digest of their own."""

import json
import sys
from pathlib import Path

import pytest
from support.builders import band_model_bytes, two_stage_bytes
from support.onnx_files import with_unsealed_metadata

from scripts import make_digests
from scripts.make_digests import with_digest
from wakeword import ModelError
from wakeword.format.card import METADATA_KEY
from wakeword.format.digest import checked_metadata
from wakeword.model.installed import assets_folder
from wakeword.model.model import parse_model

GOOD = band_model_bytes("low", 1)


def older(model: bytes, schema: int) -> bytes:
    """The same model as an older version wrote it, and an entry of somebody else."""
    entries = dict(checked_metadata(model).entries)
    entries[METADATA_KEY] = json.dumps({**json.loads(entries[METADATA_KEY]), "schema": schema})
    return with_unsealed_metadata(model, {**entries, "author": "somebody"})


@pytest.mark.parametrize(("model", "schema"), [(GOOD, 2), (two_stage_bytes(GOOD), 3)])
def test_an_older_file_gets_the_newest_schema_and_a_digest(model: bytes, schema: int) -> None:
    made = with_digest(older(model, schema))
    assert (parse_model(made).card, parse_model(made).card.schema) == (parse_model(model).card, 4)
    assert parse_model(made).digest is not None
    assert checked_metadata(made).entries["author"] == "somebody"
    assert with_digest(made) == with_digest(older(model, schema)) == made


def test_shipped_models_stay_as_they_are() -> None:
    for path in (assets_folder() / "models").glob("*.onnx"):
        assert with_digest(path.read_bytes()) == path.read_bytes()


def test_a_change_that_was_meant_gets_a_new_digest() -> None:
    edited = GOOD.replace(b'"licence": "unknown"', b'"licence": "CC0-1.0"')
    with pytest.raises(ModelError, match="without a new digest"):
        parse_model(edited)
    assert parse_model(with_digest(edited)).card.licence == "CC0-1.0"


def test_a_file_that_is_no_model_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.onnx", tmp_path / "bad.onnx"
    good.write_bytes(older(GOOD, 2))
    bad.write_bytes(b"no model")
    monkeypatch.setattr(sys, "argv", ["digests", str(bad), str(good)])
    with pytest.raises(SystemExit) as ended:
        make_digests.main()
    assert ended.value.code == 1
    assert bad.read_bytes() == b"no model"
    assert parse_model(good.read_bytes()).digest in capsys.readouterr().out
