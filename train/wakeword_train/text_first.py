"""The text first: training has to earn its place over the model that a word's text makes in seconds."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wakeword.base.errors import WakewordError
from wakeword.base.files import write_whole
from wakeword.format.card import ModelCard
from wakeword.model.model import Model, parse_model, read_model, read_model_bytes
from wakeword_tools.engines.registry import resolved_engines
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.cards import embed_card
from wakeword_tools.measure.scores import stream_scores
from wakeword_train.config import TrainConfig
from wakeword_train.from_text import model_of_text
from wakeword_train.points import COMPARED, FEW_PEOPLE
from wakeword_train.second_stage.result import SecondStageResult
from wakeword_train.spoken_texts import SpokenKeyword
from wakeword_train.training import TrainingResult


class Compared(NamedTuple):
    """The shares of the same held-out clips of the word that two models find, each at its own default."""

    of: str
    """Whose voices they are."""
    clips: int
    text: float
    trained: float

    def to_json(self) -> dict[str, object]:
        """As a card has it."""
        return {"of": self.of, "default": {"clips": self.clips, "text": self.text, "trained": self.trained}}


def keep_the_better(config: TrainConfig, result: TrainingResult, trained: Path) -> str | None:
    """Put the model of the text in the trained one's place if that finds more at its default; a line about it.

    The text's default must promise as much. The card of what is kept has the figures of both, and the file ``trained`` is
    the trained model. ``None``, and nothing is done, for a model without second stage, threshold or held-out positives.
    People decide if ``FEW_PEOPLE`` or more were held out. Voices flatter the trained model, which learned from such; of
    English words that people said it was as good or better (train/evidence/text-alone.md).
    """
    second = result.second_stage
    if second is None or not (card := read_model(result.path).card).operating_points:
        return None
    if not second.held_out.positives:
        return None
    try:
        data = model_of_text(SpokenKeyword.of(config))
    except WakewordError as error:
        return f"kept the trained model, as the text alone makes none: {error}"
    whole = read_model_bytes(result.path)
    write_whole(trained, whole)
    typed = parse_model(data)
    own = compared_with_text(card, second, typed, resolved_engines(("installed",), natural=True))
    points = card.point(), typed.card.point()
    found = (
        f"{own.trained:.0%} of {own.clips} held-out clips of {own.of} at {points[0].name}, the text alone "
        f"{own.text:.0%} at {points[1].name}"
    )
    is_text = own.trained < own.text and points[1].target <= points[0].target
    kept, data = (typed.card, data) if is_text else (card, whole)
    training = {**kept.training, COMPARED: own.to_json() | {"file": str(trained)}}
    write_whole(result.path, embed_card(data, dataclasses.replace(kept, training=training)))
    if is_text:
        return f"kept the model of the text alone: the trained one, which is in {trained}, finds {found}"
    return f"kept the trained model, as the text alone does not find more: it finds {found}"


def compared_with_text(card: ModelCard, second: SecondStageResult, typed: Model, natural: Sequence[str]) -> Compared:
    """What the trained model and the one of the text find of held-out clips of the word, as recorded and in noise.

    Each at its own default. ``card``: of the trained model. The clips are of people if ``FEW_PEOPLE`` or more were held
    out, otherwise of the voices of the engines ``natural``, or of all voices.
    """
    held = [part for part in (second.held_out, second.held_out.noisy) if part is not None]
    parts = [(part.clips[Kind.POSITIVE], part.evidence[Kind.POSITIVE], part.positives) for part in held]
    clips = [row for part in parts for row in zip(*part, strict=True)]
    people = [row for row in clips if not row[0].synthetic]
    by_people = len(second.held_out.of(Kind.POSITIVE, synthetic=False)) >= FEW_PEOPLE
    rows = people if by_people else [row for row in clips if row[0].engine in natural] or clips
    scores = (
        np.array([stream_scores(typed, row[2]).max() for row in rows]),
        np.array([row[1].scores(second.card.gate, second.card.fusion).max() for row in rows]),
    )
    thresholds = (typed.card.point().threshold, card.point().threshold)
    text, trained = (
        round(float(np.mean(of_model >= threshold)), 4) for of_model, threshold in zip(scores, thresholds, strict=True)
    )
    return Compared("people" if by_people else "synthetic voices", len(rows), text, trained)
