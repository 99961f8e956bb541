"""``wakeword devices``."""

from wakeword.base.errors import AudioDeviceError
from wakeword.base.text import printable
from wakeword.cli.console import without_native_messages
from wakeword.microphone.device import NO_INPUT, list_devices


def devices() -> None:
    """List the input devices; the default one is marked."""
    with without_native_messages():
        found = list_devices()
    if not found:
        raise AudioDeviceError(NO_INPUT)
    names = [printable(device.name) for device in found]
    width = max(map(len, names))
    print(f"  {'number':>6}  {'name':<{width}}  channels  rate")
    for device, name in zip(found, names, strict=True):
        mark = "*" if device.default else " "
        print(f"{mark} {device.index:>6}  {name:<{width}}  {device.channels:>8}  {device.sample_rate} Hz")
