"""The soaks of the server: a short one passes, and they find a server that is late, wrong or broken."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from random import Random

from fuzz.run_push import demo, listening_cycle
from fuzz.run_serve import Crowd, ServeSoak, audio_of, expected, parts, serve
from fuzz.run_serve_fuzz import AT_ONCE, fuzz
from fuzz.serve_mutations import session
from wakeword import ConfigError
from wakeword_serve.client_stream import ListeningStream

LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux")


@LINUX
def test_streams_beside_clients_that_do_harm() -> None:
    cycle, _ = listening_cycle(None, speech_seconds=60)
    crowd = Crowd(streams=2, slow=1, broken=2, reconnecting=1)
    done = serve("marvin", crowd, 10, cycle, pace=0, passes=2, chunk_ms=20)
    assert done.faults == []
    assert done.detections == 2 * 2 * len(expected("marvin", audio_of(0, 10, cycle))) > 0
    assert done.cpu_ms_per_second > 0
    assert done.audio_hours == pytest.approx(2 * 2 * 10 / 3_600, abs=0.001)
    hours = [at for at, _ in done.memory_mb]
    assert hours == sorted(hours)
    assert (hours[0], hours[-1]) == (0, done.audio_hours)
    assert all(megabytes > 10 for _, megabytes in done.memory_mb)


@pytest.mark.parametrize(("hours", "streams"), [(24, 5), (24, 100), (24, 7), (1 / 6, 5), (0.001, 1)])
def test_hours_are_those_of_all_streams_together(hours: float, streams: int) -> None:
    seconds, passes = parts(hours, streams, 1_440)
    assert seconds * passes * streams == pytest.approx(3_600 * hours)
    assert passes == 1 or 960 <= seconds <= 2_160


def soaked(**changes: object) -> ServeSoak:
    """The results of a run without faults, but for some changes."""
    good = ServeSoak(
        model="marvin",
        crowd=Crowd(2),
        options=[],
        audio_seconds=10,
        chunk_ms=10,
        pace=1,
        seconds=10,
        cpu_ms_per_second=10,
        cores=0.1,
        audio_hours=0.006,
        memory_mb=[(0, 100), (0.006, 101)],
        growth_mb=0,
        delay_ms={"most": 3},
        late=0,
        client_behind_ms=0,
        detections=2,
        different=0,
        closed=0,
        server_faults=[],
    )
    assert good.faults == []
    return dataclasses.replace(good, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"late": 1}, "1 streams were late"),
        ({"different": 2}, "other detections"),
        ({"closed": 1}, "closed by the server"),
        ({"growth_mb": 9.0}, "memory grew by 9.0 MB"),
        ({"server_faults": ["Traceback"]}, "Traceback"),
    ],
)
def test_what_a_server_must_not_do_is_a_fault(changes: dict[str, object], fault: str) -> None:
    (found,) = soaked(**changes).faults
    assert fault in found


def test_a_run_needs_streams_and_audio() -> None:
    for streams, seconds in ((0, 10), (1, 0)):
        with pytest.raises(ConfigError, match="at least 1 stream"):
            serve("marvin", Crowd(streams), seconds, demo())


def test_streams_have_audio_of_their_own_with_the_word() -> None:
    cycle, _ = listening_cycle(None, speech_seconds=60)
    one, other = (audio_of(number, 12, cycle) for number in (0, 1))
    assert len(one) == len(other) == 12 * 16_000
    assert not np.array_equal(one, other)
    np.testing.assert_array_equal(one[5 * 16_000 : 8 * 16_000], demo()[: 3 * 16_000])


# --- random use


def test_sessions_are_repeatable_and_mostly_wrong() -> None:
    audio = demo().tobytes()
    sessions = [session(Random(seed), audio, "marvin") for seed in range(40)]
    assert sessions == [session(Random(seed), audio, "marvin") for seed in range(40)]
    assert len(set(sessions)) == 40


def test_random_use_finds_nothing_in_the_server() -> None:
    done = fuzz("marvin", 4)
    assert done.faults == []
    assert done.connections >= AT_ONCE
    assert 0 < done.refused < done.connections


def test_random_use_finds_a_server_that_forgets_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise KeyError("rate")

    monkeypatch.setattr("wakeword_serve.connection.timestamp_of", fails)
    assert "KeyError" in fuzz("marvin", 0.5).faults[0]


def test_random_use_finds_a_server_that_misses_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ListeningStream, "_found", lambda stream, detections: [])
    assert "expected the detections [('marvin'" in fuzz("marvin", 0.5).faults[0]
