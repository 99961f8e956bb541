"""Recordings of a split, read once and scored by every contender; scores can be kept on disk."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.audio import SAMPLE_RATE, read_audio
from wakeword.errors import AudioError, DataError
from wakeword.files import replacing
from wakeword.takes.word_region import locate_word
from wakeword.types import Array, Scores
from wakeword_experiments.accuracy.contenders import Contender
from wakeword_experiments.accuracy.held_out import FIGURE_NAMES, Clips, Report
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.reading import Recording
from wakeword_tools.measure.scores import ScoreSet
from wakeword_train.data.clips import Clip

_PADDING = SAMPLE_RATE
"""Samples before and after a clip: engines that hear streams need a second to begin with, and one to end."""
_SAVED_EVERY = 100
_QUIETEST = 1e-5
_BEST_SNR = 60.0
"""Clips that were gated to digital silence have none that would mean anything."""


@dataclass(frozen=True)
class Heard:
    """A recording that was scored."""

    file: str
    word: str
    speaker: str
    seconds: float
    level: float
    """Root mean square of the word, dB of full scale."""
    snr: float
    """Of the word over the clip's own floor, dB, 60 at most; an estimate."""


@dataclass(frozen=True)
class SplitScores:
    """What one contender gave on a split."""

    clean: ScoreSet
    noisy: Scores
    """Scores of the positives in noise, ``(clips,)``; empty where that was not asked for."""


@dataclass(frozen=True)
class SplitHeard:
    """The recordings of a split in the order of the scores, and the scores of each contender by name."""

    recordings: Mapping[Kind, Sequence[Heard]]
    scores: Mapping[str, SplitScores]

    def describe(self) -> dict[str, dict[str, Any]]:
        """Numbers of clips, speakers and words, and hours, of each kind."""
        return {
            FIGURE_NAMES[kind]: {
                "clips": len(heard),
                "speakers": len({one.speaker for one in heard}),
                "words": len({one.word for one in heard}),
                "hours": round(sum(one.seconds for one in heard) / 3600, 4),
            }
            for kind, heard in self.recordings.items()
        }


class Kept:
    """The scores of a contender, kept in a file by the digest of what was heard; in memory alone without a folder."""

    def __init__(self, contender: Contender, folder: Path | None) -> None:
        self._contender = contender
        self._path = folder / f"{hashlib.sha256(contender.identity.encode()).hexdigest()[:16]}.npz" if folder else None
        self._scores: dict[str, Scores] = {}
        self._grown = False
        if self._path and self._path.is_file():
            self._scores = _kept_scores(self._path)

    def score(self, samples: Array, *, best: bool) -> Scores:
        """One score per 80 ms of ``(samples,)``, or with ``best`` the highest alone, ``(1,)``."""
        digest = f"{hashlib.sha256(samples.tobytes()).hexdigest()}-{'best' if best else 'all'}"
        if digest not in self._scores:
            scores = self._contender.score(samples)
            self._scores[digest] = scores.max(keepdims=True) if best else scores
            self._grown = True
        return self._scores[digest]

    def save(self) -> None:
        """Write what is new."""
        if self._path and self._grown:
            with replacing(self._path) as temporary, temporary.open("wb") as file:
                np.savez_compressed(
                    file,
                    digests=np.array(list(self._scores)),
                    lengths=np.array([len(scores) for scores in self._scores.values()]),
                    scores=np.concatenate(list(self._scores.values())),
                )
            self._grown = False


def _kept_scores(path: Path) -> dict[str, Scores]:
    """What ``Kept.save`` wrote. ``DataError`` if the file is something else."""
    try:
        with np.load(path) as stored:
            ends = np.cumsum(stored["lengths"])
            pieces = np.split(stored["scores"], ends[:-1])
            return dict(zip(stored["digests"].tolist(), pieces, strict=True))
    except Exception as error:  # numpy, zipfile and zlib raise whatever their parts raise
        raise DataError(f"{path}: expected scores kept by an earlier call, could not read them; remove it") from error


def padded(samples: Array, digest: str) -> Array:
    """A clip, ``(n,)``, with a second of noise at its own floor before and after it: ``(n + 32000,)``."""
    random = np.random.default_rng(int(digest[:16], 16))
    _, floor = locate_word(samples)
    before, after = np.float32(floor) * random.standard_normal((2, _PADDING), np.float32)
    return np.concatenate([before, samples, after])


def score_clips(
    clips: Clips,
    contenders: Sequence[Contender],
    *,
    mixer: NoiseMixer | None,
    snr: float,
    cache: Path | None,
    report: Report,
) -> SplitHeard:
    """Score a split's recordings with every contender; with a ``mixer`` the positives once more, ``snr`` dB over noise.

    Unreadable files are reported and left out, and so are copies. Raises ``DataError`` if a kind has none left.
    """
    kept = [Kept(contender, cache) for contender in contenders]
    recordings: dict[Kind, list[Heard]] = {}
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
            recordings[kind].append(_heard(clip, samples))
            if len(recordings[kind]) % _SAVED_EVERY == 0:
                _save(kept)
                report(f"{len(recordings[kind])} of {len(of_kind)} {name}")
            long = kind is Kind.BACKGROUND
            whole = samples if long else padded(samples, recording.digest)
            for of_contender, store in zip(scores[kind], kept, strict=True):
                of_contender.append(store.score(whole, best=not long))
            if kind is Kind.POSITIVE and mixer is not None:
                mixed = mixer.mix(whole, recording, snr=snr)
                for of_contender, store in zip(noisy, kept, strict=True):
                    of_contender.append(store.score(mixed, best=True))
        _save(kept)
        if of_kind and not recordings[kind]:
            raise DataError(f"none of the {len(of_kind)} {name} could be used; see the warnings above")
    hours = sum(one.seconds for one in recordings[Kind.BACKGROUND]) / 3600
    names = [contender.name for contender in contenders]
    sets = [_score_set({kind: of[index] for kind, of in scores.items()}, hours) for index in range(len(names))]
    return SplitHeard(
        recordings,
        {name: SplitScores(of, _joined(loud)) for name, of, loud in zip(names, sets, noisy, strict=True)},
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


def _save(kept: Sequence[Kept]) -> None:
    for store in kept:
        store.save()


def _joined(scores: Sequence[Scores]) -> Scores:
    return np.concatenate([np.zeros(0), *scores])


def _read(clip: Clip, seen: set[str], report: Report) -> tuple[Array, Recording] | None:
    try:
        samples = read_audio(clip.path)
    except AudioError as error:
        report(f"skipped: {error}")
        return None
    digest = hashlib.sha256(samples.tobytes()).hexdigest()
    if len(samples) == 0 or digest in seen:
        report(f"skipped: {clip.path}: {'a copy of another recording' if len(samples) else 'no audio'}")
        return None
    seen.add(digest)
    return samples, Recording(clip.path, len(samples) / SAMPLE_RATE, digest)


def _heard(clip: Clip, samples: Array) -> Heard:
    word, floor = locate_word(samples)
    speech = float(np.sqrt(np.square(samples[word.start : word.end], dtype=np.float64).mean()))
    level = 20 * np.log10(max(speech, _QUIETEST))
    snr = min(_BEST_SNR, level - 20 * np.log10(max(floor, _QUIETEST)))
    return Heard(
        f"{clip.path.parent.name}/{clip.path.name}",
        clip.word,
        clip.speaker,
        len(samples) / SAMPLE_RATE,
        round(float(level), 1),
        round(float(snr), 1),
    )
