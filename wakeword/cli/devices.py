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


def print_devices(devices: Sequence[Device]) -> None:
    """Print a line for each."""
    rows = [
        ("*" * device.default, f"{device.index}", device.name, f"{device.channels}", f"{device.sample_rate} Hz")
        for device in devices
    ]
    print_columns([("", "number", "name", "channels", "rate"), *rows])
