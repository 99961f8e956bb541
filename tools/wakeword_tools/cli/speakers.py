"""The voices that the options of ``wakeword synth`` select."""

from collections.abc import Sequence

from wakeword.base.errors import SynthesisError
from wakeword_tools.cli.synth import EngineOptions
from wakeword_tools.engines.command_engine import command_voices
from wakeword_tools.engines.espeak import ESPEAK
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split


def voices_of(options: EngineOptions, splits: Sequence[Split]) -> dict[Split, list[Voice]]:
    """The voices of each split. Raises ``SynthesisError`` if one has none."""
    if options.engine_command and len(splits) > 1:
        raise SynthesisError(
            "expected one split: --voices all needs to know who speaks in which split, which a command line does not "
            "define; name one split, or describe the command in a file: --engine command:FILE.toml"
        )
    return {split: _voices_of(options, split) for split in splits}


def _voices_of(options: EngineOptions, split: Split) -> list[Voice]:
    named = [ESPEAK] if options.is_espeak else options.engine or ()
    found = english_voices(split, engines=named)
    if options.engine_command:
        # Only the user knows who speaks: the voices of a command line belong to the requested split.
        found += command_voices(options.engine_command, options.engine_voice or ("default",), split=split)
    if not found:
        raise SynthesisError(f"expected voices of the split {split}, but {', '.join(named)} has none")
    return found
