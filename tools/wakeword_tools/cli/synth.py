"""``wakeword synth``: clips of a keyword, or of texts that sound like it, in many voices."""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wakeword.cli.console import note, progress
from wakeword.errors import SynthesisError
from wakeword.files import require_absent
from wakeword_tools.kinds import Split

if TYPE_CHECKING:
    from wakeword_tools.engines.voices import Voice
    from wakeword_tools.texts.candidates import Candidate

_MAX_PAUSE = 0.3
_CLIPS_WORTH_A_PROCESS = 500
_DISTINCT = 150
_BAR = 40
_SHARES = {Split.TRAIN: 0.7, Split.VALIDATION: 0.15, Split.TEST: 0.15}
"""Of the clips and of the different texts, where voices of all sides speak."""


class _Voices(StrEnum):
    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"
    ALL = "all"

    @property
    def shares(self) -> dict[Split, float]:
        """The groups of voices, and the share of the clips that each speaks."""
        return {side: share for side, share in _SHARES.items() if self in (side, _Voices.ALL)}


def synth(
    keyword: Annotated[str, typer.Argument(help="The wake word.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="A new folder for the clips and their manifest.")
    ] = None,
    near_negatives: Annotated[
        bool, typer.Option("--near-negatives/--positives", help="Texts that sound like the keyword, or the keyword.")
    ] = False,
    count: Annotated[int, typer.Option("--count", metavar="N", min=1, help="How many clips.")] = 600,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The same seed makes the same clips.")] = 0,
    voices: Annotated[
        _Voices,
        typer.Option(
            "--voices",
            help="Who speaks, and which texts; evaluation sets want test: never trained on. all: 70, 15 and 15 %.",
        ),
    ] = _Voices.TRAIN,
    distinct: Annotated[
        int, typer.Option("--distinct", metavar="N", min=1, help="How many different near negatives.")
    ] = _DISTINCT,
    mass: Annotated[
        str | None,
        typer.Option(
            "--mass", metavar="D:SHARE,...", help="Near negatives at each distance. Default: 1:0.4,2:0.4,3:0.2."
        ),
    ] = None,
    texts: Annotated[
        Path | None, typer.Option("--texts", metavar="FILE", help="Your own near negatives in their place, one a line.")
    ] = None,
    any_side: Annotated[
        bool, typer.Option("--any-side", help="Speak your texts even if training, or the test, may hear them too.")
    ] = False,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            "--engine",
            metavar="E",
            help="espeak-ng, flite, festival, piper:FOLDER, kokoro:FOLDER or command:FILE.toml; repeatable.",
        ),
    ] = None,
    engine_command: Annotated[
        str | None,
        typer.Option("--engine-command", metavar="CMD", help="Any engine: 'mytts --voice {voice} --out {wav} {text}'."),
    ] = None,
    engine_voice: Annotated[
        list[str] | None, typer.Option("--engine-voice", metavar="NAME", help="A voice of the command; repeatable.")
    ] = None,
    carrier: Annotated[
        list[str] | None,
        typer.Option("--carrier", metavar="TEXT", help="What to say around it: 'so {} it is'; repeatable."),
    ] = None,
    list_texts: Annotated[bool, typer.Option("--list", help="Print the texts and make no clips.")] = False,
) -> None:
    """Synthesise a keyword, or texts that sound like it, in many voices."""
    if texts is not None and not near_negatives:
        raise typer.BadParameter("--texts needs --near-negatives; positives say the keyword")
    if not keyword.strip():
        raise SynthesisError("expected a keyword, got an empty one")
    if out is None and not list_texts:
        raise typer.BadParameter("give --out, the folder to make, or --list")
    if out is not None and not list_texts:
        require_absent(out)
    if engine_command and voices is _Voices.ALL:
        raise SynthesisError(
            "expected one side, for --voices all needs to know who speaks on which side, which a bare command does not "
            "tell; name one side, or describe the command in a file: --engine command:FILE.toml"
        )
    speakers = {side: _speakers(side, engine, engine_command, engine_voice) for side in voices.shares}
    if not engine and not engine_command:
        _check_pronounceable(keyword)
    said = {side: {keyword: 0.0} for side in speakers}
    if near_negatives:
        chosen = (
            _generated(keyword, voices, distinct, _mass(mass), speakers)
            if texts is None
            else _listed(keyword, texts, voices, any_side=any_side)
        )
        said = {side: {candidate.text: candidate.distance for candidate in own} for side, own in chosen.items()}
        if list_texts:
            _print_list(list(dict.fromkeys(candidate for own in chosen.values() for candidate in own)))
    elif list_texts:
        print(keyword)
    if out is None or list_texts:
        return
    from wakeword_tools.clips.synthesize import Part, Recipe, synthesize_parts

    def skipped(recipe: Recipe, error: SynthesisError) -> None:
        note(f"left out {recipe.text!r} by {recipe.voice.name}: {error}")

    with progress(f"speak {count} clips", count) as update:
        folder = synthesize_parts(
            [
                Part(list(said[side]), speakers[side], number)
                for side, number in _told_counts("--count", count, {side: voices.shares[side] for side in said}).items()
            ],
            out,
            seed=seed,
            max_pause=_MAX_PAUSE,
            carriers=carrier,
            jobs=min(os.cpu_count() or 1, 1 + count // _CLIPS_WORTH_A_PROCESS),
            progress=update,
            skipped=skipped,
            distances={text: distance for own in said.values() for text, distance in own.items()},
        )
    print(folder)


def _counts(count: int, shares: dict[Split, float]) -> dict[Split, int]:
    """How many clips each side has, ``count`` in sum; without the sides that have none."""
    ends = [
        round(count * sum(list(shares.values())[:index]) / sum(shares.values())) for index in range(len(shares) + 1)
    ]
    return {side: end - start for side, start, end in zip(shares, ends[:-1], ends[1:], strict=True) if end > start}


def _told_counts(option: str, count: int, shares: dict[Split, float]) -> dict[Split, int]:
    """``_counts``; a side that gets nothing is told of."""
    counts = _counts(count, shares)
    for side in (side for side in shares if side not in counts):
        note(f"{option} {count} leaves nothing for {side}; give more for a set of every side")
    return counts


def _speakers(
    split: Split, engines: list[str] | None, command: str | None, command_voices: list[str] | None
) -> "list[Voice]":
    from wakeword_tools.engines import registry
    from wakeword_tools.engines.command import command_voices as voices_of_command
    from wakeword_tools.engines.espeak import ESPEAK

    named = engines or ([] if command else [ESPEAK])
    found = registry.english_voices(split, engines=named)
    if command:
        # Who speaks is the user's to know: the voices of a command line are of the split that is asked for.
        found += voices_of_command(command, command_voices or ("default",), split=split)
    elif command_voices:
        raise typer.BadParameter("--engine-voice needs --engine-command")
    if not found:
        raise SynthesisError(f"expected voices of the split {split}, but {', '.join(named)} has none of them")
    return found


def _check_pronounceable(keyword: str) -> None:
    """The embedded engine makes some sound of any text; another may speak another language."""
    from wakeword_tools.texts.phonemes import pronunciations

    pronunciations(keyword)


def _mass(mass: str | None) -> dict[int, float] | None:
    if mass is None:
        return None
    try:
        return {int(distance): float(share) for distance, share in (part.split(":") for part in mass.split(","))}
    except ValueError as error:
        raise typer.BadParameter(f"expected --mass as 1:0.4,2:0.4,3:0.2, got {mass!r}") from error


def _listed(keyword: str, path: Path, voices: _Voices, *, any_side: bool) -> "dict[Split, list[Candidate]]":
    """Your own texts for each side: never what training hears where the test is made, and the other way round."""
    from wakeword_tools.texts.confusables import listed
    from wakeword_tools.texts.lists import read_texts

    chosen = listed(keyword, read_texts(path))
    if any_side:
        return {side: chosen for side in voices.shares if chosen}
    by_side = {side: [candidate for candidate in chosen if candidate.split == side] for side in voices.shares}
    others = [candidate for candidate in chosen if candidate.split not in by_side]
    if others:
        some = ", ".join(f"{candidate.text!r} ({candidate.split})" for candidate in others[:5])
        raise SynthesisError(
            f"{path}: {len(others)} of {len(chosen)} texts are not for {voices.value}: {some}; take them out, or speak "
            "them with --any-side if nothing else will hear them"
        )
    for side in (side for side, own in by_side.items() if not own):
        note(f"{path}: none of its texts is for {side}")
    return {side: own for side, own in by_side.items() if own}


def _generated(
    keyword: str, voices: _Voices, distinct: int, mass: dict[int, float] | None, speakers: "dict[Split, list[Voice]]"
) -> "dict[Split, list[Candidate]]":
    from wakeword_tools.texts.candidates import DEFAULT_MASS, choose, speakable
    from wakeword_tools.texts.confusables import confusables

    note(f"looking for texts that sound like {keyword!r}")
    pool = confusables(keyword)
    return {
        side: choose(speakable(pool, speakers[side]), number, split=side, mass=mass or DEFAULT_MASS)
        for side, number in _told_counts("--distinct", distinct, voices.shares).items()
    }


def _print_list(chosen: "list[Candidate]") -> None:
    """A line for each text and, on the same stream behind ``#``, how many there are at each distance."""
    from wakeword_tools.texts.candidates import histogram

    for candidate in chosen:
        print(f"{candidate.text:<28} # {candidate.distance:.2f}  {candidate.origin:<11} {' '.join(candidate.phones)}")
    counts = histogram(chosen)
    print(f"#\n# {len(chosen)} texts by distance (1 is one typical phoneme edit):")
    for distance, number in counts.items():
        print(f"# {distance:3.1f} {number:4} {'█' * round(_BAR * number / max(counts.values()))}".rstrip())
