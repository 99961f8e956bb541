"""What a loaded model says, for a comparison in every digit."""

from wakeword import Model
from wakeword.audio.features import mfcc
from wakeword.format.card import self_test_signal

_ROWS = 13
"""Windows in progress at a time, about as many as a detector has."""


def logits(model: Model) -> list[float]:
    """The logits of both stages for the self-test's signal. ``ModelError`` if a graph does not run."""
    card = model.card
    frames = mfcc(self_test_signal(card.features.samples_in(card.window), card.features.sample_rate))
    state, found = model.start(_ROWS), []
    step = 8 * card.stack
    for start in range(0, card.window, step):
        some, state = model.advance(frames[start : start + step], state)
        found.append(float(some[0]))
    if model.second_stage is not None:
        found.append(model.second_stage.self_test())
    return found
