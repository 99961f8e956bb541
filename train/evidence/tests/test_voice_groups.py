"""Groups of voices are compared with people: perfect groups leak nothing, and files taken for people leak."""

import numpy as np
import pytest

from wakeword.base.errors import DataError
from wakeword_experiments import voice_groups
from wakeword_experiments.voice_groups import compare, group_voices, measure_groups


def people(count: int = 30, clips: int = 6) -> np.ndarray:
    return np.repeat(np.arange(count), clips)


def test_groups_that_are_people_are_pure_and_leak_nothing() -> None:
    shuffled = np.random.default_rng(1).permutation(30)[people()]
    found = compare(shuffled, people(), np.random.default_rng(0))
    assert found == {"purity": 100, "together": 100, "leaked": 0}


def test_files_that_are_taken_for_people_leak() -> None:
    found = compare(np.arange(180), people(), np.random.default_rng(0))
    assert found["purity"] == 100
    assert found["together"] == pytest.approx(100 / 6)
    assert found["leaked"] > 90


def test_merged_people_are_impure_and_leak_nothing() -> None:
    found = compare(people() // 2, people(), np.random.default_rng(0))
    assert found == {"purity": 50, "together": 100, "leaked": 0}


def test_directions_of_one_voice_are_one_group() -> None:
    random = np.random.default_rng(0)
    voices = np.eye(10, 64)[people(10)] + 0.01 * random.normal(size=(60, 64))
    groups = group_voices(voices, 10)
    assert len(np.unique(groups)) == 10
    assert compare(groups, people(10), random)["purity"] == 100


def test_too_few_people_are_refused(tmp_path) -> None:
    (tmp_path / "go").mkdir()
    (tmp_path / "go" / "someone_nohash_0.flac").touch()
    with pytest.raises(DataError, match="expected 50 people with 4 or more recordings, found 0"):
        measure_groups(tmp_path, 1, print)
    assert voice_groups.PEOPLE == 50
