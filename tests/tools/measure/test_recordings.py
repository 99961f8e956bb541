"""Recordings are read once, counted once, and are either the wake word or not."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import HOP_SECONDS, band_model_bytes, bursts

from wakeword import AudioFileError, Model
from wakeword.base.errors import CalibrationError, DataError
from wakeword.model.model import parse_model
from wakeword_tools.clips.manifest import write_manifest
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.recordings import SCORED_KINDS, Scored, score_files
from wakeword_tools.measure.scores import clip_score, events_at
from wakeword_tools.measure.selection import find_files, select
from wakeword_tools.transcripts import TRANSCRIPTS

pytestmark = pytest.mark.numeric

Folders = dict[Kind, list[Path]]


@pytest.fixture(scope="module")
def low_model() -> Model:
    """Keyword "low": a window scores near 1 if it holds a low burst, wherever that is, and otherwise near 0."""
    return parse_model(band_model_bytes("low", 1, pooling="max"))


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Three positives, two near negatives, three negatives and half a minute of background."""
    made = {kind: [tmp_path / kind.plural] for kind in SCORED_KINDS}
    for (folder,) in made.values():
        folder.mkdir()
    for seed in range(3):
        soundfile.write(tmp_path / "positives" / f"{seed}.wav", bursts(1.1, {0.4: "low"}, seed=seed), 16_000)
        soundfile.write(tmp_path / "negatives" / f"{seed}.flac", bursts(1.1, {0.4: "high"}, seed=seed), 16_000)
    for seed in range(2):
        soundfile.write(tmp_path / "near_negatives" / f"{seed}.wav", bursts(0.5, {0.1: "low"}, seed=seed), 16_000)
    soundfile.write(tmp_path / "background" / "talk.flac", bursts(36, {3.0: "low", 9.0: "high"}), 16_000)
    return made


def places(folders: Folders) -> dict[Kind, list[str]]:
    return {kind: list(map(str, some)) for kind, some in folders.items()}


def scored(model: Model, folders: Folders, warnings: list[str] | None = None) -> Scored:
    return score_files(
        [model], find_files(places(folders), report=print), warn=([] if warnings is None else warnings).append
    )


def test_recordings_are_scored_by_kind(low_model: Model, folders: Folders) -> None:
    found = scored(low_model, folders)
    scores = found.sets[0]
    assert (len(scores.positives), len(scores.near_negatives), len(scores.negatives)) == (3, 2, 3)
    assert scores.positives.min() > 0.9
    assert scores.near_negatives.min() > 0.9
    assert scores.negatives.max() < 0.1
    assert scores.hours == pytest.approx(0.01)
    samples = soundfile.read(folders[Kind.POSITIVE][0] / "1.wav", dtype="float32")[0]
    assert scores.positives[1] == clip_score(low_model, samples)
    assert found.description == "3 positives, 3 negatives, 2 near negatives, 0.01 h of background"


def test_unreadable_and_empty_files_are_named(low_model: Model, folders: Folders) -> None:
    (folders[Kind.NEGATIVE][0] / "broken.wav").write_bytes(b"RIFF, but no more")
    soundfile.write(folders[Kind.POSITIVE][0] / "empty.wav", np.zeros(0), 16_000)
    soundfile.write(folders[Kind.BACKGROUND][0] / "nan.wav", np.full(99, np.nan, np.float32), 16_000, subtype="FLOAT")
    warnings: list[str] = []
    found = scored(low_model, folders, warnings)
    assert len(found.sets[0].positives) == len(found.sets[0].negatives) == 3
    for name in ("broken.wav", "empty.wav", "nan.wav"):
        assert sum(name in warning for warning in warnings) == 1


def test_copies_count_once_and_as_near_negatives(low_model: Model, folders: Folders) -> None:
    near, negatives = folders[Kind.NEAR_NEGATIVE][0], folders[Kind.NEGATIVE][0]
    shutil.copy(near / "0.wav", negatives / "copied.wav")
    # The same sound in another format, in the same folder.
    samples = soundfile.read(near / "0.wav", dtype="int16")[0]
    soundfile.write(near / "again.flac", samples, 16_000)
    warnings: list[str] = []
    found = scored(low_model, folders, warnings)
    assert (len(found.sets[0].near_negatives), len(found.sets[0].negatives)) == (2, 3)
    assert [warning for warning in warnings if "2 copies" in warning]


def test_a_positive_is_never_of_another_kind_too(low_model: Model, folders: Folders) -> None:
    shared = {**folders, Kind.NEGATIVE: [*folders[Kind.NEGATIVE], folders[Kind.POSITIVE][0] / "0.wav"]}
    with pytest.raises(CalibrationError, match=r"0\.wav.* positives and the negatives"):
        find_files(places(shared), report=print)
    shutil.copy(folders[Kind.POSITIVE][0] / "0.wav", folders[Kind.BACKGROUND][0] / "hidden.wav")
    with pytest.raises(CalibrationError, match=r"positives and .*hidden\.wav among the background are the same sound"):
        scored(low_model, folders)


def test_a_kind_without_usable_files_is_an_error(low_model: Model, folders: Folders, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    with pytest.raises(AudioFileError, match="found none"):
        find_files(places({**folders, Kind.NEGATIVE: [tmp_path / "nothing"]}), report=print)
    (tmp_path / "nothing" / "broken.wav").write_bytes(b"")
    with pytest.raises(DataError, match="none of the 1 negatives"):
        scored(low_model, {**folders, Kind.NEGATIVE: [tmp_path / "nothing"]})


def test_background_has_the_same_scores_without_recordings_of_the_word(low_model: Model, folders: Folders) -> None:
    whole, alone = (scored(low_model, some).sets[0] for some in (folders, {**folders, Kind.POSITIVE: []}))
    assert len(alone.positives) == 0
    assert alone.hours == whole.hours > 0
    np.testing.assert_array_equal(alone.streams, whole.streams)


def test_the_fingerprint_depends_on_the_samples_and_their_kinds(
    low_model: Model, folders: Folders, tmp_path: Path
) -> None:
    first = scored(low_model, folders)
    shutil.copytree(folders[Kind.NEGATIVE][0], tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "0.flac").rename(tmp_path / "elsewhere" / "zero.flac")
    moved = scored(low_model, {**folders, Kind.NEGATIVE: [tmp_path / "elsewhere"]})
    assert moved.fingerprint == first.fingerprint
    swapped = {**folders, Kind.NEGATIVE: folders[Kind.NEAR_NEGATIVE], Kind.NEAR_NEGATIVE: []}
    assert scored(low_model, swapped).fingerprint != first.fingerprint
    soundfile.write(tmp_path / "elsewhere" / "more.wav", bursts(1, {}), 16_000)
    more = scored(low_model, {**folders, Kind.NEGATIVE: [tmp_path / "elsewhere"]})
    assert more.fingerprint != first.fingerprint


def test_the_fingerprint_of_the_same_data_never_changes(low_model: Model, tmp_path: Path) -> None:
    files: dict[Kind, list[Path]] = {}
    kinds = (Kind.POSITIVE, Kind.NEGATIVE, Kind.NEAR_NEGATIVE, Kind.BACKGROUND)
    for number, kind in enumerate(kinds, 1):
        files[kind] = [tmp_path / f"{kind}.wav"]
        ramp = (np.arange(20_000) * 37 * number % 4_001 - 2_000).astype(np.int16)
        soundfile.write(files[kind][0], ramp, 16_000)
    # The shipped models have it in their cards.
    assert score_files([low_model], files, warn=[].append).fingerprint == "875c461c9f975aa8"
    del files[Kind.NEAR_NEGATIVE]
    assert score_files([low_model], files, warn=[].append).fingerprint == "30894bc127a3dedb"


def talk_with_the_word(folders: Folders) -> list[float]:
    """A minute in which the word is said at these seconds, the first two of them according to the transcripts."""
    said = [10.0, 30.0, 50.0]
    (root,) = folders[Kind.BACKGROUND]
    soundfile.write(root / "talk.flac", bursts(60, dict.fromkeys(said, "low")), 16_000)
    lines = [{"file": "talk.flac", "start": at - 1, "end": at + 1, "text": f"so low at {at}"} for at in said[:2]]
    lines.append({"file": "talk.flac", "start": 45, "end": 48, "text": "allow"})
    (root / TRANSCRIPTS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return said


def test_utterances_with_the_keyword_are_not_measured_and_all_else_is(low_model: Model, folders: Folders) -> None:
    said = talk_with_the_word(folders)
    whole = scored(low_model, folders)
    reports: list[str] = []
    chosen = select(places(folders), "Low", report=reports.append)
    found = score_files([low_model], chosen, warn=[].append)
    assert reports == ["left out 2 utterances, 4 s, of 1 recording, in which 'Low' is said"]
    (before,), (after,) = whole.sets[0].streams, found.sets[0].streams
    starts = HOP_SECONDS * np.arange(len(before))
    # A window lasts 0.995 s, and half a second on both sides is left out too.
    outside = [(starts + 0.995 <= at - 1.5) | (starts >= at + 1.5) for at in said[:2]]
    kept = np.all(outside, axis=0)
    np.testing.assert_array_equal(after, np.where(kept, before, 0))
    assert (events_at([before], 0.5), events_at([after], 0.5)) == (3, 1)
    assert found.sets[0].hours == pytest.approx((60 - HOP_SECONDS * (~kept).sum()) / 3600)
    assert found.sets[0].hours < whole.sets[0].hours - 4 / 3600
    assert found.fingerprint != whole.fingerprint
    assert select(places(folders), "marvin", report=reports.append).parts == {}
    assert len(reports) == 1


def test_what_is_known_of_a_folder_is_known_of_the_files_of_a_pattern(folders: Folders) -> None:
    talk_with_the_word(folders)
    (root,) = folders[Kind.POSITIVE]
    write_manifest(root, [{"file": "1.wav", "text": "low", "source": "espeak:en", "split": "test"}])
    by_folder, by_pattern = (
        select({kind: [f"{some[0]}{end}"] for kind, some in folders.items()}, "low", report=[].append)
        for end in ("", "/*.[wf]*")
    )
    assert by_folder.parts
    assert by_pattern.parts == by_folder.parts
    assert by_pattern.synthetic == by_folder.synthetic == {root / "1.wav"}


def test_a_recording_of_nothing_but_the_keyword_is_no_background(low_model: Model, folders: Folders) -> None:
    (root,) = folders[Kind.BACKGROUND]
    (root / TRANSCRIPTS).write_text('{"file": "talk.flac", "text": "low"}\n')
    found = score_files([low_model], select(places(folders), "low", report=[].append), warn=[].append)
    assert (list(found.sets[0].streams), found.sets[0].hours) == ([], 0)


def test_synthetic_positives_are_kept_apart_from_those_of_people(low_model: Model, folders: Folders) -> None:
    people = scored(low_model, folders)
    root = folders[Kind.POSITIVE][0].parent / "spoken"
    root.mkdir()
    for seed in (7, 8):
        soundfile.write(root / f"{seed}.wav", bursts(1.1, {0.4: "low"}, seed=seed), 16_000)
    row = {"text": "low", "source": "espeak:en", "split": "test"}
    write_manifest(root, [{"file": f"{seed}.wav", **row} for seed in (7, 8)])
    both = {**folders, Kind.POSITIVE: [root, *folders[Kind.POSITIVE]]}
    found = score_files([low_model], select(places(both), "low", report=print), warn=[].append)
    np.testing.assert_array_equal(found.sets[0].positives, people.sets[0].positives)
    assert [one.path for one in found.recordings[Kind.POSITIVE]] == [
        one.path for one in people.recordings[Kind.POSITIVE]
    ]
    assert [one.path.name for one in found.synthetic] == ["7.wav", "8.wav"]
    assert (len(found.sets[0].synthetic_positives), found.sets[0].only_synthetic) == (2, False)
    assert found.description.startswith("3 positives, 2 synthetic positives, 3 negatives")
    alone = score_files(
        [low_model], select(places({**folders, Kind.POSITIVE: [root]}), "low", report=print), warn=[].append
    )
    assert (len(alone.sets[0].positives), alone.sets[0].only_synthetic, len(alone.synthetic)) == (2, True, 0)
    assert alone.description.startswith("2 positives (2 synthetic), 3 negatives")
