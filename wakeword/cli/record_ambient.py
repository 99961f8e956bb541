"""The work of ``wakeword record --ambient``: listening for some hours, to keep how a room scores."""

import shlex
from contextlib import ExitStack

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE, PcmStream, int16_of
from wakeword.audio.stopping import StopSignals
from wakeword.base.text import counted
from wakeword.base.types import Array, Samples
from wakeword.cli.console import complain, note
from wakeword.cli.listen.listen import monitoring
from wakeword.cli.listen.source import SourceOptions, Watched, open_source
from wakeword.cli.options import ModelOptions
from wakeword.engine import Detector
from wakeword.saving.ambient_keeper import AmbientKeeper

_FILE_SAMPLES = 600 * SAMPLE_RATE
"""Samples of sound in a file: ten minutes."""


def record_ambient(options: SourceOptions, models: ModelOptions, *, seconds: float, audio: bool) -> None:
    """Listen for so many seconds, or until the source ends or a signal comes; then say what was kept, and what is next."""
    with ExitStack() as stack:
        # First, so that a signal while the model is loaded is a clean end too.
        stop = stack.enter_context(StopSignals())
        recording = options.recording
        keeper = AmbientKeeper(wait_for_room=recording is not None, complain=complain, note=note)
        stack.callback(_say, keeper, models)
        stack.callback(keeper.close, lambda: stop.seconds_left)
        channel = options.channel
        detector = Detector(models.loaded(), channel=channel, windows=keeper.stream)
        source = stack.enter_context(open_source(options))
        look = stack.enter_context(monitoring(detector, source))
        sound = None
        if audio:
            sound = stack.enter_context(_Sound(keeper, PcmStream(source.sample_rate, channel=channel)))
        words = ", ".join(map(repr, detector.keywords))
        note(f"keeping how this room scores for {words}, {'with' if sound else 'without'} sound, in {keeper.folder}")

        def watch(block: Samples) -> bool:
            if detector.seconds >= seconds:
                return False
            look(block)
            if sound is not None:
                sound.push(block)
            return True

        for _ in detector.run(Watched(source, watch, stop=stop)):
            pass


class _Sound:
    """The sound in files of ten minutes. A context manager: the rest is kept at its end."""

    def __init__(self, keeper: AmbientKeeper, pcm: PcmStream) -> None:
        self._keeper, self._pcm = keeper, pcm
        self._pieces: list[Samples] = []

    def push(self, block: Samples) -> None:
        """The next block, as the source gives it."""
        self._add(self._pcm.push(block))
        if sum(map(len, self._pieces)) >= _FILE_SAMPLES:
            self._keep()

    def _add(self, samples: Array) -> None:
        self._pieces.append(int16_of(samples))

    def _keep(self) -> None:
        samples = np.concatenate(self._pieces)
        self._pieces = []
        if len(samples):
            self._keeper.keep_audio(samples)

    def __enter__(self) -> "_Sound":
        return self

    def __exit__(self, *exc: object) -> None:
        self._add(self._pcm.flush())
        self._keep()


def _say(keeper: AmbientKeeper, models: ModelOptions) -> None:
    """What was kept, and the next command, whole."""
    if not keeper.windows:
        note(f"nothing was kept in {keeper.folder}")
        return
    hours = f"{keeper.samples / SAMPLE_RATE / 3_600:.2f} h"
    note(f"{hours}, {counted(keeper.windows, 'window')}, {keeper.bytes / 1e6:.2f} MB kept in {keeper.folder}")
    for model in [*models.names, *map(str, models.files)]:
        note(f"next: {shlex.join(['wakeword', 'calibrate', '--model', model, '--ambient', '--fa-per-hour', '0.5'])}")
