"""What is known of packed speech is what a second stage would hear in its sound, to the rounding of the pack."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from support.builders import TWO_STAGE
from support.packs import write_small_pack

from wakeword.audio.audio_file import read_audio
from wakeword.audio.features import FeatureConfig
from wakeword.audio.level import gain_of
from wakeword.model.installed import assets_folder
from wakeword.model.model import read_model
from wakeword.verify.shared import QUICK_FILE, load_quick
from wakeword.verify.verifier import SecondStage
from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.clips import Clip
from wakeword_train.data.packed import PackedStore, packed_clips
from wakeword_train.data.store import ClipStore
from wakeword_train.pack.starter import read_pack
from wakeword_train.quick_gate import with_quick
from wakeword_train.second_stage.background import LongSpeech, rounded_now_and_then
from wakeword_train.second_stage.evidence import EvidenceReader
from wakeword_train.second_stage.looks.examples import Recordings

QUICK = assets_folder() / "encoders" / QUICK_FILE
STEP, WINDOW = 2_560, FeatureConfig().samples_in(98)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> PackedStore:
    pack = read_pack(write_small_pack(tmp_path_factory.mktemp("pack")))
    return PackedStore(packed_clips(pack, [], validation=0.5), pack)


def sound_of(packed: PackedStore, row: int) -> np.ndarray:
    """The sound behind a row, which is a whole recording."""
    source = packed.pack.recordings[row].source
    samples = read_audio(packed.pack.path.parent / "spoken" / f"{source}.wav")
    return samples[: FeatureConfig().samples_in(packed.pack.recordings[row].frames)]


def test_evidence_of_features_is_that_of_the_sound(packed: PackedStore) -> None:
    model = read_model(TWO_STAGE)
    stage = model.second_stage
    assert stage is not None
    assert stage.phonemes is not None
    card = dataclasses.replace(with_quick(stage.card, QUICK), gate=-20.0, quick_gate=-3.5)
    quick = load_quick(QUICK, card.quick_digest or "")
    every = SecondStage(card, stage.head, stage.embedding, stage.phonemes.network, quick=quick)
    reader = EvidenceReader(every, model.card.window, probe=-1e6)
    store = LongSpeech(None, packed, quick=QUICK)
    heard: dict[str, list[np.ndarray]] = {"logits": [], "embedding": [], "phonemes": []}
    known: dict[str, list[np.ndarray]] = {"logits": [], "embedding": [], "phonemes": []}
    for row in range(len(store)):
        assert np.array_equal(packed.starts[row], sum(one.frames for one in packed.pack.recordings[:row]))
        samples = sound_of(packed, row)
        clip = Clip(packed.pack.path, Kind.BACKGROUND, "", "", Split.TRAIN)
        of_sound = LongSpeech(as_store(clip, samples), None)
        for speech, found, number in ((of_sound, heard, 0), (store, known, row)):
            evidence = speech.evidence(number, reader, speech.logits(number, model))
            windows = len(store.logits(row, model))
            # Features of quiet sound are those of the sound as it was recorded, not as the engine amplifies it.
            starts = range(0, windows * STEP, STEP)
            kept = np.array([gain_of(samples[start : start + WINDOW]) == 1 for start in starts])
            assert kept.mean() > 0.9
            found["logits"].append(evidence.logits[:windows][kept])
            found["embedding"].append(evidence.embedding[:windows][kept])
            found["phonemes"].append(evidence.phonemes[:windows][kept])
        assert of_sound.hours([0]) == pytest.approx(store.hours([row]), rel=0.01)
    asked = [np.isfinite(np.concatenate(some.pop("phonemes"))) for some in (heard, known)]
    assert asked[0].any()
    assert (asked[0] == asked[1]).mean() > 0.95
    for name in heard:
        one, other = np.concatenate(heard[name]), np.concatenate(known[name])
        assert np.isfinite(one).all()
        assert one.std() > 0
        assert np.corrcoef(one, other)[0, 1] > 0.9, name


def as_store(clip: Clip, samples: np.ndarray) -> ClipStore:
    """A store with one clip of these samples, ``(n,)``."""
    store = ClipStore([])
    store.clips = [dataclasses.replace(clip, path=Path("talk.wav"))]
    store.samples = torch.from_numpy(np.round(samples * 32_767).astype(np.int16))
    store.starts, store.lengths = torch.tensor([0]), torch.tensor([len(samples)])
    return store


def test_rows_of_audio_come_before_those_of_the_pack(packed: PackedStore) -> None:
    clip = Clip(Path("talk.wav"), Kind.BACKGROUND, "", "own", Split.TRAIN)
    both = LongSpeech(as_store(clip, np.zeros(16_000, np.float32)), packed)
    assert [one.is_packed for one in both.clips] == [False, *[True] * len(packed)]
    assert both.hours(range(len(both))) == pytest.approx(1 / 3600 + packed.hours)
    own = torch.zeros(3, 96)
    joined = both.with_packed(Recordings([own], [own]))
    assert len(joined.clean) == len(joined.varied) == len(both)
    assert joined.clean[0] is own
    assert both.fingerprint not in (LongSpeech(None, packed).fingerprint, "")
    assert len(LongSpeech(None, None)) == 0


def test_every_second_look_is_rounded_as_the_pack_is(packed: PackedStore) -> None:
    looks = torch.randn(5, 16, 96, generator=torch.Generator().manual_seed(0)).half()
    changed = rounded_now_and_then(looks, packed)
    assert torch.equal(changed[1::2], looks[1::2])
    assert not torch.equal(changed[::2], looks[::2])
    assert torch.equal(rounded_now_and_then(looks, None), looks)
