"""The first stage over a stream of samples: the logit of each window, heard at the window's own gain."""

from collections.abc import Sequence

from wakeword.audio.features import FeatureConfig, MfccTransform
from wakeword.audio.history import SamplesOf
from wakeword.audio.level import IsOver, WindowGains, amplified, over_nothing
from wakeword.model.model import Model
from wakeword.model.scorer import GroupScorer, group_of

WindowLogit = tuple[float, float]
"""What the first stage says of a window: its logit, and the gain at which it was heard, as a second stage must hear it."""


class FirstStage:
    """Logits of the windows of one or more models over one stream, in order. Not safe for use by several threads.

    Window ``i`` of a model begins ``i * hop`` frames after the start of the stream. Its logit depends on its own samples,
    and on nothing else: not on blocks, on other models, or on where reading began.
    """

    def __init__(self, models: Sequence[Model], *, hop: int) -> None:
        """Raises ``ConfigError`` for a hop that a model cannot take."""
        numbers: dict[tuple[object, ...], list[int]] = {}
        for row, model in enumerate(models):
            group = group_of(model, hop)
            key = model.card.window, _constant(model) is None, row if group is None else group
            numbers.setdefault(key, []).append(row)
        # Windows of different lengths differ in gain, so that features are not shared between them.
        self._groups = [(members, _Windows([models[row] for row in members], hop=hop)) for members in numbers.values()]
        self._number = len(models)

    def begin(self, starts: Sequence[int] | None = None) -> None:
        """Go on with the windows that begin at these samples, one for each model; by default with a new stream.

        Models with windows of one length must have the same start.
        """
        for numbers, windows in self._groups:
            windows.begin(0 if starts is None else starts[numbers[0]])

    def read(self, samples_of: SamplesOf, end: int, is_over: IsOver = over_nothing) -> list[list[WindowLogit]]:
        """For each model, its next windows that end at sample ``end`` or before.

        Needs the samples from the start of the first of them on. ``is_over``: whether a loudspeaker plays in a window.
        """
        of_models: list[list[WindowLogit]] = [[]] * self._number
        for numbers, windows in self._groups:
            for row, of_model in zip(numbers, windows.read(samples_of, end, is_over), strict=True):
                of_models[row] = of_model
        return of_models


def _constant(model: Model) -> float | None:
    return None if model.lstm is None else model.lstm.constant


class _Windows:
    """The windows of models that are scored together, and that all hear something or all hear nothing."""

    def __init__(self, models: Sequence[Model], *, hop: int) -> None:
        self._scorer = GroupScorer(models, hop=hop)
        self._constants = [logit for model in models if (logit := _constant(model)) is not None]
        # The only configuration: models with another one are refused when they are loaded.
        config = FeatureConfig()
        self._window = config.samples_in(models[0].card.window)
        self._hop_length = config.hop_length
        self._step = hop * config.hop_length
        self._number = len(models)
        self._features = MfccTransform(config)
        self._gains = WindowGains(self._window)
        self.begin(0)

    def begin(self, start: int) -> None:
        """Go on with the window at sample ``start``."""
        self._start = start
        self._gains.reset()
        self._gain: float | None = None
        """The gain of the frames that the scorer has; ``None`` before the first."""
        self._framed = start
        """The first sample of the next frame."""

    def read(self, samples_of: SamplesOf, end: int, is_over: IsOver) -> list[list[WindowLogit]]:
        """See ``FirstStage.read``."""
        read: list[list[WindowLogit]] = [[] for _ in range(self._number)]
        while (last := self._start + self._window) <= end:
            gain = self._gains.of(samples_of, self._start, is_over)
            # Windows of one gain are one pass, so that a hop's frames are one matrix product and not parts of two.
            while (after := last + self._step) <= end:
                if self._gains.of(samples_of, after - self._window, is_over) != gain:
                    break
                last = after
            for windows, logits in zip(read, self._logits(samples_of, gain, last), strict=True):
                windows += [(logit, gain) for logit in logits]
        return read

    def _logits(self, samples_of: SamplesOf, gain: float, last: int) -> list[list[float]]:
        """For each model, the logits of the next windows that end up to sample ``last``, all of this gain."""
        if self._constants:
            count = (last - self._window - self._start) // self._step + 1
            self._start += count * self._step
            return [[constant] * count for constant in self._constants]
        if gain != self._gain:
            # The frames so far are of another gain: begin again with the first window that has this one.
            self._scorer.reset()
            self._gain, self._framed = gain, self._start
        frames = self._features(amplified(samples_of(self._framed, last), gain), first=self._framed // self._hop_length)
        self._framed += len(frames) * self._hop_length
        self._start = last - self._window + self._step
        return self._scorer.logits(frames)
