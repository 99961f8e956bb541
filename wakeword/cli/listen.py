"""``wakeword listen``: report the wake words as they are spoken."""

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wakeword.cli.console import complain, note, without_native_messages
from wakeword.cli.formats import FORMATS, FormatName
from wakeword.cli.options import KeywordOption, ModelOption, PointOption, ThresholdOption, open_detector

if TYPE_CHECKING:
    from wakeword import AudioSource, Detector, Microphone
    from wakeword.audio import Samples

_SECONDS_BETWEEN_WARNINGS = 10.0


def listen(
    keyword: KeywordOption = None,
    model: ModelOption = None,
    device: Annotated[
        str | None, typer.Option("--device", metavar="NAME|N", help="Input device: its number or a part of its name.")
    ] = None,
    file: Annotated[
        str | None,
        typer.Option("--input", metavar="FILE", help="Play a file instead; - takes raw 16-bit PCM from stdin."),
    ] = None,
    rate: Annotated[int, typer.Option("--rate", help="Samples per second of the PCM from stdin.")] = 16_000,
    channels: Annotated[int, typer.Option("--channels", help="Channels of the PCM from stdin.")] = 1,
    channel: Annotated[
        int | None, typer.Option("--channel", metavar="N", min=0, help="Hear this channel, from 0. Default: the mean.")
    ] = None,
    threshold: ThresholdOption = None,
    point: PointOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each detection as a line of JSON.")] = False,
    command: Annotated[
        str | None, typer.Option("--exec", metavar="CMD", help="Run this at each detection, without a shell.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="DIR", help="Save each detection's audio and data here.")
    ] = None,
    provider: Annotated[str, typer.Option("--provider", metavar="cpu|cuda", help="Where the model runs.")] = "cpu",
) -> None:
    """Report the wake words as they are spoken, until Ctrl-C.

    One line on stdout for each detection, times in seconds since the start. A program of --exec finds
    WAKEWORD_KEYWORD, WAKEWORD_SCORE, WAKEWORD_START, WAKEWORD_END and, with --save, WAKEWORD_AUDIO in its environment.
    """
    from wakeword.cli.playing import StopSignals, Watched, naming
    from wakeword.cli.reactions import Reactions
    from wakeword.sources import FileSource, StdinSource

    detector = open_detector(keyword, model, threshold=threshold, point=point, channel=channel, provider=provider)
    react = Reactions(command, save)
    name = None if file == "-" else file
    with ExitStack() as stack:
        stop = stack.enter_context(StopSignals())
        source: AudioSource
        if file is None:
            source = _open_microphone(stack, device, channel)
        elif name is None:
            source = StdinSource(sample_rate=rate, channels=channels)
        else:
            source = FileSource(name)
            stack.enter_context(naming(name))
        if name is None:
            _greet(detector, source)
        watched = Watched(source, _monitor(stack, detector, source), stop=stop)
        write = FORMATS[FormatName.JSON if as_json else FormatName.TEXT].writer(sys.stdout)
        for detection in detector.run(watched):
            write(name, detection)
            react(detection)


def _open_microphone(stack: ExitStack, device: str | None, channel: int | None) -> "Microphone":
    from wakeword.microphone import Microphone

    stack.enter_context(without_native_messages())
    number_or_name = int(device) if device is not None and device.isdecimal() else device
    microphone = Microphone(number_or_name, channels=1 if channel is None else channel + 1)
    return stack.enter_context(microphone)


def _greet(detector: "Detector", source: "AudioSource") -> None:
    from wakeword.microphone import Microphone

    words = ", ".join(f"{word!r} (threshold {least:.4g})" for word, least in detector.thresholds.items())
    place = f" on '{source.name}', {source.sample_rate} Hz" if isinstance(source, Microphone) else ""
    note(f"listening for {words}{place}; Ctrl-C ends")


def _monitor(stack: ExitStack, detector: "Detector", source: "AudioSource") -> "Callable[[Samples], None]":
    """What looks at each block: the meter on a terminal, elsewhere a warning when audio is lost."""
    from wakeword.microphone import Microphone

    def lost() -> int:
        return source.dropped_blocks + source.overflows if isinstance(source, Microphone) else 0

    if sys.stderr.isatty():
        from wakeword.cli.meter import Meter

        meter = stack.enter_context(Meter(detector))
        return lambda block: meter.update(block, lost())
    warned = 0
    warn_at = 0.0

    def warn(block: "Samples") -> None:
        nonlocal warned, warn_at
        if lost() > warned and time.monotonic() >= warn_at:
            warned = lost()
            warn_at = time.monotonic() + _SECONDS_BETWEEN_WARNINGS
            complain(f"{warned} block(s) of audio lost so far; this machine is too slow or too busy")

    return warn
