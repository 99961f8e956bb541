"""A model that fires at a name of its house, fine-tuned on what the house kept: false wakes and recall before and after."""

import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.signal import fftconvolve

from wakeword import Detector, Keeper, Model
from wakeword.audio.audio_file import read_audio
from wakeword.audio.detection import KEPT_AFTER
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.model.model import read_model
from wakeword.saving.sorting import Answer, file_pair, saved_pairs
from wakeword_experiments.figures_report import Row, markdown_table, write_results
from wakeword_tools.clips.manifest import read_manifest
from wakeword_tools.measure.scores import clip_score, events_at, stream_scores

WORD, NAME = "marvin", "Marlin"
WAYS = ("far", "after talk", "in talk")
"""How people say them."""
_HEARD = 12
"""How often each voice of the house says the name in the nights, and again when it is judged."""
_HOUSE, _FAMILY = 3, 3
"""Voices of the house that say the name, and people who say the word."""
_SAID = 5
"""How often each of these says it."""
_LOST = 0.01
"""Share of the word that may be lost."""
_TALK = "speechocean762"


def run_kept_sounds(
    names: Path,
    audio: Path,
    work: Path,
    out: Path,
    *,
    seed: int,
    command: str,
    report: Callable[[str], None],
) -> None:
    """Let the included model of ``WORD`` keep what wakes it where a ``NAME`` lives, and fine-tune it on that.

    ``names``: clips of the name by synthetic voices, as ``wakeword synth`` writes them.
    """
    started = time.process_time()
    random = np.random.default_rng(seed)
    shutil.rmtree(work, ignore_errors=True)
    kept, room = work / "kept", work / "room"
    room.mkdir(parents=True)
    talk = sorted((audio / "varied_speech").glob(f"{_TALK}*.opus"))
    for path in (*talk[:2], audio / "varied_speech" / "transcripts.jsonl"):
        shutil.copy(path, room)
    model_file = Path("assets/models") / f"{WORD}.onnx"
    old = read_model(model_file)
    threshold = old.card.point().threshold
    around = _Around(audio, random)
    at_home, elsewhere = _voices(names, random)
    family, strangers = _people(audio, random)
    nights = [around.said(one) for one in at_home for _ in range(_HEARD)]
    counts = _keep(old, threshold, nights, [around.said(one) for one in family for _ in range(_SAID)], kept)
    report(f"kept {counts}: {time.process_time() - started:.0f} s")
    took = _fine_tuned(model_file, kept, room, work)
    report(f"fine-tuned: {took}")
    sounds = {
        "the name, by the voices of the house": [around.said(one) for one in at_home for _ in range(_HEARD)],
        "the name, by other voices": [around.said(one) for one in elsewhere for _ in range(3)],
        "the word, by strangers": [around.said(one, way) for one in strangers for way in WAYS],
    }
    models = {"before": old, "after": read_model(work / "new.onnx")}
    rows = _measured(models, sounds, "the word, by strangers", read_audio(talk[2]))
    settings = {"word": WORD, "seed": seed, "kept": counts, "clips": {name: len(one) for name, one in sounds.items()}}
    write_results(
        out,
        "kept-sounds",
        title="A model that fires at a name of its house, fine-tuned on what it kept",
        command=command,
        settings={**settings, **took},
        rows=rows,
        body=[_table(rows), _told(counts, took)],
        seconds=time.process_time() - started,
    )


def _measured(
    models: Mapping[str, Model], sounds: Mapping[str, Sequence[Array]], strangers: str, speech: Array
) -> list[Row]:
    """How often each model wakes, at its own threshold and at those with as much recall as the first one's at its own."""
    rows: list[Row] = []
    recall = 0.0
    for which, model in models.items():
        scores = {name: np.array([clip_score(model, one) for one in some]) for name, some in sounds.items()}
        stream = stream_scores(model, speech)
        words = np.sort(scores[strangers])[::-1]
        own = model.card.point().threshold
        recall = recall or float(np.mean(words >= own))
        points = {"its own": own}
        for lost in (0.0, _LOST):
            found = int(np.ceil((recall - lost) * len(words) - 1e-9))
            points[f"at most {100 * lost:.0f} points fewer"] = float(words[found - 1])
        for point, at in points.items():
            shares = {name: float(np.mean(some >= at)) for name, some in scores.items()}
            row = {"model": which, "point": point, "threshold": at, "false_wakes": events_at([stream], at)}
            rows.append({**row, "hours": len(speech) / SAMPLE_RATE / 3600, "shares": shares})
    return rows


class _Around:
    """What is around a word in a house: rooms, and the talk of others."""

    def __init__(self, audio: Path, random: np.random.Generator) -> None:
        self._random = random
        self._rooms = [read_audio(path) for path in sorted((audio / "rooms").glob("*.flac"))]
        self._talk = [
            piece
            for path in sorted((audio / "long_speech").glob("*.opus"))
            for piece in np.array_split(read_audio(path)[100 * SAMPLE_RATE : 300 * SAMPLE_RATE], 80)
        ]

    def said(self, word: Array, way: str | None = None) -> Array:
        """A recording, said in one of ``WAYS``, ``(n,)``."""
        chosen = way or str(self._random.choice(WAYS))
        return _said(word, chosen, self._rooms, self._talk, self._random)


def _voices(names: Path, random: np.random.Generator) -> tuple[list[Array], list[Array]]:
    """A clip of each voice that says the name at home, and one of each other voice."""
    clips = {row.source: names / row.file for row in read_manifest(names / "manifest.jsonl")}
    sounds = [read_audio(clips[source]) for source in random.permutation(sorted(clips))]
    return sounds[:_HOUSE], sounds[_HOUSE:]


def _people(audio: Path, random: np.random.Generator) -> tuple[list[Array], list[Array]]:
    """Recordings of the word by those who live in the house, and by all others."""
    files = sorted((audio / "speech_commands" / WORD).glob("*.flac"))
    speakers = random.permutation(sorted({path.name.partition("_")[0] for path in files}))
    home = set(speakers[:_FAMILY].tolist())
    own = [read_audio(path) for path in files if path.name.partition("_")[0] in home]
    return own, [read_audio(path) for path in files if path.name.partition("_")[0] not in home]


def _said(word: Array, way: str, rooms: Sequence[Array], talk: Sequence[Array], random: np.random.Generator) -> Array:
    """A recording of the word in a room, after talk or amid it, ``(n,)``."""
    sound = np.concatenate([np.zeros(3 * SAMPLE_RATE // 2), word, np.zeros(KEPT_AFTER)]).astype(np.float32)
    level = float(np.sqrt(np.mean(word**2))) + 1e-6
    other = np.resize(talk[int(random.integers(len(talk)))], len(sound))
    other = other * level / (float(np.sqrt(np.mean(other**2))) + 1e-6)
    if way == "far":
        far = fftconvolve(sound, rooms[int(random.integers(len(rooms)))])[: len(sound)]
        loudest = float(np.abs(word).max()) / (float(np.abs(far).max()) + 1e-6)
        sound = (far * loudest * 10 ** (-random.uniform(0, 18) / 20)).astype(np.float32)
    elif way == "after talk":
        until = 3 * SAMPLE_RATE // 2 - int(random.uniform(0.03, 0.4) * SAMPLE_RATE)
        sound[:until] += other[:until] * 10 ** (random.uniform(-9, 3) / 20)
        begin = 3 * SAMPLE_RATE // 2 + len(word) + int(random.uniform(0, 0.3) * SAMPLE_RATE)
        sound[begin:] += other[begin:] * 10 ** (random.uniform(-9, 3) / 20)  # what is asked for
    else:
        sound += other * 10 ** (-random.uniform(5, 20) / 20)
    clipped: Array = (sound / max(1.0, float(np.abs(sound).max()))).astype(np.float32)
    return clipped


def _keep(
    model: Model, threshold: float, nights: Sequence[Array], family: Sequence[Array], kept: Path
) -> dict[str, int]:
    """Listen to the name and to the family, and label what woke; how many were."""
    for answer, sounds in ((Answer.NO, nights), (Answer.YES, family)):
        with Keeper(kept) as keeper:
            detector = Detector(model, threshold=threshold, keep=keeper)
            for sound in sounds:
                detector.push(sound)
                detector.flush()
        for pair in saved_pairs(kept):
            file_pair(pair, answer, kept)
    return {one.value: len(saved_pairs(kept / one)) for one in Answer}


def _fine_tuned(model: Path, kept: Path, room: Path, work: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "wakeword", "train", "--from", str(model), "--extend-negatives", str(kept)]
    options = ["--background", str(room), "--out", str(work / "new.onnx"), "--work", str(work / "runs"), "--jobs", "1"]
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": time.monotonic() - begun, "cpu_seconds": cpu}


def _table(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        shares = [f"{100 * share:.0f} %" for share in row["shares"].values()]
        lines.append([row["model"], row["point"], *shares, f"{row['false_wakes'] / row['hours']:.1f}"])
    header = ("model", "threshold", *(f"wakes at {name}" for name in rows[0]["shares"]), "false wakes an hour of talk")
    return markdown_table(header, lines)


def _told(counts: Mapping[str, int], took: Mapping[str, float]) -> str:
    return (
        f"{counts['no']} false wakes and {counts['yes']} words were kept. `wakeword train --from {WORD} "
        f"--extend-negatives KEPT --background ROOM` took {took['cpu_seconds']:.0f} s of CPU time in one process."
    )
