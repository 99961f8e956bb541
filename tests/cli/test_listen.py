"""``wakeword listen`` with files and pipes in place of a microphone."""

import io
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile

from wakeword import Detector, FileSource
from wakeword.cli.reactions import MAX_RUNNING, Runner


@pytest.fixture
def play(cli, models: Path, recordings: Path):
    """Listens for "low" to the first recording."""
    return lambda *arguments: cli(
        "listen", "--model", models / "low.onnx", "--input", recordings / "first.wav", *arguments
    )


@pytest.fixture
def play_apart(models: Path, recordings: Path, tmp_path: Path):
    """The same in a process of its own, as programs need a real stderr; ``TOLD`` names a folder for them.

    No file that the process writes can grow over ``limit`` bytes, as on a full disk.
    """
    command = [sys.executable, "-m", "wakeword", "listen", "--model", models / "low.onnx"]

    def run(*arguments: str | Path, limit: int = resource.RLIM_INFINITY) -> subprocess.CompletedProcess[str]:
        with (tmp_path / "stderr").open("w+") as stderr:
            # A file and no pipe: a program that still runs would hold a pipe open.
            done = subprocess.run(
                [*command, "--input", recordings / "first.wav", *arguments],
                env={**os.environ, "TOLD": str(tmp_path)},
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                timeout=60,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
            )
            stderr.seek(0)
            done.stderr = stderr.read()
        return done

    return run


@pytest.mark.parametrize(("flag", "form"), [([], "text"), (["--json"], "json")])
def test_listening_to_a_file_prints_what_scan_prints(
    cli, play, models: Path, recordings: Path, flag: list[str], form: str
) -> None:
    heard = play(*flag)
    scanned = cli("scan", "--model", models / "low.onnx", "--format", form, recordings / "first.wav")
    assert heard.status == 0
    assert heard.out == scanned.out
    assert len(heard.out.splitlines()) == 2


def test_pcm_from_stdin_is_heard_as_the_file_is(
    cli, play, models: Path, recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples, _ = soundfile.read(recordings / "first.wav", dtype="int16")
    silent_left = np.stack([np.zeros_like(samples), samples], axis=1).tobytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(silent_left)))
    heard = cli("listen", "--model", models / "low.onnx", "--json", "--input", "-", "--channels", 2, "--channel", 1)
    wanted = [json.loads(line) for line in play("--json").out.splitlines()]
    for entry in wanted:
        del entry["file"]
    assert heard.status == 0
    assert [json.loads(line) for line in heard.out.splitlines()] == [
        {**entry, "score": pytest.approx(entry["score"], abs=1e-6)} for entry in wanted
    ]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 0)])
def test_a_signal_ends_a_wait_for_silent_input(models: Path, number: int, status: int) -> None:
    command = [sys.executable, "-m", "wakeword", "listen", "--model", models / "low.onnx", "--input", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"listening for 'low'")
        time.sleep(0.2)
        process.send_signal(number)
        time.sleep(0.001)
        process.send_signal(number)
        assert process.wait(timeout=5) == status
        assert process.stderr.read() == b""


def test_saved_audio_is_the_audio_that_was_heard(play, models: Path, recordings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "saved"
    heard = play("--json", "--save", folder)
    told = sorted(folder.glob("*.json"))
    detections = list(Detector(models / "low.onnx").run(FileSource(recordings / "first.wav")))
    original, _ = soundfile.read(recordings / "first.wav", dtype="int16")
    assert len(told) == len(detections) == len(heard.out.splitlines()) == len(list(folder.glob("*.wav")))
    for path, detection in zip(told, detections, strict=True):
        content = json.loads(path.read_text())
        assert (content["keyword"], content["score"]) == (detection.keyword, detection.score)
        assert (content["start"], content["end"]) == (detection.start, detection.end)
        samples, rate = soundfile.read(folder / content["audio"], dtype="int16")
        end = round(detection.end * rate)
        np.testing.assert_array_equal(samples, original[end - len(samples) : end])
    assert all(path.suffix in (".json", ".wav") for path in folder.iterdir())


def test_a_full_disk_is_told_and_listening_goes_on(play_apart, tmp_path: Path) -> None:
    heard = play_apart("--json", "--save", tmp_path / "saved", "--exec", "true", limit=8_192)
    assert heard.returncode == 0
    assert len(heard.stdout.splitlines()) == 2
    assert heard.stderr.count("--save: [Errno 27] File too large") == 2
    assert "Traceback" not in heard.stderr
    assert list((tmp_path / "saved").iterdir()) == []


TELL = """if True:
    import json, os, pathlib, sys
    told = pathlib.Path(os.environ["TOLD"], os.environ["WAKEWORD_END"])
    told.write_text(json.dumps([sys.argv[1:], {**os.environ}]))
    told.rename(told.with_name(told.name + ".json"))
    print("program was here")
"""


def test_a_program_finds_the_detection_in_its_environment(play_apart, tmp_path: Path) -> None:
    command = shlex.join([sys.executable, "-c", TELL, "$HOME;", "*"])
    heard = play_apart("--json", "--save", tmp_path / "saved", "--exec", command)
    assert heard.returncode == 0
    detections = [json.loads(line) for line in heard.stdout.splitlines()]
    assert len(detections) == 2
    for detection in detections:
        told = tmp_path / f"{detection['end']}.json"
        _wait_for(told.exists)
        arguments, environment = json.loads(told.read_text())
        assert arguments == ["$HOME;", "*"]
        assert environment["WAKEWORD_KEYWORD"] == "low"
        assert float(environment["WAKEWORD_SCORE"]) == detection["score"]
        assert float(environment["WAKEWORD_START"]) == detection["start"]
        assert Path(environment["WAKEWORD_AUDIO"]).exists()


def test_a_slow_program_holds_nothing_up(play_apart, tmp_path: Path) -> None:
    started = time.monotonic()
    heard = play_apart("--exec", "sleep 20")
    assert (heard.returncode, heard.stderr) == (0, "")
    assert time.monotonic() - started < 10


def test_programs_that_never_end_do_not_pile_up(low_model, recordings: Path, capfd: pytest.CaptureFixture[str]) -> None:
    detection = next(Detector(low_model).run(FileSource(recordings / "first.wav")))
    run = Runner("sleep 60")
    try:
        for _ in range(MAX_RUNNING + 2):
            run(detection, None)
        assert len(run._running) == MAX_RUNNING
        assert capfd.readouterr().err.count("--exec skipped") == 2
    finally:
        for process in run._running:
            process.kill()
            process.wait()


def test_a_program_that_fails_is_told_at_the_next_detection(
    low_model, recordings: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    detection = next(Detector(low_model).run(FileSource(recordings / "first.wav")))
    run = Runner("false")
    run(detection, None)
    run._running[0].wait()
    run(detection, None)
    assert capfd.readouterr().err == "wakeword: --exec: false ended with status 1\n"


def test_a_file_is_no_folder_to_save_in(play, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    result = play("--save", tmp_path / "notes.txt")
    assert (result.status, result.out) == (1, "")
    assert "expected a folder" in result.err
    assert (tmp_path / "notes.txt").read_text() == "mine"


def _wait_for(condition, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
