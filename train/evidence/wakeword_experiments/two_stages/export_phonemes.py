"""What an export to openWakeWord finds by its head, by the phonemes of its text, and by both.

``python -m wakeword_experiments.two_stages.export_phonemes`` measures words and keeps the others of its record.
The people who say the word, and the strangers whose speech counts false accepts, taught neither the head nor the network of
phonemes. Thresholds are the lowest that keep a rate in that very speech.
"""

import base64
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wakeword.base.types import Array, Scores
from wakeword.format.digest import checked_metadata
from wakeword.model.installed import encoders_folder
from wakeword.model.model import read_model
from wakeword.verify.embedding import STEP_FRAMES
from wakeword.verify.shared import EMBEDDING_FILE
from wakeword.verify.verifier_head import HEAD_KEY
from wakeword_experiments.two_stages.export_record import found_of_people, run_command, table_of
from wakeword_export.head.float_graph import HeadGraph, head_weights, logit_of_head
from wakeword_export.head.listener import HeadListener
from wakeword_export.head.oww_features import OwwFeatures
from wakeword_export.head.phoneme_graph import EmbeddedPhonemes, fit_of_word, with_fit
from wakeword_export.head.taught_head import logit_of_taught, read_taught_heads
from wakeword_tools.training_record import HEAD_FILE, file_stem
from wakeword_train.ear import ear_of
from wakeword_train.recipe import default_recipe
from wakeword_train.spoken_texts import SpokenKeyword

_PARTS = {
    "text": "the text's phonemes alone",
    "head": "the model's head alone",
    "both": "both",
    "taught": "both beside heads on phonemes, as exported",
}


def measured(word: str, models: Path, audio: Path, speech: list[Path]) -> dict[str, Any]:
    """See ``found_of_people``; ``models`` has the trained models, and the folders of their trainings with ``--for``."""
    config = dataclasses.replace(default_recipe(), keyword=word)
    ear, graph, network = ear_of(config.language), HeadGraph(), EmbeddedPhonemes.read()
    ways = SpokenKeyword.of(config).variants(ear.network.tokens, ear.costs)
    fit = fit_of_word(graph, network, [one.variant for one in ways], [one.losses for one in ways])
    assert fit is not None
    model = models / f"{file_stem(word)}.onnx"
    metadata, _ = checked_metadata(model.read_bytes())
    of_model = base64.b64decode(metadata[HEAD_KEY])
    head = logit_of_head(graph, head_weights(of_model))
    features = OwwFeatures(encoders_folder() / EMBEDDING_FILE)
    card = read_model(model).card
    assert card.verifier is not None
    own = dataclasses.replace(
        card.verifier,
        phonemes=tuple(one.variant for one in ways),
        phoneme_losses=tuple(one.losses for one in ways),
    )
    card, taught = dataclasses.replace(card, verifier=own), read_taught_heads(models / file_stem(word) / HEAD_FILE)
    assert taught is not None
    both = with_fit(graph, head, card, network)
    alone = logit_of_taught(graph, taught.heads, of_model, card)
    listeners = [HeadListener(graph.runner(one), features) for one in (fit, head, both, alone)]

    def heard(sound: Array) -> list[Scores]:
        embeddings = features.embeddings([sound])
        return [one.scores_of(embeddings) for one in listeners]

    return found_of_people(config, list(_PARTS), heard, audio, speech, hop=STEP_FRAMES)


def page(record: Mapping[str, Any]) -> str:
    """The table in Markdown."""
    lines = [
        "# Phonemes in exports to openWakeWord",
        "",
        "How many recordings of people are found, as recorded / in noise at 10 dB / in measured rooms, by a "
        "model trained from its text. Thresholds are the lowest that keep the rate in 4.3 h of strangers' speech. Nobody "
        "there, and nobody who says the words, taught the heads or the network of phonemes; a part of the strangers taught "
        "the ear, which taught the network. In brackets the exact 95 % interval of the first number.",
        "",
        "Of the weights 3, 4, 5, 6, 7, 8 and 10 of the phonemes beside the model's head Picovoice's words choose 6 for the "
        "telephone's, and the telephone's choose 8 for Picovoice's, by the mean of what is found in the three conditions "
        "at 0.5 an hour. 7 was taken after all had been seen.",
        "",
        *table_of(record, _PARTS),
    ]
    return "\n".join([*lines, "", record["note"], ""])


if __name__ == "__main__":
    run_command(measured, page)
