"""Seven nights in simulated houses with right labels: what a model learns, and what it could learn at most."""

import importlib.resources
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wakeword.base.errors import DataError
from wakeword.model.candidate_looks import Looks
from wakeword.model.model import read_model
from wakeword_experiments.figures_report import Row, distinct, markdown_table, select, write_results
from wakeword_experiments.house.house_scenes import ROOMS, WAYS, RoomTalk, people_of, talk_of
from wakeword_train.house.house_unit import Judge, Lesson, _Rows
from wakeword_train.house.improvement import House, HouseEvent, judge_of
from wakeword_train.house.own_evidence import OwnEvidence, own_evidence

_ALL_NIGHTS = 7
_BLOCK = 600.0
"""Seconds of talk that are heard in one night or judge, never both."""
_FAMILY = 3
"""Voices that live in a house."""
_WAKES = 6
"""How often a night they say the word."""
_MOST_LOST, _FEWER = 0.01, 0.6
"""A house passes with so much less recall at most, and so many fewer false wakes at least, as shares."""
_VOICE = 0.25


@dataclass(frozen=True)
class Town:
    """What all houses are drawn from."""

    first: Judge
    own: OwnEvidence
    talk: Sequence[RoomTalk]
    people: dict[str, list[Looks]]
    voices: NDArray[np.int64]
    """The voice group of each recording of people, ``(recordings,)``."""
    threshold: float
    """A logit."""


def run_house(
    model_file: Path,
    audio: Path,
    work: Path,
    out: Path,
    *,
    seeds: int,
    per_hour: float,
    command: str,
    report: Callable[[str], None],
) -> None:
    """Measure ``seeds`` houses of each kind at a threshold at which the model fires ``per_hour`` in all talk."""
    started = time.process_time()
    model = read_model(model_file)
    word = model.card.phrase
    first = judge_of(model, model_file.read_bytes())
    talk = list(talk_of(model, audio, work))
    report(f"talk heard: {time.process_time() - started:.0f} s")
    people = people_of(model, audio, word, work)
    report(f"people heard: {time.process_time() - started:.0f} s")
    speech = [one for one in talk if one.name.startswith(ROOMS["talk"])]
    scores = sorted((first.best(one) for room in speech for one in room.events), reverse=True)
    hours = sum(room.hours for room in speech)
    if not scores:
        raise DataError(f"expected false wakes in {hours:.1f} h of talk, got none at the lowest threshold")
    threshold = scores[min(len(scores), round(per_hour * hours)) - 1] - 1e-6
    voices = _voices_of(audio, word)
    if len(voices) != len(people[WAYS[0]]):
        raise DataError(
            f"expected a voice for each of {len(people[WAYS[0]])} recordings of {word!r}, got {len(voices)}"
        )
    town = Town(first, own_evidence(model, work), talk, people, voices, threshold)
    rows: list[Row] = []
    for room in ROOMS:
        for seed in range(seeds):
            rows += list(_house(town, room, seed))
            report(f"{room}, seed {seed}: {time.process_time() - started:.0f} s")
    settings = {
        "word": word,
        "seeds": seeds,
        "per_hour": per_hour,
        "threshold": 1 / (1 + math.exp(-threshold)),
        "default_threshold": model.card.point().threshold,
        "hours": hours,
        "recordings_of_people": len(voices),
    }
    write_results(
        out,
        "house",
        title="Seven nights in simulated houses",
        command=command,
        settings=settings,
        rows=rows,
        body=[_table(rows)],
        seconds=time.process_time() - started,
    )


def _voices_of(audio: Path, word: str) -> NDArray[np.int64]:
    groups = json.loads((importlib.resources.files("wakeword_experiments") / "voices.json").read_text(encoding="utf-8"))
    return np.array(
        [int(groups.get(f"{word}/{path.name}", -1)) for path in sorted((audio / "wake_words" / word).glob("*.flac"))]
    )


def _house(town: Town, room: str, seed: int) -> Iterator[Row]:
    """One house after seven nights with right labels: what ``improve`` makes of them, and what could be made at most."""
    random = np.random.default_rng(seed)
    heard_at_night, judging, hours = _dealt(town, room, random)
    family = random.permutation(np.unique(town.voices[town.voices >= 0]))[:_FAMILY]
    at_home = np.flatnonzero(np.isin(town.voices, family))
    strangers = np.flatnonzero(~np.isin(town.voices, family))
    said = [
        town.people[WAYS[random.integers(len(WAYS))]][row]
        for _ in range(_ALL_NIGHTS)
        for row in random.choice(at_home, _WAKES)
    ]
    events = [*((one, False) for one in heard_at_night), *((one, True) for one in said)]
    sides = random.random(len(events)) < 0.5
    heard = [
        HouseEvent(one, is_word, by_person=True, judges=bool(judges))
        for (one, is_word), judges in zip(events, sides, strict=True)
        if town.first.best(one) >= town.threshold
    ]
    unseen = [some[row] for some in town.people.values() for row in strangers.tolist()]
    own = town.own
    house = House(town.first, town.first, town.threshold, heard, own.voices, own.judges, own.background)
    new, judged = house.step()
    lessons = [
        *(Lesson(one.looks, one.is_word, 1.0) for one in heard),
        *(Lesson(one, True, _VOICE) for one in own.voices),
    ]
    first = _rates(town.first.best, town.threshold, judging, unseen)
    ways = {
        "improve": [_rates((new if judged.reason is None else town.first).best, town.threshold, judging, unseen)],
        "threshold": [_at_most_lost(town.first.best, first, judging, unseen)],
        "unit": [first, *(_rates(one.best, town.threshold, judging, unseen) for one in _units(town, lessons))],
        "head": [_at_most_lost(best, first, judging, unseen) for best in _heads(town, lessons)] or [first],
    }
    for way, found in ways.items():
        # Of all but ``improve`` the best on the very recordings that judge: no way of choosing does better.
        allowed = [one for one in found if one[1] >= first[1] - _MOST_LOST] or [first]
        false, recall = found[0] if way == "improve" else min(allowed)
        yield {
            "room": room,
            "seed": seed,
            "way": way,
            "taught_false": sum(not one.is_word for one in heard),
            "false_before": first[0] / hours,
            "false_after": false / hours,
            "recall_before": first[1],
            "recall_after": recall,
            "passes": float(false <= (1 - _FEWER) * first[0] and recall >= first[1] - _MOST_LOST),
        }


Best = Callable[[Looks], float]


def _rates(best: Best, threshold: float, judging: Sequence[Looks], unseen: Sequence[Looks]) -> tuple[int, float]:
    """False wakes, and the share of the word that is found."""
    return sum(best(one) >= threshold for one in judging), float(np.mean([best(one) >= threshold for one in unseen]))


def _at_most_lost(
    best: Best, first: tuple[int, float], judging: Sequence[Looks], unseen: Sequence[Looks]
) -> tuple[int, float]:
    """The same at the highest threshold that loses no more than may be lost of the very recordings that judge."""
    scores = np.sort([best(one) for one in unseen])
    lost = int(np.floor((1 - first[1] + _MOST_LOST) * len(scores) + 1e-9))
    return _rates(best, float(scores[lost]), judging, unseen)


def _units(town: Town, lessons: Sequence[Lesson]) -> Iterator[Judge]:
    """The unit of ``improve``, taught by all events, at every strength."""
    rows = _Rows(town.first, lessons, town.threshold)
    for spared in (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995, 1.0) if rows.is_whole else ():
        yield town.first.with_unit(rows.unit(spared))


def _heads(town: Town, lessons: Sequence[Lesson]) -> Iterator[Best]:
    """The first logit, less a linear discriminant of all that the second stage hears, at every strength."""
    near = []
    for one in lessons:
        logits = town.first.logits(one.looks)
        best = np.argsort(-logits, kind="stable")[:8]
        near.append(best[logits[best] >= town.threshold - 2])
    counts = [len(some) for some in near]
    is_false = np.repeat([not one.is_word for one in lessons], counts)
    if is_false.all() or not is_false.any():
        return
    rows = np.concatenate([_inputs(one.looks)[some] for one, some in zip(lessons, near, strict=True)])
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-3
    share = np.repeat([one.weight / max(1, count) for one, count in zip(lessons, counts, strict=True)], counts)
    for label in (True, False):
        share[is_false == label] /= share[is_false == label].sum()
    scaled = (rows - mean) / deviation * np.sqrt(share)[:, None]
    products = scaled @ scaled.T
    for ridge in (0.3, 3.0, 30.0):
        held = ridge * float(np.trace(products)) / len(products) * np.eye(len(products))
        direction = scaled.T @ np.linalg.solve(products + held, np.where(is_false, 1.0, -1.0) * np.sqrt(share))
        direction /= deviation * float(np.std((rows - mean) / deviation @ direction))
        for strength in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0):
            yield _Head(town.first, strength * direction, mean).best


class _Head:
    """The first logit, less a linear function of a look; what it needs of a recording is prepared once for all heads."""

    prepared: ClassVar[dict[int, tuple[Looks, NDArray[np.float64], NDArray[np.float32]]]] = {}

    def __init__(self, first: Judge, direction: NDArray[np.float64], mean: NDArray[np.float64]) -> None:
        self._first, self._direction = first, direction.astype(np.float32)
        self._shift = float(mean @ direction)

    def best(self, looks: Looks) -> float:
        """The highest logit of a recording."""
        if id(looks) not in self.prepared:
            self.prepared[id(looks)] = looks, self._first.logits(looks), _inputs(looks).astype(np.float32)
        _, logits, inputs = self.prepared[id(looks)]
        return float((logits - inputs @ self._direction + self._shift).max(initial=-np.inf))


def _inputs(looks: Looks) -> NDArray[np.float64]:
    flat = looks.embeddings.reshape(len(looks.best), 16 * 96).astype(np.float64)
    fits = np.nan_to_num(looks.fits.astype(np.float64), nan=-6.0).clip(-6, 0)
    return np.column_stack([flat, looks.best.astype(np.float64), fits])


def _dealt(town: Town, room: str, random: np.random.Generator) -> tuple[list[Looks], list[Looks], float]:
    """Events of the nights, events that judge, and the hours of the latter."""
    nights: list[Looks] = []
    judging: list[Looks] = []
    folders = tuple(f"{folder}/" for folder in ROOMS[room])
    here = [talk for talk in town.talk if talk.name.startswith(folders)]
    blocks = [(talk, block) for talk in here for block in range(math.ceil(talk.hours * 3600 / _BLOCK))]
    hours = 0.0
    for place, number in enumerate(random.permutation(len(blocks)).tolist()):
        talk, block = blocks[number]
        last = block == math.ceil(talk.hours * 3600 / _BLOCK) - 1
        some = [
            event
            for start, event in zip(talk.starts, talk.events, strict=True)
            if int(max(0.0, start) / _BLOCK) == block or (last and start >= (block + 1) * _BLOCK)
        ]
        if place % 2:
            judging += some
            hours += (talk.hours * 3600 - block * _BLOCK if last else _BLOCK) / 3600
        else:
            nights += some
    return nights, judging, hours


def _table(rows: Sequence[Row]) -> str:
    """A line for each room and way."""
    lines = []
    for room in distinct(rows, "room"):
        for way in distinct(rows, "way"):
            some = select(rows, room=room, way=way)
            mean = {
                name: float(np.mean([row[name] for row in some]))
                for name in ("taught_false", "false_before", "false_after", "recall_before", "recall_after")
            }
            fewer = f"{100 * (1 - mean['false_after'] / mean['false_before']):.0f} %" if mean["false_before"] else "–"
            lines.append(
                [
                    room,
                    way,
                    f"{mean['taught_false']:.0f}",
                    f"{mean['false_before']:.2f}",
                    f"{mean['false_after']:.2f}",
                    fewer,
                    f"{100 * mean['recall_before']:.1f} %",
                    f"{100 * mean['recall_after']:.1f} %",
                    f"{sum(row['passes'] for row in some if row['false_before']):.0f} of {len(some)}",
                ]
            )
    header = (
        *("room", "way", "false wakes taught", "false/h before", "after", "fewer"),
        *("recall before", "after", "houses that pass"),
    )
    return markdown_table(header, lines)
