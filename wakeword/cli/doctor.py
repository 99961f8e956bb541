"""``wakeword doctor``: whether this machine and its microphone are suitable for listening, and what to change."""

import json
import platform
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Annotated

import typer
from rich.text import Text

from wakeword.base.errors import AudioDeviceError, WakewordError
from wakeword.base.text import printable
from wakeword.base.version import __version__
from wakeword.checkup.capture import record_device
from wakeword.checkup.findings import NO_VOICE, Finding, diagnose
from wakeword.checkup.processor import PROCESSOR, examine_processor
from wakeword.cli.console import complain, note
from wakeword.cli.devices import print_devices
from wakeword.cli.options import DEFAULT_KEYWORD, DeviceOption, number_or_name
from wakeword.cli.ranges import number_option, option
from wakeword.cli.tables import console, table
from wakeword.microphone.device import NO_INPUT, Device, list_devices
from wakeword.microphone.portaudio import PORTAUDIO, sounddevice_module

_SILENT_SHARE = 0.6
_STYLES = {"ok": "green", "warn": "yellow", "bad": "bold red"}


@dataclass
class Examination:
    """The results so far."""

    versions: dict[str, str]
    devices: list[Device] = field(default_factory=list)
    source: str | None = None
    """The device that was examined."""
    findings: list[Finding] = field(default_factory=list)
    error: str | None = None
    """Why no audio could be examined."""

    @property
    def usable(self) -> bool:
        """Whether nothing is bad."""
        return self.error is None and all(found.verdict != "bad" for found in self.findings)

    @property
    def answer(self) -> str:
        """In one line whether the microphone is fit: yes; no, and why; or what keeps it from being heard."""
        asked = "Is the microphone fit?"
        if self.error is not None:
            return f"{asked} It was not heard: {self.error}"
        bad, better = (
            [finding for finding in self.findings if finding.verdict == verdict and finding.name != PROCESSOR]
            for verdict in ("bad", "warn")
        )
        if bad:
            return f"{asked} No: {bad[0].name}. {bad[0].advice}"
        if any(finding.advice == NO_VOICE for finding in better):
            return f"{asked} Not known. {NO_VOICE}"
        slow = "" if self.usable else "; but this machine is too slow"
        small = f"; to make it better: {better[0].advice}" if better else ""
        return f"{asked} Yes{slow}{small}"


def doctor(
    device: DeviceOption = None,
    seconds: Annotated[float, number_option("--seconds", "S", 1.0, 60.0, "How long to record.")] = 5.0,
    as_json: Annotated[bool, option("--json", "Print everything as one JSON object.")] = False,
) -> None:
    """Check the microphone and this machine, and say what to change.

    The first line says whether the microphone is fit. Stay silent at first, then speak as you would say the wake word.
    Exit status 1 if something is bad.
    """
    examination = Examination(_versions(), findings=[examine_processor(DEFAULT_KEYWORD)])
    try:
        _listen(examination, device, seconds)
    except WakewordError as error:
        examination.error = str(error)
    if as_json:
        verdict = {"usable": examination.usable, "answer": examination.answer}
        print(json.dumps({**asdict(examination), **verdict}, allow_nan=False))
        if examination.error is not None:
            complain(examination.error)
    else:
        _print(examination)
    if not examination.usable:
        raise typer.Exit(1)


def _versions() -> dict[str, str]:
    versions = {"wakeword": __version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in ("numpy", "onnxruntime", "sounddevice")}
    try:
        description = PORTAUDIO.call(lambda: sounddevice_module().get_portaudio_version()[1])
        # "PortAudio V19.6.0-devel, revision ..."
        versions["PortAudio"] = description.removeprefix("PortAudio ").split(",")[0]
    except AudioDeviceError:
        versions["PortAudio"] = "none"
    versions["system"] = f"{platform.system()} {platform.release()} {platform.machine()}"
    return versions


def _listen(examination: Examination, device: str | None, seconds: float) -> None:
    """Record the device, with instructions to the person in front of it, and add the findings."""
    examination.devices = list_devices()
    if not examination.devices:
        raise AudioDeviceError(NO_INPUT)
    silent = _SILENT_SHARE * seconds
    asked_to_speak = False

    def opened(device: Device) -> None:
        examination.source = device.name
        note(f"recording '{device.name}' at {device.sample_rate} Hz: stay silent for {silent:g} s, then speak")

    def advance(recorded: float) -> None:
        nonlocal asked_to_speak
        if recorded >= silent and not asked_to_speak:
            asked_to_speak = True
            note("now speak, as you would say the wake word")

    found, recording = record_device(number_or_name(device), seconds, opened=opened, advance=advance)
    examination.source = found.name
    examination.findings += diagnose(recording)


def _print(examination: Examination) -> None:
    screen = console()
    screen.print(printable(examination.answer), soft_wrap=True)
    screen.print(", ".join(f"{name} {version}" for name, version in examination.versions.items()), soft_wrap=True)
    if examination.devices:
        print_devices(examination.devices)
    made = table(examination.source or "this machine", "", "verdict", "measured", "change")
    for column in made.columns[1:]:
        column.justify = "left"
    for finding in examination.findings:
        made.add_row(finding.name, Text(finding.verdict, style=_STYLES[finding.verdict]), finding.text, finding.advice)
    screen.print(made)
