"""``wakeword record``: a person's own recordings of a wake word, for ``wakeword train --from``."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wakeword.cli.console import complain, note, without_native_messages
from wakeword.errors import AudioDeviceError, DataError
from wakeword.takes.folder import TakeFolder, play_back

if TYPE_CHECKING:
    from wakeword.microphone.microphone import Microphone
    from wakeword.takes.take import Take

_FAULTS_IN_A_ROW = 5
"""Rejected takes after which a recording that nobody watches is given up."""


class _Format(Enum):
    WAV = "wav"
    FLAC = "flac"


def record(
    keyword: Annotated[str, typer.Argument(help="The wake word, as it is spoken.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the takes; numbers go on in it.")],
    count: Annotated[int, typer.Option("--count", metavar="N", min=1, help="Good takes to record.")] = 10,
    seconds: Annotated[float, typer.Option("--seconds", metavar="X", min=0.5, max=10, help="Length of a take.")] = 2.0,
    countdown: Annotated[int, typer.Option("--countdown", metavar="N", min=0, max=10, help="Count from N.")] = 3,
    device: Annotated[
        str | None, typer.Option("--device", metavar="NAME|N", help="Input device: its number or a part of its name.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--input", metavar="FILE", help="Cut takes from a recording with pauses instead.")
    ] = None,
    audio_format: Annotated[_Format, typer.Option("--format", help="Of the files.")] = _Format.WAV,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing: one take after the other.")] = False,
) -> None:
    """Record a wake word a number of times, with a countdown and a check of each take.

    A take that is too quiet, clipped, cut off or empty is played back, unless it is digital silence, and asked for
    again. Prints the file of each good take. The microphone is open during the countdown and the take only.
    """
    folder = TakeFolder(out, keyword, suffix=f".{audio_format.value}")
    if file is not None:
        _cut(file, folder, count)
        return
    with ExitStack() as stack:
        stack.enter_context(without_native_messages())
        from wakeword.microphone.microphone import Microphone

        microphone = Microphone(int(device) if device is not None and device.isdecimal() else device)
        session = _Session(keyword, microphone, counts=countdown, seconds=seconds, asks=not yes and sys.stdin.isatty())
        note(f"recording {keyword!r} on '{microphone.name}', {microphone.sample_rate} Hz: {count} takes into {out}")
        for take in session.takes(count):
            print(folder.write(take.trimmed(), source=microphone.name, sample_rate=microphone.sample_rate), flush=True)


def _cut(file: Path, folder: TakeFolder, count: int) -> None:
    from wakeword.audio import AudioFile, read_audio
    from wakeword.takes.take import split_at_pauses

    with AudioFile(file) as opened:
        sample_rate = opened.sample_rate
    takes = split_at_pauses(read_audio(file))
    for take in takes:
        if take.fault is not None:
            note(f"left out a word of {len(take.samples) / 16_000:.1f} s: {take.fault.value}")
    good = [take for take in takes if take.fault is None]
    if not good:
        raise DataError(f"{file}: expected words with pauses between them, found none that can be used")
    for take in good[:count]:
        print(folder.write(take, source=str(file), sample_rate=sample_rate), flush=True)
    if len(good) != count:
        note(f"{len(good)} words in {file}, {count} asked for: {min(count, len(good))} written")


class _Session:
    """Takes from a microphone, in conversation with the person in front of it."""

    def __init__(self, keyword: str, microphone: "Microphone", *, counts: int, seconds: float, asks: bool) -> None:
        self._keyword = keyword
        self._microphone = microphone
        self._counts = counts
        self._seconds = seconds
        self._asks = asks
        self._plays = True

    def takes(self, wanted: int) -> Iterator["Take"]:
        """So many takes that are to be kept, or fewer if the person ends it.

        Raises ``DataError`` after five rejected takes in a row if nobody is asked.
        """
        faults = kept = 0
        answer = self._ask("Enter to begin, q to quit ")
        while answer != "q" and kept < wanted:
            name = f"take {kept + 1} of {wanted}"
            take = self._record(name)
            if take.fault is None:
                note(f"{name}: good, {take.level:.0f} dB")
                answer = self._ask("Enter to go on, r to repeat it, q to quit ")
                keep = answer != "r"
            else:
                note(f"{name}: {take.fault.value} ({take.level:.0f} dB)")
                self._play(take)
                answer = self._ask("Enter to repeat it, k to keep it all the same, q to quit ")
                keep = answer == "k"
            faults = 0 if keep else faults + 1
            if faults == _FAULTS_IN_A_ROW and not self._asks and take.fault is not None:
                raise DataError(f"{faults} takes in a row were of no use; the last: {take.fault.value}")
            if keep:
                kept += 1
                yield take

    def _record(self, name: str) -> "Take":
        note(f"{name}:")
        from wakeword.takes.take import TakeStream

        stream = TakeStream(self._microphone.sample_rate, counts=self._counts, seconds=self._seconds)
        with self._microphone:
            for block in self._microphone.blocks():
                for count in stream.push(block):
                    note(f"  {count}" if count else f"  say {self._keyword!r}")
                if stream.is_complete:
                    break
        return stream.take()

    def _play(self, take: "Take") -> None:
        from wakeword.takes.take import Fault

        if not self._plays or take.fault is Fault.SILENT:
            return
        try:
            play_back(take)
        except AudioDeviceError as error:
            # Said once: recording goes on without.
            self._plays = False
            complain(error)

    def _ask(self, question: str) -> str:
        """The first letter of the answer in lower case: empty if nobody is asked, q at the end of the input."""
        if not self._asks:
            return ""
        print(question, end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
        return answer.strip().casefold()[:1] if answer else "q"
