"""A minute of free speech in an enrolment: ``python -m wakeword_experiments.known_voice.free_speech AUDIO NETWORK OUT``.

People of whom there is more than takes of the word: other words in English, joined as if they were speech, and sentences
in calls. What to do with the speech was chosen on half of them, and is reported on the others.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.files import write_json
from wakeword.base.types import Array
from wakeword.verify.known_voices import LOOK_AT_VOICE, direction_of
from wakeword_experiments.known_voice.said_words import (
    CONDITIONS,
    KNOWN_FROM,
    SETS,
    TAKES,
    Places,
    SaidWord,
    VoiceTrial,
    clips_of,
    is_reported,
    share,
    voice_of,
)

_MIN_CLIPS, _MAX_TESTED, _MAX_PIECES, _QUIET = 20, 8, 50, 0.01
WAYS = ("takes", "takes and speech", "takes and speech, as alike as the takes", "speech")


@dataclass
class Person:
    """Directions of one voice."""

    takes: list[SaidWord] = field(default_factory=list)
    heard: dict[str, list[Array]] = field(default_factory=lambda: defaultdict(list))
    """Of each take, by condition."""
    speech: list[Array] = field(default_factory=list)


def english(audio: Path, heard: Places, network: Path) -> dict[str, Person]:
    """People of Speech Commands with many clips: the words said most often are the takes, the others the speech."""
    clips = defaultdict(list)
    for clip in clips_of(audio, SETS["English, one sitting"]):
        clips[clip.speaker].append(clip)
    found = {}
    for speaker, own in clips.items():
        if len(own) >= _MIN_CLIPS:
            words = sorted({one.word for one in own}, key=lambda word: (-sum(one.word == word for one in own), word))
            takes = sorted(own, key=lambda one: words.index(one.word))[: TAKES + 1]
            spoken = np.concatenate([read_audio(one.path) for one in own if one not in takes])
            found[speaker] = _person(takes, spoken, heard, network)
    return found


def telephone(audio: Path, heard: Places, network: Path) -> dict[str, Person]:
    """People of calls, with the sentences they said, without the word in them."""
    spoken: dict[str, list[Array]] = defaultdict(list)
    for line in (audio / "telephone/sentences/index.jsonl").read_text().splitlines():
        row = json.loads(line)
        samples = read_audio(audio / "telephone/sentences" / row["file"])
        begin, end = (round(SAMPLE_RATE * row[name]) for name in ("start", "end"))
        spoken[row["speaker"]] += [samples[: max(0, begin - 1_600)], samples[end + 1_600 :]]
    clips = defaultdict(list)
    for clip in clips_of(audio, SETS["telephone"]):
        clips[clip.speaker].append(clip)
    return {
        speaker: _person(own, np.concatenate(spoken[speaker]), heard, network)
        for speaker, own in clips.items()
        if len(own) > 4 and speaker in spoken
    }


def _person(takes: Sequence[SaidWord], speech: Array, heard: Places, network: Path) -> Person:
    person = Person(list(takes))
    for clip in takes:
        samples = read_audio(clip.path)
        samples = np.pad(samples, max(0, SAMPLE_RATE - len(samples)) // 2)
        for condition in CONDITIONS:
            person.heard[condition].append(direction_of(network, heard.at(condition, samples, clip.path.stem)))
    person.speech = [direction_of(network, one) for one in pieces_of(speech)[:_MAX_PIECES]]
    return person


def pieces_of(speech: Array) -> list[Array]:
    """``(n,)`` float32 at 16 kHz, cut into looks at a voice; without those that are more than 20 dB below the loudest."""
    pieces = [speech[at : at + LOOK_AT_VOICE] for at in range(0, len(speech) - LOOK_AT_VOICE + 1, LOOK_AT_VOICE)]
    powers = [float(np.square(piece).mean()) for piece in pieces]
    return [piece for piece, power in zip(pieces, powers, strict=True) if power > _QUIET * max(powers)]


def enrolments(takes: Sequence[Array], speech: Sequence[Array]) -> dict[str, tuple[Array, float]]:
    """The voice by each of ``WAYS``."""
    both = voice_of([*takes, *speech])
    rest = [*speech, *takes]
    alike = np.mean([one @ (total := np.sum(rest, axis=0) - one) / np.linalg.norm(total) for one in takes])
    return dict(zip(WAYS, (voice_of(takes), both, (both[0], float(alike)), voice_of(speech)), strict=True))


def trials(people: Mapping[str, Person]) -> dict[str, tuple[list[VoiceTrial], list[VoiceTrial]]]:
    """Own takes that were not enrolled, and takes of strangers, by each way."""
    found: dict[str, tuple[list[VoiceTrial], list[VoiceTrial]]] = {way: ([], []) for way in WAYS}
    for name, person in people.items():
        if len(person.speech) < 3:
            continue
        for number in range(min(_MAX_TESTED, len(person.takes))):
            takes = [one for at, one in enumerate(person.heard[CONDITIONS[0]]) if at != number]
            for way, (direction, alike) in enrolments(takes, person.speech).items():
                for condition in CONDITIONS:
                    near = float(person.heard[condition][number] @ direction) - alike
                    found[way][0].append(VoiceTrial(name, condition, near))
                    found[way][1].extend(
                        VoiceTrial(name, condition, float(one @ direction) - alike)
                        for other, some in people.items()
                        if other != name and number == 0
                        for one in some.heard[condition][:_MAX_TESTED]
                    )
    return found


def report(people: Mapping[str, Person]) -> dict[str, Any]:
    """What each way refuses, and its equal error."""
    found: dict[str, Any] = {
        "people": len(people),
        "pieces": float(np.mean([len(one.speech) for one in people.values()])),
    }
    for way, (own, strangers) in trials(people).items():
        found[way] = {}
        for condition in CONDITIONS:
            mine = [one for one in own if one.condition == condition]
            others = [one for one in strangers if one.condition == condition]
            nears, mines = np.sort([one.near for one in others]), np.sort([one.near for one in mine])
            cuts = np.unique(np.concatenate([nears, mines]))
            wrong, passing = np.searchsorted(mines, cuts) / len(mines), 1 - np.searchsorted(nears, cuts) / len(nears)
            found[way][condition] = {
                "equal_error": float((wrong + passing)[np.argmin(np.abs(wrong - passing))] / 2),
                "own_refused": share(mine, lambda one: one.near < KNOWN_FROM),
                "strangers_refused": share(others, lambda one: one.near < KNOWN_FROM),
                "own_refused_at_95": float(np.mean(mines < np.quantile(nears, 0.95))),
            }
    return found


def measure_free_speech(audio: Path, network: Path, out: Path) -> None:
    """Measure and write the figures."""
    heard, record = Places.of(audio), {}
    for name, people_of in (("telephone", telephone), ("English, one sitting", english)):
        people = people_of(audio, heard, network)
        for half, wanted in (("chosen on", False), ("reported", True)):
            record[f"{name}, {half}"] = report({one: its for one, its in people.items() if is_reported(one) is wanted})
            write_json(out, record)


if __name__ == "__main__":
    measure_free_speech(*map(Path, sys.argv[1:4]))
