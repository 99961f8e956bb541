"""Of the satellites of a group one answers to a word: the first to hear it. All others notice nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.builders import bursts
from support.served import LOW, Client, Served, detections, int16, serving, types, until
from wyoming.audio import AudioStop

from wakeword.audio.detection import Detection
from wakeword.base.errors import ConfigError
from wakeword.cli.options import PointOptions
from wakeword_serve import groups as groups_module
from wakeword_serve.client_stream import Found, ListeningStream, StreamEvents
from wakeword_serve.fair_share import ClientBudget, ScoringThreads
from wakeword_serve.groups import Groups, groups_of
from wakeword_serve.words import OfferedWord, OfferedWords

HOME = "home=127.0.0.0/24"
SECONDS = 2.5
_CHUNK = 480


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take longer to compare two recordings."""
    monkeypatch.setattr(groups_module, "_COMPARING", 5.0)


def run(scenario: Callable[[Served], Awaitable[Any]], models: Path, *groups: str, **settings: Any) -> Any:
    async def whole() -> Any:
        async with serving(models / "low.onnx", models / "high.onnx", groups=groups, **settings) as served:
            return await scenario(served)

    return asyncio.run(whole())


def room(milliseconds: float, *, seed: int, at: float = 1.0, gain: float = 1.0) -> np.ndarray:
    """The word as a microphone so far away has it, with noise of its own."""
    sound = np.roll(bursts(SECONDS, {at: "low"}), round(16 * milliseconds))
    return int16(gain * (sound + 1e-3 * np.random.default_rng(seed).standard_normal(len(sound))))


async def in_real_time(
    client: Client, signal: np.ndarray, *, late: Callable[[int], float] = lambda number: 0.0
) -> None:
    """Stream as a microphone does; ``late``: seconds that a chunk takes, by its number, and with it all that follow."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    for number, at in enumerate(range(0, len(signal), _CHUNK)):
        await asyncio.sleep(began + (at + _CHUNK) / 16_000 + late(number) - loop.time())
        await client.chunks(signal[at : at + _CHUNK], size=_CHUNK, start=None)


async def all_at_once(clients: list[Client], signals: list[np.ndarray], **how: Any) -> list[list[str]]:
    await asyncio.gather(*(in_real_time(one, signal, **how) for one, signal in zip(clients, signals, strict=True)))
    for one in clients:
        await one.send(AudioStop().event())
        await one.describe()
    return [types(one.events)[:-1] for one in clients]


FAR = [20.0, 0.0, 9.0, 30.0]
ANSWERED, NOTHING = ["detection"], ["not-detected"]


@pytest.mark.parametrize("nearest", range(4))
def test_of_four_satellites_the_nearest_answers(models: Path, nearest: int) -> None:
    async def scenario(served: Served) -> None:
        clients = [await served.client() for _ in FAR]
        far = np.roll(FAR, nearest - 1)
        heard = await all_at_once(clients, [room(one, seed=number) for number, one in enumerate(far)])
        assert heard == [ANSWERED if number == nearest else NOTHING for number in range(4)]
        assert len(served.saved) == 1
        assert served.count("wakeword_detections_total", word="low") == 1

    run(scenario, models, HOME)


def test_without_a_group_all_answer(models: Path) -> None:
    async def scenario(served: Served) -> None:
        clients = [await served.client() for _ in FAR]
        assert await all_at_once(clients, [room(one, seed=3) for one in FAR]) == [ANSWERED] * 4
        assert "answered_by" not in str(served.server.telemetry.snapshot({}))

    run(scenario, models)


def test_homes_do_not_silence_each_other(models: Path) -> None:
    async def scenario(served: Served) -> None:
        clients = [await served.client(address) for address in ("127.0.0.2", "127.0.0.2", "127.0.0.3", "127.0.0.4")]
        heard = await all_at_once(clients, [room(one, seed=1) for one in (0, 10, 20, 30)])
        assert heard == [ANSWERED, NOTHING, ANSWERED, ANSWERED]

    run(scenario, models, "ours=127.0.0.2", "theirs=127.0.0.3")


def test_each_word_has_an_answer_of_its_own(models: Path) -> None:
    async def scenario(served: Served) -> None:
        clients = [await served.client() for _ in range(2)]
        signals = [room(0, seed=1), int16(bursts(SECONDS, {1.25: "high"}))]
        assert await all_at_once(clients, signals) == [ANSWERED, ANSWERED]

    run(scenario, models, HOME)


def test_one_that_does_not_listen_for_the_word_does_not_answer(models: Path) -> None:
    async def scenario(served: Served) -> None:
        near, far = await served.client(), await served.client()
        await near.detect("high")
        assert await all_at_once([near, far], [room(0, seed=1), room(9, seed=2)]) == [NOTHING, ANSWERED]

    run(scenario, models, HOME)


def test_a_word_that_is_said_again_is_answered_again(models: Path) -> None:
    async def scenario(served: Served) -> None:
        clients = [await served.client() for _ in range(2)]
        signals = [np.concatenate((room(one, seed=1), room(9 - one, seed=2))) for one in (0, 9)]
        await asyncio.gather(*(in_real_time(one, signal) for one, signal in zip(clients, signals, strict=True)))
        for one in clients:
            await one.describe()
        assert [types(one.events) for one in clients] == [["detection", "info"]] * 2

    run(scenario, models, HOME)


def test_who_is_held_back_is_on_the_page_and_in_the_log(models: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "wakeword.serve")

    async def scenario(served: Served) -> None:
        clients = [await served.client() for _ in range(2)]
        # So far apart in time that both fire, and far within the 0.7 s.
        await all_at_once(clients, [room(0, seed=1), room(300, seed=2)])
        (held,) = [one for one in served.server.telemetry.snapshot({})["detections"] if "answered_by" in one]
        peers = ["{}:{}".format(*one.writer.get_extra_info("sockname")) for one in clients]
        assert (held["peer"], held["answered_by"], held["word"]) == (peers[1], peers[0], "low")
        assert served.count("wakeword_held_back_total", word="low") == 1
        assert any("held back 'low'" in line and f"{peers[0]} answers" in line for line in caplog.messages)

    run(scenario, models, HOME)


def test_one_that_streams_alone_does_not_wait(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*arguments: Any) -> str:
        raise AssertionError("it waited")

    monkeypatch.setattr(groups_module.Group, "_decide", never)

    async def scenario(served: Served) -> None:
        client, quiet = await served.client(), await served.client()
        await quiet.detect("low")
        assert detections(await client.speak(int16(LOW)))

    run(scenario, models, HOME)


def test_a_word_waits_120_ms_at_most_for_one_that_hangs(models: Path) -> None:
    async def scenario(served: Served) -> None:
        client, hanging = await served.client(), await served.client()
        loop = asyncio.get_running_loop()
        signal = room(0, seed=1)
        late = asyncio.create_task(in_real_time(hanging, room(-9, seed=2), late=lambda number: 0.45 * (number > 25)))
        await in_real_time(client, signal[: round(16_000 * 1.3)])
        began = loop.time()
        await client.describe()
        assert types(client.events)[-2:] == ["detection", "info"]
        assert loop.time() - began < 0.12 + 0.3  # a busy machine takes some of it
        await late
        await hanging.describe()
        assert "detection" not in types(hanging.events)

    run(scenario, models, HOME)


@pytest.mark.parametrize("stalls", [[1.5, 0.0], [0.0, 1.5], [1.5, 0.8], [1.2, 1.2], [0.45, 1.4]])
def test_a_server_that_reads_audio_late_gives_one_answer(
    models: Path, monkeypatch: pytest.MonkeyPatch, stalls: list[float]
) -> None:
    """The audio came in time; the server was too busy to look at it."""
    left = {f"127.0.0.{number}": stall for number, stall in enumerate(stalls, 2)}
    work_through = ListeningStream._work_through

    async def late(stream: ListeningStream, *, ended: bool) -> StreamEvents:
        await asyncio.sleep(left.pop(stream._share.address, 0.0))
        return await work_through(stream, ended=ended)

    async def scenario(served: Served) -> None:
        clients = [await served.client(address) for address in list(left)]
        monkeypatch.setattr(ListeningStream, "_work_through", late)
        heard = await all_at_once(clients, [room(9 * number, seed=number, at=1.3) for number in range(2)])
        assert sorted(heard) == [ANSWERED, NOTHING]

    run(scenario, models, HOME)


def test_one_that_leaves_while_its_word_waits_takes_no_answer_with_it(models: Path) -> None:
    async def scenario(served: Served) -> None:
        clients = [await served.client() for _ in range(3)]

        async def leave() -> None:
            (group,) = [group for _, group in served.server._shared.groups._groups]
            await until(lambda: any(group._rounds.values()))
            for claim in next(iter(group._rounds["low"])).claims:
                leaving = claim.member.peer
                for one in clients:
                    if "{}:{}".format(*one.writer.get_extra_info("sockname")) == leaving:
                        one.reset()

        leaving = asyncio.create_task(leave())
        # The last one is late by the network, so that the word waits for it.
        late = in_real_time(clients[2], room(5, seed=3), late=lambda number: 0.2 * (number > 35))
        await asyncio.gather(*(in_real_time(one, room(0, seed=1)) for one in clients[:2]), late, leaving)
        for one in clients:
            if not one.writer.is_closing():
                await one.describe()
        assert sum("detection" in types(one.events) for one in clients) == 1

    run(scenario, models, HOME)


@pytest.mark.parametrize("pace", ["faster than real time", "in bursts", "lies"])
def test_clocks_that_jump_silence_no_one(models: Path, pace: str) -> None:
    async def scenario(served: Served) -> None:
        honest, other = await served.client(), await served.client()
        task = asyncio.create_task(in_real_time(honest, room(0, seed=1)))
        if pace == "faster than real time":  # ten words in a moment, none of this second
            await other.chunks(int16(bursts(40, {4 * number: "high" for number in range(1, 10)})), start=None)
        elif pace == "in bursts":
            await in_real_time(other, room(10, seed=2)[:16_000], late=lambda number: 0.4 * (number // 13 % 2))
        else:  # timestamps of long ago would make it the first
            await other.chunks(room(10, seed=2)[:16_000], start=-(10**9))
        await task
        await honest.describe()
        assert "detection" in types(honest.events)

    run(scenario, models, HOME)


class Heard:
    """A stream whose sound is known."""

    def __init__(self, word: OfferedWord, sound: np.ndarray) -> None:
        self.words, self.seconds, self.peaks = [word], 2.0, {word.name: 0.5}
        self._sound = sound

    def moment(self, seconds: float) -> int:
        return round(1_000 * seconds)

    def sound(self, until: float, seconds: float) -> np.ndarray:
        return self._sound


def decided(
    models: Path, leads: list[float], finders: list[int], *, windows_later: float = 0.0
) -> tuple[list[int], float]:
    """Who answers of those that hear it so many milliseconds earlier than others, and after which wait.

    ``finders`` have found it, in this order; all but the first in windows that end so many seconds later.
    """
    word = OfferedWords([models / "low.onnx"], None, PointOptions()).by_name["low"]
    random = np.random.default_rng(5)
    sound = random.standard_normal(16_500) * np.repeat(random.random(33) ** 3, 500)
    answers: list[int] = []

    async def whole() -> float:
        loop = asyncio.get_running_loop()
        groups, threads = Groups(groups_of([HOME])), ScoringThreads()
        members = []
        for number, lead in enumerate(leads):
            share = ClientBudget(threads, f"127.0.0.1:{number}")
            member = groups.member(share, lambda found, lead, number=number: answers.append(number), lambda: False)
            assert member is not None
            begin = 250 + round(16 * lead)
            member.arrived(loop.time(), Heard(word, sound[begin : begin + 16_000]), 0.0)  # type: ignore[arg-type]
            members.append(member)
        began = loop.time()
        tasks = []
        for number in finders:
            begin = 250 + round(16 * leads[number])
            end = 1.9 + windows_later * (number != finders[0])
            detection = Detection("low", 0.9, 0.9, end, sound[begin : begin + 16_000].astype(np.float32))
            tasks.append(members[number].group.answers(members[number], Found(word, 1_900, detection)))
        told = await asyncio.gather(*tasks)
        assert len(set(told)) == 1
        return loop.time() - began

    return answers, asyncio.run(whole())


@given(st.permutations(range(4)), st.integers(1, 4))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_order_of_what_waits_does_not_matter(models: Path, order: list[int], number: int) -> None:
    answers, _ = decided(models, [0.0, 9.0, 2.0, 5.0], order[:number])
    assert answers == [1]


@pytest.mark.parametrize("later", [0.5, 0.95])
def test_a_word_that_others_find_a_second_later_while_the_first_still_waits_is_one(models: Path, later: float) -> None:
    answers, _ = decided(models, [9.0, 0.0, 2.0], [0, 1, 2], windows_later=later)
    assert len(answers) == 1


def test_a_hundred_connections_of_a_group_give_one_answer(models: Path) -> None:
    answers, seconds = decided(models, [number / 10 for number in range(100)], list(range(100)))
    assert len(answers) == 1
    assert seconds < 0.12 + 0.3  # a busy machine takes some of it


def test_a_comparison_that_hangs_delays_no_word(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(*arguments: Any) -> tuple[None, float]:
        await asyncio.sleep(60)
        raise AssertionError("it was waited for")

    monkeypatch.setattr(groups_module, "_COMPARING", 0.04)
    monkeypatch.setattr(groups_module.Group, "_compared", hang)
    answers, seconds = decided(models, [0.0, 9.0], [0])
    assert answers == [0]
    assert seconds < 0.12 + 0.3  # a busy machine takes some of it


@pytest.mark.parametrize(
    "wrong", ["kitchen", "kitchen=", "=127.0.0.1", "kitchen=127.0.0.1,", "kitchen=satellite", "kitchen=127.0.0.1/33"]
)
def test_a_malformed_group_is_refused(wrong: str) -> None:
    with pytest.raises(ConfigError, match="expected --group NAME=ADDRESS"):
        groups_of([wrong])


@pytest.mark.parametrize("other", ["192.168.1.20", "192.168.0.0/16", "10.0.0.1,192.168.1.20"])
def test_an_address_in_two_groups_is_refused(other: str) -> None:
    with pytest.raises(ConfigError, match="in 'kitchen' and in 'hall'"):
        groups_of(["kitchen=192.168.1.20", f"hall={other}"])


def test_a_group_may_be_given_in_parts() -> None:
    assert groups_of(["a=10.0.0.1", "b=::1", "a=10.0.0.2"]) == groups_of(["a=10.0.0.1, 10.0.0.2", "b=::1/128"])
