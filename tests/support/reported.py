"""Cards and second stages for the page about a model."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from wakeword.format.card import ModelCard, SelfTest
from wakeword.format.operating_point import OperatingPoint, Rate
from wakeword.format.verifier_card import Fusion, VerifierCard
from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.clips import Clip
from wakeword_train.second_stage.evidence import Evidence
from wakeword_train.second_stage.result import HeldOut, SecondStageResult

Scored = Sequence[tuple[str, str, float]]
"""Word, speaker and logit of each clip."""


def card(recall: float, target: float | None, *, events: int = 1, synthetic: bool = True) -> ModelCard:
    """A card whose only point finds this share of 100 recordings; ``target``: false accepts an hour, if there is one."""
    kind = "fpr" if target is None else "fa_per_hour"
    rate = None if target is None else Rate(events / 2, 0.0, 3.0, events, 2.0)
    point = OperatingPoint(
        "default", kind, target or 0.03, 0.5, recall, 0.0, 1.0, "2 h", 100, 100 if synthetic else 0,
        false_accepts_per_hour=rate, assurance=0.9,
    )  # fmt: skip
    return ModelCard("hey <b>", "2026", 96, SelfTest(0.0), operating_points=(point,), default_point="default")


def second_stage(
    clips: Mapping[Kind, Scored], sound: Path, noisy: Mapping[Kind, Scored] | None = None
) -> SecondStageResult:
    """A result in which the fused logit of each clip is the given one; all clips have the same sound."""
    verifier = VerifierCard(-10.0, 64, "0" * 64, Fusion(0.0, 1.0, 0.0, 0.0, 0.0, 1.0), 0.0)
    again = None if noisy is None else _held_out(noisy, sound)
    return SecondStageResult(
        head=b"", card=verifier, held_out=_held_out(clips, sound, again), description="", fingerprint=""
    )


def _held_out(clips: Mapping[Kind, Scored], sound: Path, noisy: HeldOut | None = None) -> HeldOut:
    return HeldOut(
        {
            kind: [Evidence(*(np.array([logit]) for _ in range(4))) for *_, logit in some]
            for kind, some in clips.items()
        },
        {
            kind: [Clip(sound, kind, word, speaker, Split.VALIDATION, synthetic=True) for word, speaker, _ in some]
            for kind, some in clips.items()
        },
        0.0,
        noisy=noisy,
    )
