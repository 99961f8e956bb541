"""Laws of the engines that are not embedded."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support.spoken import command_file, command_voices
from support.told import Told
from typer.testing import CliRunner

from wakeword import SynthesisError
from wakeword.cli.app import app
from wakeword_tools.clips.manifest import MANIFEST
from wakeword_tools.clips.plan import ClipPart, Recipe, render
from wakeword_tools.clips.synthesize import SECONDS_FOR_A_CLIP, synthesize
from wakeword_tools.engines import command_engine
from wakeword_tools.engines.command_engine import CommandSynthesizer, read_command_voices, run_program
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.engines.synthesizer import Prosody
from wakeword_tools.engines.voice import split_of_source
from wakeword_tools.kinds import Split

# A small engine: a tone of 20 ms for each letter of the text, and failures on some texts.
ENGINE = """
import sys, time, wave, math, struct
voice, wav, text = sys.argv[1:4]
text = text if len(sys.argv) > 3 and text != "-" else sys.stdin.read()
if "crash" in text: sys.exit("cannot say that")
if "hang" in text: time.sleep(60)
with wave.open(wav, "wb") as file:
    file.setnchannels(1), file.setsampwidth(2), file.setframerate(22050)
    for letter in ("" if "nothing" in text else text):
        tone = (math.sin(6.283 * (300 + ord(letter)) * i / 22050) for i in range(441))
        file.writeframes(b"".join(struct.pack("<h", int(12000 * x)) for x in tone))
"""


@pytest.fixture
def command(tmp_path: Path) -> str:
    script = tmp_path / "my engine.py"
    script.write_text(ENGINE)
    return f"{sys.executable} '{script}' {{voice}} {{wav}} {{text}}"


def test_a_command_speaks_at_16_khz(command: str) -> None:
    voice = command_voices(command, ["ann"])[0]
    samples = CommandSynthesizer().speak("hello there", voice)
    assert samples.dtype == np.float32
    assert len(samples) == pytest.approx(11 * 0.02 * 16_000, abs=20)


def test_a_command_gets_the_rate_and_its_inverse(tmp_path: Path) -> None:
    script = tmp_path / "engine.py"
    script.write_text("import pathlib, sys; pathlib.Path(sys.argv[2]).write_text(sys.argv[1])")
    voice = command_voices(f"{sys.executable} '{script}' {{rate}},{{stretch}},{{pitch}} '{tmp_path}/told' {{wav}}")[0]
    with pytest.raises(SynthesisError, match="expected the program to write"):
        CommandSynthesizer().speak("hello", voice, Prosody(rate=0.8, pitch=1.2))
    assert (tmp_path / "told").read_text() == "0.800,1.250,1.200"


@pytest.mark.parametrize("text", ["$(touch x); echo 'a' \"b\" {wav} {voice}", "a && b | c > d", "v {text}"])
def test_a_text_is_never_executed_or_substituted(command: str, text: str, tmp_path: Path) -> None:
    voice = command_voices(command)[0]
    samples = CommandSynthesizer().speak(text, voice)
    assert len(samples) == pytest.approx(len(text) * 0.02 * 16_000, abs=20)


def test_a_command_without_text_gets_it_on_standard_input(command: str) -> None:
    voice = command_voices(command.replace("{text}", "-"))[0]
    assert len(CommandSynthesizer().speak("hello", voice)) == pytest.approx(1_600, abs=20)


def test_a_text_that_looks_like_an_option_is_refused_or_read(command: str) -> None:
    with pytest.raises(SynthesisError, match="does not begin with '-'"):
        CommandSynthesizer().speak("-v hello", command_voices(command)[0])
    by_input = command_voices(command.replace("{text}", "-"))[0]
    assert len(CommandSynthesizer().speak("-v hello", by_input)) == pytest.approx(8 * 320, abs=20)


@pytest.mark.parametrize("command", ["sh -c 'true > {wav}; echo {text}'", "sh {wav} --say={text}"])
def test_a_text_inside_a_word_of_a_command_is_refused(command: str) -> None:
    with pytest.raises(SynthesisError, match="a separate word"):
        command_voices(command)


@pytest.mark.parametrize(
    ("text", "message"),
    [("crash", "cannot say that"), ("nothing", "expected the program to write"), ("[[m'A]]", "plain words")],
)
def test_a_command_that_fails_is_an_error(command: str, text: str, message: str) -> None:
    with pytest.raises(SynthesisError, match=message):
        CommandSynthesizer().speak(text, command_voices(command)[0])


def test_a_program_that_hangs_is_stopped() -> None:
    with pytest.raises(SynthesisError, match=r"longer than 0.2 s"):
        run_program([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.2)
    with pytest.raises(SynthesisError, match="killed by signal 9"):
        run_program([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"])
    with pytest.raises(SynthesisError, match="could not be started"):
        run_program(["there-is-no-such-program"])


def test_a_program_that_hangs_is_stopped_with_its_children(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match="longer than"):
        run_program(["sh", "-c", f"cd '{tmp_path}'; touch began; (sleep 1; touch late) & wait"], timeout=0.3)
    time.sleep(1.2)
    assert [path.name for path in tmp_path.iterdir()] == ["began"]


@pytest.mark.parametrize("command", ["", "mytts {text}", "mytts 'unclosed {wav}"])
def test_a_command_that_writes_no_file_is_refused(command: str) -> None:
    with pytest.raises(SynthesisError, match="expected a command"):
        command_voices(command)


def test_a_file_describes_command_voices_and_splits(command: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    voices = '[[voices]]\nname = "ann"\nsplit = "test"\n[[voices]]\nname = "ann2"\nsource = "bob"\n'
    path.write_text(f"command = {json.dumps(command)}\nlicence = 'mine'\n{voices}")
    ann, other = read_command_voices(path)
    assert (ann.variant, ann.split, ann.licence) == ("ann", "test", "mine")
    assert other.split == split_of_source(other.source)
    path.write_text(path.read_text().replace('"test"', '"everyone"'))
    with pytest.raises(SynthesisError, match="a split of voices among train, validation, test, got 'everyone'"):
        read_command_voices(path)
    path.write_text("voices = 3")
    with pytest.raises(SynthesisError, match="speech command, got: 'command' is missing"):
        read_command_voices(path)


def test_a_set_leaves_out_clips_that_an_engine_cannot_speak_and_is_the_same_again(command: str, tmp_path: Path) -> None:
    told = Told()
    part = ClipPart(["hello", "crash", "marlin"], command_voices(command), 9, 0, distances={"marlin": 1.0})
    folder = synthesize([part], tmp_path / "set", skip=True, events=told)
    rows = [json.loads(line) for line in (folder / MANIFEST).read_text().splitlines()]
    assert len(told.lines) == 3
    assert all("cannot say that" in line for line in told.lines)
    assert {row["text"]: row["distance"] for row in rows} == {"hello": None, "marlin": 1.0}
    assert {row["file"] for row in rows} == {path.name for path in folder.glob("*.flac")}
    again = synthesize([part], tmp_path / "again", skip=True)
    for path in folder.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes()


def test_a_set_of_which_no_clip_can_be_spoken_is_not_written(command: str, tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match="none of 3 could be spoken"):
        synthesize([ClipPart(["crash"], command_voices(command), 3, 0)], tmp_path / "set", skip=True)
    assert not (tmp_path / "set").exists()


def test_the_command_line_names_the_clips_left_out(command: str, tmp_path: Path) -> None:
    texts = tmp_path / "own.txt"
    texts.write_text("marlin\ncrash\n")
    engine = f"command:{command_file(tmp_path, command, split=Split.TRAIN)}"
    options = ["--near-negatives", "--texts", str(texts), "--any-side", "--count", "4", "--engine", engine]
    done = CliRunner().invoke(app, ["synth", "marvin", *options, "--out", str(tmp_path / "set")])
    assert done.exit_code == 0, done.output
    assert done.stderr.count("left out 'crash'") == 2
    assert len((tmp_path / "set" / MANIFEST).read_text().splitlines()) == 2


def test_phonemes_go_to_voices_that_take_them(command: str) -> None:
    voices = [*command_voices(command), *english_voices(Split.TEST)[:4]]
    recipes = ClipPart(["[[m'A@vIk]]", "marlin"], voices, 60, 0).recipes()
    assert {recipe.voice.engine for recipe in recipes if "[[" in recipe.text} == {"espeak-ng"}
    assert {recipe.voice.engine for recipe in recipes if "[[" not in recipe.text} == {"espeak-ng", "command"}
    with pytest.raises(SynthesisError, match="phonemes"):
        ClipPart(["[[m'A@vIk]]"], command_voices(command), 1, 0).recipes()


def test_larger_and_smaller_speakers_take_the_same_time() -> None:
    voice = english_voices(Split.TEST)[0]
    spoken = [render(Recipe("turn on the lights", voice, formants=factor)) for factor in (0.85, 1.0, 1.2)]
    lengths = [len(samples) for samples in spoken]
    assert max(lengths) < 1.06 * min(lengths)
    centres = []
    for samples in spoken:
        power = np.square(np.abs(np.fft.rfft(samples)))
        centres.append(float((np.fft.rfftfreq(len(samples)) * power).sum() / power.sum()))
    assert centres[0] < centres[1] < centres[2]


def test_a_carrier_is_spoken_around_the_text() -> None:
    voice = english_voices(Split.TEST)[0]
    alone, within = (render(Recipe("marvin", voice, carrier=carrier)) for carrier in ("{}", "please {} now"))
    assert len(within) > 1.5 * len(alone)


def test_programs_time_out_before_the_process_that_runs_them() -> None:
    assert command_engine.SECONDS_TO_SPEAK < SECONDS_FOR_A_CLIP
