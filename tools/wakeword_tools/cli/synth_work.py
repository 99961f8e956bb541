"""The work of ``wakeword synth``: texts and voices to a folder of clips, or a list of the texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import typer

from wakeword.base.errors import SynthesisError
from wakeword.base.files import require_absent
from wakeword.base.text import counted
from wakeword.batch.jobs.choice import check_choice
from wakeword.batch.jobs.job_plan import cores
from wakeword.cli.console import Shown, progress
from wakeword.cli.job_options import JobSettings, how_to_go_on
from wakeword_tools.cli.speakers import EngineSettings, voices_of
from wakeword_tools.cli.texts import TextSettings, near_negatives, numbers_of, print_texts
from wakeword_tools.clips.synthesize import ClipPart, synthesize
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split
from wakeword_tools.texts.phonemes import pronunciations

_MAX_PAUSE = 0.3
"""Longest pause before and after the speech of a clip, in seconds."""
_CLIPS_WORTH_A_PROCESS = 500

Distances = dict[Split, dict[str, float]]
"""The texts of each split, with their distances from the keyword."""


@dataclass(frozen=True)
class SetSettings:
    """The set to make, or only to list."""

    keyword: str
    out: Path | None
    """A new folder; ``None`` if the texts are only listed."""
    shares: Mapping[Split, float]
    """Split of the voices -> share of the clips."""
    count: int
    """Number of clips."""
    seed: int
    carriers: Sequence[str] | None
    """Words around each text, ``so {} it is``."""
    lists: bool
    """Print the texts, and make no clips."""
    jobs: JobSettings = field(default_factory=JobSettings)


def synthesise_set(settings: SetSettings, texts: TextSettings | None, engines: EngineSettings) -> None:
    """Speak near negatives, or the keyword if ``texts`` is ``None``, and print the new folder; or only print the texts.

    Raises ``typer.BadParameter`` and ``ConfigError`` for options that exclude each other and a folder that exists, and
    ``SynthesisError`` for texts that cannot be spoken, before anything is written.
    """
    keyword = settings.keyword
    check_choice(jobs=settings.jobs.jobs, ray=settings.jobs.ray)
    if not keyword.strip():
        raise SynthesisError("expected a keyword, got an empty one")
    if not settings.lists:
        if settings.out is None:
            raise typer.BadParameter("give --out, the folder to make, or --list")
        require_absent(settings.out)
    voices = voices_of(engines, list(settings.shares))
    if engines.is_espeak:
        # The embedded engine makes some sound for any text; other engines may speak another language.
        pronunciations(keyword)
    distances: Distances = {split: {keyword: 0.0} for split in voices}
    if texts is not None:
        chosen = near_negatives(keyword, texts, settings.shares, voices)
        distances = {split: {one.text: one.distance for one in own} for split, own in chosen.items()}
        if settings.lists:
            print_texts(chosen)
    elif settings.lists:
        print(keyword)
    if settings.out is not None and not settings.lists:
        print(_speak(settings, settings.out, distances, voices))


def _speak(settings: SetSettings, out: Path, distances: Distances, voices: Mapping[Split, Sequence[Voice]]) -> Path:
    """Make the set, with progress on stderr. Returns its folder."""
    count = settings.count
    shares = {split: settings.shares[split] for split in distances}
    parts = [
        ClipPart(
            list(distances[split]),
            voices[split],
            number,
            settings.seed,
            _MAX_PAUSE,
            settings.carriers,
            distances={text: distance for own in distances.values() for text, distance in own.items()},
        )
        for split, number in numbers_of("--count", count, shares).items()
    ]
    shown = Shown()
    with how_to_go_on(lambda: shown.done > 0), progress(f"speak {counted(count, 'clip')}", 1.0) as shown.update:
        return synthesize(
            parts,
            out,
            jobs=settings.jobs.jobs or min(cores(), 1 + count // _CLIPS_WORTH_A_PROCESS),
            ray=settings.jobs.ray,
            resume=settings.jobs.resume,
            skip=True,
            events=shown,
        )
