"""``wakeword bench``: what listening costs on this machine."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.option_class import command
from wakeword.cli.options import ModelOptions


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
    _bench(options)


def _bench(options: BenchOptions) -> None:
    # Imported here, so that --help does not wait for the engine.
    from wakeword.base.files import resolved
    from wakeword.model.installed import assets_folder
    from wakeword_tools.measure.listening_cost import listening_cost

    models: list[str | Path] = [*options.models.names, *map(resolved, options.models.files)]
    spoken = options.recording or assets_folder() / "audio" / "sentences.flac"
    cost = listening_cost(models, spoken, turns=options.turns)
    if options.as_json:
        print(json.dumps(cost._asdict()))
        return
    print(
        f"{cost.cpu_ms_per_second:.1f} ms of CPU per second of audio ({100 * cost.cpu_ms_per_second / 1_000:.2g} % of a "
        f"core), {cost.first_stage_ms_per_second:.1f} ms without the second stage, which looked at {cost.candidates} "
        f"windows in {cost.seconds:.0f} s"
    )
    print(f"ready after {cost.load_ms:.0f} ms; the longest block of 20 ms took {cost.longest_push_ms:.1f} ms")
