"""All mistakes are found and saved, the worst first, and their excerpts score like the original."""

import json
from pathlib import Path

import pytest
import soundfile
from support.builders import band_model_bytes, bursts

from wakeword import ConfigError, Detector, FileSource, Model
from wakeword.audio.audio_file import read_audio
from wakeword.model.model import parse_model
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.mistakes import FALSE_ACCEPTS, MISSED, find_mistakes, save_mistakes
from wakeword_tools.measure.recordings import SCORED_KINDS, Scored, score_files
from wakeword_tools.measure.scores import clip_score

THRESHOLD = 0.5


@pytest.fixture(scope="module")
def low_model() -> Model:
    """Fires on every window that holds a low burst."""
    return parse_model(band_model_bytes("low", 1, pooling="max"))


@pytest.fixture
def scored(tmp_path: Path, low_model: Model) -> Scored:
    """Two positives, one of them missed; three negatives, two of them accepted; background that fires three times."""
    contents = {
        "positives/good.wav": bursts(1.2, {0.4: "low"}),
        "positives/missed.wav": bursts(1.2, {0.4: "high"}),
        "negatives/fires.wav": bursts(3.0, {2.0: "low"}, seed=1),
        "near_negatives/fires.wav": bursts(0.6, {0.2: "low"}, seed=2),
        "negatives/silent.wav": bursts(1.2, {0.4: "high"}, seed=3),
        "background/talk.flac": bursts(20, {0.1: "low", 7.0: "high", 8.0: "low", 19.7: "low"}),
    }
    files: dict[Kind, list[Path]] = {kind: [] for kind in SCORED_KINDS}
    kinds = {kind.plural: kind for kind in SCORED_KINDS}
    for name, samples in contents.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        soundfile.write(path, samples, 16_000)
        files[kinds[path.parent.name]].append(path)
    return score_files([low_model], files, warn=[].append)


def test_all_mistakes_are_found_with_their_places(low_model: Model, scored: Scored) -> None:
    mistakes = find_mistakes(low_model, scored, scored.sets[0], THRESHOLD)
    assert sorted((one.sort, one.group, Path(one.file).name) for one in mistakes) == [
        *[(FALSE_ACCEPTS, "background", "talk.flac")] * 3,
        (FALSE_ACCEPTS, "near_negatives", "fires.wav"),
        (FALSE_ACCEPTS, "negatives", "fires.wav"),
        (MISSED, "positives", "missed.wav"),
    ]
    talk = str(scored.recordings[Kind.BACKGROUND][0].path)
    detections = list(Detector(low_model, threshold=THRESHOLD).run(FileSource(talk)))
    places = sorted((one.start, one.end, one.score) for one in mistakes if one.file == talk)
    assert places == [(one.start, one.end, one.score) for one in detections]
    peaks = [one.peak for one in mistakes if one.sort == FALSE_ACCEPTS]
    assert peaks == sorted(peaks, reverse=True)


def test_excerpts_score_like_the_recordings_they_are_from(low_model: Model, scored: Scored, tmp_path: Path) -> None:
    folder = tmp_path / "errors"
    saved = save_mistakes(folder, find_mistakes(low_model, scored, scored.sets[0], THRESHOLD))
    assert folder.stat().st_mode & 0o777 == 0o700  # recordings are private
    assert len(saved) == 6
    for one in saved:
        excerpt = read_audio(folder / one.audio)
        assert len(excerpt) < 16_000 * 2
        assert (clip_score(low_model, excerpt) >= THRESHOLD) == (one.sort == FALSE_ACCEPTS)


def test_the_index_names_each_excerpt(low_model: Model, scored: Scored, tmp_path: Path) -> None:
    folder = tmp_path / "errors"
    saved = save_mistakes(folder, find_mistakes(low_model, scored, scored.sets[0], THRESHOLD))
    index = json.loads((folder / "index.json").read_text())
    assert [(row["audio"], row["start"]) for row in index] == [(one.audio, one.start) for one in saved]
    on_disk = {path.relative_to(folder).as_posix() for path in folder.rglob("*.flac")}
    assert on_disk == {one.audio for one in saved}


def test_only_the_worst_are_saved(low_model: Model, scored: Scored, tmp_path: Path) -> None:
    mistakes = find_mistakes(low_model, scored, scored.sets[0], THRESHOLD)
    saved = save_mistakes(tmp_path / "errors", mistakes, most=2)
    assert [one.sort for one in saved] == [FALSE_ACCEPTS, FALSE_ACCEPTS, MISSED]
    assert [one.peak for one in saved[:2]] == [one.peak for one in mistakes[:2]]


def test_a_folder_appears_complete_or_not_at_all(low_model: Model, scored: Scored, tmp_path: Path) -> None:
    mistakes = find_mistakes(low_model, scored, scored.sets[0], THRESHOLD)
    scored.recordings[Kind.BACKGROUND][0].path.unlink()
    before = set(tmp_path.iterdir())
    with pytest.raises(Exception, match=r"talk\.flac"):
        save_mistakes(tmp_path / "errors", mistakes)
    assert set(tmp_path.iterdir()) == before
    with pytest.raises(ConfigError, match="does not exist yet"):
        save_mistakes(tmp_path / "background", mistakes)


def test_no_mistakes_give_an_empty_index(scored: Scored, tmp_path: Path) -> None:
    assert save_mistakes(tmp_path / "errors", []) == []
    assert json.loads((tmp_path / "errors" / "index.json").read_text()) == []
