"""Listening from beginning to end."""

from contextlib import ExitStack

import typer

from wakeword.audio.detection import Detection
from wakeword.audio.sources import AudioSource
from wakeword.audio.stopping import StopSignals
from wakeword.base.types import Samples
from wakeword.cli.console import note
from wakeword.cli.formats import FormatName
from wakeword.cli.listen.monitor import monitoring
from wakeword.cli.listen.output import DetectionLines
from wakeword.cli.listen.playing import Watched
from wakeword.cli.listen.reactions import ReactionSettings, open_reactions
from wakeword.cli.listen.source import SourceSettings, open_source
from wakeword.cli.options import DetectorSettings, open_detector
from wakeword.engine import Detector
from wakeword.microphone.microphone import Microphone


def run_session(
    detector_settings: DetectorSettings,
    source_settings: SourceSettings,
    reaction_settings: ReactionSettings,
    form: FormatName,
) -> None:
    """Print the detections, and react to them, until the source ends, a signal comes, or stdout has no reader.

    Raises at the end ``typer.Exit`` if something could not be saved.
    """
    recording = source_settings.recording
    with ExitStack() as stack:
        # First, so that a signal while the model is loaded is a clean end too.
        stop = stack.enter_context(StopSignals())
        near_misses: list[Detection] = []
        detector, warnings = open_detector(
            detector_settings, on_near_miss=near_misses.append if reaction_settings.near_misses else None
        )
        react = stack.enter_context(open_reactions(reaction_settings, stop, live=recording is None))
        source = stack.enter_context(open_source(source_settings))
        for line in warnings:
            note(line)
        if recording is None:
            _greet(detector, source)
        look = stack.enter_context(monitoring(detector, source))
        lines = DetectionLines(form)

        def save_near_misses() -> None:
            while near_misses:
                react.near_miss(near_misses.pop(0))

        def watch(block: Samples) -> bool:
            save_near_misses()
            look(block)
            return lines.wanted

        for detection in detector.run(Watched(source, watch, stop=stop)):
            lines.print(recording, detection)
            react(detection)
        save_near_misses()
    if react.lost:
        raise typer.Exit(1)


def _greet(detector: Detector, source: AudioSource) -> None:
    words = ", ".join(f"{word!r} (threshold {threshold:.4g})" for word, threshold in detector.thresholds.items())
    place = f" on '{source.name}', {source.sample_rate} Hz" if isinstance(source, Microphone) else ""
    note(f"listening for {words}{place}; Ctrl-C to end")
