"""Writing a card into a model file."""

import dataclasses
from pathlib import Path

import onnx
import pytest
from support.builders import band_model_bytes, card, with_card

from wakeword import ModelError
from wakeword.format.card import METADATA_KEY
from wakeword.format.digest import DIGEST_KEY, sealed
from wakeword.model.model import parse_model, read_model
from wakeword_tools.measure.cards import embed_card, write_card


def test_writing_a_card_does_not_change_the_graph_and_other_metadata(tmp_path: Path) -> None:
    path = tmp_path / "low.onnx"
    before = onnx.load_model_from_string(band_model_bytes("low", 1))
    onnx.helper.set_model_props(
        before,
        {
            **{entry.key: entry.value for entry in before.metadata_props if entry.key != DIGEST_KEY},
            "author": "somebody",
        },
    )
    path.write_bytes(sealed(before.SerializeToString()))
    new = dataclasses.replace(read_model(path).card, licence="CC0-1.0")
    write_card(path, new)
    after = onnx.load_model_from_string(path.read_bytes())
    assert after.graph.SerializeToString() == before.graph.SerializeToString()
    assert {entry.key for entry in after.metadata_props} == {METADATA_KEY, DIGEST_KEY, "author"}
    assert read_model(path).card == new


def test_writing_the_same_card_twice_gives_the_same_bytes() -> None:
    data = band_model_bytes("low", 1)
    same = parse_model(data).card
    assert embed_card(embed_card(data, same), same) == embed_card(data, same)


def test_cards_in_the_files_of_these_tests_are_as_the_package_writes_them() -> None:
    data = band_model_bytes("low", 1)
    other = dataclasses.replace(parse_model(data).card, phrase="hey marvin ü", version="1" * 200)
    assert with_card(data, other) == embed_card(data, other)


def test_a_card_that_cannot_be_written_leaves_the_file_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "low.onnx"
    path.write_bytes(band_model_bytes("low", 1))
    same = read_model(path).card

    def full_disk(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full_disk)
        with pytest.raises(OSError, match="No space"):
            write_card(path, same)
    assert path.read_bytes() == band_model_bytes("low", 1)
    assert list(tmp_path.iterdir()) == [path]


def test_a_card_is_only_written_into_a_model(tmp_path: Path) -> None:
    path = tmp_path / "song.onnx"
    path.write_bytes(b"no model")
    with pytest.raises(ModelError, match=r"song\.onnx"):
        write_card(path, card())
    assert path.read_bytes() == b"no model"


def test_a_file_that_was_damaged_meanwhile_gets_no_digest_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "low.onnx"
    data = bytearray(band_model_bytes("low", 1))
    same = parse_model(bytes(data)).card
    data[len(data) // 3] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelError, match=r"low\.onnx: .*damaged"):
        write_card(path, same)
    assert path.read_bytes() == data
