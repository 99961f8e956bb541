"""``wakeword listen`` with files and pipes instead of a microphone."""

import io
import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import soundfile
from support.builders import bursts
from support.live import WORD, feed, live, speak

from wakeword import Detector, FileSource


@pytest.mark.parametrize(("flag", "form"), [([], "text"), (["--json"], "json")])
def test_listening_to_a_file_prints_what_scan_prints(
    cli, play, models: Path, recordings: Path, flag: list[str], form: str
) -> None:
    result = play(*flag)
    scanned = cli("scan", "--model", models / "low.onnx", "--format", form, recordings / "first.wav")
    assert result.status == 0
    assert result.out == scanned.out
    assert len(result.out.splitlines()) == 2


def test_pcm_from_stdin_gives_the_detections_of_the_file(
    cli, play, models: Path, recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples, _ = soundfile.read(recordings / "first.wav", dtype="int16")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(samples.tobytes())))
    result = cli("listen", "--model", models / "low.onnx", "--json", "--input", "-")
    wanted = [json.loads(line) for line in play("--json").out.splitlines()]
    for entry in wanted:
        del entry["file"]
    assert result.status == 0
    assert [json.loads(line) for line in result.out.splitlines()] == [
        {**entry, "score": pytest.approx(entry["score"], abs=1e-6)} for entry in wanted
    ]


@pytest.mark.parametrize("least", [0, 0.5, 1, 1.5, 3, 3.005, 8])
def test_a_keyword_is_not_reported_again_before_the_least_gap(cli, models: Path, tmp_path: Path, least: float) -> None:
    """Two bursts 0.75 s apart, every 3 s, in one keyword and, in between, in the other."""
    lows = {start + offset: "low" for start in range(1, 20, 3) for offset in (0, 0.75)}
    highs = {start + 1.5: "high" for start in range(1, 20, 3)}
    soundfile.write(tmp_path / "many.wav", bursts(24, {**lows, **highs}), 16_000)
    chosen = ["--model", models / "low.onnx", "--model", models / "high.onnx", "--input", tmp_path / "many.wav"]
    everything = _starts(cli("listen", "--json", "--min-gap", 0, *chosen).out)
    assert {keyword: len(starts) for keyword, starts in everything.items()} == {"low": 14, "hey high": 7}
    for keyword, starts in _starts(cli("listen", "--json", "--min-gap", least, *chosen).out).items():
        assert all(after - before >= least - 1e-9 for before, after in pairwise(starts))
        # None is missing for any other reason. A burst that outlasts the gap is reported when the gap ends.
        for start in everything[keyword]:
            assert any(start - least - 1e-9 <= kept <= start + 0.4 for kept in starts)


def _starts(lines: str) -> dict[str, list[float]]:
    starts: dict[str, list[float]] = {}
    for line in lines.splitlines():
        detection = json.loads(line)
        starts.setdefault(detection["keyword"], []).append(detection["start"])
    return starts


def test_each_line_is_printed_immediately(models: Path) -> None:
    with live(models, "--json") as process:
        for number in range(1, 3):
            detection = json.loads(speak(process))
            assert detection["end"] < 2.5 * number


@pytest.mark.parametrize("words", [0, 1])
def test_it_ends_when_its_reader_has_left(models: Path, words: int) -> None:
    """As ``head -1`` does; noticed at the next block of audio, not only at the next detection."""
    with live(models) as process:
        for _ in range(words):
            speak(process)
        process.stdout.close()
        feed(process, bytes(64_000))
        assert process.wait(timeout=10) == 0
        assert process.stderr.read() == b""


def test_a_line_that_cannot_be_written_is_an_error(models: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    redirect = "import os\nos.dup2(os.open('/dev/full', os.O_WRONLY), 1)"
    with live(models, before=redirect) as process:
        feed(process, WORD)
        assert process.wait(timeout=10) == 1
        assert process.stderr.read() == b"wakeword: No space left on device\n"


def test_stdout_may_be_closed(models: Path, tmp_path: Path) -> None:
    closed = "import os, sys\nos.close(1)\nsys.stdout = None"
    with live(models, "--save", tmp_path, before=closed) as process:
        process.stdin.write(WORD)
        process.stdin.close()
        assert process.wait(timeout=10) == 0
        assert process.stderr.read() == b""
    assert len(list(tmp_path.glob("*.json"))) == 1


@pytest.mark.parametrize("option", ["--min-gap", "--exec-timeout", "--save-limit", "--pre-roll"])
@pytest.mark.parametrize("value", ["-1", "nan", "inf"])
def test_invalid_times_and_sizes_are_refused(play, option: str, value: str) -> None:
    refused = play(option, value)
    assert (refused.status, refused.out) == (2, "")


def test_a_detection_is_as_the_library_reports_it(play, models: Path, recordings: Path) -> None:
    detections = list(Detector(models / "low.onnx").run(FileSource(recordings / "first.wav")))
    printed = [json.loads(line) for line in play("--json").out.splitlines()]
    assert [(one["keyword"], one["score"], one["start"], one["end"]) for one in printed] == [
        (one.keyword, one.score, one.start, one.end) for one in detections
    ]
