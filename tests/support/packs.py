"""Packs of speech features for tests: made of tones, in a second or two."""

import json
from pathlib import Path

import numpy as np
import soundfile

from scripts.make_pack import chosen_turns, make_pack
from support.small_world import RATE, tones


def write_spoken(root: Path, *, speakers: int = 6, seconds: float = 8.0) -> Path:
    """Long recordings of tones with transcripts that name speakers; in every second utterance "updown" is said."""
    random = np.random.default_rng(3)
    root.mkdir(parents=True)
    lines = []
    for speaker in range(speakers):
        name = f"talk-{speaker}.wav"
        pieces = [tones((float(random.choice([400.0, 2_000.0])),), random) for _ in range(round(seconds / 1.2))]
        soundfile.write(root / name, np.concatenate(pieces), RATE)
        for start, text in ((0.0, "something else"), (seconds - 2.0, "say updown now")):
            line = {"file": name, "start": start, "end": start + 1.5, "text": text, "speaker": f"p{speaker}"}
            lines.append(json.dumps(line))
    (root / "transcripts.jsonl").write_text("\n".join(lines))
    return root


def write_small_pack(folder: Path, *, share: float = 1.0) -> Path:
    """A pack of the recordings of ``write_spoken``."""
    path = folder / "small.pack"
    make_pack(chosen_turns(write_spoken(folder / "spoken"), ["talk-*"], share), path, licence="CC0-1.0")
    return path
