"""A model that learns from its house: what a unit may change, when a version is better, and who may say so."""

import dataclasses
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from support.builders import TWO_STAGE

from wakeword import ConfigError, DataError
from wakeword.audio.pcm import SAMPLE_RATE, write_audio
from wakeword.model.candidate_looks import Looks
from wakeword.model.model import parse_model, read_model
from wakeword.model.versions import Versions
from wakeword.saving.ambient_segment import first_stage_id
from wakeword.saving.kept_events import forget, kept_events
from wakeword_train.house.house_unit import MOST_LOWERED, Judge, Lesson, taught
from wakeword_train.house.improvement import House, HouseEvent, Judgement, house_of, judge_of, model_with
from wakeword_train.house.own_evidence import OwnEvidence
from wakeword_train.model.two_stage import head_of

DATA = TWO_STAGE.read_bytes()
RANDOM = np.random.default_rng(0)
WORD, HOUSE = RANDOM.normal(0, 1, (2, 16, 96))


@pytest.fixture(autouse=True)
def same_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever tests ran before."""
    monkeypatch.setattr(sys.modules[__name__], "RANDOM", np.random.default_rng(1))


def looks(of: np.ndarray, best: float = 0.0) -> Looks:
    """A recording with three candidates that are like ``of``."""
    embeddings = of + RANDOM.normal(0, 1, (3, 16, 96))
    return Looks(np.full(3, best, np.float32), embeddings.astype(np.float16), np.zeros(3, np.float32))


@pytest.fixture(scope="module")
def first() -> Judge:
    return judge_of(parse_model(DATA), DATA)


def events(count: int, *, judges: bool, is_word: bool = False, by_person: bool = True) -> list[HouseEvent]:
    return [HouseEvent(looks(WORD if is_word else HOUSE), is_word, by_person, judges) for _ in range(count)]


def house_of_events(first: Judge, some: list[HouseEvent], *, now: Judge | None = None) -> House:
    voices = [looks(WORD) for _ in range(40)]
    threshold = min(map(first.best, [*voices, *(one.looks for one in some)])) - 0.1
    return House(first, now or first, threshold, some, voices, [number % 2 == 1 for number in range(40)])


def test_a_unit_only_lowers_logits_and_by_no_more_than_its_bound(first: Judge) -> None:
    # Without the gate of the phonemes, which the sum of the others has to pass.
    first = Judge(head_of(DATA), dataclasses.replace(first.fusion, phoneme_gate=-1e6))
    lessons = [Lesson(looks(WORD), True, 1.0) for _ in range(9)] + [Lesson(looks(HOUSE), False, 1.0) for _ in range(9)]
    new = next(taught(first, lessons, -100.0))
    anything = [looks(of) for of in (WORD, HOUSE, 0 * WORD, -3 * HOUSE, 5 * HOUSE) for _ in range(4)]
    changes = np.array([first.logits(one) - new.logits(one) for one in anything])
    assert changes.min() >= -1e-3
    assert changes.max() == pytest.approx(MOST_LOWERED, abs=1e-2)
    assert np.abs(changes[:4]).max() < 0.1 * MOST_LOWERED
    assert np.median(changes[4:8]) > 0.5 * MOST_LOWERED


def test_without_both_classes_near_the_threshold_nothing_changes(first: Judge) -> None:
    lessons = [Lesson(looks(WORD), True, 1.0), Lesson(looks(HOUSE), False, 1.0)]
    assert list(taught(first, lessons, 1e6)) == []
    assert list(taught(first, lessons[:1], -100.0)) == []


def test_a_house_is_learnt_and_its_words_are_kept(first: Judge, tmp_path: Path) -> None:
    some = events(8, judges=False) + events(8, judges=True) + events(6, judges=True, is_word=True)
    house = house_of_events(first, some)
    new, judged = house.step()
    assert (judged.false_before, judged.false_fixed, judged.false_new, judged.takes_lost) == (8, 8, 0, 0)
    assert judged.reason is None
    # The file says what the head in memory said.
    made = parse_model(model_with(DATA, new, judged))
    assert made.card.operating_points == parse_model(DATA).card.operating_points
    assert made.card.training["improved"]["false_fixed"] == 8
    assert made.second_stage is not None
    again = Judge(head_of(model_with(DATA, new, judged)), first.fusion)
    for one in some:
        assert again.logits(one.looks) == pytest.approx(new.logits(one.looks), abs=1e-3)


def test_a_rule_never_makes_the_word_a_negative(first: Judge) -> None:
    """Every true wake labelled false by a rule: above what one in ten of the voices reaches, only a person may say so."""
    wrong = [HouseEvent(looks(WORD, best=9.0), False, False, judges=number % 2 == 1) for number in range(12)]
    true = true_wakes()
    house = house_of_events(first, [*true, *wrong])
    assert house.usable() == true
    by_people = [dataclasses.replace(one, by_person=True) for one in wrong]
    assert len(dataclasses.replace(house, events=by_people).usable()) == 12


def true_wakes() -> list[HouseEvent]:
    """True wakes in number, by a rule."""
    return events(1, judges=True, is_word=True, by_person=False) * 400


def test_what_only_rules_call_false_neither_teaches_nor_judges(first: Judge) -> None:
    by_rule = [one for judges in (False, True) for one in events(40, judges=judges, by_person=False)]
    house = house_of_events(first, by_rule + true_wakes())
    new, judged = house.step()
    assert (judged.false_before, judged.taught, judged.rules_left_out) == (0, 0, 80)
    assert "80 more are false by a rule alone" in (judged.reason or "")
    assert "wakeword review" in (judged.reason or "")
    assert all(np.array_equal(first.logits(one.looks), new.logits(one.looks)) for one in by_rule)


def test_labels_of_people_are_not_mixed_with_those_of_rules(first: Judge) -> None:
    """A version of both is the one of people alone."""
    by_people = events(8, judges=False) + events(8, judges=True)
    house = house_of_events(first, [*by_people, *events(40, judges=False, is_word=True)])
    wrong = [dataclasses.replace(one, is_word=False, by_person=False) for one in house.events[16:]]
    alone, both = (dataclasses.replace(house, events=some).step()[0] for some in (by_people, [*by_people, *wrong]))
    assert alone.data == both.data


def judgement(**changes: int) -> Judgement:
    return dataclasses.replace(
        Judgement(9, 9, 0, takes=120, takes_lost=0, voices=100, voices_lost=0, taught=9), **changes
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"takes_lost": 1, "voices_lost": 1}, None),
        ({"takes_lost": 2}, "it would lose 2 of 120 true wakes, more than one in a hundred"),
        ({"takes": 99, "takes_lost": 1}, "it would lose 1 of 99 true wakes, more than one in a hundred"),
        ({"voices_lost": 2}, "it would lose 2 of 100 voices, more than one in a hundred"),
        ({"false_fixed": 4}, "not better with 95% certainty"),
        ({"false_fixed": 5}, None),
        ({"false_fixed": 5, "false_new": 1}, "not better with 95% certainty"),
        ({"false_fixed": 0}, "not better with 95% certainty"),
    ],
)
def test_a_version_is_better_only_if_it_surely_is(changes: dict[str, int], reason: str | None) -> None:
    found = judgement(**changes).reason
    assert found is None if reason is None else reason in (found or "")


def keep(folder: Path, number: int, **entries: object) -> Path:
    """An event as a keeper writes it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"hey-20240501T12{number:02}00.000000-0001.json"
    content = {"keyword": "hey", "score": 0.5, "time": f"2024-05-01T12:{number:02}:00+00:00", "after": 1.28, **entries}
    path.write_text(json.dumps(content))
    write_audio(path.with_suffix(".wav"), np.zeros(SAMPLE_RATE, np.int16))
    return path


def test_events_are_dealt_by_ten_minutes_and_labelled_by_people_first(tmp_path: Path) -> None:
    for number in range(60):
        keep(tmp_path, number, **({"outcome": "false"} if number % 3 else {}))
    keep(tmp_path / "yes", 3, outcome="false")
    (tmp_path / "hey-20240501T120000.000000-0009.json").write_text("damaged")
    found = kept_events(tmp_path, "hey")
    assert len(found) == 61
    (person,) = [one for one in found if one.by_person]
    assert person.is_word is True
    assert {one.is_word for one in found if not one.by_person} == {None, False}
    sides = [[one.judges for one in found if f"T12:{ten}" in one.time] for ten in range(6)]
    assert all(len(set(side)) == 1 for side in sides)
    for left in ("hey-20240501T120000.000000-0010.wav", ".hey-20240501T120000.000000-0011.wav.abcdefgh.wav"):
        (tmp_path / left).write_bytes(b"of a process that was killed")
    (tmp_path / "mine.wav").write_bytes(b"not an event")
    assert forget(tmp_path) == 62
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["mine.wav"]
    with pytest.raises(DataError, match="--keep audio"):
        kept_events(tmp_path / "none", "hey")


def test_a_false_wake_without_what_followed_only_teaches(tmp_path: Path) -> None:
    """Such a stream ended with the wake: whether it would have fired a moment later is not known."""
    first = parse_model(DATA)
    for number in range(40):
        path = keep(tmp_path / "no", number, keyword=first.card.phrase, after=0.0 if number % 2 else 1.28)
        path.with_suffix(".wav").unlink()
        np.savez(path.with_suffix(".npz"), first_stage=first_stage_id(first), **looks(HOUSE).arrays())
    some = kept_events(tmp_path, first.card.phrase)
    own = OwnEvidence([looks(WORD)] * 4, [False, True] * 2, [], 1.0)
    house = house_of(DATA, DATA, some, lambda _: own)
    assert sum(one.judges for one in house.events) == sum(one.judges and one.is_whole for one in some) > 0
    assert len(house.events) == 40


def test_a_version_keeps_its_predecessor_and_is_undone(tmp_path: Path, first: Judge) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(DATA)
    lessons = [Lesson(looks(WORD), True, 1.0), Lesson(looks(HOUSE), False, 1.0)]
    made = [model_with(DATA, next(taught(first, lessons, -100.0)), judgement(taught=number)) for number in (1, 2)]
    for data in made:
        Versions(path).replace(data, judgement().figures())
        assert path.read_bytes() == data
    assert Versions(path).first() == DATA
    assert [one.figures.get("false_fixed") for one in Versions(path).history()] == [9.0, 9.0, None]
    for data in (made[0], DATA):
        Versions(path).undo()
        assert path.read_bytes() == data
    with pytest.raises(ConfigError, match="nothing was undone"):
        Versions(path).undo()


def test_killed_at_any_moment_the_old_model_serves_on(
    tmp_path: Path, first: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.onnx"
    new = model_with(DATA, first, judgement())
    renames = [0, math.inf]
    replace = Path.replace

    def killed(self: Path, target: Path) -> Path:
        renames[0] += 1
        if renames[0] >= renames[1]:
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", killed)
    for last in range(1, 5):
        path.write_bytes(DATA)
        renames[:] = [0, last]
        with pytest.raises(KeyboardInterrupt):
            Versions(path).replace(new, {})
        assert path.read_bytes() == DATA
        assert Versions(path).first() == DATA
    renames[:] = [0, math.inf]
    Versions(path).replace(new, {})
    assert read_model(path).second_stage is not None


def test_a_version_that_never_was_in_its_place_was_not_undone(
    tmp_path: Path, first: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk was full, or the process killed, after the history was written: the next night installs it."""
    path = tmp_path / "mine.onnx"
    path.write_bytes(DATA)
    new = model_with(DATA, first, judgement())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Versions, "_put", full)
        with pytest.raises(OSError, match="No space left"):
            Versions(path).replace(new, judgement().figures())
    assert (path.read_bytes(), Versions(path).undone()) == (DATA, [])
    Versions(path).replace(new, judgement().figures())
    Versions(path).undo()
    assert [one.figures for one in Versions(path).undone()] == [judgement().figures()]


def test_a_version_is_undone_too_if_the_process_that_installed_it_was_killed(
    tmp_path: Path, first: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(DATA)
    new = model_with(DATA, first, judgement())
    put = Versions._put

    def killed(self: Versions, data: bytes) -> None:
        put(self, data)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Versions, "_put", killed)
        with pytest.raises(KeyboardInterrupt):
            Versions(path).replace(new, judgement().figures())
    assert path.read_bytes() == new
    Versions(path).undo()
    assert path.read_bytes() == DATA
    assert [one.figures for one in Versions(path).undone()] == [judgement().figures()]


def test_what_a_killed_process_left_next_to_a_model_goes_with_the_next_version(tmp_path: Path, first: Judge) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(DATA)
    versions = Versions(path)
    versions.folder.mkdir()
    left = [
        tmp_path / ".mine.onnx.abcdefgh.onnx",
        *(versions.folder / f".{one}" for one in ("a.model.abcdefgh.model", "history.json.abcdefgh.json")),
    ]
    others = tmp_path / ".other.onnx.abcdefgh.onnx"
    for one in (*left, others):
        one.write_bytes(DATA)
    versions.replace(model_with(DATA, first, judgement()), {})
    assert not any(one.exists() for one in left)
    assert others.exists()


def test_a_version_that_comes_back_makes_no_circle(tmp_path: Path, first: Judge) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(DATA)
    path.chmod(0o600)
    one, other = (model_with(DATA, first, judgement(taught=number)) for number in (1, 2))
    for data in (one, other, one):
        Versions(path).replace(data, {})
    assert Versions(path).first() == DATA
    assert len(Versions(path).history()) == 2
    assert path.stat().st_mode & 0o777 == 0o600
    Versions(path).undo()
    assert path.read_bytes() == DATA


@pytest.mark.parametrize(
    "bad", ["[" * 60_000, f'[{{"sha256": "a", "parent": null, "installed": "", "figures": {{"a": 1{"0" * 400}}}}}]']
)
def test_a_damaged_history_is_none(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(DATA)
    Versions(path).folder.mkdir()
    (Versions(path).folder / "history.json").write_text(bad)
    assert [one.parent for one in Versions(path).history()] == [None]


@pytest.mark.parametrize("bad", ["[]", "{}", "7"])
def test_a_damaged_entry_of_the_history_hinders_no_other(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(DATA)
    Versions(path).folder.mkdir()
    entry = f'{{"sha256": "a", "parent": null, "installed": "2024", "figures": {{}}, "renews": {bad}}}'
    (Versions(path).folder / "history.json").write_text(f"[{entry}]")
    assert [one.sha256 for one in Versions(path).undone()] == ["a"]


def test_a_model_that_was_replaced_meanwhile_stays(tmp_path: Path, first: Judge) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(DATA)
    versions = Versions(path)
    new = model_with(DATA, first, judgement())
    path.write_bytes(new)
    with pytest.raises(ConfigError, match="the model was replaced meanwhile"):
        versions.replace(DATA, {})
    assert path.read_bytes() == new


def test_the_command_installs_lists_and_undoes(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path))
    model, kept = tmp_path / "models" / "mine.onnx", tmp_path / "kept"
    model.parent.mkdir()
    model.write_bytes(DATA)
    first = read_model(model)
    mark = first_stage_id(first)
    for number in range(40):
        is_word = number % 4 == 0
        path = keep(kept / ("yes" if is_word else "no"), number, keyword=first.card.phrase)
        path.write_text(path.read_text().replace("2024-05-01T12", f"2024-05-01T{number % 24:02}"))
        path.with_suffix(".wav").unlink()
        arrays = looks(WORD if is_word else HOUSE).arrays()
        np.savez(path.with_suffix(".npz"), first_stage=mark, **arrays)
    own = OwnEvidence([looks(WORD) for _ in range(40)], [bool(number % 2) for number in range(40)], [], 1.0)
    monkeypatch.setattr("wakeword_train.house.own_evidence.own_evidence", lambda *_, **__: own)
    given = ("improve", "mine", "--threshold", "0.001")
    dry = cli(*given, "--dry-run")
    assert (dry.status, model.read_bytes()) == (0, DATA)
    assert "nothing was installed" in dry.err
    assert cli(*given).status == 0
    assert model.read_bytes() != DATA
    assert "mine, version 2" in cli("models").out
    again = cli(*given)
    assert again.status == 1
    assert "nothing was installed: of 0 false wakes" in again.err
    assert cli("improve", "mine", "--undo").status == 0
    assert model.read_bytes() == DATA
    undone = cli(*given)
    assert (undone.status, model.read_bytes()) == (1, DATA)
    assert "the version of the same events was undone" in undone.err
    assert "expected MODEL" in cli("improve").err.replace("a MODEL", "MODEL")
    hours = tmp_path / "ambient"
    hours.mkdir()
    (hours / "mine-abc-20240501T120000.000000-0001.npz").touch()
    forgot = cli("improve", "--forget").err
    assert "40 event(s) deleted" in forgot
    assert f"; 1 file(s) of ambient hours deleted from {hours}" in forgot
    assert list(hours.iterdir()) == []
