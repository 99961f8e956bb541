"""The included models decide the same however quiet a microphone is, down to its own noise."""

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from support.builders import in_chunks

from wakeword import Detector, Model, load_model, shipped_models
from wakeword.audio.audio_file import read_audio
from wakeword.audio.level import gain_of
from wakeword.base.types import Array
from wakeword.model.installed import assets_folder
from wakeword_tools.measure.scores import RecordingScorer, clip_score, events_at, stream_scores

AUDIO = assets_folder() / "audio"
LEVELS = (0, -20, -40)
PEOPLE = [f"wake_words/{word}" for word in ("alexa", "computer", "jarvis")]
PEOPLE += [f"speech_commands/{word}" for word in ("marvin", "seven", "stop")]


def recorded(samples: Array, decibels: float, random: np.random.Generator) -> Array:
    """The samples ``decibels`` lower, in the noise of a microphone of -94 dBFS, 16 bit."""
    lower = 10 ** (decibels / 20) * samples + 10 ** (-94 / 20) * random.standard_normal(len(samples))
    return (np.round(lower * 32_768).clip(-32_768, 32_767) / 32_768).astype(np.float32)


def decisions(model: Model, clips: Iterable[Path]) -> list[list[bool]]:
    """Whether the default point accepts each clip at each level, ``[clip][level]``."""
    threshold = model.card.point().threshold
    found = []
    for number, path in enumerate(clips):
        random = np.random.default_rng(number)
        samples = read_audio(path)
        found.append([clip_score(model, recorded(samples, one, random)) >= threshold for one in LEVELS])
    return found


def same(found: list[list[bool]]) -> float:
    """The share of clips that are decided the same at every level."""
    return float(np.mean([len(set(one)) == 1 for one in found]))


def test_shipped_clips_are_decided_the_same_at_every_level() -> None:
    clips = [*AUDIO.glob("marvin-*.flac"), *AUDIO.glob("other-*.flac")]
    found = {keyword: decisions(load_model(keyword), sorted(clips)) for keyword in shipped_models()}
    assert same([one for some in found.values() for one in some]) >= 0.95
    assert sum(one[0] for one in found["marvin"]) >= 3


@pytest.mark.slow
@pytest.mark.skipif("WAKEWORD_DATA" not in os.environ, reason="WAKEWORD_DATA does not name a folder of real recordings")
def test_people_are_understood_at_every_level() -> None:
    found = []
    for folder in PEOPLE:
        clips = sorted((Path(os.environ["WAKEWORD_DATA"]) / folder).glob("*.flac"))
        found += decisions(load_model(folder.rpartition("/")[2]), clips[:: max(1, len(clips) // 10)][:10])
    assert same(found) >= 0.95
    assert np.mean([one[0] for one in found]) > 0.8


@pytest.mark.parametrize("scale", [0.1, 0.01])
@pytest.mark.parametrize("name", ["marvin-f4", "other-marlin"])
def test_a_clip_without_noise_has_the_score_of_the_louder_one(name: str, scale: float) -> None:
    model, samples = load_model("marvin"), read_audio(AUDIO / f"{name}.flac")
    assert clip_score(model, samples * np.float32(scale)) == pytest.approx(clip_score(model, samples), abs=2e-3)


@pytest.mark.parametrize("keyword", sorted(shipped_models()))
def test_silence_and_noise_never_fire(keyword: str) -> None:
    model = load_model(keyword)
    silence = np.zeros(10 * 16_000, np.float32)
    random = np.random.default_rng(0)
    noises = [(level * random.standard_normal(10 * 16_000)).astype(np.float32) for level in (1e-4, 1e-2, 0.3)]
    for samples in (silence, recorded(silence, 0, random), *noises):
        assert events_at([stream_scores(model, samples)], model.card.point().threshold) == 0


def test_a_recording_is_scored_as_the_stream_is() -> None:
    """Across changes of gain, whatever the blocks of either."""
    random = np.random.default_rng(0)
    clips = [read_audio(path) for path in sorted(AUDIO.glob("marvin-*.flac"))]
    parts = [
        recorded(np.pad(clip, 8_000), level, random) for clip, level in zip(clips, (0, -45, -10, -25), strict=True)
    ]
    samples = np.concatenate(parts)
    models = [load_model("marvin"), load_model("computer")]
    window, step = 15_920, 2_560
    gains = [gain_of(samples[start : start + window]) for start in range(0, len(samples) - window, step)]
    assert {1, 10, 100} == set(gains)
    whole, cut = (RecordingScorer(models).score(in_chunks(samples, size)) for size in (len(samples), 509))
    detector = Detector(models, gate=False)
    seen: list[dict[str, float]] = []
    for start in (0, *range(window, len(samples), step)):
        detector.push(samples[start if start else 0 : start + step if start else window])
        seen.append(detector.scores)
    for model, one, other in zip(models, whole, cut, strict=True):
        assert one.tolist() == other.tolist()
        scores = [some[model.card.phrase] for some in seen]
        assert one[: len(gains)].tolist() == scores[: len(gains)]
