"""Makes the page of texts: ``python -m scripts.make_near_negatives PAGE.md [SET...]``.

The clips of the sets, made by ``wakeword synth`` with different engines, are checked for speech; ``--speed N`` measures
the time that two processes need for ``N`` clips.
"""

import argparse
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from scripts.clip_quality import table
from wakeword.base.files import write_whole
from wakeword_tools.clips.plan import ClipPart
from wakeword_tools.clips.synthesize import synthesize
from wakeword_tools.engines.espeak import ENGLISH_ACCENTS
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.kinds import Split
from wakeword_tools.texts.candidates import Candidate, choose_texts
from wakeword_tools.texts.confusables import confusables, read_alike
from wakeword_tools.texts.phonemes import pronunciations
from wakeword_tools.texts.sounds import sound_keys

_KEYWORDS = ("marvin", "seven", "alexa", "hey computer", "Zorvella")
_TEXTS, _SAMPLES, _BAR = 300, 10, 40

_HEAD = f"""# Texts that sound like a keyword, by keyword

The {_TEXTS} texts that each of five keywords gets for all splits together, as
[near negatives](../near-negatives.md) explains them: the number of texts at each distance,
and {_SAMPLES} of them from near to far.
"""


def section(keyword: str) -> str:
    """The section of one keyword."""
    pool = confusables(keyword)
    chosen = choose_texts(pool, _TEXTS)
    origins = Counter(candidate.origin.value for candidate in chosen)
    splits = Counter[str](candidate.split for candidate in pool)
    counts = histogram(chosen)
    bars = [
        f"{at:4.1f}  {number:3}  {'█' * round(_BAR * number / max(counts.values()))}" for at, number in counts.items()
    ]
    samples = [chosen[index] for index in np.linspace(0, len(chosen) - 1, _SAMPLES).round().astype(int)]
    listed = [f"| {one.text} | {' '.join(one.phones)} | {one.distance:.2f} | {one.origin.value} |" for one in samples]
    return "\n".join(
        [
            f"## {keyword}",
            "",
            f"`{' '.join(pronunciations(keyword)[0])}`. {len(pool)} texts found ({_counted(splits)}); of the {len(chosen)} "
            f"chosen, {_counted(origins)}; homophones among them: {homophones(keyword, chosen)}.",
            "",
            "```",
            *(bar.rstrip() for bar in bars),
            "```",
            "",
            "| text | phonemes | distance | kind |",
            "|---|---|---|---|",
            *listed,
            "",
        ]
    )


def histogram(candidates: Sequence[Candidate]) -> dict[float, int]:
    """Number of candidates by distance, in half edits: middle of the bin -> number."""
    middles = [round(candidate.distance * 2) / 2 for candidate in candidates]
    return {middle: middles.count(middle) for middle in np.arange(min(middles), max(middles) + 0.25, 0.5).tolist()}


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items(), key=lambda one: -one[1]))


def homophones(keyword: str, chosen: list[Candidate]) -> int:
    """The number of texts that sound like the keyword, by the dictionary's phonemes or in any accent of espeak-ng."""
    same = sound_keys(*pronunciations(keyword))
    found = {candidate.text for candidate in chosen if sound_keys(candidate.phones) & same}
    plain = [candidate.text for candidate in chosen if "[[" not in candidate.text]
    for accent in ENGLISH_ACCENTS:
        found |= read_alike(keyword, plain, accent)
    return len(found)


def speed(count: int) -> str:
    """A sentence with the time that two processes need for ``count`` clips of near negatives, including writing them."""
    texts = [candidate.text for candidate in choose_texts(confusables("marvin"), _TEXTS, split=Split.TRAIN)]
    with tempfile.TemporaryDirectory() as folder:
        began, before = time.perf_counter(), _seconds_of_children()
        synthesize([ClipPart(texts, english_voices(Split.TRAIN), count, 0)], Path(folder) / "set", jobs=2)
        seconds, of_cpu = time.perf_counter() - began, _seconds_of_children() - before
    return (
        f"{count:,} clips with the embedded engine, two processes, files included: {seconds:.0f} s, of which the two "
        f"processes computed {of_cpu:.0f} s together.\n"
    )


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("sets", type=Path, nargs="*")
    parser.add_argument("--speed", type=int, metavar="N")
    arguments = parser.parse_args()
    parts = [_HEAD, *map(section, _KEYWORDS)]
    if arguments.sets:
        parts.append(
            "## Is it speech?\n\n[Silero's voice activity detector](https://github.com/snakers4/silero-vad) on clips of "
            "each engine: whether it detects speech, and whether that is at least half as long as the words and at most a "
            f"quarter of a second longer.\n\n{table(arguments.sets)}\n"
        )
    if arguments.speed:
        parts.append(f"## How fast\n\n{speed(arguments.speed)}")
    parts.append("This page is made by `python -m scripts.make_near_negatives PAGE [SET...] [--speed N]`.\n")
    write_whole(arguments.page, "\n".join(parts).encode())


if __name__ == "__main__":
    main()
