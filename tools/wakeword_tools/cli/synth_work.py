"""The work of ``wakeword synth``: texts and voices to a folder of clips, or a list of the texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from wakeword.base.errors import SynthesisError
from wakeword.base.files import require_absent
from wakeword.base.text import counted
from wakeword.batch.jobs.work import cores
from wakeword.cli.console import note
from wakeword.cli.job_options import how_to_go_on
from wakeword.cli.steps import steps_shown
from wakeword_tools.cli.synth_options import SynthOptions, TextOptions
from wakeword_tools.clips.synthesize import ClipPart, synthesize
from wakeword_tools.engines.espeak import ESPEAK
from wakeword_tools.engines.languages import require_unicode
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split
from wakeword_tools.texts.candidates import Candidate, choose_texts, histogram, speakable
from wakeword_tools.texts.confusables import confusables, listed
from wakeword_tools.texts.phonemes import pronunciations
from wakeword_tools.texts.splits import read_texts

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
    require_unicode(keyword)
    if not keyword.strip():
        raise SynthesisError("expected a keyword, got an empty one")
    out = None if options.list_texts else options.out
    if out is not None:
        require_absent(out)
    voices = _voices(options.engine or [ESPEAK], list(shares))
    if not options.engine:
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


def _voices(engines: Sequence[str], splits: Sequence[Split]) -> dict[Split, list[Voice]]:
    """The voices of each split. Raises ``SynthesisError`` if one has none."""
    voices = {split: english_voices(split, engines=engines) for split in splits}
    for split, found in voices.items():
        if not found:
            raise SynthesisError(f"expected a voice of {split}, but {', '.join(engines)} has none; add --engine")
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
            distances={text: distance for own in distances.values() for text, distance in own.items()},
        )
        for split, number in numbers_of("--count", count, shares).items()
    ]
    with steps_shown(f"speak {counted(count, 'clip')}") as steps, how_to_go_on(lambda: steps.done > 0):
        return synthesize(
            parts,
            out,
            jobs=options.jobs or min(cores(), 1 + count // _CLIPS_WORTH_A_PROCESS),
            resume=options.resume,
            skip=True,
            events=steps,
        )


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
    note(f"looking for texts that sound like {keyword!r}")
    pool = confusables(keyword)
    return {
        split: choose_texts(speakable(pool, voices[split]), number, split=split)
        for split, number in numbers_of("--distinct", options.distinct, shares).items()
    }


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
