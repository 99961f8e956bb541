"""Which of two satellites answers a word, 3 and 6 m from the speaker, by the sound and by other criteria.

    WAKEWORD_DATA=FOLDER python -m scripts.measure_arbitration --words 200 --out train/evidence/results/arbitration.json

Real words of ``wake_words`` at two microphones in different measured ``rooms``: direct sound of 1/r after r / 343 m/s,
echoes as loud as direct sound at 1 m, less Barron's loss with distance, noise of ``noise_house`` 20 to 35 dB below the word
at 1 m, gains of -6 to 6 dB. Chunks of 30 ms reach the server's own code late by 5 ms and an exponential delay, at most
300 ms, in order, in virtual time. The satellite that is nearer to the speaker should answer, and it alone.
"""

import argparse
import asyncio
import json
import os
import selectors
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import fftconvolve

from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.cli.options import PointOptions
from wakeword.model.installed import model_file
from wakeword_serve.client_stream import Found, ListeningStream, StreamSettings
from wakeword_serve.fair_share import ClientBudget, ScoringThreads
from wakeword_serve.groups import Groups, groups_of
from wakeword_serve.wire_audio import PcmFormat
from wakeword_serve.words import OfferedWord, OfferedWords

WORDS = "alexa", "computer", "jarvis"
HOME_ROOMS = "chrome_kitchen", "openair_genesis6_live_room", "openair_living_room", "seminar_room_clap"
METRES = {"near": 3.0, "far": 6.0}
_SOUND = 343.0
_SECONDS, _SAID = 7.0, 3.0
_CHUNK = 0.03
_WAIT = 0.12
_AT_1_M = 0.1
"""RMS of a word."""
_DIRECT = 40
"""Samples after the peak of a response that are direct sound."""


class _VirtualTime(selectors.SelectSelector):
    """Waits no time: moves the clock of the loop."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        self.now += timeout or 0.0
        return []


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.virtual = _VirtualTime()
        super().__init__(self.virtual)

    def time(self) -> float:
        return self.virtual.now


@dataclass
class Satellite:
    """One microphone, and what became of the word there."""

    name: str
    audio: Array
    began: float
    """When its stream began, in virtual seconds."""
    arrivals: Array
    """Of each chunk."""
    gain: float
    found: list[tuple[float, float, Found]] = field(default_factory=list)
    """When, heard at which time by its clock, what."""
    answers: list[float] = field(default_factory=list)


def response(room: Array, metres: float) -> Array:
    """The response of a room from so far away: see above."""
    peak = int(np.argmax(np.abs(room)))
    first = max(0, peak - 16)
    direct, echoes = room[first : peak + _DIRECT], room[first:].copy()
    echoes[: peak + _DIRECT - first] = 0
    energy = np.cumsum(np.square(echoes[::-1]))[::-1]
    seconds = 3 * (np.argmax(energy < energy[0] * 10**-2.5) - np.argmax(energy < energy[0] * 10**-0.5)) / SAMPLE_RATE
    lost = np.exp(-0.02 * metres / max(0.2, float(seconds)))
    delay = round(metres / _SOUND * SAMPLE_RATE)
    found: Array = np.zeros(delay + len(echoes), np.float32)
    found[delay : delay + len(direct)] = direct / np.sqrt(np.square(direct).sum()) / metres
    found[delay:] += echoes / np.sqrt(energy[0]) * lost
    return found


def _satellite(
    name: str, word: Array, room: Array, noise: Array, jitter: float, random: np.random.Generator
) -> Satellite:
    began = random.uniform(0, 0.5)
    audio = np.zeros(round(_SECONDS * SAMPLE_RATE))
    at = round((_SAID - began) * SAMPLE_RATE)
    said = fftconvolve(word, response(room, METRES[name]))[: len(audio) - at]
    audio[at : at + len(said)] += said
    begin = random.integers(max(1, len(noise) - len(audio)))
    background = np.resize(noise[begin : begin + len(audio)], len(audio)).astype(np.float64)
    background /= np.sqrt(np.square(background).mean()) + 1e-12
    audio += background * _AT_1_M * 10 ** (-random.uniform(20, 35) / 20)
    gain = 2 * 10 ** (random.uniform(-6, 6) / 20)
    audio *= gain
    ends = began + _CHUNK * np.arange(1, len(audio) // round(_CHUNK * SAMPLE_RATE) + 1)
    delays = 0.005 + np.minimum(0.295, random.exponential(jitter, len(ends)) if jitter else 0.0)
    return Satellite(name, np.clip(audio, -1, 1), began, np.maximum.accumulate(ends + delays), gain)


async def _stream(one: Satellite, words: list[OfferedWord], groups: Groups, threads: ScoringThreads) -> None:
    """As ``Connection`` does it, without a socket."""
    loop = asyncio.get_running_loop()
    share = ClientBudget(threads, f"127.0.0.1:{one.name}")

    def answer(found: Found, lead: float) -> None:
        one.answers.append(loop.time())

    member = groups.member(share, answer, lambda: False)
    assert member is not None
    stream = ListeningStream(words, PcmFormat(SAMPLE_RATE, 1), StreamSettings(100, 0.0), share, remembers=True)
    size = round(_CHUNK * SAMPLE_RATE)
    samples = np.round(one.audio * 32_767).astype("<i2")
    for number, arrival in enumerate(one.arrivals):
        await asyncio.sleep(float(arrival) - loop.time())
        member.arrived(loop.time(), stream, _CHUNK)
        heard = await stream.push(samples[number * size : (number + 1) * size].tobytes(), None)
        for found in heard.found:
            one.found.append((loop.time(), member.clock.heard_at(found.detection.end), found))
            await member.group.answers(member, found)


def _chosen(pair: list[Satellite], value: Callable[[Satellite], float], *, wait: float) -> str:
    """Who answers if that is the one of the highest value, of those that have found the word after a wait."""
    first = min(one.found[0][0] for one in pair if one.found)
    return max((one for one in pair if one.found and one.found[0][0] <= first + wait), key=value).name


def _level(one: Satellite) -> float:
    return float(np.square(one.found[0][2].detection.audio).mean())


def measure(audio: Path, count: int, jitter: float, seed: int) -> dict[str, Any]:
    """Figures of ``count`` words that one of the two heard at least; ``jitter``: the mean delay in seconds."""
    random = np.random.default_rng(seed)
    files = sorted(path for word in WORDS for path in (audio / "wake_words" / word).glob("*.flac"))
    order = np.random.default_rng(0).permutation(len(files))[::-1]
    rooms = [read_audio(audio / "rooms" / f"{name}.flac") for name in HOME_ROOMS]
    noises = [read_audio(path) for path in sorted((audio / "noise_house").glob("*.opus"))]
    offered = {word: OfferedWords([model_file(word)], None, PointOptions()) for word in WORDS}
    right: dict[str, list[bool]] = defaultdict(list)
    both, silent, answers, delays = 0, 0, list[list[list[float]]](), list[float]()
    for index in order:
        word = read_audio(files[index])
        word *= np.float32(_AT_1_M / np.sqrt(np.square(word).mean()))
        chosen = random.choice(len(rooms), 2, replace=False)
        pair = [
            _satellite(name, word, rooms[room], noises[random.integers(len(noises))], jitter, random)
            for name, room in zip(METRES, chosen, strict=True)
        ]
        words = list(offered[files[index].parent.name].by_name.values())
        groups, threads = Groups(groups_of(["home=127.0.0.1"])), ScoringThreads()

        async def together(
            pair: list[Satellite], words: list[OfferedWord], groups: Groups, threads: ScoringThreads
        ) -> None:
            await asyncio.gather(*(_stream(one, words, groups, threads) for one in pair))

        with asyncio.Runner(loop_factory=_Loop) as runner:
            runner.run(together(pair, words, groups, threads))
        if not any(one.found for one in pair):
            silent += 1
            continue
        both += all(one.found for one in pair)
        answers.append([one.answers for one in pair])
        delays.append(min(at for one in pair for at in one.answers) - min(one.found[0][0] for one in pair if one.found))
        right["sound"].append(bool(pair[0].answers) and not pair[1].answers)
        for name, value, wait in (
            ("window's end", lambda one: -one.found[0][1], _WAIT),
            ("score", lambda one: one.found[0][2].detection.score, _WAIT),
            ("level", _level, _WAIT),
            ("score, all", lambda one: one.found[0][2].detection.score, np.inf),
            ("level, all", _level, np.inf),
            ("level, all, of equal gains", lambda one: _level(one) / one.gain**2, np.inf),
        ):
            right[name].append(_chosen(pair, value, wait=wait) == "near")
        if len(answers) == count:
            break
    return {
        "mean_delay_ms": 1_000 * jitter,
        "words": len(answers),
        "heard_by_both": both,
        "heard_by_none": silent,
        "nearer_answers": {name: float(np.mean(values)) for name, values in right.items()},
        "both_answer_at_seconds": [[[round(at, 2) for at in one] for one in word] for word in answers if all(word)],
        "none_answers": sum(not any(word) for word in answers),
        "wait_ms": {name: round(1_000 * float(np.quantile(delays, share)), 1) for name, share in _SHARES.items()},
    }


_SHARES = {"median": 0.5, "95 %": 0.95, "most": 1.0}


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--mean-delay", type=float, nargs="+", default=[0.0, 30.0, 60.0], help="milliseconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    began = time.perf_counter()
    runs = []
    for delay in options.mean_delay:
        runs.append(measure(Path(os.environ["WAKEWORD_DATA"]), options.words, delay / 1_000, options.seed))
        sys.stderr.write(f"{json.dumps(runs[-1])}\n")
    told = {"metres": METRES, "seed": options.seed, "runs": runs, "seconds": round(time.perf_counter() - began)}
    options.out.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
