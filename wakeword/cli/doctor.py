"""``wakeword doctor``: whether this machine and its microphone are fit to listen, and what to change."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wakeword.cli.console import complain, note, without_native_messages
from wakeword.cli.options import DEFAULT_KEYWORD
from wakeword.errors import AudioDeviceError, AudioFileError, WakewordError

if TYPE_CHECKING:
    from wakeword.checkup.findings import Finding, Recording
    from wakeword.microphone.device import Device

_LONGEST_SECONDS = 60.0
_SILENT_SHARE = 0.6


@dataclass
class Examination:
    """What is known so far."""

    versions: dict[str, str]
    devices: "list[Device]" = field(default_factory=list)
    source: str | None = None
    """The device or the file that was listened to."""
    findings: "list[Finding]" = field(default_factory=list)
    error: str | None = None
    """Why nothing could be listened to."""

    @property
    def usable(self) -> bool:
        """Whether nothing is bad."""
        return self.error is None and all(finding.verdict != "bad" for finding in self.findings)


def doctor(
    device: Annotated[
        str | None, typer.Option("--device", metavar="NAME|N", help="Input device: its number or a part of its name.")
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", min=1.0, max=_LONGEST_SECONDS, help="How long to record.")
    ] = 5.0,
    file: Annotated[
        Path | None, typer.Option("--input", metavar="FILE", help="Examine a recording instead, its first minute.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all as one JSON object.")] = False,
) -> None:
    """Measure the microphone and this machine, and say what to change.

    Stay silent at first, then speak as you would say the wake word. Exit status 1 if something is bad.
    """
    examination = Examination(_versions())
    examination.findings.append(_processor())
    failure: WakewordError | None = None
    try:
        if file is None:
            with without_native_messages():
                _listen(examination, device, seconds)
        else:
            _read(examination, file)
    except WakewordError as error:
        failure, examination.error = error, str(error)
    if as_json:
        print(json.dumps({**asdict(examination), "usable": examination.usable}, allow_nan=False))
    else:
        _print(examination)
    if failure is not None:
        complain(failure)
    if not examination.usable:
        raise typer.Exit(1)


def _versions() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    from wakeword.microphone.portaudio import PORTAUDIO, sounddevice_module
    from wakeword.version import __version__

    versions = {"wakeword": __version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in ("numpy", "onnxruntime", "sounddevice")}
    try:
        with without_native_messages():
            told = PORTAUDIO.call(lambda: sounddevice_module().get_portaudio_version()[1])
        # "PortAudio V19.6.0-devel, revision ..."
        versions["PortAudio"] = told.removeprefix("PortAudio ").split(",")[0]
    except AudioDeviceError:
        versions["PortAudio"] = "none"
    versions["system"] = f"{platform.system()} {platform.release()} {platform.machine()}"
    return versions


def _processor() -> "Finding":
    """How much of a core the engine takes."""
    from wakeword.checkup.findings import Finding
    from wakeword_tools.bench.headroom import headroom

    name, unit = "processor", "ms/s"
    try:
        measured = headroom(DEFAULT_KEYWORD)
    except WakewordError as error:
        return Finding(name, None, unit, str(error), "bad", "Install the package again: its own model does not run.")
    text = (
        f"{measured.cpu_ms_per_second:.1f} ms of CPU per second of audio, "
        f"RTF {measured.real_time_factor:.3f}, {measured.keywords_per_core} keywords per core"
    )
    busiest = max(measured.real_time_factor, measured.cpu_ms_per_second / 1_000)
    if busiest <= 0.2:
        return Finding(name, measured.cpu_ms_per_second, unit, text)
    advice = "Close what else keeps the processor busy, or use a faster machine: listening takes too much of a core."
    return Finding(name, measured.cpu_ms_per_second, unit, text, "bad" if busiest > 0.7 else "warn", advice)


def _listen(examination: Examination, device: str | None, seconds: float) -> None:
    from wakeword.checkup.findings import diagnose
    from wakeword.microphone.capture import record
    from wakeword.microphone.device import list_devices

    examination.devices = list_devices()
    if not examination.devices:
        raise AudioDeviceError("expected an input device, found none; connect a microphone or start the sound server")
    silent = _SILENT_SHARE * seconds
    told = False

    def opened(found: "Device") -> None:
        examination.source = found.name
        note(f"recording '{found.name}' at {found.sample_rate} Hz: stay silent for {silent:g} s, then speak")

    def advance(recorded: float) -> None:
        nonlocal told
        if recorded >= silent and not told:
            told = True
            note("now speak, as you would say the wake word")

    wanted = int(device) if device is not None and device.isdecimal() else device
    found, recording = record(wanted, seconds, opened=opened, advance=advance)
    examination.source = found.name
    examination.findings += diagnose(recording)


def _read(examination: Examination, file: Path) -> None:
    from wakeword.checkup.findings import diagnose

    examination.source = str(file)
    examination.findings += diagnose(_recording(file))


def _recording(file: Path) -> "Recording":
    """The first minute. Raises ``AudioFileError`` if there is none, ``AudioFormatError`` if no detector takes it."""
    import numpy as np

    from wakeword.audio import AudioFile, PcmStream
    from wakeword.checkup.findings import Recording
    from wakeword.cli.listen.playing import naming

    with AudioFile(file) as opened, naming(file):
        checked = PcmStream(opened.sample_rate)
        limit = round(_LONGEST_SECONDS * opened.sample_rate)
        blocks: list[Any] = []
        for block in opened.blocks():
            checked.push(block)
            blocks.append(block)
            if sum(map(len, blocks)) >= limit:
                break
    if not blocks:
        raise AudioFileError(f"{file}: expected audio, got a file without samples")
    return Recording(np.concatenate(blocks)[:limit], opened.sample_rate)


_STYLES = {"ok": "green", "warn": "yellow", "bad": "bold red"}


def _print(examination: Examination) -> None:
    from rich.markup import escape

    from wakeword_tools.cli.tables import console, table

    screen = console()
    screen.print(", ".join(f"{name} {version}" for name, version in examination.versions.items()), soft_wrap=True)
    if examination.devices:
        listed = table("input devices", "", "number", "channels", "rate")
        for one in examination.devices:
            name = escape(one.name) + (" *" if one.default else "")
            listed.add_row(name, str(one.index), str(one.channels), f"{one.sample_rate} Hz")
        screen.print(listed)
    found = table(escape(examination.source or "this machine"), "", "verdict", "measured", "change")
    for column in found.columns[1:]:
        column.justify = "left"
    for finding in examination.findings:
        verdict = f"[{_STYLES[finding.verdict]}]{finding.verdict}[/]"
        found.add_row(finding.name, verdict, escape(finding.text), escape(finding.advice))
    screen.print(found)
