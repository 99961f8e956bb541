"""The groups of held-out recordings that a fusion is fitted on, and their shares."""

from wakeword_tools.kinds import Kind
from wakeword_train.second_stage.fusion_fit import Group
from wakeword_train.second_stage.result import HeldOut

_PEOPLE, _VOICES, _SPEECH, _CLOSE, _OTHERS = 0.7, 0.3, 0.6, 0.3, 0.1
"""Shares of recorded and synthetic positives, and of background, close words and other words, in the fusion."""


def fusion_groups(heard: HeldOut) -> list[Group]:
    """Recorded and synthetic positives, and background, close words and other words."""
    return [
        Group(heard.of(Kind.POSITIVE, synthetic=False), True, _PEOPLE),
        Group(heard.of(Kind.POSITIVE, synthetic=True), True, _VOICES),
        Group(heard.of(Kind.BACKGROUND), False, _SPEECH),
        Group(heard.of(Kind.NEAR_NEGATIVE), False, _CLOSE),
        Group(heard.of(Kind.NEGATIVE), False, _OTHERS),
    ]
