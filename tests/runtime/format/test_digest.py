"""Laws of the digest: no bit of a model file changes without notice."""

import json
import os
import random
from pathlib import Path

import pytest
from support.builders import FIXTURES, TWO_STAGE, band_model_bytes
from support.onnx_files import with_field, with_metadata, with_unsealed_metadata

from wakeword import ModelError
from wakeword.format.card import METADATA_KEY
from wakeword.format.digest import DIGEST_KEY, checked_metadata, sealed
from wakeword.model.installed import shipped_models
from wakeword.model.model import MAX_FILE_BYTES, parse_model, read_model

GOOD = band_model_bytes("low", 1)
FLIPS = 100


def refusal(data: bytes) -> str:
    """What is said of a file that must be refused."""
    with pytest.raises(ModelError) as refused:
        parse_model(data)
    return str(refused.value)


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def card_range(data: bytes) -> tuple[int, int]:
    """The place of the card in a file."""
    card = checked_metadata(data).entries[METADATA_KEY].encode()
    assert data.count(card) == 1
    return data.index(card), data.index(card) + len(card)


@pytest.mark.parametrize(
    "path", [*shipped_models().values(), FIXTURES / "low-last.onnx", TWO_STAGE], ids=lambda p: p.stem
)
def test_a_file_with_one_other_bit_is_refused_in_one_line(path: Path) -> None:
    data = path.read_bytes()
    parse_model(data)
    first, end = card_range(data)
    places = random.Random(0)
    bits = [places.randrange(8 * len(data)) for _ in range(FLIPS)] + [
        places.randrange(8 * first, 8 * end) for _ in range(FLIPS)
    ]
    for bit in bits:
        said = refusal(flipped(data, bit))
        assert len(said.splitlines()) == 1, bit
        assert len(said) < 500, bit


def test_every_bit_of_the_digest_and_around_it_counts() -> None:
    start = GOOD.index(DIGEST_KEY.encode()) - 10
    for bit in range(8 * start, 8 * len(GOOD)):
        refusal(flipped(GOOD, bit))


def test_files_that_lost_or_gained_bytes_are_refused() -> None:
    rest = with_unsealed_metadata(GOOD, checked_metadata(GOOD).entries)
    for changed in (
        GOOD[:-1],
        GOOD + b"\0",
        GOOD + GOOD[-2:],
        GOOD + with_field(b"", 15, b"unknown"),
        rest,
        b"",
        rest + GOOD,
    ):
        refusal(changed)
    # An entry that nobody checks is an entry that is there no longer.
    assert "digest" in refusal(rest)


def test_the_same_fields_in_another_order_are_another_file() -> None:
    entries = dict(reversed(checked_metadata(TWO_STAGE.read_bytes()).entries.items()))
    swapped = with_metadata(TWO_STAGE.read_bytes(), entries)
    assert parse_model(swapped).card == parse_model(TWO_STAGE.read_bytes()).card
    assert parse_model(swapped).digest != parse_model(TWO_STAGE.read_bytes()).digest


def test_sealing_again_changes_nothing() -> None:
    for path in shipped_models().values():
        assert sealed(path.read_bytes()) == path.read_bytes()
    assert sealed(sealed(GOOD)) == GOOD


def test_two_entries_of_one_key_are_refused() -> None:
    card = checked_metadata(GOOD).entries[METADATA_KEY]
    twice = with_field(GOOD, 14, with_field(b"", 1, METADATA_KEY.encode()) + with_field(b"", 2, card.encode()))
    assert "two entries" in refusal(twice)


def test_a_digest_that_does_not_end_the_file_is_refused() -> None:
    digest = checked_metadata(GOOD).digest
    assert digest is not None
    entries = {DIGEST_KEY: digest, **checked_metadata(GOOD).entries}
    assert "SHA-256" in refusal(with_unsealed_metadata(GOOD, entries))


def test_only_regular_files_of_a_limited_size_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.onnx"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(ModelError, match="a pipe, a device or a socket"):
            read_model(path)
    huge = tmp_path / "huge.onnx"
    with huge.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(ModelError, match=f"at most {MAX_FILE_BYTES} bytes, got {MAX_FILE_BYTES + 1}"):
        read_model(huge)


def test_info_shows_the_digest(cli, models: Path) -> None:
    digest = parse_model((models / "low.onnx").read_bytes()).digest
    assert json.loads(cli("info", "--json", str(models / "low.onnx")).out)["digest"] == digest
