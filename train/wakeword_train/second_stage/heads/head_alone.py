"""How often a head alone fires, without gate and phonemes: what other engines that run only the head need to know."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from wakeword.base.logistic import logit_of, score_of_logit
from wakeword.verify.embedding import STEP_FRAMES
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_tools.handover import RATES_ALONE
from wakeword_tools.measure.scores import threshold_allowing_events
from wakeword_train.second_stage.heads.head_network import HeadNetwork, head_logits

_LEAST = 1e-9
"""Scores are kept so far from 0 and 1."""


def points_alone(
    heads: Sequence[HeadNetwork], recordings: Mapping[int, Sequence[Tensor]], hours: float
) -> dict[str, Any] | None:
    """The hours, and pairs of a rate, false accepts an hour, and the logit at which the heads together keep it.

    ``recordings``: for the number of each head, embeddings ``(steps, 96)`` of recordings without the word by people that
    it was not trained on, ``hours`` in all. Rates of which the hours allow not one event are left out;
    ``None`` if none is left.
    """
    streams = []
    for number, some in recordings.items():
        for embeddings in some:
            if len(embeddings) >= HEAD_EMBEDDINGS:
                looks = embeddings.unfold(0, HEAD_EMBEDDINGS, 1).transpose(1, 2)
                logits = head_logits(heads[number], looks).tolist()
                streams.append(np.array([score_of_logit(logit) for logit in logits]))
    found: list[list[float]] = []
    for rate in RATES_ALONE:
        if streams and (allowed := int(rate * hours)):
            threshold = threshold_allowing_events(streams, allowed, hop=STEP_FRAMES)
            found.append([rate, round(logit_of(min(max(threshold, _LEAST), 1 - _LEAST)), 4)])
    return {"hours": round(hours, 2), "points": found} if found else None
