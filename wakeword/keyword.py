"""One keyword in a stream: its windows, their scores, its trigger."""

from collections.abc import Iterable

from wakeword.model import Model
from wakeword.scorer import covering_samples
from wakeword.suppression import Suppression
from wakeword.trigger import Trigger

_FAR_BELOW = 0.1
"""Share of the threshold below which a score is far from a detection."""


class KeywordWindows:
    """The windows of one keyword over a stream: takes their scores in order and finds the detections.

    Sample numbers count from the start of the stream; window ``i`` begins at sample ``i * step``.
    """

    def __init__(self, model: Model, trigger: Trigger, *, hop: int) -> None:
        self.name = model.card.phrase
        self.trigger = trigger
        self.window = model.card.features.samples_in(model.card.window)
        """Samples in one window."""
        self.step = hop * model.card.features.hop_length
        """Samples between the starts of two windows."""
        self._far_below = _FAR_BELOW * trigger.threshold
        self.reset()

    def reset(self) -> None:
        """Begin a new stream."""
        self.trigger.reset()
        self.window_end = self.window
        """Number of the sample at which the next window ends."""
        self.score = 0.0
        """The newest score; 0 before the first window is complete."""
        self._low_scores = 0
        self._passed = 0

    @property
    def window_start(self) -> int:
        """Number of the sample at which the next window begins."""
        return self.window_end - self.window

    def take(
        self, scores: Iterable[float], *, suppression: Suppression, end: int | None = None
    ) -> list[tuple[int, float]]:
        """Take the scores of the next windows; return the end and the score of each detection.

        ``end`` is the number of samples in a stream that has ended: no window is scored after the one that covers the
        last of them.
        """
        found = []
        for score in scores:
            if self._passed:
                self._passed -= 1
                continue
            if end is not None and self.window_end > covering_samples(end, self.window, self.step):
                break  # The silence after the stream is for a keyword with a longer window.
            self.score = score
            self._low_scores = self._low_scores + 1 if score < self._far_below else 0
            fired = self.trigger.push(score, at_least=suppression.threshold(self.window_start))
            if fired is not None:
                found.append((self.window_end, fired))
            self.window_end += self.step
        return found

    def hold(self, end: int) -> None:
        """Repeat the last score, which is far below the threshold, for every window that ends up to sample ``end``."""
        while self.window_end <= end:
            self.trigger.push(self.score)
            self.window_end += self.step

    def resume(self, start: int) -> None:
        """Expect the score of the window at sample ``start``, a multiple of the step, as the next one."""
        self._passed = (self.window_start - start) // self.step

    def is_far_below(self) -> bool:
        """Whether all scores that the trigger still considers were far below the threshold."""
        return self._low_scores >= self.trigger.smoothing
