"""The near negatives for ``wakeword synth``: generated, or the user's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from wakeword.base.errors import SynthesisError
from wakeword.base.text import counted
from wakeword.cli.console import note
from wakeword_tools.cli.synth import TextOptions
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split
from wakeword_tools.texts.candidates import DEFAULT_MASS, Candidate, choose_texts, histogram, speakable
from wakeword_tools.texts.confusables import confusables, listed
from wakeword_tools.texts.lists import read_texts

_BAR = 40
"""Characters of the longest bar of a histogram."""

SplitTexts = dict[Split, list[Candidate]]
"""The texts of each split; a split without any is left out."""


def near_negatives(
    keyword: str, options: TextOptions, shares: Mapping[Split, float], voices: Mapping[Split, Sequence[Voice]]
) -> SplitTexts:
    """The near negatives of each split in ``shares``."""
    if options.texts is not None:
        return _own(keyword, options.texts, list(shares), any_split=options.any_side)
    mass = _distance_shares(options.mass)
    note(f"looking for texts that sound like {keyword!r}")
    pool = confusables(keyword)
    return {
        split: choose_texts(speakable(pool, voices[split]), number, split=split, mass=mass)
        for split, number in numbers_of("--distinct", options.distinct, shares).items()
    }


def _distance_shares(mass: str | None) -> Mapping[int, float]:
    """The value of ``--mass``, ``1:0.4,2:0.4,3:0.2``, as numbers. Raises ``typer.BadParameter`` if it has another form."""
    if mass is None:
        return DEFAULT_MASS
    try:
        parts = (part.split(":") for part in mass.split(","))
        return {int(distance): float(share) for distance, share in parts}
    except ValueError as error:
        raise typer.BadParameter(f"expected --mass as 1:0.4,2:0.4,3:0.2, got {mass!r}") from error


def _own(keyword: str, path: Path, splits: Sequence[Split], *, any_split: bool) -> SplitTexts:
    """The user's texts of each split: a text of the training split never goes into the test split, or the reverse."""
    texts = listed(keyword, read_texts(path))
    if any_split:
        return {split: texts for split in splits if texts}
    by_split = {split: [text for text in texts if text.split == split] for split in splits}
    others = [text for text in texts if text.split not in by_split]
    if others:
        some = ", ".join(f"{text.text!r} ({text.split})" for text in others[:5])
        raise SynthesisError(
            f"{path}: {len(others)} of {len(texts)} texts are not for {', '.join(splits)}: {some}; take them out, or "
            "speak them with --any-side if no other set will use them"
        )
    for split in (split for split, own in by_split.items() if not own):
        note(f"{path}: no text is for {split}")
    return {split: own for split, own in by_split.items() if own}


def numbers_of(option: str, count: int, shares: Mapping[Split, float]) -> dict[Split, int]:
    """The share of ``count`` for each split; a split that gets none is left out, with a note that names ``option``."""
    whole = sum(shares.values())
    ends = [round(count * sum(list(shares.values())[:index]) / whole) for index in range(len(shares) + 1)]
    numbers = {}
    for split, start, end in zip(shares, ends[:-1], ends[1:], strict=True):
        if end > start:
            numbers[split] = end - start
        else:
            note(f"{option} {count} leaves nothing for {split}; give more for a set of every split")
    return numbers


def print_texts(texts: SplitTexts) -> None:
    """Print a line for each text and, after ``#``, the number of texts at each distance."""
    chosen = list(dict.fromkeys(candidate for own in texts.values() for candidate in own))
    for candidate in chosen:
        print(f"{candidate.text:<28} # {candidate.distance:.2f}  {candidate.origin:<11} {' '.join(candidate.phones)}")
    counts = histogram(chosen)
    print(f"#\n# {counted(len(chosen), 'text')} by distance (1 is one typical phoneme edit):")
    for distance, number in counts.items():
        print(f"# {distance:3.1f} {number:4} {'█' * round(_BAR * number / max(counts.values()))}".rstrip())
