"""The voices that the options of ``wakeword synth`` select."""

from collections.abc import Sequence
from dataclasses import dataclass

import typer

from wakeword.base.errors import SynthesisError
from wakeword_tools.engines.command_engine import command_voices
from wakeword_tools.engines.espeak import ESPEAK
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split


@dataclass(frozen=True)
class EngineSettings:
    """The engines that speak."""

    engines: Sequence[str]
    """Names as for ``--engine``. Empty: espeak-ng, unless there is a ``command``."""
    command: str | None
    """Command line of any other engine."""
    command_voices: Sequence[str]

    @property
    def is_espeak(self) -> bool:
        """Whether only the embedded engine speaks."""
        return not self.engines and not self.command


def voices_of(settings: EngineSettings, splits: Sequence[Split]) -> dict[Split, list[Voice]]:
    """The voices of each split. Raises ``SynthesisError`` if one has none."""
    if settings.command and len(splits) > 1:
        raise SynthesisError(
            "expected one split: --voices all needs to know who speaks in which split, which a command line does not "
            "define; name one split, or describe the command in a file: --engine command:FILE.toml"
        )
    return {split: _voices_of(settings, split) for split in splits}


def _voices_of(settings: EngineSettings, split: Split) -> list[Voice]:
    named = [ESPEAK] if settings.is_espeak else settings.engines
    found = english_voices(split, engines=named)
    if settings.command:
        # Only the user knows who speaks: the voices of a command line belong to the requested split.
        found += command_voices(settings.command, settings.command_voices or ("default",), split=split)
    elif settings.command_voices:
        raise typer.BadParameter("--engine-voice needs --engine-command")
    if not found:
        raise SynthesisError(f"expected voices of the split {split}, but {', '.join(named)} has none")
    return found
