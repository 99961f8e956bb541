"""A server under load: many streams at a time, beside clients that break the protocol, are slow, or come and go."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from random import Random
from urllib.parse import urlsplit

import numpy as np

from fuzz.run_push import Pcm, demo
from fuzz.serve_clients import Answers, broken, reconnecting, slow, stream
from fuzz.serve_process import ServeProcess
from wakeword import Detector, load_model
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ConfigError
from wakeword.base.events import Line

LATE_SECONDS = 0.5
"""A stream is late if all that was sent was not scored this long after it was sent."""
MAX_GROWTH_MB = 8.0
"""Of the server after the first tenth of a run: the allocator's arenas fill slowly with several threads."""
_SAMPLE_SECONDS = 2.0
_LINE_SECONDS = 60.0
_SHOWN = 30
_SETTLING_SECONDS, _SETTLING_HOURS = 300.0, 2.0
_WORD_AT, _WORD_SECONDS = 5, 3


@dataclass(frozen=True)
class Crowd:
    """The clients of a run."""

    streams: int
    """That stream audio; every one's detections are checked."""
    slow: int = 0
    broken: int = 0
    reconnecting: int = 0


@dataclass(frozen=True)
class ServeSoak:
    """The results of a run."""

    model: str
    crowd: Crowd
    options: Sequence[str]
    """Of the server."""
    audio_seconds: float
    """Of each client, in all its streams."""
    chunk_ms: float
    pace: float
    """Times real time; 0: as fast as the server takes it."""
    seconds: float
    cpu_ms_per_second: float
    """The server's CPU time for a second of one stream, its other clients included."""
    cores: float
    """CPU time of the server by wall time."""
    audio_hours: float
    """Of all these streams together."""
    memory_mb: list[tuple[float, float]]
    """Hours of audio sent so far, and resident memory of the server: first before all streams, last at the end."""
    growth_mb: float | None
    """Highest memory after the first tenth of the run minus that at its end; ``None`` for less than five minutes and, as
    fast as it goes, less than two hours of audio."""
    delay_ms: dict[str, float]
    """From a ping after a chunk to its pong: median, 95 %, 99 % and most."""
    late: int
    """Streams with a delay of more than half a second; only counted in real time."""
    client_behind_ms: float
    """The most by which these clients were late themselves: what is above that is the server's."""
    detections: int
    different: int
    """Streams whose detections are not those of a detector that was given the same audio."""
    closed: int
    """Streams that the server closed."""
    server_faults: list[str]

    @property
    def faults(self) -> list[str]:
        """The laws that were broken, a line each."""
        counted = {
            "streams were late": self.late,
            "streams had other detections than a detector": self.different,
            "streams were closed by the server": self.closed,
        }
        found = [f"{count} {what}" for what, count in counted.items() if count]
        if self.growth_mb is not None and self.growth_mb > MAX_GROWTH_MB:
            found.append(f"memory grew by {self.growth_mb:.1f} MB")
        return found + self.server_faults


def audio_of(number: int, seconds: float, cycle: Pcm) -> Pcm:
    """The audio of a stream: its own part of the cycle, with a word of the demo recording in each minute."""
    length = round(seconds * SAMPLE_RATE)
    start = number * 7 * SAMPLE_RATE % len(cycle)
    audio = np.resize(np.roll(cycle, -start)[: max(length, 1)], length)
    word = demo()[: _WORD_SECONDS * SAMPLE_RATE]
    for at in range((_WORD_AT + number % 50) * SAMPLE_RATE, length - len(word), 60 * SAMPLE_RATE):
        audio[at : at + len(word)] = word
    return audio


def parts(hours: float, streams: int, cycle_seconds: float) -> tuple[float, int]:
    """Seconds and number of passes of each stream: together ``hours``, each pass about a cycle of the audio.

    Raises ``ConfigError`` without a stream.
    """
    if streams < 1:
        raise ConfigError(f"expected at least 1 stream, got {streams}")
    seconds = 3_600 * hours / streams
    passes = max(1, round(seconds / cycle_seconds))
    return seconds / passes, passes


def expected(model: str, audio: Pcm) -> list[tuple[str, int]]:
    """What ``scan`` finds: names and milliseconds."""
    detector = Detector(load_model(model))
    found = []
    for at in range(0, len(audio), 16 * SAMPLE_RATE):
        found += detector.push(audio[at : at + 16 * SAMPLE_RATE])
    return [(one.keyword, round(1_000 * one.end)) for one in [*found, *detector.flush()]]


def serve(
    model: str,
    crowd: Crowd,
    seconds: float,
    cycle: Pcm,
    *,
    chunk_ms: float = 10,
    pace: float = 1.0,
    passes: int = 1,
    options: Sequence[str] = (),
    seed: int = 0,
    report: Line = lambda line: None,
) -> ServeSoak:
    """Run a server of a shipped model and the crowd, for ``seconds`` of audio in each stream, ``passes`` times each.

    Raises ``ConfigError`` for a run without a stream or audio.
    """
    if crowd.streams < 1 or seconds <= 0 or chunk_ms <= 0:
        raise ConfigError(f"expected at least 1 stream of more than 0 s, got {crowd.streams} of {seconds:g} s")
    # Few different ones: to find what is expected takes as long as the run itself.
    recordings = [audio_of(number, seconds, cycle) for number in range(min(crowd.streams, 20 if pace else 2))]
    wanted = [expected(model, audio) for audio in recordings]
    report(f"expected detections in {len(recordings)} recordings: {sum(map(len, wanted))}")
    answers = [Answers() for _ in range(crowd.streams)]
    chunk = round(chunk_ms * SAMPLE_RATE / 1_000)
    with ServeProcess("--keyword", model, *options) as server:
        place = urlsplit(server.uri)
        host, port = place.hostname or "", place.port or 0

        async def steady(number: int) -> None:
            audio = recordings[number % len(recordings)]
            await stream(host, port, model, audio, chunk=chunk, pace=pace, passes=passes, heard=answers[number])

        memory, cpu, began = [(0.0, server.resident_mb())], server.cpu_seconds(), time.monotonic()
        others = _others(host, port, model, crowd, recordings[0], Random(seed))
        others.append(_sample(server, memory, answers, report))
        asyncio.run(_run(steady, crowd.streams, others, stagger=1.0 if pace else 0.0))
        used, elapsed = server.cpu_seconds() - cpu, time.monotonic() - began
        memory.append((_hours(answers), server.resident_mb()))
    return ServeSoak(
        model=model,
        crowd=crowd,
        options=list(options),
        audio_seconds=seconds * passes,
        chunk_ms=chunk_ms,
        pace=pace,
        seconds=elapsed,
        cpu_ms_per_second=1_000 * used / (seconds * passes * crowd.streams),
        cores=used / elapsed,
        audio_hours=round(_hours(answers), 3),
        memory_mb=[(round(hours, 3), round(one, 1)) for hours, one in _some(memory)],
        growth_mb=_growth(memory, elapsed, at_speed=not pace),
        delay_ms=_delays(answers),
        late=sum(max(one.delays, default=0) > LATE_SECONDS for one in answers) if pace else 0,
        client_behind_ms=1_000 * max(one.behind for one in answers),
        detections=sum(len(one.detections) for one in answers),
        different=sum(one.detections != passes * wanted[number % len(wanted)] for number, one in enumerate(answers)),
        closed=sum(one.closed for one in answers),
        server_faults=list(server.faults),
    )


def _hours(answers: Sequence[Answers]) -> float:
    """Hours of audio that these clients have sent."""
    return sum(one.seconds for one in answers) / 3_600


def _some(memory: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The first and the last one, and some at equal times between."""
    return [*memory[: -1 : max(1, len(memory) // _SHOWN)], memory[-1]]


def _growth(memory: Sequence[tuple[float, float]], elapsed: float, *, at_speed: bool) -> float | None:
    """MB by which the memory has grown since the first tenth; ``None`` for a run that is too short to say."""
    # The hours are those of all streams: in real time they say little about how long a server has run.
    if elapsed < _SETTLING_SECONDS and not (at_speed and memory[-1][0] >= _SETTLING_HOURS):
        return None
    settled = [megabytes for _, megabytes in memory[max(1, len(memory) // 10) :]]
    return max(settled) - settled[0]


def _delays(answers: Sequence[Answers]) -> dict[str, float]:
    """Quantiles of the delays, in milliseconds."""
    delays = 1_000 * np.array([delay for one in answers for delay in one.delays] or [0.0])
    quantiles = {f"{q} %": float(np.percentile(delays, q)) for q in (50, 95, 99)}
    return {name: round(one, 1) for name, one in {**quantiles, "most": float(delays.max())}.items()}


def _others(
    host: str, port: int, word: str, crowd: Crowd, audio: Pcm, random: Random
) -> list[Coroutine[None, None, None]]:
    """The clients whose answers are not checked."""
    return [
        *(slow(host, port, Random(random.random())) for _ in range(crowd.slow)),
        *(broken(host, port, Random(random.random())) for _ in range(crowd.broken)),
        *(reconnecting(host, port, Random(random.random()), word, audio) for _ in range(crowd.reconnecting)),
    ]


async def _run(
    steady: Callable[[int], Awaitable[None]],
    streams: int,
    others: Sequence[Coroutine[None, None, None]],
    *,
    stagger: float,
) -> None:
    """Run the streams to their end, beginning within ``stagger`` seconds, and the others until then."""

    async def begin(number: int) -> None:
        # People do not begin at the same moment.
        await asyncio.sleep(stagger * number / streams)
        await steady(number)

    tasks = [asyncio.create_task(one) for one in others]
    try:
        await asyncio.gather(*map(begin, range(streams)))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _sample(
    server: ServeProcess, memory: list[tuple[float, float]], answers: Sequence[Answers], report: Line
) -> None:
    """Note the server's memory every two seconds, and report it every minute."""
    began = last = time.monotonic()
    while True:
        await asyncio.sleep(_SAMPLE_SECONDS)
        memory.append((_hours(answers), server.resident_mb()))
        now = time.monotonic()
        if now - last >= _LINE_SECONDS:
            last = now
            found = sum(len(one.detections) for one in answers)
            hours, megabytes = memory[-1]
            report(
                f"{now - began:.0f} s: {hours:.2f} h of audio, {megabytes:.1f} MB, {server.cpu_seconds():.1f} s CPU, "
                f"{found} detections"
            )
