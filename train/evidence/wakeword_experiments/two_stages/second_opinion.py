"""What a second recogniser is worth beside the first, by its weight, in the looks of ``typed``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array, Scores
from wakeword.model.model import Model
from wakeword.verify.phoneme_verifier import PhonemeNetwork, PhonemeVerifier, losses_of
from wakeword.verify.verifier import AmplifiedSound
from wakeword_experiments.two_stages import anyword
from wakeword_tools.measure.scores import stream_scores

WEIGHTS = 0.0, 0.2, 1 / 3, 0.5
"""Weights of the second opinion; without one the first recogniser decides alone."""
ALLOWED = 0.0, 0.5, 1.0, 2.0
"""False accepts an hour."""
_KEPT = -1.8
"""Looks that fit the first recogniser less are of no account."""
_MIN_LOGIT = -3.0
"""What the second one says at least."""
_FLOORS = -1.3, -1.6
"""The lowest thresholds: without a second opinion, and where it counts half; in between for what is in between."""
_APART = 2 * SAMPLE_RATE

Look = tuple[int, float, float]
"""Where it ends in its recording, in samples, and how well the word fits by the first and the second recogniser."""


@contextmanager
def looks_kept(recordings: list[list[Look]]) -> Iterator[None]:
    """Append the looks of each recording that ``anyword.measured`` scores."""
    fits: dict[int, tuple[float, float]] = {}
    fit_of, fit_at = PhonemeVerifier.fit, AmplifiedSound.fit

    def both(verifier: PhonemeVerifier, heard_by: Callable[[PhonemeNetwork], Array]) -> float:
        keyword, opinion = verifier.keyword, verifier.opinion
        alone = keyword.score(heard_by(verifier.network))
        if alone > _KEPT and opinion is not None:
            states = keyword.of_states(losses_of(heard_by(opinion)))
            fits[id(verifier)] = alone, float(keyword.fits(states.astype(np.float64)))
        return fit_of(verifier, heard_by)

    def at(sound: AmplifiedSound, verifier: PhonemeVerifier, end: int) -> float:
        fits.pop(id(verifier), None)
        found = fit_at(sound, verifier, end)
        if id(verifier) in fits:
            recordings[-1].append((end, *fits[id(verifier)]))
        return found

    def scored(model: Model, samples: Array) -> Scores:
        recordings.append([])
        return stream_scores(model, samples)

    with (
        patch.object(PhonemeVerifier, "fit", both),
        patch.object(AmplifiedSound, "fit", at),
        patch.object(anyword, "stream_scores", scored),
    ):
        yield


def by_weight(recordings: Sequence[Sequence[Look]], people: int, speech: int, hours: float) -> dict[str, Any]:
    """The share of people found for each weight, rate and condition, from the looks at ``speech`` recordings first and then
    at ``people`` in each condition."""
    conditions = [recordings[speech + number * people :][:people] for number in range(len(anyword.CONDITIONS))]
    found = {}
    for weight in WEIGHTS:
        floor = _FLOORS[0] + (_FLOORS[1] - _FLOORS[0]) * 2 * weight
        streams = [_weighed(looks, weight) for looks in recordings[:speech]]
        best = [np.array([_best(_weighed(one, weight)) for one in some]) for some in conditions]
        thresholds = [max(floor, _threshold(streams, int(rate * hours))) for rate in ALLOWED]
        found[f"{weight:.2f}"] = [[float(np.mean(some >= least)) for some in best] for least in thresholds]
    return found


def _best(looks: Sequence[tuple[int, float]]) -> float:
    return max((fit for _, fit in looks), default=-np.inf)


def _weighed(looks: Sequence[Look], weight: float) -> list[tuple[int, float]]:
    return [(end, (1 - weight) * first + weight * max(second, _MIN_LOGIT)) for end, first, second in looks]


def _threshold(streams: Sequence[Sequence[tuple[int, float]]], allowed: int) -> float:
    """The lowest threshold that not more looks reach, those within two seconds counted once."""
    least = max(map(_best, streams), default=-np.inf) + 1e-9
    for fit in sorted({fit for stream in streams for _, fit in stream}, reverse=True):
        if _events(streams, fit) > allowed:
            break
        least = fit
    return float(least)


def _events(streams: Sequence[Sequence[tuple[int, float]]], threshold: float) -> int:
    events = 0
    for stream in streams:
        last = -_APART
        for end, fit in sorted(stream):
            if fit >= threshold and end - last >= _APART:
                events, last = events + 1, end
    return events


def opinion_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    words = [word for word in record["words"] if "opinion" in word["text"]]
    names = [f"{weight:.2f}" for weight in WEIGHTS]

    def shares(some: Sequence[Mapping[str, Any]], weight: str) -> Array:
        found: Array = np.mean([word["text"]["opinion"][weight] for word in some], axis=0)
        return found

    def row(name: str, some: Sequence[Mapping[str, Any]]) -> str:
        return f"| {name} | {' | '.join(f'{100 * shares(some, weight).mean():.1f}' for weight in names)} |"

    lines = [
        "# A second opinion",
        "",
        "Words from their text: the share of recordings that are found in the looks of [typed](typed-ear.md), where "
        "the included recogniser is asked too where the ear finds the word, by what it counts. Mean, in percent, over four "
        f"conditions and thresholds of {', '.join(f'{rate:g}' for rate in ALLOWED)} false accepts an hour of that speech.",
        "",
        f"| | {' | '.join(names)} |",
        f"| --- |{' ---: |' * len(names)}",
        *(row(word["keyword"], [word]) for word in words),
        row("**mean**", words),
        "",
        "With each collection left out, the weight that is best for the others, and what it finds in the one left out:",
        "",
        "| left out | words | chosen | found by it | without a second opinion |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for collection in sorted({word["collection"] for word in words}):
        inside = [word for word in words if word["collection"] == collection]
        others = [word for word in words if word["collection"] != collection]
        best = max(names, key=lambda weight: shares(others, weight).mean())
        found, alone = (100 * shares(inside, weight).mean() for weight in (best, names[0]))
        lines.append(f"| {collection} | {len(inside)} | {best} | {found:.1f} | {alone:.1f} |")
    lines += [
        "",
        "At each rate, mean over words, as recorded / noise at 10 dB / 20 dB quieter / rooms:",
        "",
        f"| false accepts an hour | {' | '.join(names)} |",
        f"| --- |{' ---: |' * len(names)}",
    ]
    for place, rate in enumerate(ALLOWED):
        cells = (" / ".join(f"{100 * share:.0f}" for share in shares(words, weight)[place]) for weight in names)
        lines.append(f"| {rate:g} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"Made by `{record['command']}` on {record['date']}. [Figures]({figures}).", ""])
