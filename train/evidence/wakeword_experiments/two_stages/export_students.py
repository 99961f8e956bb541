"""What an export to microWakeWord finds by its student, and with the phonemes of its text and a head beside it.

``python -m wakeword_experiments.two_stages.export_students`` measures words and keeps the others of its record. The people
who say the word, and the strangers whose speech counts false accepts, taught neither the student nor the network of
phonemes. Thresholds are the lowest that keep a rate in that very speech. The networks are computed as in
``wakeword_export.micro``, in whole numbers.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wakeword.base.types import Array, Scores
from wakeword_experiments.two_stages.export_record import found_of_people, run_command, table_of
from wakeword_export.micro.cutoff import MicroListener
from wakeword_export.micro.device_files import read_student
from wakeword_export.micro.int8_phonemes import MicroPhonemes, MicroWord
from wakeword_export.micro.int8_word import MicroNet, MicroWordNet
from wakeword_export.micro.mixed_net import STRIDE
from wakeword_tools.training_record import STUDENT_FILE, file_stem
from wakeword_train.ear import ear_of
from wakeword_train.recipe import default_recipe
from wakeword_train.spoken_texts import SpokenKeyword

_PARTS = {"student": "the student alone", "both": "with its word's phonemes and a head on them, as exported"}


def networks(word: str, runs: Path) -> dict[str, MicroNet]:
    """By part."""
    config, ear = dataclasses.replace(default_recipe(), keyword=word), ear_of("en")
    ways = SpokenKeyword.of(config).variants(ear.network.tokens, ear.costs)
    search = MicroWord.of(MicroPhonemes.read(), [one.variant for one in ways], [one.losses for one in ways])
    student = read_student(runs / file_stem(word) / STUDENT_FILE)
    assert search is not None
    assert student is not None
    assert student.head is not None
    return {"student": student.net, "both": MicroWordNet(student.net, search, student.head)}


def measured(word: str, runs: Path, audio: Path, speech: list[Path]) -> dict[str, Any]:
    """See ``found_of_people``; ``runs`` has the trainings with students."""
    config = dataclasses.replace(default_recipe(), keyword=word)
    listeners = {part: MicroListener(net) for part, net in networks(word, runs).items()}

    def heard(sound: Array) -> list[Scores]:
        return [listener.scores([sound]) for listener in listeners.values()]

    return found_of_people(config, list(listeners), heard, audio, speech, hop=STRIDE)


def page(record: Mapping[str, Any]) -> str:
    """The table in Markdown."""
    lines = [
        "# Phonemes in exports to microWakeWord",
        "",
        "How many recordings of people are found, as recorded / in noise at 10 dB / in measured rooms. Thresholds are the "
        "lowest that keep the rate in 4.3 h of strangers' speech. Nobody there, and nobody who says the words, taught the "
        "student or the network of phonemes; a part of the strangers taught the ear, which taught that network. In "
        "brackets the exact 95 % interval of the first number.",
        "",
        *table_of(record, _PARTS),
    ]
    return "\n".join([*lines, "", record["note"], ""])


if __name__ == "__main__":
    run_command(measured, page)
