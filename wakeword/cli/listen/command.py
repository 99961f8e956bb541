"""``wakeword listen``: report the wake words as they are spoken."""

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wakeword.cli.console import complain, note, without_native_messages
from wakeword.cli.formats import FormatName
from wakeword.cli.options import KeywordOption, ModelOption, PointOption, ThresholdOption, finite, open_detector

if TYPE_CHECKING:
    from wakeword import AudioSource, Detector, Microphone
    from wakeword.audio import Samples
    from wakeword.cli.listen.reactions import Reactions
    from wakeword.cli.listen.stopping import StopSignals
    from wakeword.microphone.events import DeviceEvent

_SECONDS_BETWEEN_WARNINGS = 10.0
_SECONDS_WAITING_TO_BE_SAVED = 400


def listen(
    keyword: KeywordOption = None,
    model: ModelOption = None,
    device: Annotated[
        str | None, typer.Option("--device", metavar="NAME|N", help="Input device: its number or a part of its name.")
    ] = None,
    reconnect: Annotated[
        bool, typer.Option("--reconnect/--no-reconnect", help="Wait for a device that goes away, or end with 1.")
    ] = True,
    file: Annotated[
        str | None,
        typer.Option("--input", metavar="FILE", help="Play a file instead; - takes raw 16-bit PCM from stdin."),
    ] = None,
    rate: Annotated[
        int | None, typer.Option("--rate", help="Samples per second of the PCM from stdin. Default: 16000.")
    ] = None,
    channels: Annotated[
        int | None, typer.Option("--channels", help="Channels of the PCM from stdin. Default: 1.")
    ] = None,
    channel: Annotated[
        int | None, typer.Option("--channel", metavar="N", min=0, help="Hear this channel, from 0. Default: the mean.")
    ] = None,
    threshold: ThresholdOption = None,
    point: PointOption = None,
    min_gap: Annotated[
        float,
        typer.Option(
            "--min-gap", metavar="SECONDS", min=0, callback=finite, help="Report a keyword again only after so long."
        ),
    ] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print each detection as a line of JSON.")] = False,
    command: Annotated[
        str | None, typer.Option("--exec", metavar="CMD", help="Run this at each detection, without a shell.")
    ] = None,
    exec_timeout: Annotated[
        float,
        typer.Option(
            "--exec-timeout", metavar="SECONDS", min=0, callback=finite, help="End a program after so long; 0: never."
        ),
    ] = 60.0,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="DIR", help="Save each detection's audio and data here.")
    ] = None,
    save_limit: Annotated[
        float,
        typer.Option(
            "--save-limit", metavar="MB", min=1, callback=finite, help="Delete the oldest saved ones beyond this."
        ),
    ] = 1_000.0,
    pre_roll: Annotated[
        float,
        typer.Option(
            "--pre-roll", metavar="SECONDS", min=0, max=60, callback=finite, help="Save so much from before the word."
        ),
    ] = 0.5,
    provider: Annotated[str, typer.Option("--provider", metavar="cpu|cuda", help="Where the model runs.")] = "cpu",
) -> None:
    """Report the wake words as they are spoken, until Ctrl-C.

    One line on stdout for each detection, times in seconds since the start. A program of --exec finds
    WAKEWORD_KEYWORD, WAKEWORD_SCORE, WAKEWORD_START, WAKEWORD_END and, with --save, WAKEWORD_AUDIO in its environment;
    one that runs when the listening ends is left to run. Ctrl-C, SIGTERM and the end of the input or of stdout's reader
    end the listening with status 0.
    """
    from wakeword.cli.listen.output import DetectionLines
    from wakeword.cli.listen.playing import Watched, naming
    from wakeword.cli.listen.stopping import StopSignals
    from wakeword.sources import FileSource, StdinSource

    if file is not None and device is not None:
        raise typer.BadParameter("give --device or --input, not both")
    if file != "-" and (rate is not None or channels is not None):
        raise typer.BadParameter("--rate and --channels need --input -; files and devices tell their own")
    with ExitStack() as stack:
        stop = stack.enter_context(StopSignals())
        detector = open_detector(
            keyword,
            model,
            threshold=threshold,
            point=point,
            channel=channel,
            min_gap=min_gap,
            pre_roll=pre_roll,
            provider=provider,
        )
        name = None if file == "-" else file
        react = stack.enter_context(
            _reactions(
                stop,
                command,
                save,
                exec_timeout=exec_timeout,
                save_limit=round(1e6 * save_limit),
                most_waiting=max(8, round(_SECONDS_WAITING_TO_BE_SAVED / (1 + pre_roll))),
                live=name is None,
            )
        )
        source: AudioSource
        if file is None:
            source = _open_microphone(stack, device, channel, reconnect=reconnect)
        elif name is None:
            source = StdinSource(
                sample_rate=16_000 if rate is None else rate, channels=1 if channels is None else channels
            )
        else:
            source = FileSource(name)
            stack.enter_context(naming(name))
        if name is None:
            _greet(detector, source)
        look = _monitor(stack, detector, source)
        lines = DetectionLines(FormatName.JSON if as_json else FormatName.TEXT)

        def watch(block: "Samples") -> bool:
            look(block)
            return lines.wanted

        for detection in detector.run(Watched(source, watch, stop=stop)):
            lines.print(name, detection)
            react(detection)


def _reactions(
    stop: "StopSignals",
    command: str | None,
    save: Path | None,
    *,
    exec_timeout: float,
    save_limit: int,
    most_waiting: int,
    live: bool,
) -> "Reactions":
    from wakeword.cli.listen.exec_program import Runner
    from wakeword.cli.listen.reactions import Reactions
    from wakeword.cli.listen.saved_pairs import SavedPairs
    from wakeword.cli.listen.saving import Saver

    # All errors first, then the thread.
    run = None if command is None else Runner(command, timeout=exec_timeout)
    pairs = None if save is None else SavedPairs(save, save_limit)
    saver = None if pairs is None else Saver(pairs, most_waiting=most_waiting, wait_for_room=not live)
    return Reactions(run, saver, seconds_left=lambda: stop.seconds_left)


def _open_microphone(stack: ExitStack, device: str | None, channel: int | None, *, reconnect: bool) -> "Microphone":
    from wakeword.microphone.microphone import Microphone

    stack.enter_context(without_native_messages())
    number_or_name = int(device) if device is not None and device.isdecimal() else device
    channels = 1 if channel is None else channel + 1
    microphone = Microphone(number_or_name, channels=channels, reconnect=reconnect, on_event=_tell)
    return stack.enter_context(microphone)


def _tell(event: "DeviceEvent") -> None:
    # One that is always too slow would be told of every second; the monitor tells of that now and then.
    if event.kind != "dropped":
        complain(event.message)


def _greet(detector: "Detector", source: "AudioSource") -> None:
    from wakeword.microphone.microphone import Microphone

    words = ", ".join(f"{word!r} (threshold {least:.4g})" for word, least in detector.thresholds.items())
    place = f" on '{source.name}', {source.sample_rate} Hz" if isinstance(source, Microphone) else ""
    note(f"listening for {words}{place}; Ctrl-C ends")


def _monitor(stack: ExitStack, detector: "Detector", source: "AudioSource") -> "Callable[[Samples], None]":
    """What looks at each block: the meter on a terminal, elsewhere a warning when audio is lost."""
    from wakeword.microphone.microphone import Microphone

    microphone = source if isinstance(source, Microphone) else None
    if sys.stderr.isatty():
        from wakeword.cli.listen.meter import Meter

        meter = stack.enter_context(Meter(detector))
        return lambda block: meter.update(block, microphone)
    warned = 0
    warn_at = 0.0

    def warn(block: "Samples") -> None:
        nonlocal warned, warn_at
        lost = 0 if microphone is None else microphone.dropped_blocks + microphone.overflows
        if lost > warned and time.monotonic() >= warn_at:
            warned = lost
            warn_at = time.monotonic() + _SECONDS_BETWEEN_WARNINGS
            complain(f"{warned} block(s) of audio lost so far; this machine is too slow or too busy")

    return warn
