"""What a student hears in training: features of words with 2 to 4 s of other sound before them, and of other speech.

microWakeWord's front end follows the noise and the level of the seconds before, so that a word has other features after
speech than after silence.
"""

import copy
import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword_export.micro.filterbank import FRAME, micro_features
from wakeword_export.student.rounded_pack import rounded_frames
from wakeword_tools.kinds import Kind
from wakeword_train.data.augment import AugmentationConfig, factors, uniform
from wakeword_train.data.household import household_of
from wakeword_train.data.mixed_sounds import NoiseSource, amid_talk, talk_of
from wakeword_train.data.store import ClipStore
from wakeword_train.data.weights import weigh_recorded

SECONDS = 5.0
"""Length of a scene."""
SCENE_FRAMES = 420
"""Frames at the end of a scene that are kept: what is before them has done its work."""
_AFTER = 0.45, 1.0
"""Range of the seconds between the end of a word and the end of its scene."""
_AMID_TALK = 0.6
_ROWS = 64
_QUIETER = 6.0, 4.0
"""Decibels by which a scene has a lower level and more noise than a clip: the word is a small part of it."""


@dataclass(frozen=True)
class Scenes:
    """Features of scenes of one kind."""

    frames: NDArray[np.uint8]
    """``(scenes, SCENE_FRAMES, 40)``."""
    ends: NDArray[np.int64]
    """The frame in which the word of each scene ends, ``(scenes,)``."""


class SceneMaker:
    """Makes scenes of the clips in ``stores``; the same for the same seed.

    A scene ends 0.45 to 1 s after the word, and mostly has seconds of other speech around it; then come a
    room, noise, a level and a channel, as in a look of ``LookCutter``. ``BatchSampler`` has the word anywhere in a window.
    """

    def __init__(self, stores: Mapping[Kind, ClipStore], config: AugmentationConfig, *, seed: int) -> None:
        self._config = config
        self._generator = torch.Generator().manual_seed(seed)
        talk = talk_of(stores)
        self._talk = None if talk is None else _as_one_recording(talk)
        self._noise = NoiseSource(
            round(2 * SECONDS * SAMPLE_RATE),
            self._generator,
            household=household_of(stores.get(Kind.NEGATIVE), seed=seed) if config.household else None,
            household_share=config.household,
            recorded=stores.get(Kind.NOISE),
        )

    def words(self, store: ClipStore, count: int, *, recorded: float | None) -> Scenes:
        """``count`` scenes of the clips, each voice as often as the others: natural voices are many and have few clips.

        ``recorded`` is the share of people where there are people and synthetic voices; ``None``: as many as their voices.
        """
        rows = self.drawn(store, count, recorded=recorded)
        return self._scenes(rows, lambda batch: self._word_waves(store, batch))

    def drawn(self, store: ClipStore, count: int, *, recorded: float | None) -> Tensor:
        """The rows of the clips of ``words``, ``(count,)``."""
        voices = Counter(clip.speaker for clip in store.clips)
        weights = torch.tensor([1 / voices[clip.speaker] for clip in store.clips])
        if recorded is not None:
            weigh_recorded(weights, store.clips, recorded)
        return torch.multinomial(weights, count, replacement=True, generator=self._generator)

    def talk(self, count: int) -> Scenes:
        """``count`` scenes of other words, one after the other."""
        return self._scenes(torch.arange(count), self._talk_waves)

    def noise(self, count: int) -> Scenes:
        """``count`` scenes of noise alone."""
        return self._scenes(torch.arange(count), self._noise_waves)

    def _scenes(self, rows: Tensor, waves_of: Callable[[Tensor], tuple[Tensor, Tensor]]) -> Scenes:
        frames, ends, generator = [], [], self._generator
        for batch in torch.split(rows, _ROWS):
            waves, word_ends = waves_of(batch)
            for wave, is_coded in zip(waves, torch.rand(len(waves), generator=generator) < 0.5, strict=True):
                own = micro_features([wave.numpy()])
                frames.append((rounded_frames(own) if is_coded else own)[-SCENE_FRAMES:])
            ends.append(word_ends // FRAME - (len(own) - SCENE_FRAMES))
        return Scenes(np.stack(frames), torch.cat(ends).numpy())

    def _word_waves(self, store: ClipStore, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Scenes with the words, and the sample at which each ends."""
        generator, samples = self._generator, round(SECONDS * SAMPLE_RATE)
        speed = factors(len(rows), self._config.speed, generator)
        ends = samples - (uniform(len(rows), *_AFTER, generator) * SAMPLE_RATE).long()
        offsets = store.word_ends[rows] - (ends * speed).long()
        silent = torch.rand(len(rows), generator=generator) < self._config.silence_probability
        waves = store.cut(rows, offsets, samples, speed=speed, silent=silent, generator=generator)
        begins = ends - ((store.word_ends - store.word_starts)[rows] / speed).long()
        if self._talk is not None:
            waves = amid_talk(waves, begins, ends, talk=self._talk, share=_AMID_TALK, generator=generator)
        return self._noise.recorded_anew(waves, self._config), ends

    def _talk_waves(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        generator, samples, store = self._generator, round(SECONDS * SAMPLE_RATE), self._talk
        assert store is not None
        speed = factors(len(rows), self._config.speed, generator)
        first = torch.zeros(len(rows), dtype=torch.int64)
        offsets = store.any_offsets(first, samples, speed=speed, generator=generator)
        waves = store.cut(first, offsets, samples, speed=speed, generator=generator)
        return self._noise.recorded_anew(waves, self._config), torch.full((len(rows),), samples)

    def _noise_waves(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        generator, samples = self._generator, round(SECONDS * SAMPLE_RATE)
        noise = self._noise.draw(len(rows), samples)
        level = 10 ** (uniform(len(rows), self._config.level_low - 15, self._config.level_high, generator) / 20)
        noise = noise / noise.square().mean(dim=1, keepdim=True).sqrt().clamp_min(1e-6) * level[:, None]
        return noise.clamp(-1, 1), torch.full((len(rows),), samples)


def far_away(config: AugmentationConfig) -> AugmentationConfig:
    """How scenes are varied where clips are varied like this."""
    level, noise = _QUIETER
    return dataclasses.replace(
        config,
        level_low=config.level_low - level,
        level_high=config.level_high - level,
        snr_low=config.snr_low - noise,
        snr_high=config.snr_high - noise,
    )


def _as_one_recording(store: ClipStore) -> ClipStore:
    """The clips of a store, one after the other, as one clip."""
    whole = copy.copy(store)
    whole.clips = store.clips[:1]
    whole.starts = torch.zeros(1, dtype=torch.int64)
    whole.lengths = store.lengths.sum()[None]
    whole.floors = torch.zeros(1)
    return whole
