"""Ctrl-C and SIGTERM: ``wakeword listen`` ends within a second, and the saved files are complete."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import soundfile
from support.live import WORD, ended, feed, live, speak, wait_for

LIMIT_SECONDS = 2.5
"""One second on an idle machine."""

# The audio is written, then the disk is slow.
SLOW_DISK = """if True:
    import sys, time
    from wakeword.audio import audio_file
    write_audio = audio_file.write_audio

    def slow(*arguments):
        write_audio(*arguments)
        time.sleep({seconds})

    audio_file.write_audio = slow
"""

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@SIGNALS
def test_a_signal_ends_a_wait_for_silent_input(models: Path, number: int) -> None:
    with live(models) as process:
        time.sleep(0.2)
        process.send_signal(number)
        time.sleep(0.001)
        status, seconds, messages = ended(process, number)
    assert (status, messages) == (0, "")
    assert seconds < LIMIT_SECONDS


@SIGNALS
def test_a_detection_that_is_being_saved_is_saved(models: Path, tmp_path: Path, number: int) -> None:
    with live(models, "--json", "--save", tmp_path, before=SLOW_DISK.format(seconds=0.3)) as process:
        detection = json.loads(speak(process))
        wait_for(lambda: list(tmp_path.iterdir()))  # temporary files
        assert not list(tmp_path.glob("[!.]*"))
        status, seconds, messages = ended(process, number)
    assert (status, messages) == (0, "")
    assert seconds < LIMIT_SECONDS
    audio, data = sorted(tmp_path.iterdir(), key=lambda path: path.suffix, reverse=True)
    assert json.loads(data.read_text())["end"] == detection["end"]
    assert soundfile.info(audio).duration == pytest.approx(detection["end"])


def test_a_disk_that_hangs_does_not_keep_it_from_ending(models: Path, tmp_path: Path) -> None:
    with live(models, "--save", tmp_path, before=SLOW_DISK.format(seconds=60)) as process:
        speak(process)
        speak(process)
        status, seconds, messages = ended(process, signal.SIGTERM)
    assert (status, messages) == (1, "wakeword: --save: 2 detections not saved in all; the disk is too slow\n")
    assert seconds < LIMIT_SECONDS
    # No file with the name of a complete one.
    assert list(tmp_path.glob("[!.]*")) == []


def test_a_reader_that_does_not_read_does_not_keep_it_from_ending(models: Path, tmp_path: Path) -> None:
    """The pipe is full: the line that waits for it is given up."""
    fill = "import os\nos.set_blocking(1, False)\ntry:\n    while True: os.write(1, bytes(4096))\n"
    fill += "except BlockingIOError:\n    os.set_blocking(1, True)\n"
    with live(models, "--save", tmp_path, before=fill) as process:
        feed(process, WORD)
        time.sleep(0.5)
        status, seconds, messages = ended(process, signal.SIGTERM)
    assert (status, messages) == (0, "")
    assert seconds < LIMIT_SECONDS


@SIGNALS
def test_many_signals_have_the_effect_of_one(models: Path, tmp_path: Path, number: int) -> None:
    with live(models, "--save", tmp_path, before=SLOW_DISK.format(seconds=0.2)) as process:
        speak(process)
        for _ in range(20):
            process.send_signal(number)
            time.sleep(0.005)
        status, _, messages = ended(process, signal.SIGINT)
    assert (status, messages) == (0, "")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".wav"]


def test_the_end_of_the_terminal_ends_it_unless_started_with_nohup(models: Path) -> None:
    # Under nohup the tests and the processes that they start would ignore it.
    with live(models, before="import signal\nsignal.signal(signal.SIGHUP, signal.SIG_DFL)") as process:
        status, seconds, messages = ended(process, signal.SIGHUP)
    assert (status, messages) == (0, "")
    assert seconds < LIMIT_SECONDS
    with live(models, before="import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)") as process:
        process.send_signal(signal.SIGHUP)
        assert speak(process)


@SIGNALS
@pytest.mark.parametrize(
    "moment", ["listen_command.open_detector", "reactions.SavedPairs", "listen_command.monitoring"]
)
def test_a_signal_before_the_first_audio_ends_it_too(models: Path, tmp_path: Path, number: int, moment: str) -> None:
    module, name = moment.split(".")
    code = f"""if True:
        import signal
        from wakeword.cli import main
        from wakeword.cli.listen import {module}
        made = {module}.{name}

        def signalled(*arguments, **options):
            signal.raise_signal({int(number)})
            return made(*arguments, **options)

        {module}.{name} = signalled
        main()
    """
    command = [sys.executable, "-c", code, "listen", "--model", models / "low.onnx", "--input", "-", "--save", tmp_path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.wait(timeout=20) == 0
        assert process.stderr.read().count(b"\n") <= 1  # the line "listening for ..."
