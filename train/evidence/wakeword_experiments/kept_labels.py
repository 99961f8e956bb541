"""Labels of kept events against the truth: ``python -m wakeword_experiments.kept_labels AUDIO WORK OUT URI``.

``AUDIO`` has the folders that ``train/evidence/README.md`` names, ``URI`` is a Wyoming speech-to-text. Events are what the
first stages alone of the included words keep.
"""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from wakeword import Detector
from wakeword.audio.audio_file import read_audio
from wakeword.audio.detection import Detection
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.files import write_json
from wakeword.base.types import Array
from wakeword.model.model import load_model
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.sorting import content_of, saved_pairs
from wakeword_serve.labels import label_pair, probably
from wakeword_serve.speech_to_text import SpeechToText
from wakeword_tools.measure.intervals import clopper_pearson

WORDS = {"jarvis": "wake_words", "computer": "wake_words", "marvin": "speech_commands", "seven": "speech_commands"}
"""The included words that have phonemes, and the folder of people who say them."""
CHOSEN_ON = ("jarvis", "computer")
"""The words on which the bounds of ``wakeword_serve.labels`` were chosen; the others are reported."""
TALK = ("speechocean762-1", "librispeech-resemblyzer-1", "speechocean762-3")
NOISES = ("music", "noise", "noise_house")
_EACH = 15
_FAINT = 0.001


class Kept:
    """What a detector keeps."""

    def __init__(self) -> None:
        self.events: list[tuple[Detection, bool]] = []

    def keep(self, detection: Detection, *, near_miss: bool = False) -> None:
        """See ``Keeps``."""
        self.events.append((detection, near_miss))


def kept_in(word: str, sound: Array) -> list[tuple[Detection, bool]]:
    """Wakes and near misses of the first stage of a word in a sound."""
    kept = Kept()
    model = load_model(word).stage_one()
    detector = Detector(model, keep=kept)
    for start in range(0, len(sound), SAMPLE_RATE):
        detector.push(sound[start : start + SAMPLE_RATE])
    detector.flush()
    return kept.events


def words_said(audio: Path, word: str) -> Iterator[tuple[str, Array]]:
    """Recordings of the word, alone or with talk of another person after it."""
    random = np.random.default_rng(1)
    talk = read_audio(sorted((audio / "long_speech").glob("*.opus"))[0])
    for number, path in enumerate(random.permutation(sorted((audio / WORDS[word] / word).glob("*.flac")))[:_EACH]):
        said = read_audio(path)
        after = np.zeros(3 * SAMPLE_RATE, np.float32)
        if number % 2:
            start = int(random.integers(len(talk) - 4 * SAMPLE_RATE))
            after = talk[start : start + len(after)]
        sound = np.concatenate([np.zeros(3 * SAMPLE_RATE, np.float32), said, after])
        yield (
            "a word, then talk" if number % 2 else "a word alone",
            (sound + random.normal(0, _FAINT, len(sound))).astype(np.float32),
        )


def make_events(audio: Path, work: Path) -> None:
    """Events of the word, and of speech and noise without it, in a folder each."""
    says = [json.loads(line) for line in (audio / "varied_speech" / "transcripts.jsonl").read_text().splitlines()]
    for word in WORDS:
        for kind, sound in words_said(audio, word):
            for found, near_miss in kept_in(word, sound)[:1]:
                SavedPairs(work / kind, 10**10).save(found, datetime.now(UTC), near_miss=near_miss)
        for name in TALK:
            texts = [(row["start"], row["end"], row.get("text", "")) for row in says if row["file"] == f"{name}.opus"]
            for found, near_miss in kept_in(word, read_audio(audio / "varied_speech" / f"{name}.opus")):
                near = [text for start, end, text in texts if start < found.end + 0.3 and end > found.start - 0.3]
                if all(text and word not in text.lower() for text in near):
                    SavedPairs(work / "speech", 10**10).save(found, datetime.now(UTC), near_miss=near_miss)
        for path in sorted(path for name in NOISES for path in (audio / name).glob("*.opus")):
            for found, near_miss in kept_in(word, read_audio(path)):
                SavedPairs(work / "noise", 10**10).save(found, datetime.now(UTC), near_miss=near_miss)


def label_all(work: Path, uri: str) -> Iterator[dict[str, Any]]:
    """Label what has no label; each event with its truth."""
    speech = SpeechToText(uri, seconds=600.0)
    for folder in sorted(one for one in work.iterdir() if one.is_dir()):
        for pair in saved_pairs(folder):
            if pair.text is None:
                label_pair(pair, speech, lambda phrase: load_model(phrase).second_stage)
            told = {name: content_of(pair.data).get(name) for name in ("keyword", "near_miss", "fit", "text")}
            yield {"kind": folder.name, **told, "probably": probably(told["text"] or "", told["fit"])}


def share_of(rows: list[dict[str, Any]], label: str) -> list[float]:
    """The share of rows with a label, with an interval of 95 %, and how many there are."""
    count = sum(row["probably"] == label for row in rows)
    return [count / len(rows), *clopper_pearson(count, len(rows)), len(rows)]


def measure_labels(audio: Path, work: Path, out: Path, uri: str) -> None:
    """Make the events where there are none, label them, and write what the labels say."""
    if not work.is_dir():
        make_events(audio, work)
    rows = list(label_all(work, uri))
    shares = []
    for kind, chosen_on in sorted({(row["kind"], row["keyword"] in CHOSEN_ON) for row in rows}):
        some = [row for row in rows if row["kind"] == kind and (row["keyword"] in CHOSEN_ON) is chosen_on]
        labels = {label: share_of(some, label) for label in ("yes", "no")}
        shares.append({"kind": kind, "chosen_on": chosen_on, **labels})
    write_json(out, {"shares": shares, "rows": rows})


if __name__ == "__main__":
    measure_labels(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
