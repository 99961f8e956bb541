"""Endurance and random input: ``python -m fuzz`` pushes 24 hours of audio through one detector, fast.

    push (or nothing)       pushes --hours of audio through one detector, faster than real time
    microphone              listens to one for --hours, in real time, and counts losses
    serve                   a `wakeword serve` with --streams N of --seconds S in real time, beside --slow, --broken and
                            --reconnecting N other clients; with --hours H that much audio in all, as fast as it goes
    serve-fuzz              random events and bytes for such a server, for --minutes or --hours of CPU time
    fuzz                    attacks files, options and calls at random for --minutes or --hours of CPU time

Exit status 1 and one line if a law is broken. The audio comes from ``WAKEWORD_DATA``, a folder with ``long_speech/``;
without it the demo recording is repeated. The fuzzer prints its seed, which repeats what it did; --target chooses one of
its targets, and the files of what it finds are kept in --keep.
"""

import argparse
import dataclasses
import json
import logging
import platform
import secrets
import sys
from pathlib import Path
from typing import Any

from fuzz import run_microphone as soak_microphone
from fuzz import run_push as soak_push
from fuzz.cases.fuzz_run import Fuzzed, fuzz
from fuzz.cases.targets import targets
from wakeword import ConfigError, WakewordError
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.files import write_json
from wakeword.base.plugins import require

logger = logging.getLogger("soak")

_WHAT = ("push", "microphone", "serve", "serve-fuzz", "fuzz")


def main() -> int:
    """Run one soak and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", default="push", choices=_WHAT)
    parser.add_argument("--model", default="marvin")
    parser.add_argument("--hours", type=float)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--cases", type=int, help="so many of each target, instead of a time")
    parser.add_argument("--microphone", action="store_true", help="the same as the word")
    parser.add_argument("--device")
    parser.add_argument("--seed", type=int, help="default: a new one")
    parser.add_argument("--target", action="append", choices=sorted(targets()), help="default: all")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), metavar="FOLDER")
    parser.add_argument("--report", type=Path, metavar="FILE.json", help="writes the figures")
    for name, default in (("streams", 100), ("slow", 0), ("broken", 0), ("reconnecting", 0)):
        parser.add_argument(f"--{name}", type=int, default=default, help="clients of the server")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each stream to the server")
    parser.add_argument("--chunk-ms", type=float, default=10.0)
    parser.add_argument("--threads", type=int, help="of the server")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        figures, faults = run(arguments)
    except (WakewordError, OSError) as error:
        logger.error("soak: %s", error)
        return 1
    figures = {**figures, "faults": faults, "python": platform.python_version()}
    logger.info("%s", json.dumps(figures))
    if arguments.report is not None:
        write_json(arguments.report, figures)
    for fault in faults:
        logger.error("fault: %s", fault)
    return 1 if faults else 0


def run(arguments: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """The measurements, and the laws that were broken."""
    report = logger.info
    if arguments.minutes is not None and arguments.hours is not None:
        raise ConfigError("expected --minutes or --hours, got both")
    hours = arguments.hours if arguments.minutes is None else arguments.minutes / 60
    if arguments.what == "fuzz":
        fuzzed = _fuzz(arguments, 1.0 if hours is None else hours)
        return fuzzed.figures(), fuzzed.faults
    if arguments.what.startswith("serve"):
        return _serve(arguments, hours)
    if arguments.what == "microphone" or arguments.microphone:
        device = arguments.device
        device = int(device) if device is not None and device.isdecimal() else device
        listened = soak_microphone.listen(arguments.model, 3_600 * (hours or 1), device=device, report=report)
        return dataclasses.asdict(listened), listened.faults
    cycle = soak_push.listening_cycle(soak_push.data_folder())
    pushed = soak_push.soak(arguments.model, cycle, 24 if hours is None else hours, report=report)
    return dataclasses.asdict(pushed), pushed.faults


def _fuzz(arguments: argparse.Namespace, hours: float) -> Fuzzed:
    seed = secrets.randbelow(10**9) if arguments.seed is None else arguments.seed
    logger.info("seed %d", seed)
    every = targets(arguments.model)
    chosen = {name: every[name] for name in arguments.target or every}
    fuzzed = fuzz(chosen, 3_600 * hours, seed=seed, cases=arguments.cases, keep=arguments.keep, report=logger.info)
    logger.info("%s", fuzzed.summary)
    return fuzzed


def _serve(arguments: argparse.Namespace, hours: float | None) -> tuple[dict[str, Any], list[str]]:
    # Only now: these modules need the packages of the extra `serve`.
    require("serve", "wakeword_serve", "wyoming")
    from fuzz import run_serve as soak_serve
    from fuzz import run_serve_fuzz as soak_serve_fuzz

    report, seed = logger.info, arguments.seed or 0
    if arguments.what == "serve-fuzz":
        fuzzed = soak_serve_fuzz.fuzz(arguments.model, 3_600 * (hours or 1), seed=seed, report=report)
        return dataclasses.asdict(fuzzed), fuzzed.faults
    crowd = soak_serve.Crowd(arguments.streams, arguments.slow, arguments.broken, arguments.reconnecting)
    cycle, described = soak_push.listening_cycle(soak_push.data_folder())
    seconds, pace, passes = arguments.seconds, 1.0, 1
    if hours is not None:
        seconds, passes = soak_serve.parts(hours, crowd.streams, len(cycle) / SAMPLE_RATE)
        pace = 0.0
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
        seed=seed,
        report=report,
    )
    return dataclasses.asdict(served), served.faults


if __name__ == "__main__":
    sys.exit(main())
