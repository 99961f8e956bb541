"""The page that ``python -m benchmarks --report`` writes: what the figures mean, the figures, how they were measured.

``python -m benchmarks.performance_page PAGE`` writes it again from the figures in ``results/`` next to it.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.own_engine import OURS
from benchmarks.performance_report import BLOCKS, PerformanceReport
from benchmarks.performance_tables import (
    cost_table,
    keyword_table,
    latency_table,
    speech_table,
    start_table,
    stream_table,
)
from wakeword.base.files import write_json, write_whole

_METHOD = """## How it was measured

The engines take turns in one process on one core, each through its own streaming interface, on the same audio in the same
blocks, so that a busy machine slows all alike. CPU time is that of all threads. The peers run models by their own makers.
Figures are medians over the turns; a ratio is taken within each turn, and has its quartiles.

*Speech-like* is noise that swells and fades three times a second and never pauses: the most that a first stage can cost.
*Quiet room* is steady noise at -66 dBFS, *silence* is zeros: in both an engine can rest. A further keyword costs half the
difference between three keywords and one.

Speech: the shipped words in alphabetical order, and words from their text, on {spoken:.0f} seconds of a recording in each
turn. Streams: each takes its block of 80 ms, then the pool's `process` is called once.

In real time, blocks come at the pace of a microphone. The other engines run between two pushes of one engine, so that its
caches are cold. Import, load and peak memory, after 8 s of audio, are medians over {starts} separate processes.

The figures of every turn, and those of blocks of 10 ms, are in [{name}]({name}).
"""


_OWN_MACHINE = (
    "`wakeword doctor` says what listening costs on your machine, and `python -m benchmarks`, in a checkout, all of this "
    "page."
)


def write_page(page: Path, report: PerformanceReport) -> None:
    """Write the page, and ``results/`` next to it with every figure as JSON.

    Figures of ``fuzz`` in that folder (``soak.json``, ``soak-microphone.json``, ``fuzz.json``) become part
    of the page. Raises ``OSError`` if a file cannot be read or written.
    """
    write_json(page.parent / "results" / f"{page.stem}.json", report.to_json())
    write_again(page)


def write_again(page: Path) -> None:
    """Write the page from the figures in ``results/`` next to it."""
    results = page.parent / "results"
    figures = results / f"{page.stem}.json"
    report = PerformanceReport.from_json(json.loads(figures.read_text(encoding="utf-8")))
    write_whole(page, render(report, f"results/{figures.name}", endurance(results)).encode())


def render(report: PerformanceReport, figures: str, endured: str = "") -> str:
    """The page as Markdown; ``figures`` is the path of the JSON file."""
    machine = report.machine
    about = (
        f"`{report.model}` on one core of {machine['processor']} ({machine['system']}, Python {machine['python']}, numpy "
        f"{machine['numpy']}, ONNX Runtime {machine['onnxruntime']}); {report.repeats} turns of {report.seconds:g} s; load "
        f"average at the start: {machine['load average']}. "
        f"Versions: {', '.join(f'{name} {version}' for name, version in report.versions.items())}."
    )
    absent = [f"Not measured: {name} ({reason})." for name, reason in report.absent.items()]
    parts = ["# Performance", about, *absent, _OWN_MACHINE, meaning(report)]
    for heading, table in (
        ("CPU time", cost_table(report)),
        ("Several keywords", keyword_table(report)),
        *([("Speech", speech_table(report))] if report.speech else []),
        ("Many streams", stream_table(report)),
        ("Delay", latency_table(report)),
        ("Start and memory", start_table(report)),
    ):
        parts += [f"## {heading}", f"{table.title}.", table.markdown()]
    spoken = report.speech_seconds or report.seconds
    parts.append(_METHOD.format(starts=report.starts_each, name=figures, spoken=spoken).rstrip())
    parts += [endured] if endured else []
    parts.append("This page is made by `python -m benchmarks --report`.")
    return "\n\n".join(parts) + "\n"


def meaning(report: PerformanceReport) -> str:
    """The figures in sentences: what a wake word costs."""
    block = BLOCKS[1]
    speech = report.cost(OURS.distribution, "speech-like", block)
    silence, room = (median(report.cost(OURS.distribution, signal, block)) for signal in ("silence", "quiet room"))
    paced = next(one for one in report.latencies if (one.contender, one.block) == (OURS.distribution, block))
    start = next(one for one in report.starts if one.contender == OURS.distribution)
    most = report.streams[-1]
    lines = [
        f"One keyword takes {median(speech):.2f} ms of CPU time for a second of sound as loud as speech, in which no "
        f"second stage looks: {median(speech) / 10:.2f} % of this core. [What looks cost](two-stages.md#what-it-costs) "
        f"depends on who speaks. In a quiet room it takes {room:.2f} ms, in silence {silence:.2f} ms.",
        *(
            _cost_ratio(name, speech, report.cost(name, "speech-like", block))
            for name in report.versions
            if name != OURS.distribution
        ),
        f"Each further keyword adds {median(report.further(OURS.distribution, 'speech-like')):.2f} ms: "
        "the features are shared.",
        f"In a pool of {most.streams:,} a stream that speaks without a pause takes {median(most.pool):.2f} ms: one core "
        f"carries {1_000 / median(most.pool):,.0f} of them.",
        f"A window ends every {report.hop_ms:g} ms, so a word waits {report.hop_ms / 2:g} ms on average for the end of its "
        f"window; 99 of 100 pushes then return within {paced.percentile_99_ms:.1f} ms (blocks of 20 ms, real time).",
        f"Importing the package takes {start.import_ms:.0f} ms, {start.import_cpu_ms:.0f} ms of it CPU time"
        + ("." if start.peak_mb is None else f"; a process that listens holds at most {start.peak_mb:.0f} MB."),
        "Only this processor was measured; `wakeword doctor` measures yours.",
    ]
    return "## What it means\n\n" + "\n".join(f"- {line}" for line in lines)


def _cost_ratio(name: str, ours: list[float], theirs: list[float]) -> str:
    ratio = median(np.divide(theirs, ours))
    return f"{name} takes {ratio:.1f} times as much CPU time for the same audio."


def endurance(results: Path) -> str:
    """The results of the soaks whose figures are in this folder; empty if there are none."""
    paragraphs = [
        describe(json.loads((results / name).read_text(encoding="utf-8")))
        for name, describe in (("soak.json", _pushed), ("soak-microphone.json", _listened), ("fuzz.json", _fuzzed))
        if (results / name).is_file()
    ]
    return "\n\n".join(["## Endurance", *paragraphs]) if paragraphs else ""


def _pushed(soak: Mapping[str, Any]) -> str:
    text = (
        f"**{soak['hours']:g} hours of audio through one detector** ({soak['audio']}; blocks of 17 to 4,096 samples) took "
        f"{soak['cpu_seconds']:.0f} s of CPU time. "
    )
    if soak["growth_mb"] is not None:
        memory = soak["memory_mb"]
        text += (
            f"It held {memory[1]:.1f} MB after the first hour and {memory[-1]:.1f} MB at the end; the most was "
            f"{soak['growth_mb']:.2f} MB above the first hour. "
        )
    same = "the same moments" if soak["same_detections"] else "other moments"
    return text + (
        f"{soak['detections']} detections. In the last minute, {soak['compared_scores']} scores were compared with those "
        f"of a new detector: the largest difference was {soak['score_difference']:.1g}, and both fired at {same}.\n\n"
        "`python -m fuzz --hours 24` repeats it."
    )


def _listened(soak: Mapping[str, Any]) -> str:
    memory = "" if soak["growth_mb"] is None else f", {soak['growth_mb']:+.2f} MB of memory after the first minute"
    return (
        f"**{soak['seconds'] / 3600:.2f} hours of a microphone in real time** ({soak['sample_rate']} Hz, a virtual device "
        f"over PulseAudio and PortAudio): {soak['heard_seconds']:.1f} s of {soak['seconds']:.1f} s heard, "
        f"{soak['dropped_blocks']} dropped blocks, {soak['overflows']} overflows, {soak['gaps']} gaps{memory}. The "
        f"longest push took {soak['longest_push_ms']:.0f} ms, and a second cost {soak['cpu_ms_per_second']:.1f} ms of CPU "
        "time, reading the device included.\n\n`python -m fuzz --microphone --hours 1` repeats it."
    )


def _fuzzed(soak: Mapping[str, Any]) -> str:
    broken = len(soak["faults"])
    return (
        f"**Random use for {soak['cpu_seconds'] / 60:.0f} minutes of CPU time**: {soak['calls']:,} calls to "
        f"{soak['detectors']:,} detectors, in any order, with right and wrong blocks and a second thread. Broken laws: "
        f"{broken or 'none'}. `python -m fuzz fuzz --minutes 60` repeats it."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    write_again(parser.parse_args().page)
