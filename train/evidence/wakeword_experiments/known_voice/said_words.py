"""Who is refused by ``--only``: takes of words by people, as recorded, in noise and in another room."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.signal import fftconvolve

from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.takes.word_region import locate_word
from wakeword.verify.known_voices import direction_of

ROOMS = ("chrome_kitchen", "openair_living_room")
NOISES = (
    *("more/noise/coffee-shop.opus", "more/noise/kitchen.opus", "more/noise/city.opus", "more/noise/train.opus"),
    *("noise_house/arabic_commands_washing_machine.opus", "music/clue-cards_game_60s.opus"),
    "music/data_karissa_hobbs_lets_go_fishin.opus",
)
SETS = {
    "English, one sitting": "speech_commands/*/*.flac",
    "Arabic": "languages/ar/arabic_speech_commands/*/*.flac",
    "Mandarin": "languages/zh/dspspeech20/*/*.flac",
    "telephone": "telephone/words/*/*.flac",
}
CONDITIONS = ("as recorded", "noise at 10 dB", "another room")
DRAWS = 300
KNOWN_FROM, UNKNOWN_BELOW = -0.10, -0.20
TAKES = 10


class SaidWord(NamedTuple):
    """A recording of a word."""

    speaker: str
    word: str
    path: Path


class VoiceTrial(NamedTuple):
    """A word and a voice that was enrolled."""

    person: str
    """The enrolled one."""
    condition: str
    near: float
    """The cosine to the voice, less how like one another its takes are."""
    logit: float = 0.0


def clips_of(audio: Path, pattern: str) -> list[SaidWord]:
    """The clips of a set, each sound once: Speech Commands has some under two names."""
    found: dict[bytes, SaidWord] = {}
    for path in sorted(audio.glob(pattern)):
        if path.parent.name != "_silence_":
            speaker = path.stem.split("_nohash_")[0] if "_nohash_" in path.stem else path.stem.split("_")[0]
            found.setdefault(
                hashlib.sha256(read_audio(path).tobytes()).digest(), SaidWord(speaker, path.parent.name, path)
            )
    return list(found.values())


def is_reported(speaker: str) -> bool:
    """The half of the people on whom nothing was chosen."""
    return hashlib.sha256(f"split{speaker}".encode()).digest()[0] % 2 == 1


@dataclass(frozen=True)
class Places:
    """Makes sounds of other places."""

    noises: Sequence[Array]
    rooms: Sequence[Array]

    @classmethod
    def of(cls, audio: Path) -> "Places":
        """With the noises and rooms of the folder."""
        names = [*(audio / "rooms" / f"{name}.flac" for name in (*ROOMS, "seminar_room_clap"))]
        return cls([read_audio(audio / name) for name in NOISES], [read_audio(name) for name in names])

    def at(self, condition: str, samples: Array, key: str) -> Array:
        """A clip in a condition, the same each time."""
        random = np.random.default_rng(int(hashlib.sha256(f"{condition}{key}".encode()).hexdigest()[:12], 16))
        if condition == "another room":
            return in_room(samples, self.rooms[int(random.integers(len(self.rooms)))])
        return self.noisy(samples, random) if condition == "noise at 10 dB" else samples

    def noisy(self, samples: Array, random: np.random.Generator) -> Array:
        """With noise 10 dB below the word."""
        region, _ = locate_word(samples)
        noise = self.noises[int(random.integers(len(self.noises)))]
        first = random.integers(len(noise) - len(samples))
        piece = noise[first : first + len(samples)]
        power = float(np.square(samples[region.start : region.end]).mean())
        mixed = samples + piece * np.sqrt(power / 10 / (float(np.square(piece).mean()) + 1e-12))
        return np.asarray(mixed, np.float32)


def in_room(samples: Array, response: Array) -> Array:
    """A sound in a room, as loud as before."""
    wet = fftconvolve(samples, response)[32 : 32 + len(samples)]
    return np.asarray(wet / max(1e-9, float(np.abs(wet).max())) * float(np.abs(samples).max()), np.float32)


def voice_of(directions: Sequence[Array]) -> tuple[Array, float]:
    """As ``known_voices.enrolled``."""
    total = np.sum(directions, axis=0)
    alike = np.mean([one @ (total - one) / np.linalg.norm(total - one) for one in directions])
    return total / np.linalg.norm(total), float(alike)


def study_words(clips: Sequence[SaidWord], heard: Places, network: Path) -> tuple[list[VoiceTrial], list[VoiceTrial]]:
    """Own words and words of strangers. A voice is enrolled from up to ten other clips, those of the word first."""
    clips = [clip for clip in clips if is_reported(clip.speaker)]
    directions: dict[str, list[Array]] = defaultdict(list)
    for clip in clips:
        samples = read_audio(clip.path)
        samples = np.pad(samples, max(0, SAMPLE_RATE - len(samples)) // 2)
        for condition in CONDITIONS:
            directions[condition].append(direction_of(network, heard.at(condition, samples, clip.path.stem)))
    random, own, strangers = np.random.default_rng(0), [], []
    seen: set[tuple[str, str]] = set()
    for number, clip in enumerate(clips):
        others = [one for one in range(len(clips)) if clips[one].speaker == clip.speaker and one != number]
        random.shuffle(others)
        others = sorted(others, key=lambda one: clips[one].word != clip.word)[:TAKES]
        if len(others) < 4 or clip.word not in {clips[one].word for one in others}:
            continue
        direction, alike = voice_of([directions["as recorded"][one] for one in others])
        words = [
            one for one in range(len(clips)) if clips[one].word == clip.word and clips[one].speaker != clip.speaker
        ]
        for condition in CONDITIONS:
            own.append(VoiceTrial(clip.speaker, condition, float(directions[condition][number] @ direction) - alike))
            if (clip.speaker, clip.word) not in seen:
                strangers += [
                    VoiceTrial(clip.speaker, condition, float(directions[condition][one] @ direction) - alike)
                    for one in words
                ]
        seen.add((clip.speaker, clip.word))
    return own, strangers


def share(trials: Sequence[VoiceTrial], refused: Callable[[VoiceTrial], bool]) -> dict[str, float]:
    """The share that is refused, with a 95 % interval by people."""
    people: dict[str, list[bool]] = defaultdict(list)
    for trial in trials:
        people[trial.person].append(refused(trial))
    random, each = np.random.default_rng(0), list(people.values())
    drawn = [
        np.mean(np.concatenate([each[one] for one in random.integers(len(each), size=len(each))])) for _ in range(DRAWS)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    value = float(np.mean([one for person in each for one in person]))
    return {"share": value, "low": float(low), "high": float(high), "trials": len(trials), "people": len(people)}


def words_report(own: Sequence[VoiceTrial], strangers: Sequence[VoiceTrial]) -> Iterator[dict[str, Any]]:
    """What ``--only`` refuses, and what it would at thresholds that refuse 90, 95 and 99 % of the strangers."""
    for condition in CONDITIONS:
        mine = [one for one in own if one.condition == condition]
        others = [one for one in strangers if one.condition == condition]
        nears, mines = np.sort([one.near for one in others]), np.sort([one.near for one in mine])
        cuts = np.unique(np.concatenate([nears, mines]))
        wrong = np.searchsorted(mines, cuts) / len(mines)
        passing = 1 - np.searchsorted(nears, cuts) / len(nears)
        yield {
            "condition": condition,
            "equal_error": float((wrong + passing)[np.argmin(np.abs(wrong - passing))] / 2),
            "own_refused": share(mine, lambda one: one.near < KNOWN_FROM),
            "strangers_refused": share(others, lambda one: one.near < KNOWN_FROM),
            "own_refused_at": {
                str(part): float(np.mean(mines < np.quantile(nears, part / 100))) for part in (90, 95, 99)
            },
        }
