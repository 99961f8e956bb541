"""The source of ``listen``: a microphone, a file, or standard input."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from wakeword.audio.pcm import MAX_CHANNELS
from wakeword.audio.sources import AudioSource, FileSource, StdinSource
from wakeword.base.errors import AudioFormatError, naming
from wakeword.cli.console import complain
from wakeword.cli.options import DeviceOption, number_or_name
from wakeword.cli.ranges import number_option, option
from wakeword.microphone.device import DeviceEvent
from wakeword.microphone.microphone import Microphone

_SECONDS_BETWEEN_WARNINGS = 10.0


@dataclass(frozen=True)
class SourceOptions:
    """Where the audio comes from."""

    device: DeviceOption = None
    reconnect: Annotated[
        bool, option("--reconnect/--no-reconnect", "Wait for a device that goes away, or exit with status 1.")
    ] = True
    file: Annotated[
        str | None, option("--input", "Read a file instead; - for 16-bit mono PCM of 16 kHz from stdin.", "FILE")
    ] = None
    channel: Annotated[
        int | None, number_option("--channel", "N", 0, MAX_CHANNELS - 1, "Use this channel, from 0. Default: the mean.")
    ] = None

    def __post_init__(self) -> None:
        if self.file is not None and self.device is not None:
            raise typer.BadParameter("give --device or --input, not both")

    @property
    def recording(self) -> str | None:
        """The file to read; ``None`` for live audio, which does not wait."""
        return None if self.file == "-" else self.file


@contextmanager
def open_source(options: SourceOptions) -> Iterator[AudioSource]:
    """The source, open inside ``with``. Raises ``AudioDeviceError`` and ``AudioFileError`` if it cannot be opened."""
    if options.file is None:
        # As many as needed to include the chosen one.
        channels = 1 if options.channel is None else options.channel + 1
        device = number_or_name(options.device)
        report = _reporting()
        with Microphone(device, channels=channels, reconnect=options.reconnect, on_event=report) as microphone:
            yield microphone
    elif options.recording is None:
        yield StdinSource()
    else:
        source = FileSource(options.recording)
        with naming(options.recording, AudioFormatError):
            yield source


def _reporting() -> Callable[[DeviceEvent], None]:
    """A function that reports what happens to a microphone; audio that this program drops at most every 10 seconds."""
    not_before = 0.0

    def report(event: DeviceEvent) -> None:
        nonlocal not_before
        if event.kind == "dropped":
            # A machine that is always too slow drops audio every second.
            if time.monotonic() < not_before:
                return
            not_before = time.monotonic() + _SECONDS_BETWEEN_WARNINGS
        complain(event.message)

    return report


PlaybackOption = Annotated[
    str | None,
    option(
        "--playback",
        "Take out the echo of what the loudspeaker gets: of the default output, a device that records it, or a file.",
        "monitor|DEVICE|FILE",
    ),
]
