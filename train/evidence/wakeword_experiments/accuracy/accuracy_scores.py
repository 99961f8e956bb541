"""Recordings of a split, read once and scored by every contender; scores can be cached on disk."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import AudioError, DataError
from wakeword.base.events import Line
from wakeword.base.files import replacing
from wakeword.base.types import Array, Scores
from wakeword.takes.word_region import locate_word
from wakeword_experiments.accuracy.accuracy_contenders import JudgedModel
from wakeword_experiments.accuracy.held_out import FIGURE_NAMES, Clips
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.reading import ReadRecording
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.measure.subject import HOP_SAMPLES
from wakeword_train.data.clips import Clip

_PADDING = SAMPLE_RATE
"""Samples before and after a clip: engines for streams need a second before the word and one after it."""
_SAVED_EVERY = 100
_QUIETEST = 1e-5
_BEST_SNR = 60.0
"""Upper limit in dB: for clips that were gated to digital silence the ratio means nothing."""


@dataclass(frozen=True)
class ScoredRecording:
    """A recording that was scored."""

    file: str
    word: str
    speaker: str
    seconds: float
    level: float
    """Root mean square of the word, dB of full scale."""
    snr: float
    """Ratio of the word to the clip's own floor, dB, 60 at most; an estimate."""


@dataclass(frozen=True)
class SplitScores:
    """The scores of one contender on a split."""

    clean: ScoreSet
    noisy: Scores
    """Scores of the positives in noise, ``(clips,)``; empty if they were not requested."""


@dataclass(frozen=True)
class ScoredSplit:
    """The recordings of a split in the order of the scores, and the scores of each contender by name."""

    recordings: Mapping[Kind, Sequence[ScoredRecording]]
    scores: Mapping[str, SplitScores]

    def describe(self) -> dict[str, dict[str, Any]]:
        """Numbers of clips, speakers and words, and hours, of each kind."""
        return {
            FIGURE_NAMES[kind]: {
                "clips": len(recordings),
                "speakers": len({one.speaker for one in recordings}),
                "words": len({one.word for one in recordings}),
                "hours": round(sum(one.seconds for one in recordings) / 3600, 4),
            }
            for kind, recordings in self.recordings.items()
        }


class ScoreCache:
    """The scores of a contender in a file, by the digest of the samples; without a folder in memory only."""

    def __init__(self, contender: JudgedModel, folder: Path | None) -> None:
        self._contender = contender
        # The scores of another hop are other scores.
        key = f"{contender.identity}, {HOP_SAMPLES} samples"
        self._path = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.npz" if folder else None
        self._scores: dict[str, Scores] = {}
        self._changed = False
        if self._path and self._path.is_file():
            self._scores = _stored_scores(self._path)

    def score(self, samples: Array, *, best: bool) -> Scores:
        """One score per hop of ``(samples,)``, or with ``best`` only the highest, ``(1,)``."""
        digest = f"{hashlib.sha256(samples.tobytes()).hexdigest()}-{'best' if best else 'all'}"
        if digest not in self._scores:
            scores = self._contender.score(samples)
            self._scores[digest] = scores.max(keepdims=True) if best else scores
            self._changed = True
        return self._scores[digest]

    def save(self) -> None:
        """Write the file if there are new scores."""
        if self._path and self._changed:
            with replacing(self._path) as temporary, temporary.open("wb") as file:
                np.savez_compressed(
                    file,
                    digests=np.array(list(self._scores)),
                    lengths=np.array([len(scores) for scores in self._scores.values()]),
                    scores=np.concatenate(list(self._scores.values())),
                )
            self._changed = False


def _stored_scores(path: Path) -> dict[str, Scores]:
    """The scores that ``ScoreCache.save`` wrote. ``DataError`` for any other file."""
    try:
        with np.load(path) as stored:
            ends = np.cumsum(stored["lengths"])
            pieces = np.split(stored["scores"], ends[:-1])
            return dict(zip(stored["digests"].tolist(), pieces, strict=True))
    except Exception as error:  # numpy, zipfile and zlib raise many kinds of errors
        raise DataError(f"{path}: expected scores cached by an earlier call, could not read them; remove it") from error


def padded(samples: Array, digest: str) -> Array:
    """A clip, ``(n,)``, with a second of noise at its own floor before and after it: ``(n + 32000,)``."""
    random = np.random.default_rng(int(digest[:16], 16))
    _, floor = locate_word(samples)
    before, after = np.float32(floor) * random.standard_normal((2, _PADDING), np.float32)
    return np.concatenate([before, samples, after])


def score_clips(
    clips: Clips,
    contenders: Sequence[JudgedModel],
    *,
    mixer: NoiseMixer | None,
    snr: float,
    cache: Path | None,
    report: Line,
) -> ScoredSplit:
    """Score a split's recordings with every contender; with a ``mixer`` the positives also ``snr`` dB above noise.

    Unreadable files and copies are reported and left out. Raises ``DataError`` if no clip of a kind is left.
    """
    caches = [ScoreCache(contender, cache) for contender in contenders]
    recordings: dict[Kind, list[ScoredRecording]] = {}
    scores: dict[Kind, list[list[Scores]]] = {}
    noisy: list[list[Scores]] = [[] for _ in contenders]
    seen: set[str] = set()
    for kind, name in FIGURE_NAMES.items():
        of_kind = clips[kind]
        report(f"{len(of_kind)} recordings: {name}")
        recordings[kind], scores[kind] = [], [[] for _ in contenders]
        for clip in of_kind:
            loaded = _read(clip, seen, report)
            if loaded is None:
                continue
            samples, recording = loaded
            recordings[kind].append(_described(clip, samples))
            if len(recordings[kind]) % _SAVED_EVERY == 0:
                _save(caches)
                report(f"{len(recordings[kind])} of {len(of_kind)} {name}")
            long = kind is Kind.BACKGROUND
            whole = samples if long else padded(samples, recording.digest)
            for of_contender, store in zip(scores[kind], caches, strict=True):
                of_contender.append(store.score(whole, best=not long))
            if kind is Kind.POSITIVE and mixer is not None:
                mixed = mixer.mix(whole, recording, snr=snr)
                for of_contender, store in zip(noisy, caches, strict=True):
                    of_contender.append(store.score(mixed, best=True))
        _save(caches)
        if of_kind and not recordings[kind]:
            raise DataError(f"none of the {len(of_kind)} {name} could be used; see the warnings above")
    hours = sum(one.seconds for one in recordings[Kind.BACKGROUND]) / 3600
    names = [contender.name for contender in contenders]
    sets = [_score_set({kind: of[index] for kind, of in scores.items()}, hours) for index in range(len(names))]
    return ScoredSplit(
        recordings,
        {name: SplitScores(clean, _joined(mixed)) for name, clean, mixed in zip(names, sets, noisy, strict=True)},
    )


def _score_set(scores: Mapping[Kind, Sequence[Scores]], hours: float) -> ScoreSet:
    """The scores of one contender by kind."""
    return ScoreSet(
        positives=_joined(scores[Kind.POSITIVE]),
        negatives=_joined(scores[Kind.NEGATIVE]),
        near_negatives=_joined(scores[Kind.NEAR_NEGATIVE]),
        streams=scores[Kind.BACKGROUND],
        hours=hours,
    )


def _save(caches: Sequence[ScoreCache]) -> None:
    for store in caches:
        store.save()


def _joined(scores: Sequence[Scores]) -> Scores:
    return np.concatenate([np.zeros(0), *scores])


def _read(clip: Clip, seen: set[str], report: Line) -> tuple[Array, ReadRecording] | None:
    try:
        samples = clip.cut(read_audio(clip.path))
    except AudioError as error:
        report(f"skipped: {error}")
        return None
    digest = hashlib.sha256(samples.tobytes()).hexdigest()
    if len(samples) == 0 or digest in seen:
        report(f"skipped: {clip.path}: {'a copy of another recording' if len(samples) else 'no audio'}")
        return None
    seen.add(digest)
    return samples, ReadRecording(str(clip.path), len(samples) / SAMPLE_RATE, digest)


def _described(clip: Clip, samples: Array) -> ScoredRecording:
    word, floor = locate_word(samples)
    speech = float(np.sqrt(np.square(samples[word.start : word.end], dtype=np.float64).mean()))
    level = 20 * np.log10(max(speech, _QUIETEST))
    snr = min(_BEST_SNR, level - 20 * np.log10(max(floor, _QUIETEST)))
    return ScoredRecording(
        f"{clip.path.parent.name}/{clip.path.name}",
        clip.word,
        clip.speaker,
        len(samples) / SAMPLE_RATE,
        round(float(level), 1),
        round(float(snr), 1),
    )
