"""What both stages say of a recording, window by window, and the fused scores that follow from it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wakeword.audio.features import FeatureConfig
from wakeword.audio.level import gain_of, power_of
from wakeword.base.errors import ModelError
from wakeword.base.poisson import poisson_rate
from wakeword.base.types import Array, Scores
from wakeword.batch.jobs.work import Report, WholeWork
from wakeword.format.card import DEFAULT_HOP
from wakeword.format.operating_point import Rate
from wakeword.format.verifier_card import LARGEST_GATE, Fusion, VerifierCard, unverified_score
from wakeword.model.first_stage import FirstStage
from wakeword.model.installed import encoders_folder
from wakeword.model.model import Model, read_model
from wakeword.model.scorer import covering_samples
from wakeword.takes.word_region import Region
from wakeword.verify.shared import EMBEDDING_FILE, PHONEMES_FILE, QUICK_FILE, load_embedding, load_phonemes, load_quick
from wakeword.verify.verifier import LOOK_SAMPLES, PhonemeSound, SecondStage, StreamSound
from wakeword.verify.verifier_head import Head
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.noise import gain_for_snr
from wakeword_train.second_stage_config import SecondStageConfig

_CONFIG = FeatureConfig()
_PIECE = 100 * _CONFIG.hop_length
"""Samples read at a time, so that memory does not grow with the recording."""


def window_logits(model: Model, samples: Array, *, hop: int = DEFAULT_HOP, late: int = 0) -> Scores:
    """The first stage's logits of a recording, ``(samples,)`` -> ``(windows,)``, padded as the running engine does.

    ``late``: see ``VerifierCard.late``.
    """
    window, step = _CONFIG.samples_in(model.card.window), hop * _CONFIG.hop_length
    end = covering_samples(len(samples) + late * _CONFIG.hop_length, window, step)
    padded: Array = np.concatenate([samples, np.zeros(end - len(samples), np.float32)])

    def samples_of(first: int, last: int) -> Array:
        return padded[first:last]

    first_stage = FirstStage([model], hop=hop)
    pieces = [first_stage.read(samples_of, min(last, end))[0] for last in range(_PIECE, end + _PIECE, _PIECE)]
    return np.array([logit for piece in pieces for logit, _ in piece], np.float64)


def best_of_span(logits: Scores, span: int, *, hop: int = DEFAULT_HOP) -> Scores:
    """The highest logit of each window and of those before it within ``span`` frames, ``(windows,)``."""
    if not len(logits):
        return logits
    width = -(-span // hop)
    padded = np.concatenate([np.full(width - 1, -np.inf), logits])
    best: Scores = np.lib.stride_tricks.sliding_window_view(padded, width).max(axis=1)
    return best


PROBE = -6.0
"""The phonemes are asked for in training where the logits of both stages add up to this."""
QUICK_PROBE = -10.0
"""The same with the quick recogniser, which saves looks: between the two only phonemes find the word
(train/evidence/text-alone.md)."""


@dataclass
class Evidence:
    """One recording. A number is NaN where the part that gives it was not asked."""

    logits: Scores
    """The first stage's logit of each window, ``(windows,)``."""
    best: Scores
    """The highest of the newest windows that the span covers."""
    embedding: Scores
    """The head's logit."""
    phonemes: Scores
    """The phonemes' score; minus infinity where the quick recogniser did not hear the word."""
    fit: float = -math.inf
    """The best score of phonemes where both logits add up to ``PROBE``, whatever the quick recogniser heard."""

    def scores(self, gate: float, fusion: Fusion) -> Scores:
        """The fused scores, as the running engine gives them, ``(windows,)``."""
        found = np.array([unverified_score(logit, gate) for logit in self.logits.tolist()])
        for window in np.flatnonzero(self.best >= gate).tolist():
            upper = fusion.upper(self.best[window], self.embedding[window])
            phonemes = self.phonemes[window]
            looked = upper >= fusion.phoneme_gate and not math.isnan(phonemes)
            found[window] = fusion.score(upper, float(phonemes) if looked else None)
        return found


def candidate_runs(best: Scores, gate: float) -> int:
    """How many times the second stage begins to look, from the best logits of a recording's spans, ``(windows,)``."""
    passed: NDArray[np.bool_] = best >= gate
    return int(passed[:1].sum() + (passed[1:] & ~passed[:-1]).sum())


Heard = Callable[[int], tuple[float, PhonemeSound]]
"""What a second stage hears in the window that ends with an MFCC frame. It takes the frame's number and gives the head's
logit, and the sound in which phonemes are looked for."""


class EvidenceReader:
    """Asks the second stage about the candidates of recordings."""

    def __init__(self, stage: SecondStage, window: int, *, probe: float) -> None:
        """``window``: frames of the first stage's windows. ``probe``: the phonemes are asked for where the logits of both
        stages add up to this number."""
        self.stage = stage
        self._window = _CONFIG.samples_in(window)
        self._step = DEFAULT_HOP * _CONFIG.hop_length
        self._span = stage.card.span
        self._probe = probe

    def read(self, samples: Array, logits: Scores) -> Evidence:
        """The evidence on a recording ``(samples,)`` with these logits of the first stage, ``(windows,)``."""
        end = self._window + len(logits) * self._step
        padded: Array = np.concatenate(
            [np.zeros(LOOK_SAMPLES, np.float32), samples, np.zeros(max(0, end - len(samples)), np.float32)]
        )

        def samples_of(first: int, last: int) -> Array:
            return padded[first + LOOK_SAMPLES : last + LOOK_SAMPLES]

        stage, sound = self.stage, StreamSound(samples_of)

        def heard(frame: int) -> tuple[float, PhonemeSound]:
            end = _CONFIG.samples_in(frame + 1)
            heard_at = sound.at(gain_of(samples_of(end - self._window, end)))
            return stage.head(heard_at.embeddings(stage.embedding, frame)), heard_at

        return self.read_with(logits, heard)

    def read_with(self, logits: Scores, heard: Heard) -> Evidence:
        """The evidence on a recording that ``heard`` answers for, with the first stage's logits, ``(windows,)``."""
        best, verifier = best_of_span(logits, self._span), self.stage.phonemes
        evidence = Evidence(logits, best, np.full(len(logits), np.nan), np.full(len(logits), np.nan))
        for window in np.flatnonzero(best >= self.stage.card.gate).tolist():
            frame = (self._window + window * self._step - _CONFIG.n_fft) // _CONFIG.hop_length
            logit, sound = heard(frame)
            if not math.isfinite(logit):
                raise ModelError(f"expected a finite logit of the second stage, got {logit}")
            evidence.embedding[window] = logit
            if verifier is None or best[window] + logit < self._probe:
                continue
            end = _CONFIG.samples_in(frame + 1)
            evidence.phonemes[window] = fit = self.stage.phoneme_fit(verifier, end, sound)
            if best[window] + logit >= PROBE:
                evidence.fit = max(evidence.fit, fit if math.isfinite(fit) else sound.fit(verifier, end))
        return evidence


_PASSED = 0.995
"""Share of the positives that the gate lets pass, if the range of its candidates allows."""


@dataclass(frozen=True)
class Candidates:
    """What the first stage says of held-out background."""

    best: Sequence[Scores]
    """The best logits of each recording's spans, ``(windows,)``."""
    hours: float

    def rate(self, gate: float) -> Rate | None:
        """How many times an hour the second stage begins to look; ``None`` without background."""
        if not self.hours:
            return None
        runs = sum(candidate_runs(recording, gate) for recording in self.best)
        return Rate(runs / self.hours, *poisson_rate(runs, self.hours), runs, self.hours)

    def gate(self, positives: Sequence[float], settings: SecondStageConfig) -> float:
        """The logit that nearly all positives pass, as far as the range of candidates an hour allows.

        ``positives``: the best logit of each.
        """
        wanted = float(np.quantile(positives, 1 - _PASSED)) if positives else 0.0
        if not self.hours:
            return float(np.clip(wanted, -LARGEST_GATE, LARGEST_GATE))
        most, least = (
            self._of_rate(rate * self.hours) for rate in (settings.most_candidates, settings.least_candidates)
        )
        return round(float(np.clip(wanted, most, least)), 3)

    def _of_rate(self, runs: float) -> float:
        """The lowest gate, in tenths, that begins at most so many looks."""
        passing = LARGEST_GATE
        for gate in np.arange(LARGEST_GATE, -LARGEST_GATE, -0.1).tolist():
            if sum(candidate_runs(recording, gate) for recording in self.best) > runs:
                break
            passing = gate
        return passing


_SECONDS_OF_CLIP = 4.0
"""Seconds of audio that cost the first stage as much as both take for a clip."""
SNR = (0.0, 20.0)
"""Ratios of the word to the noise, dB."""


@dataclass(frozen=True)
class HeldOutClip:
    """A clip to hear: a piece of work."""

    kind: Kind
    row: int
    reader: int
    """Number of the head that judges it."""
    samples: Array
    """``(samples,)`` float32."""
    logits: Scores | None = None
    """The first stage's, if they are known."""
    noisy: bool = False
    """Whether noise was mixed in."""
    size: float = 1.0
    seconds: float = _SECONDS_OF_CLIP

    @property
    def key(self) -> str:
        """Its name."""
        return f"{self.kind.value} {self.row}" + " in noise" * self.noisy


class HearingWork(WholeWork[HeldOutClip]):
    """Hears clips: ``wakeword.batch.jobs.work.Work``. Rows are their ``Evidence``."""

    def __init__(self, stage_one: Path, card: VerifierCard, heads: Sequence[bytes], *, probe: float) -> None:
        """``stage_one``: the first stage's file. ``heads``: ONNX files; each item names one."""
        self._stage_one, self._card, self._heads, self._probe = stage_one, card, heads, probe

    def begin(self, report: Report) -> Callable[[HeldOutClip], Evidence]:
        """Load the networks."""
        model = read_model(self._stage_one)
        readers = readers_of(self._card, self._heads, model.card.window, probe=self._probe)

        def hear(item: HeldOutClip) -> Evidence:
            logits = window_logits(model, item.samples, late=self._card.late) if item.logits is None else item.logits
            evidence = readers[item.reader].read(item.samples, logits)
            report(item.size, item.seconds)
            return evidence

        return hear


def readers_of(card: VerifierCard, heads: Sequence[bytes], window: int, *, probe: float) -> list[EvidenceReader]:
    """A reader with each head, an ONNX file; ``window`` and ``probe`` as for ``EvidenceReader``."""
    folder = encoders_folder()
    embedding = load_embedding(folder / EMBEDDING_FILE, card.embedding_digest)
    phonemes = load_phonemes(folder / PHONEMES_FILE, card.phonemes_digest) if card.phonemes_digest else None
    quick = load_quick(folder / QUICK_FILE, card.quick_digest) if card.quick_digest else None
    stages = [SecondStage(card, Head(head), embedding, phonemes, quick=quick) for head in heads]
    return [EvidenceReader(stage, window, probe=probe) for stage in stages]


def in_noise(samples: Array, word: Region, noise: Array, snr: float) -> Array:
    """A clip in noise of the same length, ``snr`` dB under the speech of its word: ``(samples,)`` float32."""
    assert noise.shape == samples.shape
    gain = gain_for_snr(power_of(samples[word.start : word.end]), max(power_of(noise), 1e-12), snr)
    return (samples + gain * noise).clip(-1, 1).astype(np.float32)
