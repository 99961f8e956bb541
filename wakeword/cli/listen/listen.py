"""``wakeword listen``: report the wake words as they are spoken."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from wakeword.audio.detection import Detection
from wakeword.audio.sources import AudioSource
from wakeword.audio.stopping import StopSignals
from wakeword.base.types import Samples
from wakeword.cli.console import complain, discard, has_reader, note
from wakeword.cli.formats import FORMATS, TERMINAL, FormatName
from wakeword.cli.listen.reactions import ReactionOptions, open_reactions
from wakeword.cli.listen.source import PlaybackOption, SourceOptions, Watched, open_source
from wakeword.cli.option_class import command
from wakeword.cli.options import MinGapOption, ModelOptions, VoicePointOptions, open_detector, refractory_frames
from wakeword.engine import Detector
from wakeword.microphone.microphone import Microphone
from wakeword.saving.keeper import Keeper


@dataclass(frozen=True, kw_only=True)
class ListenOptions:
    """The options of the command."""

    models: ModelOptions
    source: SourceOptions
    playback: PlaybackOption = None
    points: VoicePointOptions
    min_gap: MinGapOption = 1.0
    as_json: Annotated[bool, typer.Option("--json", help="Print each detection as a line of JSON.")] = False
    reactions: ReactionOptions
    provider: Annotated[str, typer.Option("--provider", metavar="cpu|cuda", help="Where the model runs.")] = "cpu"


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
        near_misses: list[Detection] = []
        keeper = None if options.reactions.keep is None else Keeper(complain=complain, note=note)
        react = stack.enter_context(open_reactions(options.reactions, stop, keeper=keeper, live=recording is None))
        detector, warnings = open_detector(
            options.models,
            options.points,
            channel=options.source.channel,
            refractory=refractory_frames(options.min_gap),
            pre_roll=options.reactions.pre_roll,
            on_near_miss=near_misses.append if options.reactions.save_near_misses else None,
            provider=options.provider,
            keep=keeper,
        )
        source = stack.enter_context(open_source(options.source))
        playback = None if options.playback is None else stack.enter_context(_playback(options.playback))
        for line in warnings:
            note(line)
        if recording is None:
            _greet(detector, source)
        look = stack.enter_context(monitoring(detector, source))
        lines = DetectionLines(FormatName.JSON if options.as_json else FormatName.TEXT)

        def save_near_misses() -> None:
            while near_misses:
                react.near_miss(near_misses.pop(0))

        def watch(block: Samples) -> bool:
            save_near_misses()
            look(block)
            return lines.wanted

        for detection in detector.run(Watched(source, watch, stop=stop), playback=playback):
            lines.print(recording, detection)
            react(detection)
        save_near_misses()
    if react.lost:
        raise typer.Exit(1)


def _playback(name: str) -> AbstractContextManager[AudioSource]:
    from wakeword.cli.app import INSIDE

    found: AbstractContextManager[AudioSource] = INSIDE["--playback"].load()(name)
    return found


def _greet(detector: Detector, source: AudioSource) -> None:
    words = ", ".join(f"{word!r} (threshold {threshold:.4g})" for word, threshold in detector.thresholds.items())
    place = f" on '{source.name}', {source.sample_rate} Hz" if isinstance(source, Microphone) else ""
    note(f"listening for {words}{place}; Ctrl-C to end")


class DetectionLines:
    """Prints detections on stdout, each immediately, as long as there is a reader.

    A reader that stops, such as ``head -1``, is not an error. Raises ``OSError`` if a line cannot be written for another
    reason, such as a full disk.
    """

    def __init__(self, form: FormatName) -> None:
        self._stream = sys.stdout
        self._reader_left = False
        is_for_a_person = form is FormatName.TEXT and self._stream.isatty()
        self._write = (TERMINAL if is_for_a_person else FORMATS[form]).writer(self._stream)

    @property
    def wanted(self) -> bool:
        """Whether there may still be a reader; known before a line is printed if the system has ``poll``."""
        if not self._reader_left and not has_reader(self._stream):
            self._leave()
        return not self._reader_left

    def print(self, file: str | None, detection: Detection) -> None:
        """Print a detection in ``file``, ``None`` for live audio."""
        if self._reader_left:
            return
        try:
            self._write(file, detection)
        except BrokenPipeError:
            self._leave()

    def _leave(self) -> None:
        self._reader_left = True
        discard(self._stream)


_SECONDS_BETWEEN_WARNINGS = 10.0


@contextmanager
def monitoring(detector: Detector, source: AudioSource) -> Iterator[Callable[[Samples], None]]:
    """A function to call with each block of ``source``, ``(samples,)`` or ``(samples, channels)``."""
    microphone = source if isinstance(source, Microphone) else None
    if sys.stderr.isatty():
        # Its import takes 30 ms, and a service without a terminal does not need it.
        from wakeword.cli.listen.meter import Meter

        with Meter(detector) as meter:
            yield lambda block: meter.update(block, microphone)
    elif microphone is not None:
        yield LossWarning(microphone).update
    else:
        yield lambda block: None


class LossWarning:
    """Reports lost audio, at most every 10 seconds."""

    def __init__(self, microphone: Microphone) -> None:
        self._microphone = microphone
        self._reported = 0
        self._not_before = 0.0

    def update(self, block: Samples) -> None:
        """Warn if audio was lost up to this block, ``(samples,)`` or ``(samples, channels)``, which is not looked at."""
        stats = self._microphone.stats
        lost = stats.dropped_blocks + stats.overflows
        if lost > self._reported and time.monotonic() >= self._not_before:
            self._reported = lost
            self._not_before = time.monotonic() + _SECONDS_BETWEEN_WARNINGS
            complain(f"{lost} block(s) of audio lost so far; this machine is too slow or too busy")
