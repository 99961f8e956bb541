"""What a client gets: what a detector of its own would find, and nothing else, whatever it sends and others do."""

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soxr

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from support.builders import band_model_bytes, bursts, two_stage_bytes
from support.served import BOTH, LOW, PATIENCE, Client, Served, detections, int16, serving, types, until
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event
from wyoming.ping import Ping, Pong

from wakeword import Detector
from wakeword.cli.options import PointOptions
from wakeword.engine import Detector as EngineDetector
from wakeword_serve.addresses import networks_of
from wakeword_serve.connection import TimeLimits

NAMES = ("low", "high")
"""The words of the folder ``models``, by their files; the second one's phrase is "hey high"."""


def run(scenario: Callable[[Served, Client], Awaitable[Any]], models: Path, **settings: Any) -> Any:
    """Run a scenario with a server of both words and a client."""

    async def whole() -> Any:
        async with serving(*(models / f"{name}.onnx" for name in NAMES), **settings) as served:
            return await scenario(served, await served.client())

    return asyncio.run(whole())


def expected(models: Path, signal: np.ndarray, *names: str, rate: int = 16_000) -> list[tuple[str, int]]:
    """Words and milliseconds that a detector finds."""
    chosen = names or NAMES
    detector = Detector([models / f"{name}.onnx" for name in chosen], sample_rate=rate)
    phrases = {"low": "low", "hey high": "high"}
    found = [*detector.push(signal), *detector.flush()]
    return [(phrases[one.keyword], round(1_000 * one.end)) for one in found]


# --- what is found


@pytest.mark.parametrize("size", [17, 160, 509, 1_280, 20_000, 96_000])
def test_the_cut_into_chunks_does_not_matter(models: Path, size: int) -> None:
    answers = run(lambda served, client: client.speak(int16(BOTH), size=size), models)
    assert detections(answers) == expected(models, int16(BOTH))
    assert [name for name, _ in detections(answers)] == ["low", "high"]


@pytest.mark.parametrize("threads", [0, 2])
def test_it_goes_on_listening_after_a_detection_whatever_the_threads(models: Path, threads: int) -> None:
    signal = bursts(6, {1: "low", 3: "low", 5: "high"})
    answers = run(lambda served, client: client.speak(int16(signal)), models, threads=threads)
    assert [name for name, _ in detections(answers)] == ["low", "low", "high"]


@pytest.mark.parametrize("rate", [8_000, 22_050, 44_100, 48_000])
def test_any_rate_is_taken(models: Path, rate: int) -> None:
    signal = int16(soxr.resample(LOW, 16_000, rate))
    answers = run(lambda served, client: client.speak(signal, rate=rate, size=rate // 100), models)
    assert detections(answers) == expected(models, signal, rate=rate)
    assert [name for name, _ in detections(answers)] == ["low"]


@pytest.mark.parametrize("channels", [2, 3])
def test_any_number_of_channels_is_taken(models: Path, channels: int) -> None:
    signal = np.repeat(int16(LOW)[:, None], channels, axis=1)
    answers = run(lambda served, client: client.speak(signal), models)
    assert detections(answers) == expected(models, int16(LOW))


def test_samples_may_be_cut_in_two(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> list[tuple[str, int]]:
        audio = int16(LOW).tobytes()
        for at in range(0, len(audio), 333):
            await client.send(AudioChunk(16_000, 2, 1, audio[at : at + 333]).event())
        await client.describe()
        return detections(client.events)

    assert run(scenario, models) == expected(models, int16(LOW))


def test_each_word_is_found_only_where_it_was_chosen(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> dict[tuple[str, ...], list[str]]:
        found = {}
        for names in ((), ("low",), ("high",), ("high", "low")):
            await client.detect(*names)
            found[names] = [name for name, _ in detections(await client.speak(int16(BOTH)))]
        return found

    found = run(scenario, models)
    assert found == {(): ["low", "high"], ("low",): ["low"], ("high",): ["high"], ("high", "low"): ["low", "high"]}


def test_an_unknown_word_is_an_error_and_never_another_word(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> tuple[list[Event], list[Event], list[Event]]:
        await client.detect("hey high")  # a phrase, not a name
        first = await client.speak(int16(BOTH))
        await client.detect("low", "okay")
        second = await client.speak(int16(BOTH))
        await client.detect("high")
        return first, second, await client.speak(int16(BOTH))

    first, second, third = run(scenario, models)
    assert types(first) == ["error", "not-detected"]
    assert first[0].data["code"] == "unknown-wake-word"
    assert "(low, high), got 'hey high'" in first[0].data["text"]
    assert types(second)[0] == "error"
    assert detections(second) == expected(models, int16(BOTH), "low")
    assert detections(third) == expected(models, int16(BOTH), "high")


def test_timestamps_are_on_the_clock_of_the_chunks(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> list[list[tuple[str, int]]]:
        return [detections(await client.speak(int16(LOW), start=start)) for start in (0, 5_000, None)]

    plain, later, none = run(scenario, models)
    assert plain == none == expected(models, int16(LOW))
    assert later == [(name, at + 5_000) for name, at in plain]


def test_the_start_is_the_clock_of_chunks_without_timestamps(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> list[tuple[str, int]]:
        await client.send(AudioStart(16_000, 2, 1, timestamp=700).event())
        await client.chunks(int16(LOW), start=None)
        await client.describe()
        return detections(client.events)

    assert run(scenario, models) == [(name, at + 700) for name, at in expected(models, int16(LOW))]


# --- the order of events


def test_streams_of_a_connection_do_not_know_of_each_other(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> list[list[str]]:
        found = [types(await client.speak(int16(one))) for one in (LOW, LOW, bursts(2, {}), LOW)]
        # A stream that is not stopped is given up by the next start.
        await client.speak(int16(LOW[: round(16_000 * 1.2)]), stop=False)
        return [*found, types(await client.speak(int16(LOW[round(16_000 * 1.2) :])))]

    whole, again, none, last, rest = run(scenario, models)
    assert whole == again == last == ["detection"]
    assert none == ["not-detected"]
    assert rest == expected_types(models, LOW[round(16_000 * 1.2) :])


def expected_types(models: Path, signal: np.ndarray) -> list[str]:
    return ["detection"] * len(expected(models, int16(signal))) or ["not-detected"]


def test_a_word_at_the_very_end_is_found_at_the_stop(models: Path) -> None:
    signal = int16(LOW[: round(16_000 * 1.14)])
    assert not Detector(models / "low.onnx").push(signal)  # only the flush can find it
    answers = run(lambda served, client: client.speak(signal), models)
    assert detections(answers) == expected(models, signal)
    assert types(answers) == ["detection"]


def test_other_words_may_be_chosen_in_the_middle_of_a_stream(models: Path) -> None:
    signal = bursts(6, {0.5: "low", 2: "high", 3.5: "low", 5: "high"})
    half = 16_000 * 3

    async def scenario(served: Served, client: Client) -> list[tuple[str, int]]:
        await client.detect("low")
        await client.send(AudioStart(16_000, 2, 1).event())
        await client.chunks(int16(signal[:half]), start=None)
        await client.detect("high")
        await client.chunks(int16(signal[half:]), start=None)
        await client.send(AudioStop().event())
        await client.describe()
        assert "not-detected" not in types(client.events)
        return detections(client.events)

    first = expected(models, int16(signal[:half]), "low")
    second = expected(models, int16(signal[half:]), "high")
    assert run(scenario, models) == [*first, *((name, at + 3_000) for name, at in second)]


def test_choosing_the_same_words_again_loses_nothing(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> list[tuple[str, int]]:
        await client.detect("low")
        for part in np.array_split(int16(LOW), 20):
            await client.chunks(part, start=None)
            await client.detect("low")
        await client.describe()
        return detections(client.events)

    assert run(scenario, models) == expected(models, int16(LOW), "low")


# --- models that change


def follow(
    scenario: Callable[[Served, Client, Path], Awaitable[None]], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run a scenario with a server that follows a folder, but only looks there when it is told to."""
    monkeypatch.setattr("wakeword_serve.server._REFRESH_SECONDS", 1_000.0)

    async def whole() -> None:
        async with serving(folder=folder) as served:
            await scenario(served, await served.client(), folder)

    asyncio.run(whole())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the models "one" and "two", which both find the word "low"."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.onnx").write_bytes(band_model_bytes("low", 1))
    return tmp_path


def test_a_stream_in_progress_goes_over_to_a_model_that_is_replaced(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signal = int16(bursts(6, {1: "low", 4: "low", 5: "high"}))
    half = 16_000 * 3
    (before,) = Detector(folder / "one.onnx").push(signal[:half])

    async def scenario(served: Served, client: Client, folder: Path) -> None:
        await client.detect("one")
        await client.chunks(signal[:half], start=None)
        await client.describe()
        (folder / "one.onnx").write_bytes(band_model_bytes("high", -1))
        assert served.server.words.refresh(at_once=True)
        await client.chunks(signal[half:], start=None)
        await client.describe()
        (after,) = Detector(folder / "one.onnx").push(signal[half:])
        found = [("one", round(1_000 * before.end)), ("one", 3_000 + round(1_000 * after.end))]
        assert detections(client.events) == found
        assert "error" not in types(client.events)

    follow(scenario, folder, monkeypatch)


def test_a_word_that_is_removed_is_heard_no_longer_and_the_client_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(served: Served, client: Client, folder: Path) -> None:
        other, everything = await served.client(), await served.client()
        await client.detect("one")
        await other.detect("two")
        for one in (client, other, everything):
            await one.chunks(int16(LOW[:8_000]), start=None)  # before the word
            await one.describe()
        (folder / "one.onnx").unlink()
        assert served.server.words.refresh(at_once=True)
        for one in (client, other, everything):
            await one.chunks(int16(LOW), start=None)
            await one.describe()
        assert types(client.events) == ["info", "error", "info"]
        assert client.events[1].data["code"] == "unknown-wake-word"
        for one in (other, everything):
            assert types(one.events) == ["info", "detection", "info"]
            assert [name for name, _ in detections(one.events)] == ["two"]
        # It is heard again when it is there again.
        (folder / "one.onnx").write_bytes(band_model_bytes("low", 1))
        assert served.server.words.refresh(at_once=True)
        assert [name for name, _ in detections(await client.speak(int16(LOW)))] == ["one"]

    follow(scenario, folder, monkeypatch)


def test_changes_of_the_folder_end_no_connection(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(served: Served, client: Client, folder: Path) -> None:
        for number in range(15):
            (folder / f"new{number}.onnx").write_bytes(band_model_bytes("low", 1))
            assert served.server.words.refresh(at_once=True)
            await client.chunks(int16(LOW[:160]), start=None)
            assert len(await client.describe()) == number + 3
        assert "error" not in types(client.events)

    follow(scenario, folder, monkeypatch)


def test_a_model_that_is_copied_there_again_disturbs_no_stream(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(served: Served, client: Client, folder: Path) -> None:
        for part in np.array_split(int16(LOW), 10):
            await client.chunks(part, start=None)
            await client.describe()
            (folder / "one.onnx").write_bytes(band_model_bytes("low", 1))
            assert served.server.words.refresh(at_once=True)
        assert [name for name, _ in detections(client.events)] == ["one", "two"]
        assert served.count("wakeword_streams_begun_total") == 1

    follow(scenario, folder, monkeypatch)


# --- what is said besides


def test_the_context_comes_back(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> list[Event]:
        await client.detect("low", context={"room": "kitchen"})
        return [*await client.speak(int16(LOW)), *await client.speak(int16(bursts(2, {})))]

    answers = run(scenario, models)
    assert types(answers) == ["detection", "not-detected"]
    assert all(event.data["context"] == {"room": "kitchen"} for event in answers)


def test_text_that_is_no_unicode_comes_back(models: Path) -> None:
    context = {"text": "\ud800"}

    async def scenario(served: Served, client: Client) -> list[Event]:
        await client.send(Ping("\udfff").event(), Event("detect", {"context": context}), AudioStop().event())
        await client.describe()
        return client.events

    pong, not_detected, _ = run(scenario, models)
    assert pong == Pong("\udfff").event()
    assert not_detected.data["context"] == context


def test_pings_are_answered_and_unknown_events_ignored(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> list[Event]:
        await client.send(Event("transcribe", {"language": "en"}), Ping("here").event(), Event("x", {}, b"abc"))
        await client.describe()
        return client.events

    pong, info = run(scenario, models)
    assert (pong.type, pong.data) == ("pong", {"text": "here"})
    assert info.type == "info"


def test_the_info_has_what_home_assistant_reads(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> dict[str, Any]:
        await client.describe()
        return client.events[0].data

    (program,) = run(scenario, models)["wake"]
    assert program["installed"]
    assert program["attribution"].keys() == {"name", "url"}
    for model, phrase in zip(program["models"], ("low", "hey high"), strict=True):
        assert model["installed"]
        assert (model["phrase"], model["description"]) == (phrase, phrase)
        assert model["languages"] == []
        assert model["attribution"].keys() == {"name", "url"}


def test_what_is_found_is_saved_and_counted(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> None:
        await client.speak(int16(BOTH))
        assert [(found.word.name, found.word.phrase) for found in served.saved] == [
            ("low", "low"),
            ("high", "hey high"),
        ]
        assert served.count("wakeword_detections_total", word="low") == 1
        assert served.count("wakeword_audio_seconds_total") == pytest.approx(3.5)
        assert served.count("wakeword_streams_begun_total") == 1
        assert served.count("wakeword_streams") == 0
        assert served.count("wakeword_processing_seconds_count") >= 10
        await client.detect("okay")
        await client.speak(int16(LOW))
        assert served.count("wakeword_audio_dropped_seconds_total", reason="no-word") == pytest.approx(2)

    run(scenario, models)


def test_candidates_of_a_second_stage_are_counted(models: Path, tmp_path: Path) -> None:
    path = tmp_path / "two.onnx"
    path.write_bytes(two_stage_bytes((models / "low.onnx").read_bytes()))
    detector = EngineDetector(path)
    detector.push(int16(LOW))
    (looked,) = detector.candidates.values()

    async def scenario() -> float:
        async with serving(path) as served:
            client = await served.client()
            await client.chunks(int16(LOW))
            await client.describe()
            return served.count("wakeword_candidates_total", word="two")

    assert asyncio.run(scenario()) == looked > 0


# --- clients that do harm


BROKEN = (
    b"hello\n",
    b'{"type": "audio-chunk", "payload_length": 2}\n\0\0',
    b'{"type": "audio-chunk", "data": {"rate": 16000, "width": 7, "channels": 1}}\n',
    b'{"type": "audio-start", "data": {"rate": 16000, "width": 2, "channels": 1, "timestamp": "x"}}\n',
    b'{"type": "detect", "data": {"names": "low"}}\n',
    b'{"type": "detect", "data": {"names": [1]}}\n',
    b'{"type": "detect", "data": {"context": 1}}\n',
    b'{"type": "detect", "data": {"context": {"a": [' + b"[]," * 1_500 + b"[]]}}}\n",
    b'{"type": "ping", "data": {"text": 1}}\n',
)


@pytest.mark.parametrize("data", BROKEN)
def test_a_malformed_event_gets_an_error_and_the_end(models: Path, data: bytes) -> None:
    async def scenario(served: Served, client: Client) -> None:
        other = await served.client()
        await other.chunks(int16(LOW[:20_000]))
        await client.send_raw(data)
        (error,) = await client.rest()
        assert error.type == "error"
        assert error.data["code"] == "malformed-event"
        assert error.data["text"].startswith("expected ")
        # The others notice nothing.
        await other.chunks(int16(LOW[20_000:]), start=1_250)
        await other.describe()
        assert detections(other.events) == expected(models, int16(LOW))

    run(scenario, models)


def test_a_client_may_leave_at_any_moment(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> None:
        for leave in (Client.reset, lambda client: client.writer.close()):
            for sent in (1, 16_000, 20_000, len(LOW)):
                one = await served.client()
                await one.chunks(int16(LOW[:sent]), size=8_000)
                leave(one)
        await until(lambda: served.count("wakeword_connections") == 1)
        assert await client.describe() == list(NAMES)
        assert served.count("wakeword_streams") == 0

    run(scenario, models)


@pytest.mark.parametrize("spaces", [1, 10_000])
def test_one_that_is_slow_within_an_event_or_trickles_it_is_told_and_left(models: Path, spaces: int) -> None:
    async def scenario(served: Served, client: Client) -> list[Event]:
        async def trickle() -> None:
            for _ in range(spaces):
                await client.send_raw(b" ")
                await asyncio.sleep(0.05)

        task = asyncio.create_task(trickle())
        try:
            return await client.rest()
        finally:
            task.cancel()

    assert [event.data["code"] for event in run(scenario, models, times=TimeLimits(event=0.3))] == ["timeout"]


@pytest.mark.parametrize("times", [TimeLimits(first=0.2), TimeLimits(idle=0.2)])
def test_one_that_says_nothing_is_told_and_left(models: Path, times: TimeLimits) -> None:
    async def scenario(served: Served, client: Client) -> list[str]:
        if times.idle < 1:
            await client.describe()
        return [event.data["code"] for event in await client.rest()]

    assert run(scenario, models, times=times) == ["timeout"]


def test_one_that_does_not_read_its_answers_is_left(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> None:
        async def flood() -> None:
            while True:
                await client.send(*[Ping("x" * 50_000).event()] * 20)
                if client.writer.is_closing():
                    return

        task = asyncio.create_task(flood())
        await until(lambda: served.count("wakeword_connections") == 0)
        task.cancel()
        assert await (await served.client()).describe() == list(NAMES)

    run(scenario, models, times=TimeLimits(event=0.3))


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of this machine")
def test_one_address_leaves_room_for_others(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> None:
        second = await served.client()
        assert await client.describe() == await second.describe() == list(NAMES)
        (refused,) = await (await served.client()).rest()
        assert refused.data["code"] == "too-many-connections-of-address"
        for _ in range(2):
            assert await (await served.client("127.0.0.2")).describe() == list(NAMES)
        (refused,) = await (await served.client("127.0.0.3")).rest()
        assert refused.data["code"] == "too-many-connections"
        # What was left is free for the same address again.
        await second.close()
        await until(lambda: served.count("wakeword_connections") == 3)
        assert await (await served.client()).describe() == list(NAMES)

    run(scenario, models, most=4, host="0.0.0.0")


def test_where_nobody_else_can_connect_one_address_may_take_all(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> None:
        for one in (client, *[await served.client() for _ in range(3)]):
            assert await one.describe() == list(NAMES)
        (refused,) = await (await served.client()).rest()
        assert refused.data["code"] == "too-many-connections"

    run(scenario, models, most=4)


@pytest.mark.parametrize("code", ["not-allowed", "unknown-wake-word"])
def test_what_clients_are_told_does_not_fill_the_log(models: Path, caplog: pytest.LogCaptureFixture, code: str) -> None:
    async def scenario(served: Served, client: Client) -> None:
        for _ in range(20):
            other = await served.client()
            await other.detect("okay")
            event = await other.receive()
            assert event is not None
            assert event.data["code"] == code
            assert code != "not-allowed" or await other.receive() is None  # the end of the connection
        assert served.count("wakeword_errors_total", code=code) >= 20

    run(scenario, models, networks=networks_of(["192.0.2.0/24"]) if code == "not-allowed" else [])
    said = {"not-allowed": "that --allow names", "unknown-wake-word": "got 'okay'"}[code]
    assert 1 <= len([line for line in caplog.messages if said in line]) <= 5


def test_a_stream_that_takes_long_delays_no_other(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release, entered = threading.Event(), threading.Event()
    push = EngineDetector.push

    def slow(self: EngineDetector, block: np.ndarray) -> Any:
        if threading.current_thread() is not threading.main_thread():
            entered.set()
            assert release.wait(PATIENCE)
        return push(self, block)

    monkeypatch.setattr(EngineDetector, "push", slow)

    async def scenario(served: Served, client: Client) -> None:
        try:
            await client.chunks(int16(LOW), size=16_000)
            await until(entered.is_set)
            other = await served.client()
            assert await other.describe() == list(NAMES)
        finally:
            release.set()
        await client.describe()
        assert detections(client.events) == expected_before(models)

    def expected_before(models: Path) -> list[tuple[str, int]]:
        monkeypatch.setattr(EngineDetector, "push", push)
        return expected(models, int16(LOW))

    run(scenario, models)


def test_a_fault_of_ours_ends_one_connection_with_an_error(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("wakeword_serve.connection.ListeningStream", fail)

    async def scenario(served: Served, client: Client) -> None:
        await client.chunks(int16(LOW[:160]))
        (error,) = await client.rest()
        assert error.data["code"] == "internal"
        assert "a bug" not in error.data["text"]
        assert await (await served.client()).describe() == list(NAMES)

    run(scenario, models)


def test_a_threshold_for_all_is_in_force(models: Path) -> None:
    async def scenario(served: Served, client: Client) -> list[Event]:
        return await client.speak(int16(BOTH))

    assert types(run(scenario, models, points=PointOptions(threshold=1.0))) == ["not-detected"]
