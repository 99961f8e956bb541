"""How sure the voices of recordings without names are: the same grouping of recordings whose speakers are known.

``voices.json`` deals Picovoice's wake words by 50 groups of speaker embeddings. Here as many people of Speech Commands,
with as many recordings, are grouped the same way, and the groups compared with the people.
"""

from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from wakeword.audio.audio_file import read_audio
from wakeword.base.errors import DataError
from wakeword.base.events import Line
from wakeword.base.types import Array
from wakeword_experiments.figures_report import Row, markdown_table, mean_and_spread, write_results
from wakeword_experiments.packaged import version_of
from wakeword_experiments.speaker_voice import RESEMBLYZER, SpeakerEncoder
from wakeword_tools.kinds import Kind
from wakeword_train.data.clips import read_speech_commands

PEOPLE, CLIPS = 50, 8
"""People in a draw, and recordings of each: the 413 wake words are of some fifty people."""
FEWEST = 4
"""Recordings that a person needs, to be drawn."""
SHARES = (0.55, 0.15, 0.3)
"""Of training, validation and test, as the recipes deal voices."""


def group_voices(directions: Array, groups: int) -> NDArray[np.int64]:
    """Complete linkage by cosine: ``(n, d)`` -> the group of each, ``(n,)`` from 0."""
    tree = linkage(directions, "complete", metric="cosine")
    return np.asarray(fcluster(tree, groups, "maxclust"), np.int64) - 1


def compare(groups: NDArray[np.int64], people: NDArray[np.int64], random: np.random.Generator) -> dict[str, float]:
    """How groups agree with people, both ``(n,)`` from 0, in per cent.

    ``purity``: recordings of the person who has most in their group. ``together``: recordings in the group where their
    person has most. ``leaked``: recordings of the test whose person is in training too, if groups are dealt as if they were
    people.
    """
    table = np.zeros((groups.max() + 1, people.max() + 1), np.int64)
    np.add.at(table, (groups, people), 1)
    order = random.permutation(len(table))
    ends = np.round(np.cumsum(SHARES) * len(table)).astype(int)
    train, test = table[order[: ends[0]]].sum(axis=0), table[order[ends[1] :]].sum(axis=0)
    return {
        "purity": 100 * table.max(axis=1).sum() / len(groups),
        "together": 100 * table.max(axis=0).sum() / len(groups),
        "leaked": 100 * float(test[train > 0].sum() / max(1, test.sum())),
    }


def measure_groups(speech_commands: Path, draws: int, report: Line) -> list[Row]:
    """A row for each draw of people."""
    recordings = _recordings(speech_commands)
    if len(recordings) < PEOPLE:
        raise DataError(
            f"{speech_commands}: expected {PEOPLE} people with {FEWEST} or more recordings, found {len(recordings)}"
        )
    encoder = SpeakerEncoder.pretrained()
    directions: dict[Path, Array] = {}
    rows: list[Row] = []
    for seed in range(draws):
        random = np.random.default_rng(seed)
        names = random.permutation(sorted(recordings))[:PEOPLE]
        paths = [[recordings[name][i] for i in _few(len(recordings[name]), random)] for name in names]
        flat = [path for some in paths for path in some]
        directions |= {path: encoder.embed(read_audio(path)) for path in flat if path not in directions}
        people = np.repeat(np.arange(PEOPLE), [len(some) for some in paths])
        groups = group_voices(np.stack([directions[path] for path in flat]), PEOPLE)
        by_file = compare(np.arange(len(flat)), people, random)
        figures = compare(groups, people, random)
        rows.append({"seed": seed, "clips": len(flat), **figures, "leaked_by_file": by_file["leaked"]})
        report(f"draw {seed}: {len(flat)} recordings, purity {figures['purity']:.1f}, leaked {figures['leaked']:.1f}")
    return rows


def _few(count: int, random: np.random.Generator) -> list[int]:
    return [int(index) for index in random.permutation(count)[:CLIPS]]


def _recordings(root: Path) -> dict[str, list[Path]]:
    """The recordings of each person who has enough of them."""
    found: dict[str, list[Path]] = {}
    for clip in read_speech_commands(root, ""):
        if clip.kind is not Kind.NOISE:
            found.setdefault(clip.speaker, []).append(clip.path)
    return {name: paths for name, paths in found.items() if len(paths) >= FEWEST}


def voice_groups_page(
    out: Path, speech_commands: Path, seeds: Sequence[int], *, command: str, report: Line
) -> list[Path]:
    """Measure, and write the record and the page."""
    began = process_time()
    rows = measure_groups(speech_commands, len(seeds), report)

    def shown(field: str) -> str:
        mean, spread = mean_and_spread(row[field] for row in rows)
        return f"{mean:.0f} ± {spread:.0f} %"

    lines: list[list[Any]] = [
        ["recordings of the person who has most in their group", shown("purity")],
        ["recordings in the group where their person has most", shown("together")],
        ["test recordings whose person is in training, dealt by these groups", shown("leaked")],
        ["the same if every file is taken to be a person", shown("leaked_by_file")],
    ]
    body = [
        "The recordings of alexa, computer and jarvis have no names of speakers: they are dealt by 50 groups of speaker "
        "embeddings (Resemblyzer, complete linkage). This is what the same grouping does where the speakers are known: "
        f"{PEOPLE} people of Speech Commands, {FEWEST} to {CLIPS} of each, {rows[0]['clips']} in the first draw. "
        f"Mean ± standard deviation over {len(rows)} draws.",
        markdown_table(["", "share"], lines),
        "Speech Commands are single words of one second; the wake words are up to three seconds, which helps.",
        "Resemblyzer is Apache 2.0: `pip install --no-deps Resemblyzer`.",
    ]
    settings = {"encoder": version_of(RESEMBLYZER), "people": PEOPLE, "shares": SHARES, "seeds": list(seeds)}
    return write_results(
        out,
        "voice-groups",
        title="Groups of voices and people",
        command=command,
        settings=settings,
        rows=rows,
        body=body,
        seconds=process_time() - began,
    )
