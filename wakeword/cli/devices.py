"""``wakeword devices``."""

from collections.abc import Sequence

from wakeword.base.errors import AudioDeviceError
from wakeword.cli.models import print_columns
from wakeword.microphone.device import NO_INPUT, Device, list_devices


def devices() -> None:
    """List the input devices; the default one is marked."""
    found = list_devices()
    if not found:
        raise AudioDeviceError(NO_INPUT)
    print_devices(found)


def print_devices(found: Sequence[Device]) -> None:
    """Print a line for each."""
    rows = [("*" * one.default, f"{one.index}", one.name, f"{one.channels}", f"{one.sample_rate} Hz") for one in found]
    print_columns([("", "number", "name", "channels", "rate"), *rows])
