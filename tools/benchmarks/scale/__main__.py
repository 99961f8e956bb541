"""``python -m benchmarks.scale``: the cost of scanning many recordings, measured and on paper.

    measure FILE...     scans the recordings once with each of --jobs, and writes the figures to --report
    short FILE...       the same with --count pieces of --seconds, cut out of them
    simulate            a cluster with the costs in --report: --hours of audio on --cores, machines that are lost and slow

Exit status 1 and one line if it cannot.
"""

import argparse
import dataclasses
import json
import logging
import os
import sys
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import soundfile

from benchmarks.scale.scale_measure import measure
from benchmarks.scale.simulate import PaperCluster, simulate
from wakeword import WakewordError
from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.files import write_json

logger = logging.getLogger("scale")

_DIFFERENT = 400
"""Pieces that differ; beyond that they repeat under other names."""


def main() -> int:
    """Run one of the three and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("measure", "short", "simulate"))
    parser.add_argument("places", nargs="*", metavar="FILE")
    parser.add_argument("--model", default="marvin")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--report", type=Path, required=True, metavar="FILE.json")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--hours", type=float, default=100_000.0)
    parser.add_argument("--cores", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        figures = json.loads(arguments.report.read_text()) if arguments.report.exists() else {}
        if arguments.what == "simulate":
            figures["simulated"] = _simulate(figures, arguments)
        elif arguments.what == "measure":
            figures["long"] = _measure(arguments.places, arguments)
        else:
            with TemporaryDirectory() as folder:
                _cut(arguments.places, Path(folder), arguments.count, arguments.seconds)
                figures["short"] = _measure([folder], arguments)
        write_json(arguments.report, figures)
    except (WakewordError, OSError, KeyError, ValueError) as error:
        logger.error("scale: %s", error)
        return 1
    return 0


def _measure(places: list[str], arguments: argparse.Namespace) -> list[dict[str, Any]]:
    found = []
    for jobs in arguments.jobs:
        one = measure(arguments.model, places, jobs=jobs, report=logger.warning).figures
        logger.info("%s", {name: value for name, value in one.items() if name != "cost_quantiles"})
        found.append(one)
    return found


def _cut(places: list[str], folder: Path, count: int, seconds: float) -> None:
    """Pieces of recordings as files, the first of each recording, then the second, and so on."""
    samples = round(seconds * SAMPLE_RATE)
    made: list[Path] = []
    for file in [file for place in places for file in audio_files(place)]:
        whole = read_audio(file)
        for start in range(0, len(whole) - samples + 1, samples):
            if len(made) == min(count, _DIFFERENT):
                break
            path = folder / f"piece-{len(made):06}.wav"
            soundfile.write(path, whole[start : start + samples], SAMPLE_RATE, subtype="PCM_16")
            made.append(path)
    for number, path in islice(enumerate(cycle(list(made))), len(made), count):
        os.link(path, folder / f"piece-{number:06}.wav")


def _simulate(figures: dict[str, Any], arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Recordings of ten minutes and of an hour; a quiet cluster and one with losses and slow machines."""
    costs = figures["long"][0]["cost_quantiles"]
    quiet = PaperCluster(cores=arguments.cores, losses_an_hour=0.0, slow_share=0.0)
    rough = PaperCluster(cores=arguments.cores, slow_share=0.25)
    found = []
    for name, cluster in (("quiet", quiet), ("rough", rough)):
        for batch in (600.0, 3600.0):
            made = simulate(
                costs, audio_hours=arguments.hours, batch_seconds=batch, cluster=cluster, seed=arguments.seed
            )
            row = {
                "cluster": name,
                **dataclasses.asdict(cluster),
                "audio_hours": arguments.hours,
                "batch_seconds": batch,
            }
            logger.info("%s", dataclasses.asdict(made))
            found.append({**row, "seed": arguments.seed, **dataclasses.asdict(made)})
    return found


if __name__ == "__main__":
    sys.exit(main())
