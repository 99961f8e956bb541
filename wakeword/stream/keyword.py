"""One keyword in a stream: its windows, their scores, its trigger."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from wakeword.base.logistic import score_of_logit
from wakeword.format.verifier_card import FLOOR
from wakeword.model.first_stage import WindowLogit
from wakeword.model.model import Model
from wakeword.model.scorer import covering_samples
from wakeword.stream.near_miss import NearMisses
from wakeword.stream.trigger import Suppression, Trigger
from wakeword.verify.known_voices import LOOK_AT_VOICE, Voices
from wakeword.verify.verifier import LOOK_SAMPLES, CandidateScorer, StreamSound

_REFRACTORY_OF_PHONEMES = 200
"""Frames after a detection by phonemes alone in which none is reported: as many as they hear."""
_FAR_BELOW = 0.1
"""Share of the threshold below which a score is far from a detection."""


class Fired(NamedTuple):
    """A window at which the trigger fired."""

    end: int
    """Number of the sample at which the window ends."""
    score: float
    stage_one: float | None
    """Score of the first stage, if there is a second: the best of the windows that led to this one."""
    speaker: str | None


class KeywordTracker:
    """The windows of one keyword over a stream: takes their logits in order and finds the detections.

    If the model has a second stage, that gives the scores; see ``verify.verifier``. Sample numbers count from the start of
    the stream; window ``i`` begins at sample ``i * step``.
    """

    def __init__(self, model: Model, threshold: float, *, hop: int, refractory: int) -> None:
        """``hop``: frames between two windows; ``refractory``: see ``Trigger``. ``ConfigError`` for one out of range."""
        self.model = model
        self.name = model.card.phrase
        self.trigger = trigger = Trigger(threshold, refractory=refractory, hop=hop)
        self.threshold = trigger.threshold
        """The threshold where no voice is known: a known one lowers the threshold of the trigger."""
        self._voices: Voices | None = None
        self.window = model.card.features.samples_in(model.card.window)
        """Samples in one window."""
        self.step = hop * model.card.features.hop_length
        """Samples between the starts of two windows."""
        stage = model.second_stage
        self._verifier = None if stage is None else CandidateScorer(stage, hop=hop)
        self.late = 0 if stage is None else stage.card.late * model.card.features.hop_length
        """Samples after a word in which it may be found first."""
        self.look = LOOK_AT_VOICE if stage is None else LOOK_SAMPLES
        """Samples before the end of a window that its score depends on, apart from its own."""
        # With a second stage: of the score below which no window is verified, so that no candidate is slept through. Where
        # all windows are candidates, quiet that was looked at is slept through.
        all_alike = stage is None or stage.card.by_phonemes_alone
        if stage is not None and all_alike and trigger.refractory:
            # While a word leaves what the phonemes hear it falls and rises again: it would fire twice.
            trigger.refractory = max(trigger.refractory, _REFRACTORY_OF_PHONEMES)
        self._far_below = _FAR_BELOW * (trigger.threshold if all_alike else FLOOR)
        self.near_misses: NearMisses | None = None
        """Set to find near misses as well."""
        self.reset()

    def reset(self) -> None:
        """Begin a new stream."""
        self.trigger.reset()
        if self.near_misses is not None:
            self.near_misses.reset()
        if self._verifier is not None:
            self._verifier.reset()
        self.window_end = self.window
        """Number of the sample at which the next window ends."""
        self.score = 0.0
        """The newest score; 0 before the first window is complete."""
        self.is_far_below = False
        """Whether the newest score was far below the threshold."""

    @property
    def candidates(self) -> int:
        """Windows of this stream that the second stage has looked at."""
        return 0 if self._verifier is None else self._verifier.candidates

    def covering(self, samples: int) -> int:
        """Where the first window ends at which all words in so many ``samples`` of a stream were looked at."""
        return covering_samples(samples + self.late, self.window, self.step)

    @property
    def window_start(self) -> int:
        """Number of the sample at which the next window begins."""
        return self.window_end - self.window

    def take(
        self,
        windows: Iterable[WindowLogit],
        *,
        sound: StreamSound,
        suppression: Suppression,
        end: int | None = None,
        veto: Callable[["KeywordTracker"], bool] | None = None,
    ) -> list[Fired]:
        """Take what the first stage says of the next windows; return the detections.

        ``sound`` is what a second stage looks at. ``end`` is the number of samples in a stream that has ended: no window is
        scored after the one that covers the last of them. ``veto`` is asked, before a window fires, whether it must not.
        """
        detections = []
        verifier = self._verifier
        for logit, gain in windows:
            if end is not None and self.window_end > self.covering(end):
                break  # The silence after the stream is for a keyword with a longer window.
            self.score = score = (
                score_of_logit(logit) if verifier is None else verifier.score(logit, self.window_end, sound.at(gain))
            )
            self.is_far_below = score < self._far_below
            at_least = suppression.threshold(self.window_start)
            speaker, for_voice = self._heard(score, sound)
            fired = self.trigger.push(score, at_least=max(at_least, for_voice))
            if fired is not None and veto is not None and veto(self):
                self.trigger.retract()
                fired = None
            if fired is None and self.near_misses is None:
                self.window_end += self.step
                continue
            stage_one = None if verifier is None else score_of_logit(verifier.best)
            if self.near_misses is not None:
                # A known voice may fire below the threshold, which is then no near miss.
                heard = score if fired is None else max(score, self.threshold)
                self.near_misses.push(heard, self.window_end, stage_one=stage_one, suppressed=at_least > 0)
            if fired is not None:
                detections.append(Fired(self.window_end, fired, stage_one, speaker))
            self.window_end += self.step
        return detections

    def know(self, voices: Voices | None) -> None:
        """From now on, let the voice that says the word move the threshold."""
        self._voices = voices
        self.trigger.threshold = self.threshold if voices is None else voices.lowest(self.threshold)
        self._far_below = min(self._far_below, _FAR_BELOW * self.trigger.threshold)

    def _heard(self, score: float, sound: StreamSound) -> tuple[str | None, float]:
        """The known voice in the newest window, and the threshold for it; a voice is looked at where it could matter."""
        voices = self._voices
        if voices is None:
            return None, 0.0
        if score < self.trigger.threshold:
            return None, self.threshold
        samples = sound.at(1.0).samples_of(self.window_end - LOOK_AT_VOICE, self.window_end)
        return voices.judge(self.threshold, samples)

    def hold(self, end: int) -> None:
        """Repeat the last score, which is far below the threshold, for every window that ends up to sample ``end``."""
        while self.window_end <= end:
            self.trigger.push(self.score)
            self.window_end += self.step
