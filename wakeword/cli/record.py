"""``wakeword record``: a person's own recordings of a wake word, for ``wakeword train --from``."""

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.base.errors import DataError
from wakeword.base.text import counted, printable
from wakeword.cli.console import note
from wakeword.cli.option_class import command
from wakeword.cli.options import DeviceOption, number_or_name
from wakeword.cli.ranges import number_option, option
from wakeword.microphone.microphone import Microphone
from wakeword.model.installed import find_model, shipped_models
from wakeword.takes.take import MIN_TAKES, Take, TakeFolder, TakeStream, learn_voice

_FAULTS_IN_A_ROW = 5
"""Rejected takes after which recording without questions is given up."""


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """The options of the command."""

    word: Annotated[str, typer.Argument(metavar="KEYWORD", help="The wake word, as it is spoken.")]
    out: Annotated[Path, option("--out", "Folder for the takes; numbering continues.", "DIR")]
    count: Annotated[int, number_option("--count", "N", 1, 10_000, "Good takes to record.")] = 10
    seconds: Annotated[float, number_option("--seconds", "X", 0.5, 10, "Length of a take.")] = 2.0
    countdown: Annotated[int, number_option("--countdown", "N", 0, 10, "Count from N.")] = 3
    device: DeviceOption = None
    yes: Annotated[bool, option("--yes", "Ask no questions: one take after the other.")] = False

    @property
    def asks(self) -> bool:
        """Whether to ask before the first take, and after each take whether to keep it."""
        return not self.yes and sys.stdin is not None and sys.stdin.isatty()


@command
def record(options: RecordOptions) -> None:
    """Record a wake word several times, with a countdown and a check of each take.

    A take that is too quiet, clipped, cut off or empty is repeated.
    Prints the file of each good take. The microphone is open only during the countdown and the take.
    """
    folder = TakeFolder(options.out, options.word)
    microphone = Microphone(number_or_name(options.device))
    wanted = f"{counted(options.count, 'take')} into {folder.path}"
    note(f"recording {options.word!r} on '{microphone.name}', {microphone.sample_rate} Hz: {wanted}")
    for take in _takes(microphone, options):
        print(printable(folder.write(take.trimmed())), flush=True)
    if len(folder):
        _say_how_to_go_on(options.word, options.out, takes=len(folder))


def _say_how_to_go_on(keyword: str, folder: Path, *, takes: int) -> None:
    own = Path(f"{'-'.join(keyword.split())}.onnx")
    base = str(own) if own.is_file() else keyword
    if takes < MIN_TAKES:
        again = shlex.join(["wakeword", "record", keyword, "--count", str(10 - takes), "--out", str(folder)])
        note(f"next: {again} ({counted(takes, 'take')} so far; a voice is learnt from {MIN_TAKES} or more, better 10)")
    elif own.is_file() or find_model(keyword, shipped_models()) is not None:
        talk = "talk: a folder with an hour or more of speech without the word, such as radio"
        note(f"next: {learn_voice(base, folder)} ({talk}; it takes some two minutes)")
    else:
        train = shlex.join(["wakeword", "train", keyword, "--positives", str(folder)])
        note(f"next: {train} (no model of {keyword!r} is here yet to fine-tune in two minutes, so it is trained anew)")


def _takes(microphone: Microphone, options: RecordOptions) -> Iterator[Take]:
    """The takes to keep, in conversation with the person in front of the microphone: fewer if the person quits.

    Raises ``DataError`` after five rejected takes in a row if no questions are asked.
    """
    wanted = options.count
    faults = kept = 0
    answer = _ask(options, "Enter to begin, q to quit ")
    while answer != "q" and kept < wanted:
        name = f"take {kept + 1} of {wanted}"
        take = _recorded(microphone, options, name)
        if take.fault is None:
            note(f"{name}: good, {take.level:.0f} dB")
            answer = _ask(options, "Enter to go on, r to repeat it, q to quit ")
            keep = answer != "r"
        else:
            note(f"{name}: {take.fault.value} ({take.level:.0f} dB)")
            answer = _ask(options, "Enter to repeat it, k to keep it anyway, q to quit ")
            keep = answer == "k"
        faults = 0 if keep else faults + 1
        if faults == _FAULTS_IN_A_ROW and not options.asks and take.fault is not None:
            raise DataError(f"{faults} takes in a row could not be used; the last: {take.fault.value}")
        if keep:
            kept += 1
            yield take


def _recorded(microphone: Microphone, options: RecordOptions, name: str) -> Take:
    note(f"{name}:")
    stream = TakeStream(microphone.sample_rate, counts=options.countdown, seconds=options.seconds)
    with microphone:
        for block in microphone.blocks():
            for count in stream.push(block):
                note(f"  {count}" if count else f"  say {options.word!r}")
            if stream.is_complete:
                break
    return stream.take()


def _ask(options: RecordOptions, question: str) -> str:
    """The first letter of the answer in lower case: empty without questions, q at the end of the input."""
    if not options.asks:
        return ""
    print(question, end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    return answer.strip().casefold()[:1] if answer else "q"
