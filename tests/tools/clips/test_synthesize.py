"""Laws of sets of spoken clips."""

import dataclasses
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from support.spoken import command_voices
from support.told import Told

from scripts import make_demo, make_sentences
from scripts.recipes import recipe_of
from wakeword import ConfigError, SynthesisError
from wakeword.audio.audio_file import read_audio, write_audio
from wakeword.base.types import Array
from wakeword.model.installed import assets_folder
from wakeword_tools.clips import synthesize
from wakeword_tools.clips.manifest import MANIFEST, read_manifest, recipe_row, write_manifest
from wakeword_tools.clips.plan import ClipPart, Recipe, render
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.engines.voice import split_of_source
from wakeword_tools.kinds import Split
from wakeword_tools.texts.splits import texts_without

TEXTS = ["marvin", "marlin", "turn on the lights"]
VOICES = english_voices(Split.TRAIN)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_the_same_seed_makes_the_same_bytes_for_any_number_of_jobs(tmp_path: Path) -> None:
    for name, jobs in (("one", 1), ("two", 2)):
        synthesize.synthesize([ClipPart(TEXTS, VOICES, 70, 3, 0.2)], tmp_path / name, jobs=jobs)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert ClipPart(TEXTS, VOICES, 70, 3).recipes() != ClipPart(TEXTS, VOICES, 70, 4).recipes()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_was_killed_goes_on_with_its_clips(tmp_path: Path, jobs: int) -> None:
    def make(name: str, *, seed: int = 3, resume: bool = False, stop: int = 0) -> None:
        def progress(done: float) -> None:
            if round(40 * done) == stop:
                raise KeyboardInterrupt

        part = ClipPart(TEXTS, VOICES, 40, seed)
        synthesize.synthesize([part], tmp_path / name, jobs=jobs, resume=resume, events=Told(progress))

    make("whole")
    with pytest.raises(KeyboardInterrupt):
        make("killed", stop=30)
    assert not (tmp_path / "killed").exists()
    (part,) = tmp_path.glob(".killed.*")
    clips_before = {path.name: path.stat().st_ino for path in part.glob("*.flac")}
    assert len(clips_before) >= 30
    # What a killed process leaves of a clip that it was writing.
    (part / ".000039.flac.abcd_123.flac").write_bytes(b"half")
    make("killed", resume=True)
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
    assert {name: (tmp_path / "killed" / name).stat().st_ino for name in clips_before} == clips_before
    with pytest.raises(KeyboardInterrupt):
        make("other", stop=5)
    # Other clips are another run.
    make("other", seed=4, resume=True)
    assert files(tmp_path / "other").keys() == files(tmp_path / "whole").keys()
    assert files(tmp_path / "other") != files(tmp_path / "whole")


def test_a_manifest_rebuilds_its_clips_bit_for_bit(tmp_path: Path) -> None:
    folder = synthesize.synthesize([ClipPart(TEXTS, VOICES, 20, 1, 0.3)], tmp_path / "set")
    for row in reversed(read_manifest(folder / MANIFEST)):
        write_audio(tmp_path / "again.flac", render(recipe_of(row)))
        assert (tmp_path / "again.flac").read_bytes() == (folder / row.file).read_bytes()


def test_no_clip_is_empty_clipped_or_padded() -> None:
    for recipe in ClipPart(TEXTS, VOICES, 120, 0).recipes():
        samples = render(recipe)
        assert 0.2 < len(samples) / 16_000 < 3, recipe
        assert 0.1 < np.abs(samples).max() <= 0.951, recipe
        assert 0.02 < np.sqrt(np.square(samples).mean()) < 0.071, recipe
        assert np.abs(samples[:320]).max() > 0
        assert np.abs(samples[-320:]).max() > 0


def test_pauses_are_added_around_the_speech() -> None:
    recipe = ClipPart(TEXTS, VOICES, 1, 0).recipes()[0]
    plain = render(recipe)
    paused = render(dataclasses.replace(recipe, pause_before=0.25, pause_after=0.5))
    np.testing.assert_array_equal(paused[4000:-8000], plain)
    assert not paused[:4000].any()
    assert not paused[-8000:].any()


def test_every_text_and_every_source_comes_equally_often() -> None:
    recipes = ClipPart(TEXTS, VOICES, 301, 0).recipes()
    for counts in (Counter(r.text for r in recipes), Counter(r.voice.source for r in recipes)):
        assert max(counts.values()) - min(counts.values()) <= 1
    assert len({r.voice.source for r in recipes}) == len({voice.source for voice in VOICES})


def test_a_folder_is_complete_or_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(recipe: Recipe) -> Array:
        if recipe.text == "turn on the lights":
            raise SynthesisError("the engine broke down")
        return render(recipe)

    monkeypatch.setattr(synthesize, "render", break_down)
    with pytest.raises(SynthesisError, match="broke down"):
        synthesize.synthesize([ClipPart(TEXTS, VOICES, 20, 0)], tmp_path / "set")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    # A separate process, whose files cannot exceed 4 kB once the engines have unpacked their data.
    program = f"""if True:
        import resource
        from wakeword import SynthesisError
        from wakeword_tools.clips.plan import ClipPart, render
        from wakeword_tools.clips.synthesize import synthesize
        from wakeword_tools.engines.registry import english_voices
        from wakeword_tools.kinds import Split
        voices = english_voices(Split.TRAIN)
        for recipe in ClipPart(["marvin"], voices, 20, 0).recipes():
            render(recipe)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, 4_096))
        try:
            synthesize([ClipPart(["marvin"], voices[:1], 2, 0)], {str(tmp_path / "set")!r})
        except SynthesisError as error:
            print(error)
    """
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout.startswith(f"could not write the clips to {tmp_path / 'set'}: File too large")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_left_unchanged(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(ConfigError, match="does not exist yet"):
        synthesize.synthesize([ClipPart(TEXTS, VOICES, 2, 0)], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_older_manifest_is_still_read(tmp_path: Path) -> None:
    recipe = ClipPart(TEXTS, VOICES, 1, 0).recipes()[0]
    row = recipe_row(recipe, "000000.flac", seed=0)
    for name in ("formants", "carrier", "accent", "variant", "locator"):
        del row[name]
    write_manifest(tmp_path, [row])
    (read,) = read_manifest(tmp_path / MANIFEST)
    assert (read.split, read.synthetic) == (Split.TRAIN, True)
    assert recipe_of(read) == dataclasses.replace(recipe, formants=1.0, carrier="{}")


def test_prosody_varies() -> None:
    recipes = ClipPart(["marvin"], VOICES, 200, 0).recipes()
    assert {recipe.carrier for recipe in recipes} == {"{}", "{}!", "{}?", "{}."}
    for values in (
        [r.prosody.rate for r in recipes],
        [r.prosody.pitch for r in recipes],
        [r.formants for r in recipes],
    ):
        assert len(set(values)) > 50


def test_a_keyword_is_found_in_a_text_as_whole_words_only() -> None:
    with_keyword = ["hey marvin", "Hey  MARVIN!", "so, hey, Marvin's here", "\they marvin\n"]
    others = ["marvin", "hey", "marvin hey", "they marvin", "hey marvins", ""]
    assert texts_without(" Hey Marvin ", [*with_keyword, *others]) == others
    # Letters that can be written in two ways.
    assert texts_without("Straße", ["STRASSE", "strasse"]) == []
    assert texts_without("caf\u00e9", ["cafe\u0301"]) == []


def test_the_demo_recording_is_what_its_script_makes() -> None:
    folder = assets_folder() / "audio"
    samples, words = make_demo.demo()
    # Half a step of 16 bits, and the difference between versions of the resampler.
    np.testing.assert_allclose(read_audio(folder / "demo.flac"), samples, atol=1e-4)
    stored = json.loads((folder / "demo.json").read_text())["words"]
    assert [(word["word"], word["start"]) for word in stored] == [(word.word, word.start) for word in words]
    assert sum(word.keyword for word in words) == 7


def test_the_sentences_are_spoken_by_voices_that_no_model_was_trained_on() -> None:
    sentences = json.loads((assets_folder() / "audio" / make_sentences.FILE).with_suffix(".json").read_text())[
        "sentences"
    ]
    assert {split_of_source(one["voice"]) for one in sentences} == {Split.TEST}


def test_synthesis_ends_early_if_nothing_can_be_spoken(tmp_path: Path) -> None:
    told = Told()
    part = ClipPart(["marvin"], command_voices("false {wav} {text}"), 600, 0)
    with pytest.raises(SynthesisError, match="none of the first 20 of 600 could be spoken"):
        synthesize.synthesize([part], tmp_path / "clips", skip=True, events=told)
    assert len(told.lines) == 20
    assert list(tmp_path.iterdir()) == []


def test_a_share_of_the_clips_is_of_children() -> None:
    voices = english_voices(Split.TRAIN)
    of_children = [recipe.formants >= 1.15 for recipe in ClipPart(["one"], voices, 400, 0, children=0.25).recipes()]
    assert 0.18 < np.mean(of_children) < 0.32
    without = ClipPart(["one"], voices, 400, 0).recipes()
    assert not any(recipe.formants >= 1.15 for recipe in without)
    assert ClipPart(["one"], voices, 400, 0, children=0.0).recipes() == without
