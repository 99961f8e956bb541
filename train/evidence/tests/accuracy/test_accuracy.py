"""Accuracy: thresholds come only from validation, both kinds of negatives weigh the same, one rule for all contenders."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from soundfile import write
from support.builders import card, random_model, random_model_bytes

from wakeword.base.errors import ConfigError, DataError
from wakeword.format.card import ModelCard
from wakeword_experiments.accuracy import accuracy_contenders as accuracy_contenders
from wakeword_experiments.accuracy import accuracy_scores as accuracy_scores
from wakeword_experiments.accuracy.accuracy_contenders import JudgedModel, ours, peer, peers
from wakeword_experiments.accuracy.accuracy_scores import ScoredRecording, ScoredSplit, SplitScores, padded, score_clips
from wakeword_experiments.accuracy.held_out import Clips, data_folders, dealing
from wakeword_experiments.accuracy.measures import TARGETS, errors, figures, paired
from wakeword_tools.contenders.seam import Contender
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.measure.subject import HOP_SAMPLES
from wakeword_tools.measure.thresholds import mean_fpr
from wakeword_train.data.clips import Clip

RATE = 16_000


def scores(random: np.random.Generator, *, generic: int = 200, close: int = 100) -> SplitScores:
    """Most positives score higher than the negatives."""
    clean = ScoreSet(
        positives=random.beta(6, 2, 50),
        negatives=random.beta(1, 6, generic),
        near_negatives=random.beta(2, 4, close),
        streams=[random.beta(1, 8, 2_000)],
        hours=0.05,
    )
    return SplitScores(clean, random.beta(5, 2, 50))


class Loudness:
    """Another engine's stream: its score is the loudness of the block, and it remembers the loudest since its reset."""

    def __init__(self) -> None:
        self.resets = 0
        self.loudest = 0.0

    def push(self, block: np.ndarray) -> float:
        assert block.shape == (HOP_SAMPLES,)
        assert block.dtype == np.int16
        self.loudest = max(self.loudest, float(np.abs(block).max()) / 32_768)
        return self.loudest

    def reset(self) -> None:
        self.resets += 1
        self.loudest = 0.0

    @property
    def cutoff(self) -> float:
        return 0.5


def loudest(samples: np.ndarray) -> np.ndarray:
    """``Loudness`` without a stream."""
    return np.maximum.accumulate(np.abs(np.round(samples * 32_767)).reshape(-1, HOP_SAMPLES).max(axis=1)) / 32_768


def test_thresholds_do_not_depend_on_the_test_split() -> None:
    random = np.random.default_rng(1)
    validation = scores(random)
    chosen = [figures(validation, scores(random)) for _ in range(2)]
    for target in TARGETS:
        first, second = (found[target.name] for found in chosen)
        assert first["threshold"] == second["threshold"]
        assert first["oracle"]["threshold"] != second["oracle"]["threshold"]


def test_the_oracle_meets_its_target_on_the_test_itself() -> None:
    random = np.random.default_rng(2)
    test = scores(random)
    found = figures(scores(random), test)
    for target in TARGETS[:2]:
        assert mean_fpr(test.clean.groups, found[target.name]["oracle"]["threshold"]) <= target.value


def test_saturated_scores_are_marked() -> None:
    random = np.random.default_rng(3)
    flat = scores(random)
    flat = dataclasses.replace(flat, clean=dataclasses.replace(flat.clean, near_negatives=np.ones(100)))
    found = figures(flat, scores(random))["fpr=0.03"]
    assert found["saturated"]
    assert found["clean"]["count"] == 0
    assert not figures(scores(random), scores(random))["fpr=0.03"]["saturated"]


def test_mcnemar_counts_recordings_that_only_one_model_finds() -> None:
    one = SplitScores(ScoreSet(np.array([0.9, 0.9, 0.9, 0.1]), np.zeros(1)), np.full(4, 0.9))
    other = SplitScores(ScoreSet(np.array([0.9, 0.1, 0.1, 0.9]), np.zeros(1)), np.full(4, 0.9))
    clean, noisy = paired(one, other, {"fpr=0.03": (0.5, 0.5)})
    assert (clean["only_first"], clean["only_second"], clean["clips"]) == (2, 1, 4)
    assert clean["p"] == pytest.approx(1.0)
    assert (noisy["only_first"], noisy["only_second"], noisy["p"]) == (0, 0, 1.0)
    many = SplitScores(ScoreSet(np.full(12, 0.9), np.zeros(1)), np.full(12, 0.9))
    none = SplitScores(ScoreSet(np.full(12, 0.1), np.zeros(1)), np.full(12, 0.9))
    assert paired(many, none, {"x": (0.5, 0.5)})[0]["p"] == pytest.approx(2 * 0.5**12)


def test_errors_list_false_accepts_and_missed_positives() -> None:
    def recordings(*words: str) -> list[ScoredRecording]:
        return [ScoredRecording(f"{i}.flac", word, f"s{i}", 1.0, -20.0, 30.0) for i, word in enumerate(words)]

    split = ScoredSplit(
        {
            Kind.POSITIVE: recordings("alexa", "alexa", "alexa"),
            Kind.NEGATIVE: recordings("yes"),
            Kind.NEAR_NEGATIVE: recordings("alex", "alex", "a"),
        },
        {},
    )
    clean = ScoreSet(np.array([0.2, 0.9, 0.8]), np.array([0.1]), np.array([0.9, 0.2, 0.3]))
    found = errors(split, SplitScores(clean, np.array([0.1, 0.9, 0.4])), 0.5, {"alex": 1.1, "a": 3.0})
    assert [(row["distance"], row["count"], row["trials"]) for row in found["by_distance"]] == [
        (1.0, 1, 2),
        (3.0, 0, 1),
    ]
    assert found["texts"] == [{"word": "alex", "fired": 1, "clips": 2, "distance": 1.1}]
    assert found["words"] == []
    missed = [(row["speaker"], row["missed_clean"], row["missed_noisy"]) for row in found["missed"]]
    assert missed == [("s0", True, True), ("s2", False, True)]


def trained(**changes: object) -> ModelCard:
    """A card with the settings by which its recordings were dealt."""
    config = {"split": "dealt", "validation_share": 0.15, "test_share": 0.3, "hold_out_recorded": False, **changes}
    return dataclasses.replace(card("alexa"), training={"config": config})


def test_models_that_were_dealt_differently_are_refused() -> None:
    assert dealing({"one": trained(), "two": trained()}).test_share == 0.3
    with pytest.raises(ConfigError, match=r"one has test_share = 0\.3 and two 0\.2") as caught:
        dealing({"one": trained(), "two": trained(test_share=0.2)})
    assert "\n" not in str(caught.value)
    with pytest.raises(ConfigError, match="lacks split"):
        dealing({"old": dataclasses.replace(card("alexa"), training={"config": {}})})


def test_folders_follow_the_shipped_recipes(tmp_path: Path) -> None:
    for word in ("jarvis", "alexa", "computer"):
        (tmp_path / "wake_words" / word).mkdir(parents=True)
    folders = data_folders(tmp_path, "alexa")
    assert [folder.name for folder in folders.positives] == ["alexa"]
    assert [folder.name for folder in folders.negatives] == ["computer", "jarvis"]
    of_other = data_folders(tmp_path, "stop")
    assert list(of_other.positives) == []
    assert [folder.name for folder in of_other.negatives] == ["alexa", "computer", "jarvis"]


def test_missing_peers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    working, absent = peers("stop")
    assert working == []
    assert set(absent) == {"pymicro-wakeword", "openwakeword", "pyopen-wakeword", "pvporcupine"}
    assert all("no model of 'stop'" in reason for reason in absent.values())

    def broken(files: object) -> Loudness:
        raise OSError("its library\nis gone")

    installed = Contender("micro", "micro", "pymicro-wakeword", "json", broken)
    missing = Contender("open", "open", "openwakeword", "no_such_package", broken)
    monkeypatch.setattr(accuracy_contenders, "PEERS", (installed, missing))
    working, absent = peers("alexa")
    assert working == []
    assert absent["openwakeword"] == "not installed"
    assert absent["pymicro-wakeword"] == "installed, but did not run: OSError: its library is gone"


def tone(random: np.random.Generator, amplitude: float, seconds: float = 0.6) -> np.ndarray:
    samples = 1e-3 * random.standard_normal(round(seconds * RATE))
    middle = slice(len(samples) // 4, len(samples) // 2)
    samples[middle] += amplitude * np.sin(np.arange(len(samples))[middle])
    return samples.astype(np.float32)


@pytest.fixture
def spoken(tmp_path: Path) -> Clips:
    """Three clips of each kind, of growing loudness, and a long recording."""
    random = np.random.default_rng(0)
    clips: dict[Kind, list[Clip]] = {}
    for number, kind in enumerate((Kind.POSITIVE, Kind.NEGATIVE, Kind.NEAR_NEGATIVE, Kind.BACKGROUND)):
        for copy in range(3):
            path = tmp_path / f"{kind}-{copy}.wav"
            write(path, tone(random, 0.2 + 0.1 * number + 0.02 * copy, 3.0 if kind is Kind.BACKGROUND else 0.6), RATE)
            clips.setdefault(kind, []).append(Clip(path, kind, "word", f"{kind}{copy}", Split.TEST))
    return clips


def mixer(tmp_path: Path) -> NoiseMixer:
    write(tmp_path / "noise.wav", 0.1 * np.random.default_rng(9).standard_normal(RATE), RATE)
    return NoiseMixer([tmp_path / "noise.wav"], warn=print)


def test_a_peer_gets_the_same_samples_under_the_same_rules(spoken: Clips, tmp_path: Path) -> None:
    stream = Loudness()
    contenders = [
        peer("stub", "1.0", stream, size=7, cutoff=0.5),
        JudgedModel("plain", "plain", lambda s: loudest(_whole_blocks(s))),
    ]
    split = score_clips(spoken, contenders, mixer=mixer(tmp_path), snr=10, cache=None, report=print)
    stub, plain = (split.scores[name] for name in ("stub 1.0", "plain"))
    assert stream.resets == 3 * 4 + 3
    for one, other in zip(vars(stub.clean).values(), vars(plain.clean).values(), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(stub.noisy, plain.noisy)
    assert figures(stub, stub) == figures(plain, plain)
    assert contenders[0].facts == {"ours": False, "version": "1.0", "bytes": 7, "cutoff": 0.5}


def _whole_blocks(samples: np.ndarray) -> np.ndarray:
    return np.pad(samples, (0, -len(samples) % HOP_SAMPLES))


def test_noise_is_mixed_only_into_the_noisy_positives(spoken: Clips, tmp_path: Path) -> None:
    contender = JudgedModel("floor", "floor", lambda samples: np.array([float(np.abs(samples[:1_000]).mean())]))
    mixed = score_clips(spoken, [contender], mixer=mixer(tmp_path), snr=10, cache=None, report=print).scores["floor"]
    assert (mixed.noisy > 5 * mixed.clean.positives).all()
    quiet = score_clips(spoken, [contender], mixer=None, snr=10, cache=None, report=print).scores["floor"]
    assert len(quiet.noisy) == 0
    np.testing.assert_array_equal(quiet.clean.positives, mixed.clean.positives)


def test_cached_scores_are_not_computed_again(spoken: Clips, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    for identity, block in (
        ("one", HOP_SAMPLES),
        ("one", HOP_SAMPLES),
        ("another", HOP_SAMPLES),
        ("one", HOP_SAMPLES // 2),
    ):
        monkeypatch.setattr(accuracy_scores, "HOP_SAMPLES", block)
        calls: list[int] = []

        def score(samples: np.ndarray, calls: list[int] = calls) -> np.ndarray:
            calls.append(len(samples))
            return loudest(_whole_blocks(samples))

        found = score_clips(
            spoken, [JudgedModel("same", identity, score)], mixer=None, snr=10, cache=tmp_path / "cache", report=print
        )
        runs.append((len(calls), found.scores["same"]))
    assert [calls for calls, _ in runs] == [12, 0, 12, 12]
    for one, other in zip(vars(runs[0][1].clean).values(), vars(runs[1][1].clean).values(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "damage", [lambda old: old[:100], lambda old: b"", lambda old: old.replace(b"PK\x03\x04", b"PK\x03\x05")]
)
def test_damaged_cached_scores_are_reported_and_left_unchanged(
    spoken: Clips, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    contender = JudgedModel("one", "one", lambda samples: np.ones(1))

    def scored() -> None:
        score_clips(spoken, [contender], mixer=None, snr=10, cache=tmp_path, report=print)

    scored()
    (cached,) = tmp_path.glob("*.npz")
    damaged = damage(cached.read_bytes())
    cached.write_bytes(damaged)
    with pytest.raises(DataError, match=rf"{cached.name}.*remove it"):
        scored()
    assert cached.read_bytes() == damaged


def test_copies_and_unreadable_files_are_left_out(spoken: Clips, tmp_path: Path) -> None:
    first = spoken[Kind.POSITIVE][0]
    copy = tmp_path / "copy.wav"
    copy.write_bytes(first.path.read_bytes())
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"none")
    more = [*spoken[Kind.POSITIVE], *(dataclasses.replace(first, path=path) for path in (copy, broken))]
    messages: list[str] = []
    contender = JudgedModel("one", "one", lambda samples: np.ones(1))
    of_more = {**spoken, Kind.POSITIVE: more}
    split = score_clips(of_more, [contender], mixer=None, snr=10, cache=None, report=messages.append)
    assert split.describe()["positives"] == {"clips": 3, "speakers": 3, "words": 1, "hours": 0.0005}
    assert sum("skipped" in line for line in messages) == 2
    with pytest.raises(DataError, match="none of the 1 positives"):
        score_clips({**spoken, Kind.POSITIVE: more[-1:]}, [contender], mixer=None, snr=10, cache=None, report=print)


def test_a_clip_is_padded_with_its_own_floor() -> None:
    samples = tone(np.random.default_rng(0), 0.3)
    whole = padded(samples, "00" * 32)
    assert len(whole) == len(samples) + 2 * RATE
    np.testing.assert_array_equal(whole[RATE:-RATE], samples)
    assert np.std(whole[:RATE]) == pytest.approx(1e-3, rel=0.2)
    np.testing.assert_array_equal(whole, padded(samples, "00" * 32))
    assert not np.array_equal(whole, padded(samples, "11" * 32))


def test_our_models_give_one_score_per_hop_from_a_fresh_state(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(random_model_bytes())
    contender = ours("model", path, random_model())
    samples = padded(tone(np.random.default_rng(0), 0.3), "00" * 32)
    first = contender.score(samples)
    contender.score(samples[::-1])
    np.testing.assert_array_equal(first, contender.score(samples))
    assert abs(len(first) - len(samples) / HOP_SAMPLES) <= RATE / HOP_SAMPLES
    assert contender.facts["bytes"] == path.stat().st_size
