"""Any other engine: a command that writes a WAV file, described in a TOML file.

    command = "mytts --voice {voice} --rate {rate} --out {wav} {text}"
    licence = "what applies to the audio"
    [[voices]]
    name = "jenny"              # replaces {voice}
    accent = "en-US"
    source = "jenny"            # the speaker, if several voices are of one person
    split = "test"              # or train, or validation; by default chosen by a hash of the source

Only ``command`` is required. ``{rate}`` and ``{pitch}`` are factors around 1, and ``{stretch}`` is one of the duration,
the inverse of the rate. Without ``{text}`` the text comes on standard input. No shell is involved, and ``{text}`` is a
separate word, so a text is never executed unless the program executes its arguments; a text that begins with ``-`` is
refused there, as programs take it for an option. Training speaks with the file ``natural.toml`` in the user's folder of
voices by default.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

from wakeword.audio.audio_file import read_audio
from wakeword.base.errors import AudioError, SynthesisError, raising
from wakeword.base.files import DAMAGED
from wakeword.base.types import Array
from wakeword_tools.engines.synthesizer import Engine, Prosody, require_plain_words
from wakeword_tools.engines.voice import Voice, split_of_source, voices_folder
from wakeword_tools.kinds import Split

COMMAND = "command"
SECONDS_TO_SPEAK = 30.0


class CommandSynthesizer:
    """The command in a voice's ``locator``. Takes no phonemes."""

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """``(samples,)``: see ``Synthesizer.speak``, but the same each time only if the command is deterministic."""
        require_plain_words(text, COMMAND)
        prosody = prosody or Prosody()
        words = _words(voice.locator)
        if "{text}" in words and text.startswith("-"):
            raise SynthesisError(
                f"expected a text that does not begin with '-', which {words[0]} may take for an option, got {text!r}; "
                "leave {text} out of the command to give texts on standard input"
            )
        factors = {"rate": prosody.rate, "stretch": 1 / prosody.rate, "pitch": prosody.pitch}
        values = {"voice": voice.variant, "text": text, **{name: f"{factor:.3f}" for name, factor in factors.items()}}
        with tempfile.TemporaryDirectory(prefix="wakeword-speech-") as folder:
            path = Path(folder) / "speech.wav"
            values["wav"] = str(path)
            # Once: braces in a text are not replaced.
            filled = [re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), word) for word in words]
            run_program(filled, text="" if "{text}" in words else text)
            with raising(SynthesisError, "expected the program to write speech, could not read it", AudioError):
                samples = read_audio(path)
        if not len(samples):
            raise SynthesisError("expected the program to write speech, got an empty file")
        return samples


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise SynthesisError(f"expected a command to speak with, got {command!r} ({error})") from error
    if not words or not any("{wav}" in word for word in words):
        raise SynthesisError(f"expected a command with {{wav}}, the file for it to write, got {command!r}")
    if any("{text}" in word and word != "{text}" for word in words):
        raise SynthesisError(
            f"expected a command with {{text}} as a separate word, got {command!r}; put a space before it, "
            "or leave it out to give the text on standard input"
        )
    return words


def _program(command: str) -> str:
    """The name of the program that the command runs."""
    program = _words(command)[0]
    if shutil.which(program) is None:
        raise SynthesisError(
            f"expected the program {program!r} of {command!r}, found none; install it or give its path"
        )
    return Path(program).name


def read_command_voices(path: Path | str) -> list[Voice]:
    """Voices of a TOML file as above. ``SynthesisError`` if the file is not valid."""
    with raising(SynthesisError, f"{path}: expected the TOML file of a speech command, got", OSError, *DAMAGED):
        settings = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        command, licence = settings["command"], str(settings.get("licence", "unknown"))
        tables = settings.get("voices", [{"name": "default"}])
        program = _program(command)
        return [_voice(program, command, table, licence) for table in tables]


def _voice(program: str, command: str, table: dict[str, Any], licence: str) -> Voice:
    name = str(table["name"])
    source = f"{COMMAND}:{program}:{table.get('source', name)}"
    stated = table.get("split")
    if stated not in (None, *Split):
        raise SynthesisError(f"expected a split of voices among {', '.join(Split)}, got {stated!r}")
    split = Split(stated) if stated else split_of_source(source)
    accent = str(table.get("accent", "en"))
    return Voice(f"{COMMAND}:{program}:{name}", COMMAND, accent, name, source, split, licence, command)


def run_program(arguments: Sequence[str], *, text: str = "", timeout: float = SECONDS_TO_SPEAK) -> None:
    """Run a program with ``text`` on standard input.

    Raises ``SynthesisError`` if it cannot be started, fails, crashes or takes longer than ``timeout`` seconds. If it is
    stopped, for that reason or because this process is interrupted, the programs that it started are stopped too.
    """
    name = Path(arguments[0]).name
    with raising(SynthesisError, f"{name} could not be started", OSError, ValueError):
        process = subprocess.Popen(arguments, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, start_new_session=True)
    with process:
        try:
            _, errors = process.communicate(text.encode(), timeout)
        except BaseException as error:
            _kill_with_children(process)
            if isinstance(error, subprocess.TimeoutExpired):
                raise SynthesisError(f"{name} took longer than {timeout:g} s and was stopped") from error
            raise
    if code := process.returncode:
        lines = errors.decode(errors="replace").strip().splitlines()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with {code}"
        raise SynthesisError(f"{name} {how}: {lines[-1][:200] if lines else 'it printed no error'}")


def _kill_with_children(process: subprocess.Popen[bytes]) -> None:
    """Kill a program that leads its own session, and all processes in that session."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):  # it ended meanwhile
        os.killpg(process.pid, signal.SIGKILL)


def _available() -> str | None:
    file = voices_folder() / "natural.toml"
    return f"{COMMAND}:{file}" if file.is_file() else None


ENGINE = Engine(
    name=COMMAND,
    voices=read_command_voices,
    synthesizer=CommandSynthesizer,
    takes_place="FILE.toml",
    kind="natural",
    available=_available,
)
