"""Laws of speech in other languages that a recogniser is taught by."""

import json
from pathlib import Path

import numpy as np
import pytest

from scripts.ear.ear_speech import SpokenUtterance, Way
from scripts.ear.foreign_speech import given_language, like_tokens, own_sounds, plain_tokens, read_foreign
from wakeword.audio.audio_file import write_audio
from wakeword.base.errors import ConfigError, DataError
from wakeword.model.installed import encoders_folder
from wakeword.verify.shared import PHONEMES_FILE, file_digest, load_phonemes

TEXTS = ("guten Morgen", "schöne Häuser", "zwölf Pfund")


def folder_of(path: Path, people: int, texts: tuple[str, ...] = TEXTS) -> str:
    lines = []
    for number in range(people):
        text = texts[number % len(texts)]
        write_audio(path / f"{number}.wav", np.full(16_000, 0.1, np.float32))
        lines.append({"file": f"{number}.wav", "start": 0, "end": 1, "speaker": f"p{number}", "text": text})
    (path / "transcripts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return f"de={path}"


def test_every_utterance_is_taught_or_left_out_and_nobody_stands_on_both_sides(tmp_path: Path) -> None:
    taught, others = read_foreign([folder_of(tmp_path, 60)])
    sides = [{one.speaker for one in some} for some in (taught, others)]
    assert len(taught) + len(others) == 60
    assert not sides[0] & sides[1]
    assert len(others) in range(3, 25)  # a fifth, by a hash


def test_of_few_people_nobody_is_left_out_but_those_who_are_named(tmp_path: Path) -> None:
    given = folder_of(tmp_path, 6)
    assert [len(some) for some in read_foreign([given])] == [6, 0]
    taught, others = read_foreign([given], ["p2"])
    assert [one.speaker for one in others] == ["p2"]
    assert len(taught) == 5


def test_each_sound_is_taught_as_its_own_token_and_first_found_by_those_like_it(tmp_path: Path) -> None:
    taught, _ = read_foreign([folder_of(tmp_path, 3)])
    path = encoders_folder() / PHONEMES_FILE
    names = load_phonemes(path, file_digest(path)).tokens
    plain = plain_tokens(taught, names)
    assert {names[token] for token in plain.values()} == plain.keys() >= {"ø", "œ", "t", "s", "j", "ʃ"}
    assert own_sounds(plain).keys() == like_tokens(plain, names).keys() == plain.keys()
    assert all(min(cost for _, cost in some) == 0 for some in like_tokens(plain, names).values())


def test_a_sound_that_is_no_token_is_named() -> None:
    one = SpokenUtterance("someone", ((Way(("a", "ø"), True),),), np.zeros(0, np.float16))
    assert plain_tokens([one], ("ø", "a")) == {"a": 1, "ø": 0}
    with pytest.raises(ConfigError, match="got ø besides them"):
        plain_tokens([one], ("a",))


def test_a_folder_is_given_with_its_language() -> None:
    with pytest.raises(ConfigError, match="expected a language and its folder, as de=FOLDER, got 'de'"):
        given_language("de")
    with pytest.raises(ConfigError, match="espeak-ng"):
        given_language("xq=here")


def test_a_folder_without_texts_is_an_error_of_one_line(tmp_path: Path) -> None:
    given = folder_of(tmp_path, 3, ("",))
    with pytest.raises(DataError, match=r"expected recordings with texts in de \(transcripts.jsonl\), found none"):
        read_foreign([given])
