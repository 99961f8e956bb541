"""``wakeword listen --exec``: programs that work, fail, hang, are missing or are deleted."""

import dataclasses
import json
import os
import re
import shlex
import signal
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import pytest
import typer
from support.live import ended, live, speak, wait_for

from wakeword import Detection, Detector, FileSource
from wakeword.cli.listen.exec_program import MAX_RUNNING, Runner

REPORT = """if True:
    import json, os, pathlib, sys
    report = pathlib.Path(os.environ["REPORTS"], os.environ["WAKEWORD_END"])
    report.write_text(json.dumps([sys.argv[1:], {**os.environ}]))
    report.rename(report.with_name(report.name + ".json"))
    print("program was here")
"""


@pytest.fixture
def detection(low_model, recordings: Path) -> Detection:
    return next(Detector(low_model).run(FileSource(recordings / "first.wav")))


def sleeping(folder: Path, first: str = ":") -> str:
    """A command that writes its process ID and that of a child into a file, and waits; it runs ``first`` before that."""
    script = f'{first}; sleep 60 & echo $$ $! > "{folder}/x$$"; mv "{folder}/x$$" "{folder}/$$.pid"; wait'
    return shlex.join(["sh", "-c", script])


def started(folder: Path) -> list[int]:
    """The IDs of the processes that ``sleeping`` has started."""
    return [int(number) for file in folder.glob("*.pid") for number in file.read_text().split()]


def runs(process: int) -> bool:
    """Whether a process is running; a zombie is not."""
    stat = Path(f"/proc/{process}/stat")
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def cleared(tmp_path: Path):
    """Ends the processes that ``sleeping`` has started in this test."""
    yield
    for number in started(tmp_path):
        if runs(number):
            os.kill(number, signal.SIGKILL)


def test_a_program_finds_the_detection_in_its_environment(play_separately, tmp_path: Path) -> None:
    command = shlex.join([sys.executable, "-c", REPORT, "$HOME;", "*"])
    result = play_separately("--json", "--save", tmp_path / "saved", "--exec", command)
    assert result.returncode == 0
    detections = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(detections) == 2
    for one in detections:
        report = tmp_path / f"{one['end']}.json"
        wait_for(report.exists)
        arguments, environment = json.loads(report.read_text())
        assert arguments == ["$HOME;", "*"]
        assert environment["WAKEWORD_KEYWORD"] == "low"
        assert float(environment["WAKEWORD_SCORE"]) == one["score"]
        assert float(environment["WAKEWORD_START"]) == one["start"]
        assert Path(environment["WAKEWORD_AUDIO"]).exists()


def test_running_programs_are_not_stopped_and_delay_nothing(play_separately, tmp_path: Path, cleared: None) -> None:
    began = time.monotonic()
    result = play_separately("--exec", sleeping(tmp_path))
    assert (result.returncode, result.stderr) == (0, "")
    assert time.monotonic() - began < 20
    wait_for(lambda: len(started(tmp_path)) == 4)
    assert all(map(runs, started(tmp_path)))


def test_a_missing_program_is_an_error_at_the_start(play) -> None:
    refused = play("--exec", "no-such-program --now")
    assert (refused.status, refused.out) == (1, "")
    assert (
        refused.err == "wakeword: --exec: expected an executable program, found no 'no-such-program'; check its path\n"
    )


def test_a_program_that_disappears_is_reported_and_listening_continues(models: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    with live(models, "--exec", str(program)) as process:
        assert speak(process)
        wait_for((tmp_path / "ran").exists)
        program.unlink()
        assert speak(process)
        assert process.stderr.readline().decode() == f"wakeword: --exec: {program}: No such file or directory\n"
        assert speak(process)


def test_the_output_of_a_program_is_not_a_detection(play_separately) -> None:
    result = play_separately("--json", "--exec", "echo nonsense")
    assert len([json.loads(line) for line in result.stdout.splitlines()]) == 2


def test_programs_that_never_end_do_not_accumulate(
    detection: Detection, tmp_path: Path, cleared: None, capfd: pytest.CaptureFixture[str]
) -> None:
    run = Runner(sleeping(tmp_path), timeout=0)
    for _ in range(MAX_RUNNING + 3):
        run.run(detection, None)
    wait_for(lambda: len(started(tmp_path)) == 2 * MAX_RUNNING)
    assert capfd.readouterr().err == f"wakeword: --exec skipped: {MAX_RUNNING} of its programs are still running\n"
    # When one of them ends, another can start.
    os.kill(started(tmp_path)[0], signal.SIGKILL)
    wait_for(lambda: "killed by signal 9" in capfd.readouterr().err)

    def one_more() -> bool:
        run.run(detection, None)
        return len(started(tmp_path)) == 2 * MAX_RUNNING + 2

    wait_for(one_more)


def test_a_program_that_hangs_is_ended_with_its_children(
    detection: Detection, tmp_path: Path, cleared: None, capfd: pytest.CaptureFixture[str]
) -> None:
    Runner(sleeping(tmp_path, "trap '' TERM"), timeout=0.5).run(detection, None)
    wait_for(lambda: len(started(tmp_path)) == 2)
    wait_for(lambda: not any(map(runs, started(tmp_path))))
    assert capfd.readouterr().err == "wakeword: --exec: sh was ended after 0.5 s\n"


def test_a_program_that_fails_is_reported_immediately(detection: Detection, capfd: pytest.CaptureFixture[str]) -> None:
    Runner("sh -c 'exit 3'", timeout=60).run(detection, None)
    printed = ""

    def reported() -> bool:
        nonlocal printed
        printed += capfd.readouterr().err
        return printed.endswith("\n")

    wait_for(reported)
    assert printed == "wakeword: --exec: sh ended with status 3\n"


@pytest.mark.parametrize("how", ["hangs", "failed"])
def test_a_program_runs_even_if_the_audio_cannot_be_saved(
    detection: Detection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr("wakeword.cli.listen.exec_program._SECONDS_FOR_SAVING", 0.1)
    monkeypatch.setenv("REPORTS", str(tmp_path))
    saved: Future[Path | None] = Future()
    if how == "failed":
        saved.set_result(None)
    run = Runner(shlex.join([sys.executable, "-c", REPORT]), timeout=60)
    run.run(detection, saved)
    run.close(lambda: None)
    report = tmp_path / f"{detection.end}.json"
    wait_for(report.exists)
    assert "WAKEWORD_AUDIO" not in json.loads(report.read_text())[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_listening_while_a_program_hangs(
    models: Path, tmp_path: Path, cleared: None, number: int
) -> None:
    with live(models, "--exec", sleeping(tmp_path, "exec > /dev/null 2>&1")) as process:
        speak(process)
        wait_for(lambda: started(tmp_path))
        status, seconds, messages = ended(process, number)
    assert (status, messages) == (0, "")
    assert seconds < 2.5
    assert all(map(runs, started(tmp_path)))


@pytest.mark.parametrize("keyword", ["a\0b", "a\ud800b"])
def test_a_keyword_that_no_environment_can_hold_is_reported(
    detection: Detection, capfd: pytest.CaptureFixture[str], keyword: str
) -> None:
    run = Runner("true", timeout=60)
    run.run(dataclasses.replace(detection, keyword=keyword), None)
    run.close(lambda: None)
    printed = ""

    def reported() -> bool:
        nonlocal printed
        printed += capfd.readouterr().err
        return printed.endswith("\n")

    wait_for(reported)
    assert printed.startswith("wakeword: --exec: true: ")
    assert len(printed.splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    [
        "echo {keyword} >> file",
        "echo {score} {start} {end} {audio}",
        "echo $WAKEWORD_KEYWORD",
        'echo "a b" | cat',
        "true && true",
        "true; true",
        "true 2>errors",
    ],
)
def test_what_only_a_shell_understands_is_answered_with_the_line_for_one(command: str) -> None:
    with pytest.raises(typer.BadParameter, match="without a shell; try: ") as refused:
        Runner(command, timeout=1)
    line = refused.value.message.partition("try: ")[2].removesuffix(", with $WAKEWORD_KEYWORD for the word")
    option, meant = shlex.split(line)
    assert option == "--exec"
    shell, option, line = shlex.split(meant)
    assert (shell, option) == ("sh", "-c")
    # What would stand for the word, its score and its times are variables, as no phrase is put into a command.
    assert "{" not in line
    assert re.sub(r"\$WAKEWORD_(\w+)", r"\1", line).lower() == re.sub(r"[{}]|\$WAKEWORD_", "", command).lower()
    Runner(meant, timeout=1)


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ("ding.wav", ["ding.wav"]),
        ("http://lamp.example/?on=1&level=5", ["http://lamp.example/?on=1&level=5"]),
        ("'a > b' it\\'s", ["a > b", "it's"]),
        ("-c 'a | b; c'", ["-c", "a | b; c"]),
    ],
)
def test_a_program_gets_its_arguments_as_they_are_quoted(
    detection: Detection, tmp_path: Path, arguments: str, given: list[str]
) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {tmp_path}/part && mv {tmp_path}/part {tmp_path}/given\n")
    program.chmod(0o755)
    Runner(f"{program} {arguments}", timeout=60).run(detection, None)
    wait_for((tmp_path / "given").exists)
    assert (tmp_path / "given").read_text().splitlines() == given


def test_the_phrase_of_a_model_is_no_command(detection: Detection, tmp_path: Path) -> None:
    phrase = f"; touch {tmp_path}/hacked $(touch {tmp_path}/hacked) `touch {tmp_path}/hacked`"
    run = Runner(f"sh -c 'echo $WAKEWORD_KEYWORD >> {tmp_path}/said'", timeout=60)
    run.run(dataclasses.replace(detection, keyword=phrase), None)
    wait_for(lambda: (tmp_path / "said").exists() and (tmp_path / "said").read_text() == f"{phrase}\n")
    assert not (tmp_path / "hacked").exists()
