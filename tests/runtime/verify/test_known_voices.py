"""Known voices: what they do to a threshold, which voice it is, and their files. The network of speakers is not needed."""

import json
import math
import pickle
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.builders import CHUNKS, band_model_bytes, bursts, in_chunks
from support.commands import Cli

from wakeword import ConfigError, DataError, Detection, Detector, DetectorPool, ModelError
from wakeword.base.files import file_sha256
from wakeword.base.types import Array
from wakeword.format.verifier_card import FLOOR
from wakeword.model.installed import assets_folder
from wakeword.model.model import parse_model
from wakeword.stream.keyword import KeywordTracker
from wakeword.stream.trigger import Suppression
from wakeword.verify import known_voices
from wakeword.verify.known_voices import KnownVoice, Voices, direction_of, enrolled, read_voice, write_voice
from wakeword.verify.verifier import StreamSound

ME, YOU, OTHER = np.eye(192, dtype=np.float32)[:3]


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A file in place of the network, which no test runs."""
    path = tmp_path / "home" / "known-voices" / "speakers.onnx"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"network")
    return path


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> dict[str, Array]:
    """Whose voice every sound is, to be changed by a test."""
    heard = {"voice": ME}
    monkeypatch.setattr(known_voices, "direction_of", lambda network, samples: heard["voice"])
    return heard


def voices(network: Path, *names: str, only: bool = False, alike: float = 0.7) -> Voices:
    directions = {"me": ME, "you": YOU}
    digest = file_sha256(network)
    known = [KnownVoice(name, tuple(directions[name].tolist()), alike, 10, digest) for name in names]
    return Voices(tuple(known), network, only=only)


def near(cosine: float) -> Array:
    """A direction of this cosine to the voice of "me"."""
    return (cosine * ME + math.sqrt(1 - cosine**2) * OTHER).astype(np.float32)


@pytest.mark.parametrize(
    ("cosine", "name", "threshold", "only"),
    [
        (0.61, "me", 0.5 / (0.5 + 0.5 * math.exp(3)), 0.5 / (0.5 + 0.5 * math.exp(3))),
        (0.59, None, 0.5, math.inf),
        (0.51, None, 0.5, math.inf),
        (0.49, None, 0.5 / (0.5 + 0.5 * math.exp(-2)), math.inf),
        (math.nan, None, 0.5 / (0.5 + 0.5 * math.exp(-2)), math.inf),
    ],
)
def test_a_known_voice_lowers_the_threshold_and_an_unknown_one_raises_it(
    cosine: float, name: str | None, threshold: float, only: float, network: Path, says: dict[str, Array]
) -> None:
    says["voice"] = near(cosine)
    sound = np.zeros(0, np.float32)
    assert voices(network, "me").judge(0.5, sound) == (name, pytest.approx(threshold))
    assert voices(network, "me", only=True).judge(0.5, sound) == (name, pytest.approx(only))


def test_the_nearest_of_several_voices_is_named(network: Path, says: dict[str, Array]) -> None:
    for direction, name in ((YOU, "you"), (ME, "me")):
        says["voice"] = direction
        assert voices(network, "me", "you").judge(0.5, np.zeros(0, np.float32))[0] == name


@pytest.mark.parametrize("threshold", [1e-4, FLOOR, 0.002, 0.5, 0.999, 1.0])
def test_the_bounds_of_a_threshold(threshold: float, network: Path) -> None:
    lowest = voices(network, "me").lowest(threshold)
    assert min(threshold, FLOOR) <= lowest <= threshold


def test_voices_travel_to_other_processes_and_belong_to_one_network(network: Path) -> None:
    some = voices(network, "me")
    assert pickle.loads(pickle.dumps(some)) == some
    network.write_bytes(b"another one")
    with pytest.raises(ConfigError, match="got 'me' of another; delete that file"):
        Voices(some.known, network)


def test_a_voice_is_the_mean_of_its_takes(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_voices, "direction_of", lambda network, samples: near(float(samples[0])))
    takes = [np.full(10, value, np.float32) for value in (0.6, 0.8, 0.8, 0.8, 0.8)]
    voice = enrolled("me", takes, network)
    assert voice.takes == 5
    assert np.linalg.norm(voice.direction) == pytest.approx(1)
    assert 0.95 < voice.alike < 1
    same = enrolled("me", [takes[1]] * 5, network)
    assert same.alike == pytest.approx(1)
    with pytest.raises(ConfigError, match="expected at least 5 takes of half a second or more, got 4"):
        enrolled("me", takes[:4], network)


def test_too_little_sound_is_no_voice(network: Path) -> None:
    for sound in (np.zeros(20_000), np.ones(7_999), np.concatenate([np.zeros(15_000), np.ones(4_000)])):
        assert not direction_of(network, sound.astype(np.float32)).any()
    with pytest.raises(ConfigError, match="got 0"):
        enrolled("me", 10 * [np.zeros(20_000, np.float32)], network)


def test_the_level_changes_nothing(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Array] = []

    class Session:
        def run(self, outputs: None, inputs: dict[str, Array]) -> list[Array]:
            given.append(inputs["features"])
            return [ME[None]]

    monkeypatch.setattr(known_voices, "_session", lambda network: Session())
    sound = bursts(1.2, {0.5: "low"})
    for gain in (1.0, 0.1):
        assert np.array_equal(direction_of(network, np.float32(gain) * sound), ME)
    assert given[0].shape == (1, 118, 80)
    assert given[0].std() > 1
    np.testing.assert_allclose(given[0], given[1], atol=1e-3)


def test_a_file_is_its_owners_and_holds_the_voice(network: Path) -> None:
    (voice,), path = voices(network, "me").known, network.parent / "me.json"
    write_voice(path, voice)
    assert read_voice(path) == voice
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="expected a new name, got 'me', which is known"):
        write_voice(path, replace(voice, alike=0.1))
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"name": "me"}', "null"])
def test_a_damaged_file_is_one_line(content: str, network: Path) -> None:
    path = network.parent / "me.json"
    path.write_text(content)
    with pytest.raises(DataError, match="expected a voice that `wakeword voice enrol` wrote; delete and enrol it"):
        read_voice(path)
    voice = {"name": "me", "direction": [math.nan], "alike": 0.5, "takes": 5, "network": ""}
    path.write_text(json.dumps(voice))
    with pytest.raises(DataError, match=r"me\.json: expected a voice"):
        read_voice(path)


# --- in a stream

THRESHOLD = 0.9985
"""Just above the scores of low bursts, 0.9975, and below the lowest threshold for a known voice, 0.971."""


def heard(
    known: Voices | None, chunk: int = 1_280, threshold: float = THRESHOLD
) -> tuple[list[Detection], list[Detection]]:
    """Detections and near misses in two low bursts."""
    missed: list[Detection] = []
    model = parse_model(band_model_bytes("low", 1))
    detector = Detector(model, threshold=threshold, on_near_miss=missed.append, voices=known)
    assert detector.thresholds == {"low": threshold}
    found = [one for block in in_chunks(bursts(6, {1.5: "low", 4: "low"}), chunk) for one in detector.push(block)]
    return [*found, *detector.flush()], missed


def test_a_known_voice_is_found_below_the_threshold_and_named(network: Path, says: dict[str, Array]) -> None:
    assert [len(some) for some in heard(None)] == [0, 2]
    found, missed = heard(voices(network, "me"))
    assert [one.speaker for one in found] == ["me", "me"]
    assert missed == []
    says["voice"] = near(0.55)
    assert [len(some) for some in heard(voices(network, "me"))] == [0, 2]


@pytest.mark.parametrize("voice", [ME, near(0.55), OTHER])
@pytest.mark.parametrize("only", [False, True])
def test_a_pool_knows_the_voices_that_a_detector_knows(
    voice: Array, only: bool, network: Path, says: dict[str, Array]
) -> None:
    says["voice"] = voice
    for threshold in (0.5, THRESHOLD):
        known = voices(network, "me", only=only)
        pool = DetectorPool(parse_model(band_model_bytes("low", 1)), threshold=threshold, voices=known)
        stream, found = pool.open(), []
        for block in in_chunks(bursts(6, {1.5: "low", 4: "low"}), 1_280):
            stream.push(block)
            found += [one for _, one in pool.process()]
        stream.flush()
        found += [one for _, one in pool.process()]
        alone, _ = heard(known, threshold=threshold)
        assert [(one.speaker, one.end) for one in found] == [(one.speaker, one.end) for one in alone]


def test_only_a_known_voice_wakes(network: Path, says: dict[str, Array]) -> None:
    for threshold in (0.5, THRESHOLD):
        assert len(heard(voices(network, "me", only=True), threshold=threshold)[0]) == 2
    says["voice"] = OTHER
    assert heard(voices(network, "me", only=True), threshold=0.5)[0] == []
    assert [one.speaker for one in heard(voices(network, "me"), threshold=0.5)[0]] == [None, None]
    # Of 0.99 the threshold for an unknown voice is 0.9986.
    assert heard(voices(network, "me"), threshold=0.99)[0] == []


@pytest.mark.parametrize("chunk", CHUNKS)
def test_the_voice_is_the_same_however_the_audio_is_cut(
    chunk: int, network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Array] = []

    def ask(network: Path, samples: Array) -> Array:
        asked.append(samples.copy())
        return ME

    monkeypatch.setattr(known_voices, "direction_of", ask)
    found = [(one.end, one.speaker) for one in heard(voices(network, "me"), chunk)[0]]
    assert found == [(one.end, one.speaker) for one in heard(voices(network, "me"), 16_000)[0]]
    half = len(asked) // 2
    assert {len(one) for one in asked} == {known_voices.LOOK_AT_VOICE}
    for one, other in zip(asked[:half], asked[half:], strict=True):
        assert np.array_equal(one, other)


def test_a_score_near_the_lowered_threshold_is_not_slept_through(network: Path) -> None:
    model = parse_model(band_model_bytes("low", 1))
    logit = math.log(0.01 / 0.99)
    for known, far in ((None, True), (voices(network, "me"), False)):
        tracker = KeywordTracker(model, 0.5, hop=16, refractory=100)
        tracker.know(known)
        silence = StreamSound(lambda start, end: np.zeros(end - start, np.float32))
        assert tracker.take([(logit, 1.0)], sound=silence, suppression=Suppression()) == []
        assert tracker.is_far_below == far


# --- the command


@pytest.mark.parametrize(
    "change", [{"direction": [0.1] * 100}, {"direction": [1e300] * 192}, {"alike": 1e9}, {"takes": "many"}, {"name": 7}]
)
def test_a_voice_of_other_numbers_is_one_line_and_hides_no_other(
    change: dict[str, object], cli: Cli, network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAKEWORD_HOME", str(network.parent.parent))
    path = network.with_name("me.json")
    (me,) = voices(network, "me").known
    write_voice(path, me)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    write_voice(network.with_name("you.json"), replace(me, name="you"))
    with pytest.raises(DataError, match="expected a voice that `wakeword voice enrol` wrote"):
        read_voice(path)
    listed = cli("voice")
    assert listed.out.startswith("you  10 takes")
    assert listed.err.count("\n") == 1


def test_a_file_in_place_of_the_network_is_one_line(tmp_path: Path) -> None:
    other = assets_folder() / "models" / "jarvis.onnx"
    with pytest.raises(ModelError, match="expected the network of speakers; delete it and enrol again"):
        direction_of(other, np.ones(16_000, np.float32))


def test_voices_are_enrolled_used_and_deleted(
    cli: Cli, models: Path, recordings: Path, network: Path, says: dict[str, Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAKEWORD_HOME", str(network.parent.parent))
    takes = recordings.parent / "takes"
    takes.mkdir()
    for number in range(6):
        (takes / f"{number}.wav").write_bytes((recordings / "first.wav").read_bytes())
    assert cli("voice").out == ""
    enrolment = cli("voice", "enrol", "Me", "--takes", takes)
    assert (enrolment.status, enrolment.out) == (0, "enrolled 'Me' from 6 takes; try: wakeword listen --voice Me\n")
    assert "expected a new name" in cli("voice", "enrol", "me", "--takes", takes).err
    assert cli("voice").out == "Me  6 takes, 1.00 alike\n"
    for command, option in (("listen", "--input"), ("scan", "--format=json")):
        form = ["--json"] if command == "listen" else []
        run = [command, "--model", models / "low.onnx", option, recordings / "first.wav", *form]
        softly, alone = cli(*run, "--voice", "me"), cli(*run, "--only", "me")
        assert [json.loads(line)["speaker"] for line in softly.out.splitlines()] == ["Me", "Me"]
        assert "1 to 3 times in 100" in " ".join(alone.err.split())
        assert alone.out == softly.out
    assert "not both" in cli(*run, "--voice", "me", "--only", "me").err
    assert "expected a voice that is known, got 'you'; known are: me" in cli(*run, "--only", "you").err
    assert cli("voice", "delete", "me").out == "deleted the voice 'me'\n"
    assert cli("voice", "delete", "me").err == "wakeword: expected a voice that is known, got 'me'; known are: none\n"
    assert sorted(path.name for path in network.parent.iterdir()) == ["speakers.onnx"]


@pytest.mark.parametrize(
    "given",
    [
        ("enrol", "me"),
        ("enrol",),
        ("delete",),
        ("list", "me"),
        ("delete", "me", "--takes", "."),
    ],
)
def test_a_line_that_says_too_little_or_too_much(given: tuple[str, ...], cli: Cli) -> None:
    result = cli("voice", *given)
    assert result.status == 2
    assert "expected list, enrol NAME --takes DIR, or delete NAME" in " ".join(result.err.split())


def test_anything_but_known_voices_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"expected the known voices, a Voices or None .* got 'me'"):
        Detector(parse_model(band_model_bytes("low", 1)), voices="me")  # type: ignore[arg-type]
