"""Endurance: ``python -m wakeword_tools.soak`` pushes 24 hours of audio through one detector, faster than real time.

    --hours H               hours of audio
    --microphone            from a microphone, in real time; counts losses
    --fuzz --minutes M      random blocks and calls for M minutes of CPU time
    --serve                 a `wakeword serve` with --streams N of --seconds S in real time, beside --slow, --broken and
                            --reconnecting N other clients; with --hours H that much audio in all, as fast as it goes
    --serve --fuzz          random events and bytes for it, for M minutes of CPU time
    --model FILE|KEYWORD    default: marvin
    --report FILE.json      writes the figures

Exit status 1 and one line if a law is broken. The audio comes from ``WAKEWORD_DATA``, a folder with ``long_speech/``;
without it the demo recording is repeated.
"""

import argparse
import dataclasses
import json
import logging
import platform
import sys
from pathlib import Path
from typing import Any

from wakeword import WakewordError
from wakeword.audio import SAMPLE_RATE
from wakeword.files import write_json
from wakeword.serve.extra import require_extra
from wakeword_tools.soak import run_fuzz as soak_fuzz
from wakeword_tools.soak import run_microphone as soak_microphone
from wakeword_tools.soak import run_push as soak_push

logger = logging.getLogger("soak")


def main() -> int:
    """Run one soak and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="marvin")
    parser.add_argument("--hours", type=float)
    parser.add_argument("--microphone", action="store_true")
    parser.add_argument("--device")
    parser.add_argument("--fuzz", action="store_true")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--serve", action="store_true")
    for name, default in (("streams", 100), ("slow", 0), ("broken", 0), ("reconnecting", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--chunk-ms", type=float, default=10.0)
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        done, faults = run(arguments)
    except (WakewordError, OSError) as error:
        logger.error("soak: %s", error)
        return 1
    figures = {**dataclasses.asdict(done), "faults": faults, "python": platform.python_version()}
    logger.info("%s", json.dumps(figures))
    if arguments.report is not None:
        write_json(arguments.report, figures)
    for fault in faults:
        logger.error("fault: %s", fault)
    return 1 if faults else 0


def run(arguments: argparse.Namespace) -> tuple[Any, list[str]]:
    """The measurements, and the laws that were broken."""
    report = logger.info
    if arguments.serve:
        return _serve(arguments)
    if arguments.fuzz:
        fuzzed = soak_fuzz.fuzz(arguments.model, 60 * arguments.minutes, seed=arguments.seed, report=report)
        return fuzzed, fuzzed.faults
    if arguments.microphone:
        device = arguments.device
        device = int(device) if device is not None and device.isdecimal() else device
        listened = soak_microphone.listen(arguments.model, 3_600 * (arguments.hours or 1), device=device, report=report)
        return listened, listened.faults
    cycle = soak_push.listening_cycle(soak_push.data_folder())
    pushed = soak_push.soak(arguments.model, cycle, 24 if arguments.hours is None else arguments.hours, report=report)
    return pushed, pushed.faults


def _serve(arguments: argparse.Namespace) -> tuple[Any, list[str]]:
    # Only now: these modules need the packages of the extra `serve`.
    require_extra()
    from wakeword_tools.soak import run_serve as soak_serve
    from wakeword_tools.soak import run_serve_fuzz as soak_serve_fuzz

    report = logger.info
    if arguments.fuzz:
        fuzzed = soak_serve_fuzz.fuzz(arguments.model, 60 * arguments.minutes, seed=arguments.seed, report=report)
        return fuzzed, fuzzed.faults
    crowd = soak_serve.Crowd(arguments.streams, arguments.slow, arguments.broken, arguments.reconnecting)
    cycle, described = soak_push.listening_cycle(soak_push.data_folder())
    seconds, pace, passes = arguments.seconds, 1.0, 1
    if arguments.hours is not None:
        seconds, pace = len(cycle) / SAMPLE_RATE, 0.0
        passes = max(1, round(3_600 * arguments.hours / (seconds * crowd.streams)))
    report(f"audio: {described}")
    served = soak_serve.serve(
        arguments.model,
        crowd,
        seconds,
        cycle,
        chunk_ms=arguments.chunk_ms,
        pace=pace,
        passes=passes,
        options=[] if arguments.threads is None else ["--threads", str(arguments.threads)],
        seed=arguments.seed,
        report=report,
    )
    return served, served.faults


if __name__ == "__main__":
    sys.exit(main())
