"""Attack: detectors used at random, one after another; see ``use``."""

import dataclasses
from pathlib import Path
from random import Random

from fuzz.cases.laws import BrokenLawError, Case
from fuzz.cases.use import Fuzzer
from wakeword import load_model

CALLS = 40
"""Calls to one detector."""


def prepare(model: str = "marvin") -> Case:
    """Cases with one or two keywords; the outcome is ``right`` for a detector that was like a new one all the time."""
    first = load_model(model)
    second = load_model(model)
    second.card = dataclasses.replace(second.card, phrase=f"{second.card.phrase} again")

    def case(random: Random, folder: Path) -> str:
        fuzzer = Fuzzer([first, second][: random.choice((1, 2))], random)
        try:
            fuzzer.run(CALLS)
        except BrokenLawError as error:
            raise BrokenLawError(f"call {len(fuzzer.calls)}: {error}") from error
        return "right"

    return case
