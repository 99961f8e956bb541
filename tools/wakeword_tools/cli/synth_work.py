"""The work of ``wakeword synth``: texts and voices to a folder of clips, or a list of the texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from wakeword.base.errors import SynthesisError
from wakeword.base.files import require_absent
from wakeword.base.text import counted
from wakeword.batch.jobs.choice import check_choice
from wakeword.batch.jobs.job_plan import cores
from wakeword.cli.console import Shown, progress
from wakeword.cli.job_options import how_to_go_on
from wakeword_tools.cli.synth import EngineOptions, SynthOptions
from wakeword_tools.cli.texts import near_negatives, numbers_of, print_texts
from wakeword_tools.clips.synthesize import ClipPart, synthesize
from wakeword_tools.engines.command_engine import command_voices
from wakeword_tools.engines.espeak import ESPEAK
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split
from wakeword_tools.texts.phonemes import pronunciations

_MAX_PAUSE = 0.3
"""Longest pause before and after the speech of a clip, in seconds."""
_CLIPS_WORTH_A_PROCESS = 500

Distances = dict[Split, dict[str, float]]
"""The texts of each split, with their distances from the keyword."""


def synthesise_set(options: SynthOptions) -> None:
    """Speak the keyword, or near negatives of it, and print the new folder; or only print the texts.

    Raises ``typer.BadParameter`` and ``ConfigError`` for options that exclude each other and a folder that exists, and
    ``SynthesisError`` for texts that cannot be spoken, before anything is written.
    """
    keyword, shares = options.keyword, options.voices.shares
    check_choice(jobs=options.jobs.jobs, ray=options.jobs.ray)
    if not keyword.strip():
        raise SynthesisError("expected a keyword, got an empty one")
    out = None if options.list_texts else options.out
    if out is not None:
        require_absent(out)
    voices = _voices(options.engines, list(shares))
    if options.engines.is_espeak:
        # The embedded engine makes some sound for any text; other engines may speak another language.
        pronunciations(keyword)
    distances: Distances = {split: {keyword: 0.0} for split in voices}
    if options.near_negatives:
        chosen = near_negatives(keyword, options.texts, shares, voices)
        distances = {split: {one.text: one.distance for one in own} for split, own in chosen.items()}
        if out is None:
            print_texts(chosen)
    elif out is None:
        print(keyword)
    if out is not None:
        print(_speak(options, out, distances, voices))


def _voices(options: EngineOptions, splits: Sequence[Split]) -> dict[Split, list[Voice]]:
    """The voices of each split. Raises ``SynthesisError`` if one has none."""
    if options.engine_command and len(splits) > 1:
        raise SynthesisError(
            "expected one split: --voices all needs to know who speaks in which split, which a command line does not "
            "define; name one split, or describe the command in a file: --engine command:FILE.toml"
        )
    named = [ESPEAK] if options.is_espeak else options.engine or ()
    voices = {split: english_voices(split, engines=named) for split in splits}
    for split, found in voices.items():
        if options.engine_command:
            # Only the user knows who speaks: the voices of a command line belong to the requested split.
            found += command_voices(options.engine_command, options.engine_voice or ("default",), split=split)
        if not found:
            raise SynthesisError(f"expected voices of the split {split}, but {', '.join(named)} has none")
    return voices


def _speak(options: SynthOptions, out: Path, distances: Distances, voices: Mapping[Split, Sequence[Voice]]) -> Path:
    """Make the set, with progress on stderr. Returns its folder."""
    count = options.count
    shares = {split: options.voices.shares[split] for split in distances}
    parts = [
        ClipPart(
            list(distances[split]),
            voices[split],
            number,
            options.seed,
            _MAX_PAUSE,
            options.carrier,
            distances={text: distance for own in distances.values() for text, distance in own.items()},
        )
        for split, number in numbers_of("--count", count, shares).items()
    ]
    shown = Shown()
    with how_to_go_on(lambda: shown.done > 0), progress(f"speak {counted(count, 'clip')}", 1.0) as shown.update:
        return synthesize(
            parts,
            out,
            jobs=options.jobs.jobs or min(cores(), 1 + count // _CLIPS_WORTH_A_PROCESS),
            ray=options.jobs.ray,
            resume=options.jobs.resume,
            skip=True,
            events=shown,
        )
