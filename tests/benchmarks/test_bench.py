"""The benchmark measures every contender on the same audio, needs no peer, and survives a peer that fails."""

import importlib.util
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from support.builders import random_model_bytes
from support.two_engines import report

from benchmarks import benchmark as bench
from benchmarks import stopwatch as bench_measures
from benchmarks import streams as bench_streams
from benchmarks.benchmark import benchmark
from benchmarks.contenders import MAX_KEYWORDS, PEERS, Listener, present, why
from benchmarks.own_engine import OURS
from benchmarks.performance_page import endurance, write_page
from benchmarks.performance_report import BLOCKS, PerformanceReport
from benchmarks.performance_tables import cost_table, keyword_table, share, speech_table, stream_table, tables
from benchmarks.speech_cost import MIN_SECONDS, TYPED_COUNTS, TYPED_WORDS, WORD_COUNTS, speech_costs, typed_models
from benchmarks.stopwatch import at_a_microphones_pace, cpu_ms_per_second, one_core, signals, start_up
from benchmarks.streams import detectors_round, pool_round, stream_costs
from wakeword import Detection, Detector, load_model
from wakeword.audio.audio_file import read_audio
from wakeword.model.installed import assets_folder
from wakeword.stream.pool.pool import DetectorPool
from wakeword_tools.contenders.seam import Contender, RunningEngine


def fail(files: object) -> RunningEngine:
    """In place of opening an engine."""
    raise RuntimeError("no\nmodel")


def contender(name: str, listener: Listener) -> Contender:
    """An engine that is always present; all its streams go to one listener."""
    running = cast(RunningEngine, SimpleNamespace(push=listener))
    return Contender(name, name, name, "json", lambda files: running)


def busy(milliseconds: float) -> Callable[[object], None]:
    """A listener that computes for this time on each block."""

    def push(block: object) -> None:
        until = time.process_time() + milliseconds / 1_000
        while time.process_time() < until:
            pass

    return push


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "marvin.onnx"
    path.write_bytes(random_model_bytes())
    return str(path)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hardly any warm-up, and each process is started once."""
    monkeypatch.setattr(bench_measures, "_WARM_UP_SECONDS", 0.1)
    monkeypatch.setattr(bench, "_STARTS", 1)
    monkeypatch.setattr(bench, "TYPED_WORDS", ())


# --- measuring


def test_every_contender_gets_all_the_audio_in_every_block_size() -> None:
    audio = signals(0.5)["speech-like"]
    for block in BLOCKS:
        arrays: list[np.ndarray] = []
        cpu_ms_per_second(arrays.append, audio, block)
        np.testing.assert_array_equal(np.concatenate(arrays), audio)
        assert {len(one) for one in arrays[:-1]} == {block}


def test_the_cost_is_the_computing_time() -> None:
    audio = signals(0.5)["silence"]
    # 50 blocks of 10 ms, 1 ms each: 50 ms in half a second of audio.
    cost = cpu_ms_per_second(busy(1.0), audio, 160)
    assert 100 <= cost < 150


def test_signals_are_what_their_names_say() -> None:
    made = signals(2.0)
    assert all(audio.shape == (32_000,) and audio.dtype == np.int16 for audio in made.values())
    assert not made["silence"].any()
    assert 20 * np.log10(np.std(made["quiet room"] / 2**15)) == pytest.approx(-66, abs=0.5)
    pieces = made["speech-like"].reshape(-1, 80).astype(float)
    assert 20 * np.log10(np.sqrt((pieces**2).mean(axis=1)).min() / 2**15) > -52


def test_blocks_come_at_the_pace_of_a_microphone() -> None:
    taken: list[np.ndarray] = []
    slow = contender("slow", busy(2.0))
    began = time.perf_counter()
    paced = at_a_microphones_pace([contender("one", taken.append), slow], "", signals(0.4)["silence"], [160, 1_280])
    assert time.perf_counter() - began >= 0.4
    assert [(one.contender, one.block, len(one.push_ms)) for one in paced] == [
        *(("one", 160, 40), ("slow", 160, 40), ("one", 1_280, 5), ("slow", 1_280, 5))
    ]
    assert min(paced[1].push_ms) >= 2.0
    assert 200 <= paced[1].cpu_ms_per_second < 400


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no affinity of processes")
def test_the_process_is_kept_on_one_core_and_released_afterwards() -> None:
    before = os.sched_getaffinity(0)
    with one_core() as core:
        assert os.sched_getaffinity(0) == {core}
    assert os.sched_getaffinity(0) == before


def test_a_start_is_measured_in_a_separate_process(model: str) -> None:
    figures = start_up(OURS, model)
    assert figures["import_ms"] >= figures["import_cpu_ms"] / 2 > 10
    assert figures["load_ms"] > 0
    assert figures["peak_mb"] is None or 20 < figures["peak_mb"] < 500


def test_streams_are_measured_in_a_pool_and_in_separate_detectors(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_streams, "_MAX_DETECTORS", 2)
    monkeypatch.setattr(bench_streams, "_STREAM_SECONDS", 1.0)
    costs = stream_costs(model, (1, 2, 3), 2)
    assert [(one.streams, len(one.pool), len(one.detectors)) for one in costs] == [(1, 2, 2), (2, 2, 2), (3, 2, 0)]
    assert all(cost > 0 for one in costs for cost in [*one.pool, *one.detectors])


def test_words_are_measured_on_speech_shipped_ones_with_and_without_their_second_stage(tmp_path: Path) -> None:
    taken: list[np.ndarray] = []
    recording = assets_folder() / "audio" / "marvin-david.flac"
    typed = typed_models(tmp_path, TYPED_WORDS[:2])
    costs = speech_costs(recording, 0.5, 2, [contender("peer", taken.append)], typed=typed)
    loads = [("wakeword", words, verified, False) for words in WORD_COUNTS for verified in (False, True)]
    loads += [("wakeword", words, True, True) for words in (1, 2)]
    found = [(one.contender, one.words, one.verified, one.typed) for one in costs]
    assert found == [*loads, ("peer", 1, False, False)]
    assert all(len(one.ms_per_second) == 2 for one in costs)
    assert min(min(one.ms_per_second) for one in costs[:-1]) > 0
    assert max(TYPED_COUNTS) == len(set(TYPED_WORDS))
    # Two turns of half a second each, the second after the first, are the last that a listener takes.
    audio = np.concatenate(taken)[-16_000:]
    assert np.array_equal(audio, (read_audio(recording)[:16_000] * 32_767).round())


@pytest.mark.parametrize("make_round", [pool_round, detectors_round])
def test_every_stream_is_scored(
    model: str, monkeypatch: pytest.MonkeyPatch, make_round: Callable[..., Callable[[np.ndarray], object]]
) -> None:
    """With a model that fires on everything, there is a detection in each of three streams."""
    found: list[object] = []

    class Pool(DetectorPool):
        def process(self) -> list:
            found.extend(super().process())
            return []

    class Single(Detector):
        def push(self, block: np.ndarray) -> list[Detection]:
            found.extend(super().push(block))
            return []

    monkeypatch.setattr(bench_streams, "DetectorPool", lambda model, threshold: Pool(model, threshold=1e-9))
    monkeypatch.setattr(bench_streams, "Detector", lambda model, threshold: Single(model, threshold=1e-9))
    make_round(load_model(model), 3)(signals(1.5)["speech-like"])
    assert len(found) == 3


# --- peers


def test_peers_that_are_missing_or_fail_are_reported_and_left_out() -> None:
    missing = Contender("missing", "missing", "missing", "no_such_package", fail)
    broken = Contender("broken", "broken", "broken", "json", fail)
    working_peer = contender("working_peer", lambda block: None)
    assert present((missing, broken, working_peer)) == (
        [working_peer],
        {"missing": "not installed", "broken": "installed, but did not run: RuntimeError: no model"},
    )


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            RuntimeError(
                "[ONNXRuntimeError] : 3 : NO_SUCHFILE : Load model from /home/a b/lib/python3.11/word_v0.1.onnx failed:"
                "Load model /home/a b/lib/python3.11/word_v0.1.onnx failed. File doesn't exist"
            ),
            "RuntimeError: word_v0.1.onnx",
        ),
        (FileNotFoundError(2, "No such file or directory", "/srv/own/model.tflite"), "FileNotFoundError: model.tflite"),
        (OSError("C:\\Users\\own\\peer.dll: not found"), "OSError: peer.dll"),
        (OSError("/srv/own is no folder"), "OSError"),
        (OSError("/home/a.b c/peer.so: not found"), "OSError: peer.so"),
        (RuntimeError("x" * 500), f"RuntimeError: {'x' * 63}..."),
        (KeyError(), "KeyError"),
    ],
)
def test_why_a_peer_failed_is_short_and_names_no_folder(error: Exception, expected: str) -> None:
    assert why(error) == expected


@pytest.mark.skipif(importlib.util.find_spec("pymicro_wakeword") is None, reason="pymicro-wakeword is not installed")
def test_a_real_peer_runs() -> None:
    working, absent = present(PEERS[:1])
    assert ([one.distribution for one in working], absent) == (["pymicro-wakeword"], {})


@pytest.mark.usefixtures("quick")
def test_without_a_peer_everything_is_measured(model: str) -> None:
    done: list[float] = []
    made = benchmark(
        model, seconds=0.5, repeats=2, paced_seconds=0.2, stream_counts=(1, 2), peers=(), advance=done.append
    )
    assert list(made.versions) == ["wakeword"]
    assert made.speech_seconds == MIN_SECONDS > made.seconds
    assert done == sorted(done)
    assert done[-1] == 1.0
    for signal in ("speech-like", "quiet room", "silence"):
        for block, keywords in [(160, 1), (320, 1), (1_280, 1), (1_280, MAX_KEYWORDS)]:
            costs = made.cost("wakeword", signal, block, keywords)
            assert len(costs) == 2
            assert min(costs) > 0
    json.dumps(made.to_json(), allow_nan=False)


# --- reporting


def test_ratios_are_taken_within_a_turn() -> None:
    assert share([1, 1], [100, 300]) == "0.0067 (0.0050 to 0.0083)"
    # The second turn ran on a machine ten times as slow: the medians' ratio would be 0.4, each turn's is 0.5.
    assert share([1, 10, 2], [2, 20, 4]) == "0.50 (0.50 to 0.50)"


def test_tables_show_the_figures() -> None:
    made = report()
    table = cost_table(made)
    assert table.columns == ["audio, block", "wakeword", "peer", "wakeword / peer"]
    assert table.rows[0] == ["speech-like, 20 ms", "1.00", "2.00", "0.50 (0.50 to 0.50)"]
    assert len(table.rows) == 6
    # 1 ms for the first and 0.5 for each further keyword: 1,999 of them fill a second.
    half = "0.50 (0.50 to 0.50)"
    assert keyword_table(made).rows[0] == ["wakeword", half, half, half, "0.00100", "1,999"]
    for cost in made.costs:
        if (cost.contender, cost.keywords) == ("peer", MAX_KEYWORDS):
            cost.ms_per_second[:] = [1.0, 2.0, 3.0]
    assert keyword_table(made).rows[1][-1] == "-"
    assert stream_table(made).rows == [
        ["1", "1.00", "1,000", "2.00", "0.50 (0.50 to 0.50)"],
        ["500", "0.50", "2,000", "-", "-"],
    ]
    assert speech_table(made).rows[2:] == [
        ["6 words, first stage", "6.00", "1.50 (1.50 to 1.50)", "0.25 (0.25 to 0.25)"],
        ["6 words, both stages", "12.00", "3.00 (3.00 to 3.00)", "0.50 (0.50 to 0.50)"],
        ["1 word, from the text", "2.00", "0.50 (0.50 to 0.50)", "-"],
        ["10 words, from the text", "11.00", "2.75 (2.75 to 2.75)", "0.25 (0.25 to 0.25)"],
    ]
    for one in tables(made):
        assert {len(row) for row in one.rows} == {len(one.columns)}


def test_the_page_shows_figures_and_soaks(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    write_page(page, report())
    assert PerformanceReport.from_json(json.loads((tmp_path / "results" / "performance.json").read_text())) == report()
    text = page.read_text()
    assert "peer takes 2.0 times as much CPU time" in text
    assert "Not measured: other (not installed)." in text
    assert "Endurance" not in text
    fuzzed = {"cpu_seconds": 3_600, "calls": 1_000, "detectors": 10, "faults": []}
    (tmp_path / "results" / "fuzz.json").write_text(json.dumps(fuzzed))
    assert "60 minutes of CPU time" in endurance(tmp_path / "results")
    assert "Broken laws: none" in endurance(tmp_path / "results")
