"""``wakeword bench``: a short report for people, the same figures for programs."""

import json


def test_bench_prints_what_listening_costs(cli, models) -> None:
    done = cli("bench", "--model", models / "low.onnx", "--turns", "1")
    assert done.status == 0, done.err
    assert "ms of CPU per second of audio" in done.out
    assert "ready after" in done.out


def test_bench_prints_one_json_object(cli, models) -> None:
    done = cli("bench", "--model", models / "low.onnx", "--turns", "1", "--json")
    assert done.status == 0, done.err
    figures = json.loads(done.out)
    assert figures["cpu_ms_per_second"] > 0
    assert figures["candidates"] == 0  # a model of one stage
    assert figures["seconds"] > 40


def test_unusable_input_is_reported_in_one_line(cli, models, tmp_path) -> None:
    for arguments in (("--model", tmp_path / "none.onnx"), ("--model", models / "low.onnx", "--recording", tmp_path)):
        done = cli("bench", *arguments)
        assert done.status == 1
        assert len(done.err.splitlines()) == 1
