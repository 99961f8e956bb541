"""``wakeword export`` writes files that other engines run, says what they promise, and leaves nothing where it fails."""

import base64
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import colours, random_model_bytes
from support.micro_nets import doubtful_net, random_head, random_net

from wakeword.base.logistic import logit_of, score_of_logit
from wakeword.format.digest import checked_metadata
from wakeword.format.session import open_session
from wakeword.model.installed import assets_folder, shipped_models
from wakeword.model.model import parse_model, read_model_bytes
from wakeword.verify.verifier_head import HEAD_KEY, Head
from wakeword_export.head.taught_head import TaughtHeads, digest_beside, write_taught_heads
from wakeword_export.micro.device_files import MicroStudent, arena_of, write_student
from wakeword_export.micro.int8_word import beside_phonemes, phonemes_digest
from wakeword_export.micro.mixed_net import Int8Net
from wakeword_tools.measure.cards import embed_card
from wakeword_tools.training_record import HEAD_FILE, STUDENT_FILE

DEMO = assets_folder() / "audio"
SERVER = os.environ.get("OPENWAKEWORD_PYTHON", "")


@pytest.fixture(scope="module")
def background(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("background")
    for seed in range(3):
        soundfile.write(folder / f"{seed}.flac", 0.1 * colours(120, np.random.default_rng(seed)), 16_000)
    return folder


def test_without_recordings_and_without_a_note_there_is_no_threshold_and_no_export(cli, tmp_path: Path) -> None:
    ended = cli("export", "marvin", tmp_path / "out", "--to", "openwakeword")
    assert (ended.status, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert "expected --background with hours of speech without 'marvin'" in ended.err
    assert not (tmp_path / "out").exists()


def test_without_recordings_what_a_training_noted_is_the_threshold(cli, tmp_path: Path) -> None:
    marvin = read_model_bytes(shipped_models()["marvin"])
    card = parse_model(marvin).card
    alone = {"hours": 2.54, "points": [[0.5, -3.0], [2.0, -4.0]]}
    model = tmp_path / "ours.onnx"
    model.write_bytes(
        embed_card(marvin, replace(card, training={**card.training, "head": {"alone": alone}, "language": "de"}))
    )
    ended = cli("export", model, tmp_path / "out", "--to", "openwakeword", "--fa-per-hour", "0.1")
    assert ended.status == 0, ended.err
    expected = "0.5: 0.5 false accepts an hour in the 2.5 h of the training's background, where 0.1 was asked for"
    assert ended.out.startswith(expected)
    assert expected in (tmp_path / "out" / "README.txt").read_text()
    names = {"marvin.tflite", "marvin.onnx", "marvin.json", "README.txt"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    content = json.loads((tmp_path / "out" / "marvin.json").read_text())
    described = {"type": "openWakeWord", "wake_word": "marvin", "model": "marvin.tflite"}
    assert content | described | {"openWakeWord": {"probability_cutoff": 0.5}} == content
    looks = np.random.default_rng(0).normal(0, 8, (400, 96)).astype(np.float32)
    head = Head(base64.b64decode(checked_metadata(marvin)[0][HEAD_KEY]))
    logits = np.array([head(looks[start : start + 16]) for start in range(385)])
    nearest = int(np.abs(logits + 3.0).argmin())
    given = {"embeddings": looks[None, nearest : nearest + 16]}
    (exported,) = open_session((tmp_path / "out" / "marvin.onnx").read_bytes()).run(None, given)
    assert abs(logits[nearest] + 3.0) < 4
    # A logit lies between the two points.
    assert float(exported[0, 0]) == pytest.approx(
        score_of_logit(logit_of(0.7) * (float(logits[nearest]) + 3.0)), abs=1e-4
    )


def test_what_was_taught_with_the_model_is_exported_and_what_was_not_is_not(cli, tmp_path: Path) -> None:
    computer = read_model_bytes(shipped_models()["computer"])
    heads = [random_gru(width=256, seed=seed) for seed in range(2)]
    alone = {"hours": 2.47, "points": [[0.5, 30.0], [2.0, 28.0]]}
    of_model = digest_beside(base64.b64decode(checked_metadata(computer)[0][HEAD_KEY]), parse_model(computer).card)
    write_taught_heads(tmp_path / "ours" / "computer" / HEAD_FILE, TaughtHeads(heads, alone, of_model))
    ended = cli("export", "computer", tmp_path / "taught", "--to", "openwakeword", "--work", tmp_path / "ours")
    assert ended.status == 0, ended.err
    assert ended.out.startswith("0.5: 0.5 false accepts an hour in the 2.5 h of the training's background")
    assert "heads on what a small network hears" in ended.out
    write_taught_heads(tmp_path / "another" / "jarvis" / HEAD_FILE, TaughtHeads(heads, alone, "0" * 64))
    ended = cli("export", "jarvis", tmp_path / "own", "--to", "openwakeword", "--work", tmp_path / "another")
    assert "are of another model or version, so they are left out" in ended.err
    assert "if it was trained with --for openwakeword" in ended.out
    taught, own = (tmp_path / name for name in ("taught/computer.onnx", "own/jarvis.onnx"))
    assert taught.stat().st_size > 2 * own.stat().st_size
    # Without points nothing says where they fire.
    write_taught_heads(tmp_path / "none" / "computer" / HEAD_FILE, TaughtHeads(heads, {}, of_model))
    ended = cli("export", "computer", tmp_path / "no", "--to", "openwakeword", "--work", tmp_path / "none")
    assert (ended.status, (tmp_path / "no").exists()) == (1, False)
    assert "train the word again" in ended.err


def test_it_runs_without_the_package_onnx(tmp_path: Path) -> None:
    run = "import sys; sys.modules.update(onnx=None); from wakeword.cli import main; main()"
    given = ["export", "jarvis", str(tmp_path / "out"), "--to", "openwakeword"]
    ended = subprocess.run([sys.executable, "-c", run, *given], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out" / "jarvis.onnx").is_file()


def test_with_recordings_the_promise_is_printed_and_written(cli, background: Path, tmp_path: Path) -> None:
    positives = [part for path in sorted(DEMO.glob("marvin-*.flac")) for part in ("--positives", path)]
    options = ("--background", background, "--fa-per-hour", "14", *positives)
    ended = cli("export", "marvin", tmp_path / "out", "--to", "openwakeword", *options)
    assert ended.status == 0, ended.err
    lines = ended.out.splitlines()
    assert [line.split(":")[0] for line in lines[:3]] == ["0.3", "0.5", "0.7"]
    assert re.match(r"0\.5: \d false accepts? in 0\.10 h of speech .* of 4 recordings of the word found", lines[1])
    assert lines[1] in (tmp_path / "out" / "README.txt").read_text()


def random_gru(*, width: int, seed: int) -> dict[str, np.ndarray]:
    """The weights of a head on ``width`` numbers a step, as a training keeps them."""
    random, units = np.random.default_rng(seed), 4
    shapes = {"projection": (width, units), "projection_bias": (units,), "gru_W": (1, 3 * units, units)}
    shapes |= {"gru_R": (1, 3 * units, units), "gru_B": (1, 6 * units), "attention": (units, 1), "head": (units, 1)}
    return {
        name: random.normal(0, 0.1, shape).astype(np.float32) for name, shape in (shapes | {"head_bias": (1,)}).items()
    }


def in_german(model: bytes) -> bytes:
    """A model as one of a German word: no export hears its phonemes."""
    card = parse_model(model).card
    return embed_card(model, replace(card, training={**card.training, "language": "de"}))


def test_an_english_word_has_its_phonemes_beside_the_student(cli, tmp_path: Path) -> None:
    content, sizes, head = {}, {}, random_head(width=224)
    for phonemes in (True, False):  # a student that was judged without them stays alone
        beside = (head, phonemes_digest()) if phonemes else ()
        student = MicroStudent("computer", doubtful_net(), 250, ["as it says"], *beside)
        write_student(tmp_path / "computer" / STUDENT_FILE, student)
        out = tmp_path / f"with-{phonemes}"
        ended = cli("export", "computer", out, "--to", "microwakeword", "--work", tmp_path)
        assert ended.status == 0, ended.err
        content[phonemes] = json.loads((out / "computer.json").read_text())["micro"]["tensor_arena_size"]
        sizes[phonemes] = (out / "computer.tflite").stat().st_size
    net = beside_phonemes(doubtful_net(), head, parse_model(read_model_bytes(shipped_models()["computer"])).card)
    assert content == {True: arena_of(net), False: arena_of(doubtful_net())}
    assert sizes[True] > 2 * sizes[False]
    model = in_german(read_model_bytes(shipped_models()["computer"]))
    (tmp_path / "german.onnx").write_bytes(model)
    write_student(tmp_path / "computer" / STUDENT_FILE, replace(student, head=head, phonemes=phonemes_digest()))
    ended = cli("export", tmp_path / "german.onnx", tmp_path / "no", "--to", "microwakeword", "--work", tmp_path)
    assert ended.status == 1
    assert "expected a model with the phonemes that the student" in ended.err
    german = parse_model(model).card
    assert isinstance(beside_phonemes(doubtful_net(), head, german), Int8Net)


def test_a_head_on_other_phonemes_is_refused(cli, background: Path, tmp_path: Path) -> None:
    student = MicroStudent("computer", doubtful_net(), 250, ["as it says"], random_head(), "of another version")
    write_student(tmp_path / "computer" / STUDENT_FILE, student)
    for given in ((), ("--background", background)):
        ended = cli("export", "computer", tmp_path / "out", "--to", "microwakeword", "--work", tmp_path, *given)
        assert ended.status == 1
        assert "train it again with --for microwakeword" in ended.err
        assert not (tmp_path / "out").exists()


def test_a_student_becomes_the_files_of_microwakeword(cli, background: Path, tmp_path: Path) -> None:
    student = MicroStudent("alexa", doubtful_net(), 200, ["0.784: 0 false accepts in 0.57 h"])
    write_student(tmp_path / "runs" / "alexa" / STUDENT_FILE, student)
    work = ("--work", tmp_path / "runs")
    ended = cli("export", "alexa", tmp_path / "out", "--to", "microwakeword", *work)
    assert ended.status == 0, ended.err
    promise, warning = ended.out.splitlines()
    assert promise == "0.784: 0 false accepts in 0.57 h"
    assert warning.startswith("experimental")
    names = {"alexa_wakeword.tflite", "alexa_wakeword.json", "README.txt"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    content = json.loads((tmp_path / "out" / "alexa_wakeword.json").read_text())
    assert int(255 * content["micro"]["probability_cutoff"]) == 200
    assert (tmp_path / "out" / content["model"]).is_file()
    pytest.importorskip("pymicro_features", reason="needs pymicro-features, to listen as a device does")
    ended = cli("export", "alexa", tmp_path / "again", "--to", "microwakeword", *work, "--background", background)
    assert ended.status == 0, ended.err
    assert "false accept" in ended.out
    assert " 0.10 h " in ended.out
    text = (tmp_path / "again" / "README.txt").read_text()
    assert all(line in text for line in ended.out.splitlines())


def test_an_export_that_fires_where_no_word_is_is_refused(cli, tmp_path: Path) -> None:
    write_student(tmp_path / "runs" / "alexa" / STUDENT_FILE, MicroStudent("alexa", random_net(), 200, ["as it says"]))
    marvin = read_model_bytes(shipped_models()["marvin"])
    alone = {"hours": 2.54, "points": [[0.5, -5.9], [2.0, -6.0]]}  # it scores -5.78 after one of the resets
    card = parse_model(marvin).card
    lax = replace(card, training={**card.training, "head": {"alone": alone}, "language": "de"})
    (tmp_path / "lax.onnx").write_bytes(embed_card(marvin, lax))
    for given, reason in (
        (("alexa", "--to", "microwakeword"), "fires on music"),
        (("alexa", "--to", "hacs"), "fires on music"),
        ((tmp_path / "lax.onnx", "--to", "openwakeword"), "fires on the noise after a reset"),
    ):
        ended = cli("export", *given, tmp_path / "out", "--work", tmp_path / "runs")
        assert (ended.status, ended.out, ended.err.count("\n")) == (1, "", 1)
        assert reason in ended.err
        assert not (tmp_path / "out").exists()


def hacs_faults(folder: Path) -> list[str]:
    """What HACS finds wrong with a repository of its category ``wake_word``.

    Its rules, as read in ``repositories/wake_word.py``, ``validate/wake_word_model.py``, ``validate/hacsjson.py``,
    ``validate/information.py`` and ``utils/validate.py`` of its pull request 5435 in November 2026.
    """
    content = folder / "custom_wake_words"
    described = [path for path in content.glob("*.json") if path.name != "hacs.json"]
    networks = list(content.glob("*.tflite"))
    about = json.loads((folder / "hacs.json").read_text())
    known = {"content_in_root", "country", "filename", "hacs", "hide_default_branch", "homeassistant", "name"}
    known |= {"persistent_directory", "render_readme", "zip_release"}
    names = [path.name.lower() for path in folder.iterdir()]
    found = []
    if len(described) != 1 or len(networks) != 1:
        found.append("not exactly one config and one model")
    elif described[0].stem != networks[0].stem:
        found.append("config and model of different names")
    for path in described:
        settings = json.loads(path.read_text())
        if not {"type", "wake_word", "model"} <= set(settings) or settings["model"] != f"{path.stem}.tflite":
            found.append("a config without its model")
    if not isinstance(about.get("name"), str) or not set(about) <= known:
        found.append("hacs.json")
    if not {"readme", "readme.md", "info", "info.md"} & set(names):
        found.append("no page")
    return found


def test_a_student_becomes_a_repository_that_hacs_takes(cli, tmp_path: Path) -> None:
    student = MicroStudent("alexa", doubtful_net(), 200, ["0.784: 0 false accepts in 0.57 h"])
    write_student(tmp_path / "runs" / "alexa" / STUDENT_FILE, student)
    ended = cli("export", "alexa", tmp_path / "out", "--to", "hacs", "--work", tmp_path / "runs")
    assert ended.status == 0, ended.err
    assert hacs_faults(tmp_path / "out") == []
    page = (tmp_path / "out" / "README.md").read_text()
    assert "- 0.784: 0 false accepts in 0.57 h" in page
    assert "which is 0.784" in page
    # What GitHub knows as the Apache License, which HACS' check of licences asks for.
    assert "Apache License" in (tmp_path / "out" / "LICENSE").read_text()[:200]
    (tmp_path / "out" / "custom_wake_words" / "other.json").write_text("{}")
    assert hacs_faults(tmp_path / "out") == ["not exactly one config and one model", "a config without its model"]


def test_a_text_is_trained_first_and_a_misspelt_name_is_not(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = list[tuple[object, ...]]()

    def train(word: str, engine: str | None, work: Path) -> None:
        asked.append((word, engine, work))
        data = read_model_bytes(shipped_models()["jarvis"])
        card = replace(parse_model(data).card, phrase=word)
        (tmp_path / "hey-zorvella.onnx").write_bytes(embed_card(data, card))
        write_student(work / "hey-zorvella" / STUDENT_FILE, MicroStudent(word, doubtful_net(), 200, ["0.784: none"]))

    monkeypatch.setattr("wakeword_train.cli.train_text", train)
    ended = cli("export", "hey zorvella", "files", "--to", "openwakeword")
    assert ended.status == 0, ended.err
    assert "no model is called 'hey zorvella', so it is trained first: some 15 minutes" in ended.err
    assert "92 % of the recordings of people" in ended.err
    assert (tmp_path / "files" / "hey_zorvella.onnx").is_file()
    assert asked == [("hey zorvella", "openwakeword", Path("runs"))]
    # Its model is there now, and is not trained again.
    assert cli("export", "hey zorvella", "repository", "--to", "hacs").status == 0
    assert len(asked) == 1
    (tmp_path / "hey-zorvella.onnx").unlink()
    ended = cli("export", "hey zorvella", "again", "--to", "microwakeword")
    assert "some 30 minutes" in ended.err
    assert asked[1:] == [("hey zorvella", "microwakeword", Path("runs"))]
    for given, reason in (("jarvs", "did you mean jarvis?"), ("there/none", "no model for keyword")):
        ended = cli("export", given, "no", "--to", "openwakeword")
        assert (ended.status, len(asked)) == (1, 2)
        assert reason in ended.err
    # A folder that is there is said before minutes of training.
    ended = cli("export", "hey larvina", "files", "--to", "openwakeword")
    assert (ended.status, len(asked)) == (1, 2)
    assert "expected a folder that does not exist yet" in ended.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("marvin", "there", "--to", "openwakeword"), "expected a folder that does not exist yet, found there"),
        (
            ("marvin", "out", "--to", "porcupine"),
            "expected an engine to export to among openwakeword, microwakeword, hacs, got 'porcupine'",
        ),
        (("one.onnx", "out", "--to", "openwakeword"), "expected a model with a second stage"),
        (("none.onnx", "out", "--to", "openwakeword"), "expected a model file"),
        (("one.onnx", "out", "--to", "microwakeword"), "expected a model with a second stage"),
        (
            ("marvin", "out", "--to", "microwakeword"),
            "expected the network that was trained with the word, runs/marvin",
        ),
        (("marvin", "there", "--to", "microwakeword"), "expected a folder that does not exist yet, found there"),
        (("marvin", "out", "--to", "openwakeword", "--background", "silent"), "there"),
    ],
)
def test_bad_input_is_one_line_and_nothing_half_written(
    cli, arguments: tuple[str, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "silent").mkdir()
    (tmp_path / "one.onnx").write_bytes(random_model_bytes())
    before = sorted(tmp_path.iterdir())
    ended = cli("export", *arguments)
    assert (ended.status, ended.out, len(ended.err.splitlines())) == (1, "", 1), ended.err
    assert reason in ended.err or arguments[-1] in ended.err
    assert sorted(tmp_path.iterdir()) == before


def test_positives_need_background(cli, tmp_path: Path) -> None:
    ended = cli("export", "marvin", tmp_path / "out", "--to", "openwakeword", "--positives", DEMO)
    assert (ended.status, (tmp_path / "out").exists()) == (2, False)
    assert "--positives needs --background" in ended.err


@pytest.mark.skipif("WAKEWORD_DATA" not in os.environ, reason="WAKEWORD_DATA does not name a folder of real recordings")
@pytest.mark.skipif(
    not SERVER, reason="OPENWAKEWORD_PYTHON names no Python with wyoming-openwakeword, which needs numpy 1"
)
@pytest.mark.parametrize(("word", "name"), [("computer", "computer"), ("alexa", "alexa_wakeword")])
def test_the_server_of_home_assistant_answers_with_the_word(cli, word: str, name: str, tmp_path: Path) -> None:
    pytest.importorskip("wyoming", reason="needs wyoming, to ask the server")
    from support.oww_server import detections

    audio = Path(os.environ["WAKEWORD_DATA"])
    ended = cli("export", word, tmp_path / "out", "--to", "openwakeword", "--background", audio / "varied_speech")
    assert ended.status == 0, ended.err
    words = audio / "wake_words"
    clips, others = sorted((words / word).glob("*.flac"))[::20], sorted((words / "jarvis").glob("*.flac"))[::70]
    found = detections(SERVER, tmp_path / "out", name, [*clips, *others])
    assert sum(found[: len(clips)]) >= len(clips) - 1 > 2
    assert sum(found[len(clips) :]) == 0
