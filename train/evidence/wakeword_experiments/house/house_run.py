"""Nights in simulated houses: false wakes and recall before and after, with right and with wrong labels."""

import importlib.resources
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wakeword.base.errors import DataError
from wakeword.model.candidate_looks import Looks
from wakeword.model.model import read_model
from wakeword_experiments.figures_report import Row, distinct, markdown_table, select, write_results
from wakeword_experiments.house.house_scenes import ROOMS, WAYS, RoomTalk, people_of, talk_of
from wakeword_train.house.house_unit import Judge
from wakeword_train.house.improvement import House, HouseEvent, judge_of
from wakeword_train.house.own_evidence import OwnEvidence, own_evidence

NIGHTS = (1, 3, 7)
WRONG = (0.0, 0.1, 0.3)
_ALL_NIGHTS = 7
_BLOCK = 600.0
"""Seconds of talk that are heard in one night or judge, never both."""
_FAMILY = 3
"""Voices that live in a house."""
_WAKES = 6
"""How often a night they say the word."""
_WORSE_RECALL = 0.01


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
    scores = sorted((first.best(one) for room in talk for one in room.events), reverse=True)
    hours = sum(room.hours for room in talk)
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
            rows += list(_nights(town, room, seed))
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
        title="Nights in simulated houses",
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


def _nights(town: Town, room: str, seed: int) -> Iterator[Row]:
    """One house: its talk dealt into nights and into what judges, its family, and each kind of labels."""
    random = np.random.default_rng(seed)
    heard_at_night, judging, hours = _dealt(town, room, random)
    family = random.permutation(np.unique(town.voices[town.voices >= 0]))[:_FAMILY]
    at_home = np.flatnonzero(np.isin(town.voices, family))
    strangers = np.flatnonzero(~np.isin(town.voices, family))
    said = [
        (town.people[WAYS[random.integers(len(WAYS))]][row], night)
        for night in range(_ALL_NIGHTS)
        for row in random.choice(at_home, _WAKES)
    ]
    for wrong in WRONG:
        labels = np.random.default_rng(1_000 + seed)
        events = [(one, night, False, labels.random() < wrong) for one, night in heard_at_night]
        events += [(one, night, True, labels.random() < wrong) for one, night in said]
        sides = labels.random(len(events)) < 0.5
        heard = [
            # By people: what only rules say needs more true wakes than these nights have.
            (night, HouseEvent(one, is_word is not mistaken, by_person=True, judges=bool(judges)))
            for (one, night, is_word, mistaken), judges in zip(events, sides, strict=True)
            if town.first.best(one) >= town.threshold
        ]
        now = town.first
        installs = 0
        for nights in NIGHTS:
            some = [event for night, event in heard if night < nights]
            own = town.own
            house = House(town.first, now, town.threshold, some, own.voices, own.judges, own.background)
            new, judged = house.step()
            if judged.reason is None:
                now, installs = new, installs + 1
            measured = _measured(town, now, judging, hours, strangers)
            yield {"room": room, "seed": seed, "wrong": wrong, "nights": nights, "installs": installs, **measured}


def _dealt(town: Town, room: str, random: np.random.Generator) -> tuple[list[tuple[Looks, int]], list[Looks], float]:
    """Events of the nights, each with its night; events that judge; and the hours of the latter."""
    nights, judging, hours = [], [], 0.0
    for talk in town.talk:
        if not talk.name.startswith(ROOMS[room]):
            continue
        blocks = math.ceil(talk.hours * 3600 / _BLOCK)
        order = random.permutation(blocks)
        place = {int(block): number for number, block in enumerate(order)}
        judges = {block for block, number in place.items() if number >= blocks / 2}
        hours += talk.hours * len(judges) / blocks
        turn = random.integers(_ALL_NIGHTS, size=blocks)
        for start, event in zip(talk.starts, talk.events, strict=True):
            block = min(blocks - 1, int(max(0.0, start) / _BLOCK))
            if block in judges:
                judging.append(event)
            else:
                nights.append((event, int(turn[block])))
    return nights, judging, hours


def _measured(
    town: Town, now: Judge, judging: Sequence[Looks], hours: float, strangers: NDArray[np.int64]
) -> dict[str, float]:
    """Rates and recall of the first model and of the one in force, on talk and people that taught and judged nothing."""
    found: dict[str, float] = {}
    for name, judge in (("before", town.first), ("after", now)):
        found[f"false_{name}"] = sum(judge.best(one) >= town.threshold for one in judging) / hours
        heard = [judge.best(some[row]) >= town.threshold for some in town.people.values() for row in strangers.tolist()]
        found[f"recall_{name}"] = float(np.mean(heard))
    found["worse"] = float(
        found["false_after"] > found["false_before"] or found["recall_after"] < found["recall_before"] - _WORSE_RECALL
    )
    return found


def _table(rows: Sequence[Row]) -> str:
    """A line for each room, kind of labels and number of nights."""
    lines = []
    for room in distinct(rows, "room"):
        for wrong in WRONG:
            for nights in NIGHTS:
                some = select(rows, room=room, wrong=wrong, nights=nights)
                lines.append([room, f"{wrong:.0%}".replace("%", " %"), nights, *house_cells(some)])
    header = (
        "room",
        "labels wrong",
        "nights",
        "false/h before",
        "after",
        "recall before",
        "after",
        "houses with a new version",
        "of these worse",
    )
    return markdown_table(header, lines)


def house_cells(some: Sequence[Row]) -> list[str]:
    """The figures of houses of one kind, as the page of results and the documentation show them."""
    mean = {
        name: float(np.mean([row[name] for row in some]))
        for name in ("false_before", "false_after", "recall_before", "recall_after")
    }
    installed = [row for row in some if row["installs"]]
    worse = sum(row["worse"] for row in installed)
    return [
        f"{mean['false_before']:.2f}",
        f"{mean['false_after']:.2f}",
        f"{100 * mean['recall_before']:.1f} %",
        f"{100 * mean['recall_after']:.1f} %",
        f"{len(installed)} of {len(some)}",
        f"{worse:.0f}",
    ]
