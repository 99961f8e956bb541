"""What listening costs: CPU time, memory and start-up, beside pymicro-wakeword where that is installed.

``python -m wakeword_tools.bench --model FILE``. The contenders take turns in one process, on the same audio in the same
blocks, so that a busy or throttled machine slows all of them alike; what counts is the ratio.
"""

import dataclasses
import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from wakeword import Detector, Model, load_model, shipped_models

BLOCKS = (160, 320, 1280)
"""Samples per block: 10, 20 and 80 ms."""
PEER = "pymicro-wakeword"

Pcm = NDArray[np.int16]
Listener = Callable[[Pcm], object]
"""Takes the next block of 16 kHz mono audio."""

_PEAK_MEMORY = """
from pathlib import Path
lines = Path("/proc/self/status").read_text().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
"""

_START_OURS = """
import sys, time
start = time.perf_counter()
from wakeword import Detector
detector = Detector(sys.argv[1], threshold=1.0)
print(1000 * (time.perf_counter() - start))
import numpy as np
for _ in range(100):
    detector.push(np.zeros(1280, np.int16))
"""

_START_PEER = """
import time
start = time.perf_counter()
from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures, Model
model, features = MicroWakeWord.from_builtin(Model.OKAY_NABU), MicroWakeWordFeatures()
print(1000 * (time.perf_counter() - start))
for _ in range(100):
    for feature in features.process_streaming(bytes(2560)):
        model.process_streaming(feature)
"""


def noise(seconds: float) -> Pcm:
    """White noise that swells and fades like speech, 16 kHz int16, ``(samples,)``."""
    t = np.arange(round(16_000 * seconds)) / 16_000
    loudness = 1_500 * (1.1 + np.sin(2 * np.pi * 3 * t))
    return np.asarray(loudness * np.random.default_rng(0).standard_normal(len(t)), np.int16)


def our_listener(model: Path, keywords: int = 1) -> Callable[[], Listener]:
    """Makes new detectors that run ``model`` for so many keywords."""
    models: list[Model] = []
    for number in range(keywords):
        loaded = load_model(model)
        loaded.card = dataclasses.replace(loaded.card, phrase=f"keyword {number}")
        models.append(loaded)

    def start() -> Listener:
        return Detector(models, threshold=1.0).push

    return start


def peer_listener() -> Listener:
    """A new stream of the peer, with a model that comes with it."""
    from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures
    from pymicro_wakeword import Model as PeerModel

    model, features = MicroWakeWord.from_builtin(PeerModel.OKAY_NABU), MicroWakeWordFeatures()

    def push(block: Pcm) -> None:
        for feature in features.process_streaming(block.tobytes()):
            model.process_streaming(feature)

    return push


def cpu_ms_per_second(listener: Listener, audio: Pcm, block: int) -> float:
    """Milliseconds of CPU time, of all threads, per second of audio."""
    blocks = [audio[start : start + block] for start in range(0, len(audio), block)]
    start = time.process_time()
    for piece in blocks:
        listener(piece)
    return 1000 * (time.process_time() - start) / (len(audio) / 16_000)


def compare(
    starts: dict[str, Callable[[], Listener]], audio: Pcm, *, repeats: int
) -> dict[int, dict[str, list[float]]]:
    """Costs of each contender, in ms/s, for each block size: one for each repeat, taken in turns."""
    costs: dict[int, dict[str, list[float]]] = {block: {name: [] for name in starts} for block in BLOCKS}
    for _ in range(repeats):
        for block in BLOCKS:
            for name, start in starts.items():
                costs[block][name].append(cpu_ms_per_second(start(), audio, block))
    return costs


def start_up(code: str, *arguments: str) -> tuple[float, float]:
    """Milliseconds to import and load, and peak resident memory in MB after 8 s of audio, in a process of its own."""
    command = [sys.executable, "-c", code + _PEAK_MEMORY, *arguments]
    milliseconds, kilobytes = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(milliseconds), float(kilobytes) / 1024


def main(
    model: Annotated[Path | None, typer.Option(help="Model file; without it, the first shipped model.")] = None,
    seconds: Annotated[float, typer.Option(min=1.0, help="Audio of each measurement.")] = 10.0,
    repeats: Annotated[int, typer.Option(min=1, help="Measurements of each; medians are printed.")] = 9,
) -> None:
    """Measure what listening costs."""
    path = model or next(iter(shipped_models().values()), None)
    if path is None:
        raise typer.BadParameter("no model is shipped with this installation; give one", param_hint="--model")
    starts = {"wakeword": our_listener(path), "3 keywords": our_listener(path, 3)}
    has_peer = importlib.util.find_spec("pymicro_wakeword") is not None
    if has_peer:
        starts[PEER] = peer_listener
    else:
        typer.echo(f"{PEER} is not installed; measured without it")
    costs = compare(starts, noise(seconds), repeats=repeats)

    typer.echo(f"CPU ms per second of audio, {path.name}, medians of {repeats} x {seconds:g} s")
    typer.echo(f"{'block':>7}{'wakeword':>10}{'+ keyword':>11}" + (f"{PEER:>18}{'ratio':>7}" if has_peer else ""))
    for block, cost in costs.items():
        ours = median(cost["wakeword"])
        further = median((three - one) / 2 for one, three in zip(cost["wakeword"], cost["3 keywords"], strict=True))
        line = f"{block / 16:>4g} ms{ours:>10.2f}{further:>11.2f}"
        if has_peer:
            ratio = median(one / other for one, other in zip(cost["wakeword"], cost[PEER], strict=True))
            line += f"{median(cost[PEER]):>18.2f}{ratio:>7.2f}"
        typer.echo(line)

    processes = {"wakeword": (_START_OURS, str(path))} | ({PEER: (_START_PEER,)} if has_peer else {})
    for name, command in processes.items():
        runs = [start_up(*command) for _ in range(3)]
        milliseconds, megabytes = (median(column) for column in zip(*runs, strict=True))
        typer.echo(f"{name}: {milliseconds:.0f} ms to import and load, {megabytes:.0f} MB peak resident memory")


if __name__ == "__main__":
    typer.run(main)
