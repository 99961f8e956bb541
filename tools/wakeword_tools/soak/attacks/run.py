"""Runs the attacks on two checkouts, and writes how many each survives, by class, to a page."""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from wakeword import DataError
from wakeword.files import replacing, write_json
from wakeword_tools.soak.attacks.prepare import prepare

TITLES = {
    "files": "model files that are none, endless or enormous",
    "graphs": "hostile graphs of 14 kinds, two of each, in `scan`",
    "flips": "one bit of a model file changed, anywhere",
    "card_flips": "one bit of the card changed",
    "recordings": "damaged recordings in 8 formats; cut ones must be reported",
    "outputs": "names that forge output, full disks, closed streams",
    "folders": "folders without permission, 1,200 deep, loops of links",
    "numbers": "numbers of options out of range",
    "api": "arguments of the library of wrong types",
    "threads": "threads at the end of the process, forks, a loop in several threads",
    "cards": "phrases that control the terminal or forge lines, in `info`, text, CSV and SRT",
    "interrupts": "Ctrl-C in the first three seconds",
    "missing": "training and measuring with the runtime alone",
}
"""The classes, by the name that ``probes.py`` has for them."""
_PROBES = Path(__file__).with_name("probes.py")
_SECONDS = 3_600
_MOST_SHOWN = 4

Counts = dict[str, Any]
"""``tried``, ``survived``, and the ``failures`` as label and note."""


def attack(checkout: Path, python: str, classes: Sequence[str], *, report: Callable[[str], None]) -> dict[str, Counts]:
    """Attack a checkout with a Python that has its dependencies: the counts of each class.

    Raises ``DataError`` if that is no checkout, or if a class of attacks did not come to its end.
    """
    assets = checkout / "assets"
    if not (assets / "models" / "marvin.onnx").is_file():
        raise DataError(f"{checkout}: expected a checkout of this project, got a folder without its models")
    found: dict[str, Counts] = {}
    for name in classes:
        with tempfile.TemporaryDirectory(prefix="wakeword-attacks-", ignore_cleanup_errors=True) as temporary:
            folder = Path(temporary)
            folder.chmod(0o755)
            prepare(assets, folder)
            results = _results(checkout, python, name, folder)
        failures = [[label, note] for label, survived, note in results if not survived]
        found[name] = {"tried": len(results), "survived": len(results) - len(failures), "failures": failures}
        report(f"{checkout.name}: {name}: {found[name]['survived']} of {found[name]['tried']} survived")
    return found


def _results(checkout: Path, python: str, name: str, folder: Path) -> list[tuple[str, bool, str]]:
    path = os.pathsep.join(str(checkout / part) for part in ("", "train", "tools"))
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with (folder / "log").open("w+", encoding="utf-8", errors="replace") as log:
        try:
            done = subprocess.run(
                [python, str(_PROBES), name, str(folder)],
                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, timeout=_SECONDS,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise DataError(
                f"expected the attacks {name!r} on {checkout} to end within {_SECONDS} s, they did not"
            ) from error
        log.seek(0)
        said = log.read()
    lines = [line for line in done.stdout.decode("utf-8", "replace").splitlines() if line.startswith("RESULTS ")]
    if not lines:
        raise DataError(f"expected results of the attacks {name!r} on {checkout}, got none: {said[-300:]!r}")
    results: list[tuple[str, bool, str]] = [tuple(one) for one in json.loads(lines[-1].removeprefix("RESULTS "))]
    if not results:
        raise DataError(f"expected attacks of the class {name!r}, got none")
    return results


def commit_of(checkout: Path) -> str:
    """The commit of a checkout, shortened; ``unknown`` without git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(checkout), "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True, check=False
        )
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"


def compare(before: Path, after: Path, python: str, classes: Sequence[str], *, report: Callable[[str], None]) -> Counts:
    """Attack two checkouts; everything that the page and its JSON hold."""
    with ThreadPoolExecutor(2) as both:
        sides = {
            name: both.submit(attack, checkout, python, classes, report=report)
            for name, checkout in (("before", before), ("after", after))
        }
    return {
        "before": {"commit": commit_of(before), "classes": sides["before"].result()},
        "after": {"commit": commit_of(after), "classes": sides["after"].result()},
        "python": platform.python_version(),
        "system": sys.platform,
    }


def write_page(path: Path, done: Counts) -> None:
    """Write the page, and the figures as JSON next to it."""
    write_json(path.with_suffix(".json"), done)
    before, after = done["before"], done["after"]
    lines = [
        "# Attacks, before and after",
        "",
        f"What version {before['commit']} and version {after['commit']} survived of the same attacks (Python "
        f"{done['python']}, {done['system']}). To survive is to give the right result or a short line that says what is "
        "wrong: no traceback, "
        "no other score or threshold, nothing forged, no hang, no memory without end. What a class tries is in "
        "`tools/wakeword_tools/soak/attacks`, each failure in `attacks.json`.",
        "",
        "| attack | tried | survived before | after |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, counts in after["classes"].items():
        old = before["classes"][name]
        lines.append(
            f"| {TITLES[name]} | {counts['tried']} | {old['survived']} of {old['tried']} | {counts['survived']} |"
        )
    left = [(name, one) for name, counts in after["classes"].items() for one in counts["failures"][:_MOST_SHOWN]]
    lines += ["", "## What does not survive now", ""]
    lines += [f"- {TITLES[name]}: {_plain(label)} ({_plain(note)})" for name, (label, note) in left] or [
        "Nothing of this."
    ]
    lines += [
        "",
        "This is a fixed set. `python -m wakeword_tools.soak fuzz` tries what nobody thought of, and",
        f"`python -m wakeword_tools.soak attacks --before CHECKOUT --report {path.as_posix()}`, where CHECKOUT is",
        f"`git worktree add CHECKOUT {before['commit']}`, makes this page.",
    ]
    with replacing(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _plain(text: str) -> str:
    """Text that no page takes for markup."""
    return "".join(letter if letter.isprintable() and letter not in "<>|`*_[]" else " " for letter in text)[:160]
