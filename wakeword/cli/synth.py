"""``wakeword synth``: clips of a keyword, or of texts that sound like it, in many voices."""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wakeword.cli.console import note, progress
from wakeword.errors import SynthesisError

if TYPE_CHECKING:
    from wakeword_tools.confusables import Candidate
    from wakeword_tools.voices import Voice

_MAX_PAUSE = 0.3
_CLIPS_WORTH_A_PROCESS = 500
_DISTINCT = 150
_BAR = 40


class _Voices(StrEnum):
    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


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
        typer.Option("--voices", help="Who speaks, and which texts; evaluation sets want test: never trained on."),
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
            "--engine", metavar="E", help="espeak-ng, flite, festival, piper:FOLDER or command:FILE.toml; repeatable."
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
    if out is not None and out.exists() and not list_texts:
        raise SynthesisError(f"expected a folder that is not there yet, found {out}; remove it or choose another")
    speakers = _speakers(voices, engine, engine_command, engine_voice)
    if not engine and not engine_command:
        _check_pronounceable(keyword)
    distances = {keyword: 0.0}
    if near_negatives:
        chosen = _near_negatives(keyword, texts, voices, distinct, _shares(mass), any_side=any_side, speakers=speakers)
        distances = {candidate.text: candidate.distance for candidate in chosen}
        if list_texts:
            _print_list(chosen)
    elif list_texts:
        print(keyword)
    if out is None or list_texts:
        return
    from wakeword_tools.synthesize import Recipe, synthesize

    def skipped(recipe: Recipe, error: SynthesisError) -> None:
        note(f"left out {recipe.text!r} by {recipe.voice.name}: {error}")

    with progress(f"speak {count} clips", count) as update:
        folder = synthesize(
            list(distances),
            speakers,
            out,
            count=count,
            seed=seed,
            max_pause=_MAX_PAUSE,
            carriers=carrier,
            jobs=min(os.cpu_count() or 1, 1 + count // _CLIPS_WORTH_A_PROCESS),
            progress=update,
            skipped=skipped,
            distances=distances,
        )
    print(folder)


def _speakers(
    group: _Voices, engines: list[str] | None, command: str | None, command_voices: list[str] | None
) -> "list[Voice]":
    from wakeword_tools import voices
    from wakeword_tools.command import command_voices as voices_of_command

    named = engines or ([] if command else [voices.ESPEAK])
    found = voices.english_voices(group.value, engines=named)
    if command:
        # Who speaks is the user's to know: the voices of a command line are of the group that is asked for.
        found += voices_of_command(command, command_voices or ("default",), group=group.value)
    elif command_voices:
        raise typer.BadParameter("--engine-voice needs --engine-command")
    if not found:
        raise SynthesisError(f"expected voices of the group {group.value}, but {', '.join(named)} has none of them")
    return found


def _check_pronounceable(keyword: str) -> None:
    """The embedded engine makes some sound of any text; another may speak another language."""
    from wakeword_tools.phonemes import pronunciations

    pronunciations(keyword)


def _shares(mass: str | None) -> dict[int, float] | None:
    if mass is None:
        return None
    try:
        return {int(distance): float(share) for distance, share in (part.split(":") for part in mass.split(","))}
    except ValueError as error:
        raise typer.BadParameter(f"expected --mass as 1:0.4,2:0.4,3:0.2, got {mass!r}") from error


def _near_negatives(
    keyword: str,
    own: Path | None,
    group: _Voices,
    distinct: int,
    mass: dict[int, float] | None,
    *,
    any_side: bool,
    speakers: "list[Voice]",
) -> "list[Candidate]":
    """What to say: never what training hears where the test is made, and the other way round."""
    from wakeword_tools.confusables import DEFAULT_MASS, choose, confusables, listed, speakable
    from wakeword_tools.texts import read_texts

    if own is not None:
        chosen = listed(keyword, read_texts(own))
        others = [candidate for candidate in chosen if candidate.side != group.value]
        if others and not any_side:
            some = ", ".join(f"{candidate.text!r} ({candidate.side})" for candidate in others[:5])
            raise SynthesisError(
                f"{own}: {len(others)} of {len(chosen)} texts are not for {group.value}: {some}; take them out, or speak "
                "them with --any-side if nothing else will hear them"
            )
        return chosen
    note(f"looking for texts that sound like {keyword!r}")
    pool = speakable(confusables(keyword), speakers)
    return choose(pool, distinct, side=group.value, mass=mass or DEFAULT_MASS)


def _print_list(chosen: "list[Candidate]") -> None:
    """A line for each text and, on the same stream behind ``#``, how many there are at each distance."""
    from wakeword_tools.confusables import histogram

    for candidate in chosen:
        print(f"{candidate.text:<28} # {candidate.distance:.2f}  {candidate.kind:<11} {' '.join(candidate.phones)}")
    counts = histogram(chosen)
    print(f"#\n# {len(chosen)} texts by distance (1 is one typical phoneme edit):")
    for distance, number in counts.items():
        print(f"# {distance:3.1f} {number:4} {'█' * round(_BAR * number / max(counts.values()))}".rstrip())
