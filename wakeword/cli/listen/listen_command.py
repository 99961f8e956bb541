"""``wakeword listen``: report the wake words as they are spoken."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from itertools import takewhile
from typing import Annotated

import typer

from wakeword.audio.sources import AudioSource, BlockSource
from wakeword.audio.stopping import StopSignals
from wakeword.base.types import Samples
from wakeword.cli.console import discard, has_reader, note
from wakeword.cli.formats import FORMATS, TERMINAL, FormatName, Write, writer
from wakeword.cli.listen.reactions import ReactionOptions, Reactions
from wakeword.cli.listen.source import PlaybackOption, SourceOptions, open_source
from wakeword.cli.option_class import command
from wakeword.cli.options import MinGapOption, ModelOptions, VoicePointOptions, open_detector, refractory_frames
from wakeword.cli.ranges import option
from wakeword.engine import Detector
from wakeword.microphone.microphone import Microphone


@dataclass(frozen=True, kw_only=True)
class ListenOptions:
    """The options of the command."""

    models: ModelOptions
    source: SourceOptions
    playback: PlaybackOption = None
    points: VoicePointOptions
    min_gap: MinGapOption = 1.0
    as_json: Annotated[bool, option("--json", "Print each detection as a line of JSON.")] = False
    reactions: ReactionOptions
    provider: Annotated[str, option("--provider", "Where the model runs.", "cpu|cuda")] = "cpu"


@command
def listen(options: ListenOptions) -> None:
    """Report the wake words as they are spoken, until Ctrl-C.

    One line on stdout for each detection, times in seconds since the start. A program of --exec finds
    WAKEWORD_KEYWORD, WAKEWORD_SCORE, WAKEWORD_START, WAKEWORD_END and, with --save, WAKEWORD_AUDIO in its environment;
    programs that still run when listening ends are not stopped. Ctrl-C, SIGTERM and the end of the input or of stdout's
    reader end the command with status 0.
    """
    recording = options.source.recording
    with ExitStack() as stack:
        # First, so that a signal while the model is loaded is a clean end too.
        stop = stack.enter_context(StopSignals())
        reactions = Reactions(options.reactions, live=recording is None)
        stack.callback(reactions.close, lambda: stop.seconds_left)
        detector, warnings = open_detector(
            options.models,
            options.points,
            channel=options.source.channel,
            refractory=refractory_frames(options.min_gap),
            pre_roll=options.reactions.pre_roll,
            provider=options.provider,
            keep=reactions.keeper,
        )
        source = stack.enter_context(open_source(options.source))
        playback = None if options.playback is None else stack.enter_context(_playback(options.playback))
        for line in warnings:
            note(line)
        if recording is None:
            _greet(detector, source)
        look = stack.enter_context(monitoring(detector, source))
        write = _writer(as_json=options.as_json)

        def watch(block: Samples) -> bool:
            look(block)
            return has_reader(sys.stdout)

        watched = BlockSource(source.sample_rate, takewhile(watch, stop.blocks(source)))
        try:
            for detection in detector.run(watched, playback=playback):
                reactions.react(detection)  # before its line, with which a reader may leave
                write(recording, detection)
        except BrokenPipeError:
            if has_reader(sys.stdout):
                raise
            discard(sys.stdout)
    if reactions.lost:
        raise typer.Exit(1)


def _playback(name: str) -> AbstractContextManager[AudioSource]:
    from wakeword.cli.app import CROSS_PACKAGE

    found: AbstractContextManager[AudioSource] = CROSS_PACKAGE["playback_source"].load()(name)
    return found


def _greet(detector: Detector, source: AudioSource) -> None:
    words = ", ".join(f"{word!r} (threshold {threshold:.4g})" for word, threshold in detector.thresholds.items())
    place = f" on '{source.name}', {source.sample_rate} Hz" if isinstance(source, Microphone) else ""
    note(f"listening for {words}{place}; Ctrl-C to end")


def _writer(*, as_json: bool) -> Write:
    """Writes detections on stdout: as JSON, as text for a program, or on a terminal for a person."""
    if as_json:
        return writer(sys.stdout, *FORMATS[FormatName.JSON])
    return writer(sys.stdout, *(TERMINAL if sys.stdout.isatty() else FORMATS[FormatName.TEXT]))


@contextmanager
def monitoring(detector: Detector, source: AudioSource) -> Iterator[Callable[[Samples], None]]:
    """A function to call with each block, ``(samples,)`` or ``(samples, channels)``, which it shows on a terminal."""
    if not sys.stderr.isatty():
        yield lambda block: None
        return
    # Its import takes 30 ms, and a service without a terminal does not need it.
    from wakeword.cli.listen.meter import Meter

    microphone = source if isinstance(source, Microphone) else None
    with Meter(detector) as meter:
        yield lambda block: meter.update(block, microphone)
