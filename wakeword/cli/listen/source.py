"""The source of ``listen``: a microphone, a file, or standard input."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import typer

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.audio.sources import AudioSource, FileSource, StdinSource
from wakeword.cli.console import complain, without_native_messages
from wakeword.cli.listen.playing import naming
from wakeword.cli.options import number_or_name
from wakeword.microphone.device_events import DeviceEvent
from wakeword.microphone.microphone import Microphone


@dataclass(frozen=True)
class SourceSettings:
    """Where the audio comes from. Raises ``typer.BadParameter`` for options that contradict each other."""

    device: str | None
    """A number or a part of a name; ``None`` for the default device, if there is no ``file``."""
    reconnect: bool
    file: str | None
    """A path, or ``-`` for raw PCM from standard input."""
    rate: int | None
    """Samples per second of that PCM."""
    channels: int | None
    """Channels of that PCM."""
    channel: int | None
    """The channel to use; ``None``: the mean of all."""

    def __post_init__(self) -> None:
        if self.file is not None and self.device is not None:
            raise typer.BadParameter("give --device or --input, not both")
        if self.file != "-" and (self.rate is not None or self.channels is not None):
            raise typer.BadParameter("--rate and --channels need --input -; files and devices have their own")

    @property
    def recording(self) -> str | None:
        """The file to read; ``None`` for live audio, which does not wait."""
        return None if self.file == "-" else self.file


@contextmanager
def open_source(settings: SourceSettings) -> Iterator[AudioSource]:
    """The source, open inside ``with``. Raises ``AudioDeviceError`` and ``AudioFileError`` if it cannot be opened."""
    if settings.file is None:
        # As many as needed to include the chosen one.
        channels = 1 if settings.channel is None else settings.channel + 1
        device = number_or_name(settings.device)
        with (
            without_native_messages(),
            Microphone(device, channels=channels, reconnect=settings.reconnect, on_event=_report) as microphone,
        ):
            yield microphone
    elif settings.recording is None:
        yield StdinSource(
            sample_rate=SAMPLE_RATE if settings.rate is None else settings.rate,
            channels=1 if settings.channels is None else settings.channels,
        )
    else:
        source = FileSource(settings.recording)
        with naming(settings.recording):
            yield source


def _report(event: DeviceEvent) -> None:
    # A machine that is always too slow drops audio every second; the monitor reports that every 10 s at most.
    if event.kind != "dropped":
        complain(event.message)
