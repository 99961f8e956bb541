"""The fuzzer finds what breaks a law, hangs or crashes, repeats it from its seed, and says what it did."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest
from support.builders import random_model_bytes

from fuzz import __main__ as command
from fuzz.cases import hostile, model_cases
from fuzz.cases.card_cases import strange
from fuzz.cases.command_cases import check_output
from fuzz.cases.fuzz_run import fuzz
from fuzz.cases.graph_cases import changed
from fuzz.cases.laws import BrokenLawError, Case, FuzzTarget, check_message
from fuzz.cases.mutation import damaged, flipped
from fuzz.cases.protobuf_cases import encoded, fields, metadata, with_metadata
from fuzz.cases.sealing import sealed
from fuzz.cases.targets import targets
from wakeword import ConfigError, Model, ModelError, WakewordError
from wakeword.model.installed import shipped_models
from wakeword.model.model import parse_model

ALL = sorted(targets())
CASES = {"commands": 2, "detectors": 1, "threads": 3}


# --- the targets


@pytest.mark.parametrize("name", ALL)
def test_a_target_is_attacked(name: str, tmp_path: Path) -> None:
    cases = CASES.get(name, 8)
    done = fuzz({name: targets()[name]}, 0, seed=11, cases=cases, keep=tmp_path)
    assert done.faults == []
    assert sum(done.targets[name].outcomes.values()) == done.targets[name].cases == cases


def test_damage_changes_bytes_and_is_the_same_for_the_same_seed() -> None:
    data = random_model_bytes()
    assert all(damaged(data, Random(seed)) == damaged(data, Random(seed)) for seed in range(50))
    assert sum(damaged(data, Random(seed)) != data for seed in range(50)) > 45
    for seed in range(50):
        changes = [old ^ new for old, new in zip(data, flipped(data, Random(seed)), strict=True)]
        assert sum(change.bit_count() for change in changes) == 1


def test_messages_are_written_as_they_were_read() -> None:
    data = shipped_models()["marvin"].read_bytes()
    assert encoded(fields(data)) == data
    assert with_metadata(data, {}) != data
    assert metadata(with_metadata(data, {"a": "b"})) == {"a": "b"}
    for broken in (b"\x0a\xff", b"\x0b", b"\xff" * 11):
        with pytest.raises(ValueError, match="expected"):
            fields(broken)


def test_what_is_sealed_loads_so_that_the_parser_behind_the_digest_is_reached() -> None:
    for data in (random_model_bytes(), shipped_models()["marvin"].read_bytes()):
        entries = metadata(data)
        other = with_metadata(data, {key: text.replace('"licence"', '"licence" ') for key, text in entries.items()})
        if other != data:
            with pytest.raises(ModelError):
                parse_model(other)
        assert parse_model(sealed(other)).card == parse_model(data).card


def test_every_hostile_graph_is_another_file_and_is_refused() -> None:
    data = random_model_bytes()
    for kind, make in hostile.GRAPHS.items():
        if kind == "many":  # may be many harmless fields
            continue
        bad = sealed(make(data, Random(1)))
        assert bad != sealed(data)
        with pytest.raises(ModelError) as refused:
            parse_model(bad)
        assert "digest" not in str(refused.value), kind


def test_changed_messages_and_cards_differ() -> None:
    data = random_model_bytes()
    assert sum(changed(data, Random(seed)) != data for seed in range(40)) > 30
    card = next(iter(metadata(data).values()))
    assert sum(strange(card, Random(seed)) != card for seed in range(40)) > 30


def test_a_damaged_file_that_loads_as_another_model_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As from a runtime that compares no digest: a changed weight goes unnoticed."""
    originals = [parse_model(path.read_bytes()) for path in list(shipped_models().values())[:2]]
    answers = iter([*(originals[turn % 2] for turn in range(len(shipped_models()))), *(originals * 500)])
    monkeypatch.setattr(model_cases, "parse_model", lambda data: next(answers))
    case = model_cases.prepare()
    outcomes = []
    for seed in range(10):
        try:
            outcomes.append(case(Random(seed), tmp_path))
        except BrokenLawError as error:
            outcomes.append(str(error))
    assert any("loads with" in outcome for outcome in outcomes)


# --- laws


@pytest.mark.parametrize("message", ["", "a\nb", "x" * 2_001, "\x1b[2J", "a\u2028b", "\udcff"])
def test_messages_are_one_readable_line(message: str) -> None:
    with pytest.raises(BrokenLawError):
        check_message(message)


def test_a_usual_message_is_right() -> None:
    check_message("marvin.onnx: expected a model file, got 'é'")


@pytest.mark.parametrize(
    ("status", "out", "err"),
    [
        (1, "", "Traceback (most recent call last):\n  File\nKeyError: 1\n"),
        (-11, "", ""),
        (70, "", "x"),
        (1, "", ""),
        (1, "", "wakeword: " + "x" * 2_001),
        (1, "", "wakeword: \x1b[2J"),
        (0, "0.1 s \x9b31m", ""),
    ],
)
def test_a_command_that_ends_badly_is_found(status: int, out: str, err: str) -> None:
    check_output(["scan"], 1, "", "wakeword: x.wav: expected audio\n")
    with pytest.raises(BrokenLawError):
        check_output(["scan"], status, out, err)


# --- the runner


def target(case: Callable[[Random, Path], str], **settings: float) -> dict[str, FuzzTarget]:
    return {"some": FuzzTarget(lambda: case, (ModelError,), batch=4, **settings)}  # type: ignore[arg-type]


def refuse(error: Exception) -> Case:
    def case(random: Random, folder: Path) -> str:
        raise error

    return case


def test_refusals_of_one_line_are_outcomes() -> None:
    done = fuzz(target(refuse(ModelError("expected a model"))), 0, seed=1, cases=5)
    assert done.faults == []
    assert done.targets["some"].outcomes == {"refused": 5}


@pytest.mark.parametrize("error", [ModelError("a\nb"), ConfigError("another kind"), KeyError("raw"), WakewordError("")])
def test_other_errors_are_findings_and_the_next_case_follows(error: Exception) -> None:
    done = fuzz(target(refuse(error)), 0, seed=1, cases=3)
    assert [one.seed for one in done.findings] == [1, 2, 3]


def hang(random: Random, folder: Path) -> str:
    time.sleep(600)
    return "late"


def crash(random: Random, folder: Path) -> str:
    os.kill(os.getpid(), signal.SIGSEGV)
    return "alive"


def leave(random: Random, folder: Path) -> str:
    os._exit(3)


def eat(random: Random, folder: Path) -> str:
    return "full" if bytearray(os.urandom(1) * 80_000_000) else "empty"


@pytest.mark.parametrize(
    ("case", "law"),
    [(hang, "hangs"), (crash, "signal 11"), (leave, "status 3"), (eat, r"took \d+ MB")],
    ids=["hang", "crash", "exit", "memory"],
)
def test_a_case_cannot_end_or_delay_the_fuzzer(case: Case, law: str) -> None:
    (fault, other) = fuzz(
        target(case, seconds=1.0 if case is hang else 60.0, most_mb=40.0), 0, seed=1, cases=2
    ).findings
    assert law.split()[0] in fault.law
    assert (fault.seed, other.seed) == (1, 2)


@pytest.mark.parametrize("freed_before_mb", [0, 400])
def test_growth_from_case_to_case_is_found(freed_before_mb: int) -> None:
    held: list[bytearray] = []
    bytearray(b"x" * 20_000_000)  # once such a part is freed, glibc takes parts of 2 MB from the heap
    freed = [bytearray(b"x" * 2_000_000) for _ in range(freed_before_mb // 2)]
    above = [bytearray(b"x" * 100_000) for _ in range(200)]  # the heap cannot shrink below them
    del freed

    def leak(random: Random, folder: Path) -> str:
        held.append(bytearray(b"x" * 2_000_000))
        return "kept"

    grown = fuzz({"some": FuzzTarget(lambda: leak, (), batch=40)}, 0, seed=1, cases=40)
    assert len(grown.findings) == 1
    assert "memory grew" in grown.findings[0].law
    assert len(above) == 200


def test_what_is_loaded_once_is_no_growth() -> None:
    held: dict[int, bytearray] = {}

    def load(random: Random, folder: Path) -> str:
        number = random.randrange(2**32)
        if number not in held:
            held[number] = bytearray(b"x" * 2_000_000)
        return "kept"

    done = fuzz({"some": FuzzTarget(lambda: load, (), batch=40)}, 0, seed=1, cases=40)
    assert done.faults == []
    assert done.targets["some"].cases == 40


def test_a_warning_of_numpy_is_a_finding() -> None:
    def overflow(random: Random, folder: Path) -> str:
        return f"{np.float32(3e38) * np.float32(10)}"

    (finding,) = fuzz(target(overflow), 0, seed=1, cases=1).findings
    assert "RuntimeWarning" in finding.law


def test_a_strange_card_is_of_bounded_size_and_soon_made() -> None:
    card = json.dumps({"names": [0], "others": [[0]]})
    assert max(len(strange(card, Random(seed))) for seed in range(500)) < 10_000_000


def test_the_same_seed_gives_the_same_case_and_findings_are_kept(tmp_path: Path) -> None:
    def case(random: Random, folder: Path) -> str:
        number = random.randrange(100)
        (folder / "input").write_text(str(number))
        raise BrokenLawError(f"number {number}")

    first = fuzz(target(case), 0, seed=5, cases=3, keep=tmp_path)
    again = fuzz(target(case), 0, seed=6, cases=1)
    assert again.findings[0].law == first.findings[1].law
    assert again.findings[0].command == first.findings[1].command
    folder = Path(str(first.findings[1].folder))
    assert (folder / "input").read_text() in first.findings[1].law
    assert "--target some --seed 6 --cases 1" in (folder / "finding.txt").read_text()


def test_time_is_shared_and_ends() -> None:
    def case(random: Random, folder: Path) -> str:
        return str(sum(range(10_000)))

    both = {"one": FuzzTarget(lambda: case, (), batch=2), "two": FuzzTarget(lambda: case, (), batch=2)}
    done = fuzz(both, 0.1, seed=1)
    assert done.cpu_seconds >= 0.1
    assert all(tally.cases for tally in done.targets.values())


@pytest.mark.parametrize(("seconds", "cases"), [(0.0, None), (1.0, 0), (-1.0, None)])
def test_nothing_to_do_is_refused(seconds: float, cases: int | None) -> None:
    with pytest.raises(ConfigError, match="more than 0"):
        fuzz(target(hang), seconds, seed=1, cases=cases)


# --- the command


def test_the_command_reports_seed_counts_and_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, low_model: Model
) -> None:
    def run(*more: str) -> int:
        monkeypatch.setattr(sys, "argv", ["soak", "fuzz", "--cases", "2", "--keep", str(tmp_path / "found"), *more])
        with caplog.at_level("INFO"):
            return command.main()

    report = tmp_path / "fuzz.json"
    assert run("--target", "cards", "--seed", "3", "--report", str(report)) == 0
    assert json.loads(report.read_text())["targets"]["cards"]["cases"] == 2
    assert "seed 3" in caplog.text
    monkeypatch.setattr(command, "targets", lambda model="": target(refuse(KeyError("raw"))))
    assert run("--target", "some") == 1
    assert (tmp_path / "found").is_dir()
