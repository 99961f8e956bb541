"""``wakeword synth``: clips of a keyword, or of words that sound like it, in many voices."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.console import progress
from wakeword.errors import SynthesisError

_MAX_PAUSE = 0.3
_CLIPS_WORTH_A_PROCESS = 500


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
        bool, typer.Option("--near-negatives/--positives", help="Words that sound like the keyword, or the keyword.")
    ] = False,
    count: Annotated[int, typer.Option("--count", metavar="N", min=1, help="How many clips.")] = 600,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The same seed makes the same clips.")] = 0,
    voices: Annotated[
        _Voices,
        typer.Option("--voices", help="Who speaks, and which texts; evaluation sets want test: never trained on."),
    ] = _Voices.TRAIN,
    texts: Annotated[
        Path | None, typer.Option("--texts", metavar="FILE", help="Your own near negatives, one a line.")
    ] = None,
    list_texts: Annotated[bool, typer.Option("--list", help="Print the texts and make no clips.")] = False,
) -> None:
    """Synthesise a keyword, or words that sound like it, in many voices."""
    spoken = _texts(keyword, near_negatives=near_negatives, own=texts, group=voices)
    if list_texts:
        print("\n".join(spoken))
        return
    if out is None:
        raise typer.BadParameter("give --out, the folder to make, or --list")
    from wakeword_tools.synthesize import synthesize
    from wakeword_tools.voices import english_voices

    with progress(f"speak {count} clips", count) as update:
        folder = synthesize(
            spoken,
            english_voices(voices.value),
            out,
            count=count,
            seed=seed,
            max_pause=_MAX_PAUSE,
            jobs=min(os.cpu_count() or 1, 1 + count // _CLIPS_WORTH_A_PROCESS),
            progress=update,
        )
    print(folder)


def _texts(keyword: str, *, near_negatives: bool, own: Path | None, group: _Voices) -> list[str]:
    """What to say. Shipped near negatives of the test group are not those that training may hear."""
    from wakeword.model import assets_folder
    from wakeword_tools.texts import read_texts, texts_without

    if not keyword.strip():
        raise SynthesisError("expected a keyword, got an empty one")
    if not near_negatives:
        if own is not None:
            raise typer.BadParameter("--texts needs --near-negatives; positives say the keyword")
        return [keyword]
    name = keyword.strip().lower().replace(" ", "_") + ("" if group is _Voices.TEST else "-train")
    path = own or assets_folder() / "phrases" / f"{name}.txt"
    if own is None and not path.is_file():
        raise SynthesisError(f"no near negatives of {keyword!r} are shipped; give your own, one a line, with --texts")
    spoken = read_texts(path)
    if texts_without(keyword, spoken) != spoken:
        raise SynthesisError(f"{path}: expected words other than the keyword, found {keyword!r} among them")
    return spoken
