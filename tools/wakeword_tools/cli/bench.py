"""``wakeword bench``: what listening costs on this machine."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated

import numpy as np
import typer

from wakeword import Detector
from wakeword.audio.pcm import SAMPLE_RATE, read_audio
from wakeword.base.files import resolved
from wakeword.checkup.processor import Cost, cost
from wakeword.cli.option_class import command
from wakeword.cli.options import ModelOptions
from wakeword.model.installed import assets_folder

_BLOCK = SAMPLE_RATE // 50


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """The options of the command."""

    models: ModelOptions
    recording: Annotated[
        Path | None, typer.Option("--recording", metavar="FILE", help="What to listen to. Default: the demo.")
    ] = None
    turns: Annotated[int, typer.Option("--turns", metavar="N", min=1, max=1_000, help="Medians over N turns.")] = 5
    as_json: Annotated[bool, typer.Option("--json", help="Print every figure as one JSON object.")] = False


@command
def bench(options: BenchOptions) -> None:
    """Measure what listening costs on this machine: processor time, start-up and delay.

    In a checkout `python -m benchmarks` compares it with other engines.
    """
    found = listening_cost(options)
    if options.as_json:
        print(json.dumps(found))
        return
    print(
        f"{found['cpu_ms_per_second']:.1f} ms of CPU per second of audio ({found['cpu_ms_per_second'] / 10:.2g} % of a "
        f"core), {found['first_stage_ms_per_second']:.1f} ms without the second stage, which looked at "
        f"{found['candidates']} windows in {found['seconds']:.0f} s"
    )
    print(f"ready after {found['load_ms']:.0f} ms; the longest block of 20 ms took {found['longest_push_ms']:.1f} ms")


def listening_cost(options: BenchOptions) -> dict[str, float]:
    """Medians over turns with the second stage and without; each passes once through the recording, in blocks of 20 ms.

    Raises ``ModelError`` for an unusable model and ``AudioFormatError`` for a recording that cannot be read.
    """
    models: list[str | Path] = [*options.models.names, *map(resolved, options.models.files)]
    samples = read_audio(options.recording or assets_folder() / "audio" / "sentences.flac")
    audio = np.asarray((np.clip(samples, -1, 1) * 32_767).round(), np.int16)
    blocks = [audio[start : start + _BLOCK] for start in range(0, len(audio), _BLOCK)]
    began = time.perf_counter()
    # Nothing fires: the cost of handling a detection is the application's.
    whole = Detector(models, threshold=1.0)
    load_ms = 1_000 * (time.perf_counter() - began)
    first = Detector(models, threshold=1.0, verify=False)
    seconds = len(audio) / SAMPLE_RATE

    def turn(detector: Detector) -> Cost:
        detector.reset()
        return cost(detector.push, blocks, seconds)

    pairs = [(turn(whole), turn(first)) for _ in range(options.turns + 1)][1:]  # the first fills the buffers
    return {
        "seconds": seconds,
        "turns": options.turns,
        "load_ms": load_ms,
        "cpu_ms_per_second": median(both.cpu_ms_per_second for both, _ in pairs),
        "first_stage_ms_per_second": median(alone.cpu_ms_per_second for _, alone in pairs),
        "longest_push_ms": median(both.longest_ms for both, _ in pairs),
        "candidates": sum(whole.candidates.values()),
    }
