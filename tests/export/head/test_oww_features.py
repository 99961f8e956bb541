"""openWakeWord's features as the shared embedding network gives them: theirs, whatever the blocks, and of known reach."""

from pathlib import Path

import numpy as np
import pytest
from support.builders import colours

from wakeword.audio.audio_file import read_audio
from wakeword.base.errors import ModelError
from wakeword.model.installed import assets_folder
from wakeword.verify.embedding import STEP_SAMPLES
from wakeword.verify.shared import EMBEDDING_FILE
from wakeword_export.head.oww_features import LEADING_SILENCE, OwwFeatures, first_sample, last_sample

NETWORK = assets_folder() / "encoders" / EMBEDDING_FILE
SPEECH = assets_folder() / "audio" / "demo.flac"


@pytest.fixture(scope="module")
def features() -> OwwFeatures:
    return OwwFeatures(NETWORK)


def test_they_are_those_of_pyopen_wakeword(features: OwwFeatures) -> None:
    engine = pytest.importorskip("pyopen_wakeword", reason="needs pyopen-wakeword, the engine to compare with")
    # Silence too, for its floor is not ours.
    pcm = (np.concatenate([read_audio(SPEECH)[:80_000], np.zeros(20_000)]) * 32_767).astype(np.int16)
    theirs = engine.OpenWakeWordFeatures.from_builtin()
    blocks = [pcm[start : start + 1_280].tobytes() for start in range(0, len(pcm), 1_280)]
    expected = np.concatenate([found.reshape(-1, 96) for block in blocks for found in theirs.process_streaming(block)])
    found = features.embeddings([(pcm / 32_768).astype(np.float32)])
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 1e-3


def test_blocks_make_no_difference(features: OwwFeatures, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = colours(5, np.random.default_rng(0))
    whole = features.embeddings([samples])
    assert np.abs(features.embeddings(np.array_split(samples, 37)) - whole).max() < 1e-3
    monkeypatch.setattr("wakeword_export.head.oww_features.MAX_STEPS", 7)
    assert np.abs(features.embeddings(np.array_split(samples, 37)) - whole).max() < 1e-3


def test_an_embedding_depends_on_its_samples_and_no_others(features: OwwFeatures) -> None:
    samples = colours(5, np.random.default_rng(0))
    number = 130
    start, end = first_sample(number), last_sample(number)
    assert 0 < start < end < len(samples)

    def changed(some: slice) -> float:
        other = samples.copy()
        other[some] = 0.9 * np.sign(other[some])
        return float(np.abs(features.embeddings([other])[number] - features.embeddings([samples])[number]).max())

    assert changed(slice(0, start - 1_280)) == changed(slice(end + 1_280, None)) == 0
    assert changed(slice(start, start + 400)) > 0
    assert changed(slice(end - 400, end)) > 0


def test_another_network_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.onnx"
    path.write_bytes(NETWORK.read_bytes().replace(b"mel_matrix", b"mel_matrox"))
    with pytest.raises(ModelError, match="expected the embedding network of wakeword"):
        OwwFeatures(path)


def test_a_reset_of_openwakeword_is_forgotten_after_what_an_embedding_sees(features: OwwFeatures) -> None:
    samples = colours(4, np.random.default_rng(0))
    fresh, whole = features.after_reset(samples), features.embeddings([samples])[LEADING_SILENCE // STEP_SAMPLES :]
    # 76 frames: the first nine embeddings see the ones with which its spectrogram begins.
    same = [any(np.abs(whole - one).max(axis=1) < 1e-3) for one in fresh]
    assert not any(same[:9])
    assert all(same[9:-1])
    assert len(fresh) > 40
