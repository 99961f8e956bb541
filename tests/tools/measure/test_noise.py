"""Noise has the requested level, and is the same for the same clip."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import bursts

from wakeword.base.errors import DataError
from wakeword.takes.word_region import locate_word
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.reading import ReadRecording

CLIP = bursts(2.0, {0.8: "low"})
RECORDING = ReadRecording("clip.wav", 2.0, "0123456789abcdef")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    random = np.random.default_rng(0)
    noises = {"hiss": 0.1 * random.standard_normal(8_000), "click": np.eye(1, 80_000, 70_000)[0] * 0.5}
    for name, samples in {**noises, "silence": np.zeros(16_000)}.items():
        soundfile.write(tmp_path / f"{name}.wav", samples, 16_000)
    (tmp_path / "broken.wav").write_bytes(b"no audio")
    return sorted(tmp_path.glob("*.wav"))


@pytest.mark.parametrize("snr", [20.0, 5.0, -10.0])
def test_the_word_has_the_requested_ratio_to_the_noise(files: list[Path], snr: float) -> None:
    word, _ = locate_word(CLIP)
    speech = np.square(CLIP[word.start : word.end]).mean()
    for number in range(10):
        noise = NoiseMixer(files, seed=number, warn=[].append).mix(CLIP, RECORDING, snr=snr) - CLIP
        assert 10 * np.log10(speech / np.square(noise).mean()) == pytest.approx(snr, abs=0.02)


@pytest.mark.parametrize("snr", [20.0, -10.0])
def test_the_level_of_speech_is_that_of_all_of_it(files: list[Path], snr: float) -> None:
    mixer = NoiseMixer(files, seed=1, warn=[].append)
    noise = mixer.mix(CLIP, RECORDING, snr=snr, speech=CLIP) - CLIP
    assert 10 * np.log10(np.square(CLIP).mean() / np.square(noise).mean()) == pytest.approx(snr, abs=0.02)
    same = mixer.mix(CLIP, RECORDING, snr=snr) - CLIP
    assert np.corrcoef(noise, same)[0, 1] == pytest.approx(1)


def test_noise_depends_on_seed_and_clip_only(files: list[Path]) -> None:
    def noise(seed: int, digest: str, snr: float = 10.0) -> np.ndarray:
        mixer = NoiseMixer(files, seed=seed, warn=[].append)
        mixer.mix(CLIP[:5_000], ReadRecording("other.wav", 1.0, "77" * 8), snr=0.0)
        return mixer.mix(CLIP, ReadRecording("clip.wav", 2.0, digest), snr=snr) - CLIP

    first = noise(0, "01" * 8)
    assert (noise(0, "01" * 8) == first).all()
    assert not np.allclose(noise(1, "01" * 8), first)
    assert not np.allclose(noise(0, "02" * 8), first)
    # With a ratio 10 dB lower it is the same noise, louder.
    np.testing.assert_allclose(noise(0, "01" * 8, snr=0.0), first * np.sqrt(10), atol=1e-6)


def test_short_clips_are_padded_with_noise(files: list[Path]) -> None:
    hiss = [path for path in files if path.stem == "hiss"]
    mixed = NoiseMixer(hiss, least=40_000, seed=0, warn=[].append).mix(CLIP, RECORDING, snr=0.0)
    assert len(mixed) == 40_000
    assert np.any(mixed[len(CLIP) :])


def test_a_silent_clip_stays_silent(files: list[Path]) -> None:
    assert not np.any(NoiseMixer(files, warn=[].append).mix(np.zeros(9_000, np.float32), RECORDING, snr=5.0))


def test_files_without_noise_are_named(files: list[Path]) -> None:
    warnings: list[str] = []
    NoiseMixer(files, warn=warnings.append)
    assert len(warnings) == 1
    assert "broken.wav" in warnings[0]
    useless = [path for path in files if path.stem in ("silence", "broken")]
    with pytest.raises(DataError, match="noise"):
        NoiseMixer(useless, warn=warnings.append)
