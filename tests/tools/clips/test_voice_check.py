"""Voices that do not say the word are left out, and only these."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from wakeword_tools.clips.manifest import MANIFEST, read_manifest, write_manifest
from wakeword_tools.clips.voice_check import voice_scores, without_voices
from wakeword_tools.texts.recogniser import RecognisedWay

TOKENS = ("a", "b", "c", "<wb>", "<blank>")
WORD = RecognisedWay((("a",), ("b",)), ((0.0,), (0.0,)))


class Heard:
    """Hears the tokens that the level of a clip's first samples names."""

    tokens = TOKENS

    def log_probabilities(self, samples: np.ndarray) -> np.ndarray:
        said = "ab" if samples[0] > 0 else "cc"
        found = np.full((6, len(TOKENS)), -12.0, np.float32)
        found[:, TOKENS.index("<blank>")] = -1.0
        for place, token in enumerate(said):
            found[1 + 2 * place] = -12.0
            found[1 + 2 * place, TOKENS.index(token)] = 0.0
        return found


def folder_of(root: Path, voices: dict[str, tuple[int, bool]]) -> Path:
    """Clips by each voice: how many, and whether it says the word."""
    root.mkdir()
    rows = []
    for voice, (count, right) in voices.items():
        for number in range(count):
            name = f"{voice}-{number}.wav".replace(":", "_")
            soundfile.write(root / name, np.full(1_600, 0.5 if right else -0.5), 16_000)
            rows.append(
                {
                    "file": name,
                    "text": "ab",
                    "source": voice,
                    "split": "train",
                    "engine": "e",
                    "voice": voice,
                    "accent": "x",
                }
            )
    write_manifest(root, rows)
    return root


def judged(folder: Path) -> dict[str, bool]:
    return {one.voice: one.left_out for one in voice_scores(folder / MANIFEST, [WORD], Heard())}  # type: ignore[arg-type]


def test_a_voice_that_says_something_else_is_left_out(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "clips", {"e:one": (4, True), "e:two": (4, True), "e:three": (5, False)})
    assert judged(folder) == {"e:one": False, "e:two": False, "e:three": True}
    kept = without_voices(folder, tmp_path / "kept", frozenset({"e:three"}))
    rows = read_manifest(kept / MANIFEST)
    assert {row.source for row in rows} == {"e:one", "e:two"}
    assert all((kept / row.file).is_file() for row in rows)


@pytest.mark.parametrize("wrong", [1, 3])
def test_few_clips_are_judged_by_their_accent(tmp_path: Path, wrong: int) -> None:
    folder = folder_of(tmp_path / "clips", {"e:one": (9, True), "e:two": (wrong, False)})
    assert judged(folder) == {"e:one": False, "e:x": False}


def test_an_engine_of_which_most_voices_fit_badly_is_not_judged(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "clips", {"e:one": (4, True), "e:two": (4, False), "e:three": (4, False)})
    assert not any(judged(folder).values())
