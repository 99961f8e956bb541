"""The cutoff of a network for microWakeWord's engines: a whole number, above which the mean of the last outputs fires."""

import math
from collections.abc import Iterable
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from wakeword.base.events import Line
from wakeword.base.logistic import logit_of, score_of_logit
from wakeword.base.types import Array, Scores
from wakeword_export.head.slider_points import HeadPromise, rates_at
from wakeword_export.micro.filterbank import micro_features
from wakeword_export.micro.int8_word import MicroNet
from wakeword_export.micro.mixed_net import MICRO_WINDOW, STRIDE, window_sums
from wakeword_tools.measure.point_choice import supported_target
from wakeword_tools.measure.rates import RateKind, Target
from wakeword_tools.measure.scores import ScoreSet, event_windows

MIN_CUTOFF, MAX_CUTOFF = 94, 242
"""Below the one a network is not sure, however little was heard. Above the other fewer words are found, and a few hours of
speech can hold one stretch that is as like the word as the word itself."""
_LARGEST = 255 * MICRO_WINDOW
_WARM_UP = 34
"""Outputs after a reset in which a device does not fire: 1 s."""
_MIN_EVENT = 0.125
"""The score from which events are counted."""
_TAIL = 20
"""Highest events from which the rate above them is foreseen."""
_RECEPTIVE_SECONDS = 1.5
"""Seconds of sound that an output depends on, apart from the noise that the front end follows."""


def micro_scores(net: MicroNet, frames: NDArray[np.uint8]) -> Scores:
    """Means of the last outputs, 0 to 1, one each 30 ms, for features ``(frames, 40)`` uint8."""
    found: Scores = window_sums(net.outputs(frames), MICRO_WINDOW) / _LARGEST
    return found


class MicroListener:
    """A network as a device runs it: see ``ExportListener``. Sound before a recording is silence of 1 s."""

    hop = STRIDE
    first_window = (-_RECEPTIVE_SECONDS, 0.03)

    def __init__(self, net: MicroNet) -> None:
        self._net = net

    def scores(self, blocks: Iterable[Array]) -> Scores:
        """See ``ExportListener``."""
        silence = np.zeros(_WARM_UP * STRIDE * 160, np.float32)
        return micro_scores(self._net, micro_features(chain([silence], blocks)))[_WARM_UP:]


def threshold_of(cutoff: int) -> float:
    """The least mean, from 0 to 1, that is above a cutoff."""
    return (cutoff * MICRO_WINDOW + 1) / _LARGEST


def chosen_cutoff(scores: ScoreSet, fa_per_hour: float, *, warn: Line) -> tuple[int, HeadPromise]:
    """The cutoff that keeps a rate of false accepts in the background that was heard, and what it does there.

    Where the hours are few, the rate above the highest events is foreseen from the tail that they form; the promise is
    still what the hours support.
    """
    target = supported_target(scores, Target(RateKind.FA_PER_HOUR, fa_per_hour), warn=warn)
    allowed = math.floor(fa_per_hour * scores.hours)
    peaks = _peaks(scores)
    above = peaks[allowed] if allowed < len(peaks) else 0.0
    threshold = max(above, _foreseen(peaks, fa_per_hour * scores.hours))
    cutoff = min(MAX_CUTOFF, max(MIN_CUTOFF, math.ceil(threshold * 255)))
    return cutoff, HeadPromise(target.name, {round(cutoff / 255, 3): rates_at(scores, threshold_of(cutoff))})


def _peaks(scores: ScoreSet) -> list[float]:
    """The highest score of each event at a low threshold, from the highest on."""
    peaks = []
    for stream in scores.streams:
        starts = [*event_windows(stream, _MIN_EVENT, hop=scores.hop), len(stream)]
        peaks += [float(stream[first:last].max()) for first, last in pairwise(starts)]
    return sorted(peaks, reverse=True)


def _foreseen(peaks: list[float], events: float) -> float:
    """The score that so many events, or a part of one, reach, if the logits of the highest ones fall off exponentially."""
    least = 0.5 / _LARGEST
    tail = [logit_of(min(max(peak, least), 1 - least)) for peak in peaks[: _TAIL + 1]]
    if len(tail) <= _TAIL:
        return 0.0
    excess = float(np.mean(tail[:-1])) - tail[-1]
    return score_of_logit(tail[-1] + excess * math.log(_TAIL / max(events, 0.01)))
