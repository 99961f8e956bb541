"""``wakeword bench``: what listening costs on this machine."""

import json
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.options import DEFAULT_KEYWORD, KeywordOption, ModelOption


def bench(
    keyword: KeywordOption = None,
    model: ModelOption = None,
    recording: Annotated[
        Path | None, typer.Option("--recording", metavar="FILE", help="What to listen to. Default: the demo.")
    ] = None,
    turns: Annotated[int, typer.Option("--turns", metavar="N", min=1, max=1_000, help="Medians over N turns.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print every figure as one JSON object.")] = False,
) -> None:
    """Measure what listening costs on this machine: processor time, start-up and delay.

    In a checkout `python -m benchmarks` compares it with other engines.
    """
    _bench([*(keyword or ([] if model else [DEFAULT_KEYWORD])), *(model or [])], recording, turns, as_json)


def _bench(models: list[str | Path], recording: Path | None, turns: int, as_json: bool) -> None:
    # Imported here, so that --help does not wait for the engine.
    from wakeword.base.files import resolved
    from wakeword.model.installed import assets_folder
    from wakeword_tools.measure.listening_cost import listening_cost

    models = [resolved(one) if isinstance(one, Path) else one for one in models]
    spoken = recording or assets_folder() / "audio" / "demo.flac"
    cost = listening_cost(models, spoken, turns=turns)
    if as_json:
        print(json.dumps(cost._asdict()))
        return
    print(
        f"{cost.cpu_ms_per_second:.1f} ms of CPU per second of audio ({100 * cost.cpu_ms_per_second / 1_000:.2g} % of a "
        f"core), {cost.first_stage_ms_per_second:.1f} ms without the second stage, which looked at {cost.candidates} "
        f"windows in {cost.seconds:.0f} s"
    )
    print(f"ready after {cost.load_ms:.0f} ms; the longest block of 20 ms took {cost.longest_push_ms:.1f} ms")
