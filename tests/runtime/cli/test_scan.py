"""``wakeword scan``: every format has the same detections, and a bad recording does not affect the others."""

import csv
import io
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile

from wakeword import Detection, Detector, FileSource, ModelError
from wakeword.model.model import read_model

Found = tuple[str, str, float, float, float]


def expected(models: Path, *recordings: Path, threshold: float | None = None) -> list[Found]:
    """File, keyword, start, end and score of the detections of a new detector in each recording."""
    found = []
    for recording in recordings:
        detector = Detector([models / "low.onnx", models / "high.onnx"], threshold=threshold)
        detections: list[Detection] = list(detector.run(FileSource(recording)))
        found += [(str(recording), d.keyword, d.start, d.end, d.score) for d in detections]
    return found


def close(found: list[Found], wanted: list[Found], *, time: float, score: float) -> bool:
    """Whether both are the same, within tolerances of times and scores."""
    if [entry[:2] for entry in found] != [entry[:2] for entry in wanted]:
        return False
    off = np.abs(np.array([entry[2:] for entry in found]) - np.array([entry[2:] for entry in wanted]))
    return bool((off <= [time, time, score]).all())


@pytest.fixture
def scan(cli, models: Path):
    """Scans with both models."""
    return lambda *arguments: cli("scan", "--model", models / "low.onnx", "--model", models / "high.onnx", *arguments)


def parse_text(text: str) -> list[Found]:
    pattern = re.compile(r"(.+): ([\d.]+)-([\d.]+) s  (.+)  ([\d.]+)")
    matches = [pattern.fullmatch(line) for line in text.splitlines()]
    return [(m[1], m[4], float(m[2]), float(m[3]), float(m[5])) for m in matches if m]


def parse_json(text: str) -> list[Found]:
    return [(o["file"], o["keyword"], o["start"], o["end"], o["score"]) for o in map(json.loads, text.splitlines())]


def parse_csv(text: str) -> list[Found]:
    rows = csv.DictReader(io.StringIO(text))
    return [(r["file"], r["keyword"], float(r["start"]), float(r["end"]), float(r["score"])) for r in rows]


def test_every_format_has_the_same_detections(scan, models: Path, recordings: Path) -> None:
    recording = recordings / "first.wav"
    wanted = expected(models, recording)
    assert [entry[1] for entry in wanted] == ["low", "hey high", "low"]
    shown = {form: scan("--format", form, recording).out for form in ("text", "json", "csv")}
    assert parse_json(shown["json"]) == wanted
    assert close(parse_csv(shown["csv"]), wanted, time=1e-9, score=5.01e-7)
    assert close(parse_text(shown["text"]), wanted, time=5.01e-4, score=5.01e-5)


@pytest.mark.parametrize(("name", "form"), [("found.csv", "csv"), ("found.JSON", "json"), ("found.txt", "text")])
def test_without_a_format_the_name_of_the_file_says_it(
    scan, recordings: Path, tmp_path: Path, name: str, form: str
) -> None:
    recording = recordings / "first.wav"
    assert scan(recording, "--out", tmp_path / name).status == 0
    assert (tmp_path / name).read_text() == scan(recording, "--format", form).out != ""


@pytest.mark.parametrize(("form", "parse"), [("json", parse_json), ("csv", parse_csv)])
def test_folders_are_searched_and_each_recording_is_a_separate_stream(
    scan, models: Path, recordings: Path, form: str, parse
) -> None:
    ended = scan("--format", form, recordings)
    files = [recordings / "deeper" / "second.flac", recordings / "deeper" / "third.ogg", recordings / "first.wav"]
    assert ended.status == 0
    # JSON is exact, for programs; CSV has six digits.
    assert close(parse(ended.out), expected(models, *files), time=1e-9, score=0 if form == "json" else 5.01e-7)
    assert re.fullmatch(
        r"3 recordings, 17\.0 s of audio, 8 detections, [\d.]+ ms of CPU per second of audio\n", ended.err
    )


@pytest.mark.parametrize("options", [[], ["--format", "csv"], ["--resume"]])
def test_a_folder_is_no_file_for_the_results(
    scan, recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in (str(folder), f"{folder}/", ".", "..", "../results"):
        refused = scan(recordings, "--out", name, *options)
        assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1)
        assert f"--out {Path(name)}: expected a file, got a folder; name a file in it" in refused.err
    assert not list(folder.iterdir())
    assert not list(tmp_path.rglob("*.journal"))


def test_a_bad_recording_is_named_and_the_others_are_scanned(
    scan, models: Path, recordings: Path, tmp_path: Path
) -> None:
    bad = recordings / "bad.wav"
    bad.write_bytes(b"RIFF, but no more")
    not_finite = recordings / "nan.wav"
    soundfile.write(not_finite, np.full(16_000, np.nan, np.float32), 16_000, subtype="FLOAT")
    out = tmp_path / "found.json"
    good = recordings / "first.wav"
    ended = scan(bad, "missing.wav", not_finite, good, "--format", "json", "--out", out)
    assert (ended.status, ended.out) == (1, "")
    missing, unread, nan, summary = ended.err.splitlines()
    assert missing.startswith("wakeword: missing.wav: ")
    assert unread.startswith(f"wakeword: {bad}: ")
    assert nan.startswith(f"wakeword: {not_finite}: expected finite samples")
    assert summary.startswith("1 recording, 3 unreadable, ")
    assert parse_json(out.read_text()) == expected(models, good)


def test_a_folder_that_cannot_be_searched_is_named_and_the_others_are_scanned(
    scan, models: Path, recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(folder: str):
        if Path(folder).name == "deeper":
            raise PermissionError(13, "Permission denied", folder)
        return os.scandir(folder)

    monkeypatch.setattr("wakeword.base.listing.os", SimpleNamespace(scandir=refusing, fspath=os.fspath))
    ended = scan(recordings, "--format", "json")
    assert ended.status == 1
    assert parse_json(ended.out) == expected(models, recordings / "first.wav")
    problem, summary = ended.err.splitlines()
    assert problem == f"wakeword: {recordings / 'deeper'}: could not search this folder for audio: Permission denied"
    assert summary.startswith("1 recording, 1 unreadable, ")


def test_a_recording_that_was_cut_off_is_reported_with_what_was_read(scan, recordings: Path) -> None:
    cut = recordings / "first.wav"
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    ended = scan(recordings)
    assert ended.status == 1
    assert re.search(rf"wakeword: {cut}: could not read all of it.*: got 4\.00 of 8\.00 s", ended.err)


def test_a_folder_without_audio_is_an_error(scan, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert scan(tmp_path / "empty").status == 1


def test_silence_and_empty_files_give_nothing(scan, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "empty.wav", np.zeros(0), 16_000)
    soundfile.write(tmp_path / "silence.wav", np.zeros(48_000), 16_000)
    ended = scan(tmp_path)
    assert (ended.status, ended.out) == (0, "")


def test_a_higher_threshold_never_finds_more(scan, recordings: Path) -> None:
    counts = [len(scan(recordings, "--threshold", x).out.splitlines()) for x in ("0.3", "0.9", "0.9974", "1")]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1] == 0


def test_an_interrupted_scan_leaves_the_old_file(
    scan, recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: FileSource):
        raise KeyboardInterrupt
        yield

    out = tmp_path / "found.txt"
    out.write_text("old")
    monkeypatch.setattr(FileSource, "blocks", interrupted)
    assert scan(recordings, "--out", out).status != 0
    assert out.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"found.txt", "recordings"}


def test_a_name_that_is_not_unicode_is_scanned(scan, recordings: Path, tmp_path: Path) -> None:
    odd = tmp_path / "caf\udce9.wav"
    odd.write_bytes((recordings / "first.wav").read_bytes())
    ended = scan(odd, "--format", "json")
    assert ended.status == 0
    assert {json.loads(line)["file"] for line in ended.out.splitlines()} == {str(odd)}
    assert "caf\\udce9.wav: " in scan(odd).out


def test_a_recording_is_never_overwritten(cli, models: Path, recordings: Path) -> None:
    recording = sorted(recordings.glob("*.*"))[0]
    before = recording.read_bytes()
    result = cli("scan", recordings, "--model", models / "low.onnx", "--out", recording)
    assert result.status == 1
    assert "another file for the results" in result.err
    assert recording.read_bytes() == before


def test_the_name_of_an_included_model_is_understood_as_its_file(cli, recordings: Path, shipped: Path) -> None:
    done = cli("scan", recordings, "--model", "low")
    assert done.out == cli("scan", recordings, "--keyword", "low").out != ""
    with pytest.raises(ModelError, match=re.escape(f"the file of the included model is {shipped / 'low.onnx'}")):
        read_model("low")


@pytest.mark.skipif(sys.platform == "win32", reason="closes a file descriptor in a shell")
def test_a_closed_stdout_is_no_failure(models: Path, recordings: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "wakeword", "scan", recordings / "first.wav", "--model", models / "low.onnx"]
    for options in ([], ["--format", "json", "--out", tmp_path / "found.json"]):
        shell = ["sh", "-c", 'exec "$@" >&-', "sh", *map(str, [*command, *options])]
        done = subprocess.run(shell, stderr=subprocess.PIPE, text=True, timeout=60)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert (tmp_path / "found.json").read_text().count("\n") == 2


@pytest.mark.parametrize("limit", [0, 16])
def test_a_full_disk_names_the_file_and_leaves_none(models: Path, recordings: Path, tmp_path: Path, limit: int) -> None:
    """The limit is less than the first line of the journal."""
    out = tmp_path / "results" / "found.csv"
    out.parent.mkdir()
    out.write_text("the results of before\n")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "wakeword", "scan", recordings / "first.wav", "--model", models / "low.onnx"),
            *("--format", "csv", "--out", out),
        ],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (1, f"wakeword: {out}.journal: File too large\n")
    assert [path.name for path in out.parent.iterdir()] == ["found.csv"]
    assert out.read_text() == "the results of before\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("form", ["text", "csv", "json"])
def test_a_full_device_is_named(scan, recordings: Path, form: str) -> None:
    done = scan(recordings / "first.wav", "--format", form, "--out", "/dev/full")
    assert (done.status, done.err.splitlines()[-1]) == (1, "wakeword: /dev/full: No space left on device")


def test_names_of_recordings_forge_nothing(scan, recordings: Path, tmp_path: Path) -> None:
    bad = tmp_path / "a\r99.000-99.500 s  alexa  1.0000\nb\x1b[2J.wav"
    bad.write_bytes((recordings / "first.wav").read_bytes())
    plain = tmp_path / "plain.wav"
    plain.write_bytes((recordings / "first.wav").read_bytes())
    for form in ("text", "csv", "json"):
        found, wanted = scan("--format", form, bad).out, scan("--format", form, plain).out
        assert len(found.splitlines()) == len(wanted.splitlines()) > 1
        assert "\x1b" not in found
        assert "\r" not in found
    assert {entry[0] for entry in parse_json(found)} == {str(bad)}
    said = scan(tmp_path / "no\nsuch\x1b[2J.wav").err
    assert "\x1b" not in said


def test_what_a_killed_scan_left_is_removed(scan, recordings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / ".out.csv.abcd_123.csv").write_text("half")
    scan("--format", "csv", "--out", folder / "out.csv", recordings / "first.wav")
    assert [path.name for path in folder.iterdir()] == ["out.csv"]


# --- many recordings


def test_processes_write_the_bytes_of_one(scan, recordings: Path, tmp_path: Path) -> None:
    (recordings / "bad.wav").write_bytes(b"RIFF, but no more")
    one, two = (scan(recordings, "--format", "json", "--jobs", jobs) for jobs in ("1", "2"))
    assert (one.status, one.out) == (two.status, two.out)
    assert one.status == 1
    assert len(parse_json(one.out)) == 8
    assert one.err.splitlines()[0] == two.err.splitlines()[0]


class Reader:
    """Counts which files are read, and interrupts the scan at one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: list[str] = []
        self.interrupts = ""
        blocks = FileSource.blocks

        def watched(source: FileSource):
            self.read.append(source.path.name)
            if source.path.name == self.interrupts:
                raise KeyboardInterrupt
            return blocks(source)

        monkeypatch.setattr(FileSource, "blocks", watched)


def test_a_scan_that_was_interrupted_goes_on(
    scan, recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, folder = tmp_path / "found.csv", tmp_path / "results"
    folder.mkdir()
    assert scan(recordings, "--format", "csv", "--out", out).status == 0
    reader = Reader(monkeypatch)
    reader.interrupts = "first.wav"
    options = (recordings, "--format", "csv", "--out", folder / "found.csv")
    ended = scan(*options)
    assert ended.status != 0
    assert "with --resume goes on" in ended.err
    assert [path.name for path in folder.iterdir()] == ["found.csv.journal"]
    reader.interrupts, reader.read = "", []
    ended = scan(*options, "--resume")
    assert (ended.status, reader.read) == (0, ["first.wav"])
    assert ended.err.startswith("3 recordings, 2 of them done before, 17.0 s of audio, 8 detections")
    assert (folder / "found.csv").read_bytes() == out.read_bytes()
    assert [path.name for path in folder.iterdir()] == ["found.csv"]


def test_results_that_are_dropped_are_named(
    scan, recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(monkeypatch)
    reader.interrupts = "first.wav"
    options = (recordings, "--format", "csv", "--out", tmp_path / "found.csv")
    assert scan(*options).status != 0
    reader.interrupts = ""
    again = scan(*options)
    assert again.status == 0
    assert again.err.startswith("2 result(s) of an earlier run are dropped; with --resume they would have been kept")
    assert "--resume" not in scan(*options).err


def test_results_with_other_settings_are_put_aside(scan, recordings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    bad = recordings / "bad.wav"
    bad.write_bytes(b"RIFF, but no more")
    options = (recordings, "--format", "json", "--out", folder / "found.json")
    journal = folder / "found.json.journal"
    assert scan(*options).status == 1
    before = journal.read_bytes()
    again = scan(*options, "--threshold", "0.9")
    (aside,) = folder.glob("found.json.journal.*")
    notes = again.err.splitlines()
    assert f"4 result(s) of an earlier run with other models or settings are kept in {aside}; " in notes[0]
    assert "are kept in" not in "".join(notes[1:])
    assert aside.read_bytes() == before != journal.read_bytes()
    # The run of before goes on as that line says, once that of now is done.
    bad.unlink()
    assert scan(*options, "--threshold", "0.9", "--resume").status == 0
    aside.rename(journal)
    assert "3 of them done before" in scan(*options, "--resume").err
    assert [path.name for path in folder.iterdir()] == ["found.json"]


def test_a_scan_that_failed_in_part_reads_only_that_part_again(
    scan, recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, good = tmp_path / "found.json", recordings / "first.wav"
    content = good.read_bytes()
    good.write_bytes(content[:-1000])
    options = (recordings, "--format", "json", "--out", out)
    assert scan(*options).status == 1
    good.write_bytes(content)
    reader = Reader(monkeypatch)
    assert scan(*options, "--resume").status == 0
    assert reader.read == ["first.wav"]
    assert out.read_text() == scan(recordings, "--format", "json").out
    assert {path.name for path in tmp_path.iterdir()} == {"found.json", "recordings"}


def test_another_threshold_is_another_run(scan, recordings: Path, tmp_path: Path) -> None:
    (recordings / "bad.wav").write_bytes(b"RIFF, but no more")
    options = (recordings, "--format", "json", "--out", tmp_path / "found.json")
    assert scan(*options).status == 1
    ended = scan(*options, "--threshold", "0.9", "--resume")
    assert ended.status == 1
    assert "leave out --resume" in ended.err
    assert scan(recordings, "--resume").status == 2


@pytest.mark.parametrize("name", ["found.xlsx", "found.tsv", "found.srt"])
def test_a_file_of_a_name_that_no_format_has_needs_the_format(
    scan, recordings: Path, tmp_path: Path, name: str
) -> None:
    refused = scan(recordings / "first.wav", "--out", tmp_path / name)
    assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert f"{name}: expected a name that ends in .txt, .json, .jsonl or .csv; " in refused.err
    assert not (tmp_path / name).exists()
    assert scan(recordings / "first.wav", "--out", tmp_path / name, "--format", "csv").status == 0
