"""The words on offer: those of files that load, and of a folder as it is now."""

import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from support.builders import band_model_bytes

from wakeword import ConfigError, ModelError
from wakeword.cli.options import PointOptions
from wakeword_serve.words import OfferedWords, load_word


class Followed:
    """A folder of models, and what is reported of it."""

    def __init__(self, folder: Path, *files: Path, **settings: object) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.words = OfferedWords(files, folder, PointOptions(**settings))
        self.reports: list[tuple[str, str]] = []
        """What the log says, and whether a model was added, removed or refused by that."""

    def put(self, name: str, content: bytes) -> None:
        temporary = self.folder / f".{name}"
        temporary.write_bytes(content)
        temporary.rename(self.folder / name)

    def look(self) -> list[str]:
        """The names after two looks, as a file must stay the same between two."""
        self.words.refresh()
        self.words.refresh()
        return list(self.words.by_name)

    def reported(self) -> list[str]:
        found, self.reports[:] = [event for event, _ in self.reports], []
        return found


class Reports(logging.Handler):
    """Gives what is logged to the folder that is followed."""

    def __init__(self, followed: Followed) -> None:
        super().__init__()
        self._followed = followed

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        done = "added" if message.endswith("is offered") else "removed"
        self._followed.reports.append(("refused" if record.levelno == logging.WARNING else done, message))


@pytest.fixture
def follow(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[Callable[..., Followed]]:
    """Makes the folder that a test follows."""
    logger, handlers = logging.getLogger("wakeword.serve"), list[Reports]()
    caplog.set_level(logging.INFO, logger.name)

    def made(*files: Path, **points: str) -> Followed:
        found = Followed(tmp_path / "followed", *files, **points)
        handlers.append(Reports(found))
        logger.addHandler(handlers[-1])
        return found

    yield made
    for handler in handlers:
        logger.removeHandler(handler)


@pytest.fixture
def followed(follow: Callable[..., Followed]) -> Followed:
    return follow()


def test_models_come_and_go_with_their_files(followed: Followed) -> None:
    assert followed.look() == []
    followed.put("one.onnx", band_model_bytes("low", 1))
    before = followed.words.info
    assert followed.look() == ["one"]
    assert followed.words.info != before
    followed.put("two.onnx", band_model_bytes("low", 1))
    assert followed.look() == ["one", "two"]  # the same phrase twice
    (followed.folder / "one.onnx").unlink()
    assert followed.look() == ["two"]
    assert followed.reported() == ["added", "added", "removed"]


def test_a_model_that_is_replaced_is_another(followed: Followed) -> None:
    followed.put("one.onnx", band_model_bytes("low", 1))
    followed.look()
    first = followed.words.by_name["one"]
    followed.look()
    assert followed.words.by_name["one"] is first
    followed.put("one.onnx", band_model_bytes("hey high", -1))
    followed.look()
    assert followed.words.by_name["one"].phrase == "hey high"
    assert first.phrase == "low"


def test_a_file_is_not_read_while_it_is_copied(followed: Followed) -> None:
    content = band_model_bytes("low", 1)
    path = followed.folder / "one.onnx"
    for length in range(0, len(content), len(content) // 5):
        path.write_bytes(content[:length])
        assert not followed.words.refresh()
    path.write_bytes(content)
    assert followed.look() == ["one"]
    assert followed.reported() == ["added"]


def test_a_damaged_model_is_reported_once_and_left_out(followed: Followed) -> None:
    followed.put("good.onnx", band_model_bytes("low", 1))
    followed.put("bad.onnx", b"damaged")
    followed.put("note.txt", b"no model")
    assert followed.look() == followed.look() == ["good"]
    assert followed.words.refused == 1
    assert "bad.onnx" in dict(followed.reports)["refused"]
    assert followed.reported() == ["refused", "added"]
    followed.put("bad.onnx", band_model_bytes("hey high", -1))
    assert followed.look() == ["bad", "good"]
    assert followed.words.refused == 0


def test_a_damaged_model_leaves_the_one_that_it_replaces_in_force(followed: Followed) -> None:
    whole = band_model_bytes("hey high", -1)
    followed.put("one.onnx", band_model_bytes("low", 1))
    followed.look()
    first = followed.words.by_name["one"]
    for damaged in (b"damaged", whole[:-100], b""):
        followed.put("one.onnx", damaged)
        assert followed.look() == followed.look() == ["one"]
        assert followed.words.by_name["one"] is first
        assert followed.words.refused == 1
    assert followed.reports[-1][1].endswith("the model that it replaces stays in use")
    assert "one.onnx" in followed.reports[-1][1]
    assert followed.reported() == ["added", "refused", "refused", "refused"]
    followed.put("one.onnx", band_model_bytes("low", 1))
    assert followed.look() == ["one"]
    assert followed.words.by_name["one"] is first
    assert followed.words.refused == 0
    assert followed.reported() == ["added"]  # so that the log says that all is well
    followed.put("one.onnx", whole)
    assert followed.look() == ["one"]
    assert followed.words.by_name["one"].phrase == "hey high"
    assert followed.words.refused == 0
    assert followed.reported() == ["added"]
    followed.put("one.onnx", b"damaged")
    followed.look()
    (followed.folder / "one.onnx").unlink()
    assert followed.look() == []
    assert followed.words.refused == 0
    assert followed.reported() == ["refused", "removed"]


def test_a_model_that_could_not_be_read_is_tried_again_when_its_rights_change(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    followed.put("one.onnx", band_model_bytes("low", 1))
    with monkeypatch.context() as patched:
        patched.setattr("wakeword_serve.words.load_word", fail)
        assert followed.look() == []
    assert followed.look() == []
    (followed.folder / "one.onnx").chmod(0o640)
    assert followed.look() == ["one"]
    assert followed.reported() == ["refused", "added"]


def test_the_same_model_again_is_no_other(followed: Followed) -> None:
    content = band_model_bytes("low", 1)
    followed.put("one.onnx", content)
    followed.look()
    first = followed.words.by_name["one"]
    followed.put("one.onnx", content)
    assert followed.look() == ["one"]
    assert followed.words.by_name["one"] is first
    assert followed.reported() == ["added"]


def test_a_model_without_the_point_is_left_out(follow: Callable[..., Followed]) -> None:
    followed = follow(point="fa_per_hour=0.5")
    followed.put("one.onnx", band_model_bytes("low", 1))
    assert followed.look() == []
    ((event, message),) = followed.reports
    assert event == "refused"
    assert "fa_per_hour=0.5" in message


def test_a_folder_that_goes_away_takes_no_model_with_it(followed: Followed) -> None:
    followed.put("one.onnx", band_model_bytes("low", 1))
    followed.look()
    followed.reported()
    shutil.move(followed.folder, followed.folder.with_name("away"))
    assert followed.look() == followed.look() == ["one"]
    assert followed.reported() == ["refused"]
    shutil.move(followed.folder.with_name("away"), followed.folder)
    assert followed.look() == ["one"]
    assert followed.reported() == []


def test_a_file_of_the_command_line_keeps_its_name(follow: Callable[..., Followed], models: Path) -> None:
    followed = follow(models / "low.onnx")
    followed.put("low.onnx", band_model_bytes("hey high", -1))
    assert followed.look() == ["low"]
    assert followed.words.by_name["low"].phrase == "low"
    assert followed.reported() == ["refused"]


def test_names_must_differ_and_files_must_load(tmp_path: Path, models: Path) -> None:
    (tmp_path / "low.onnx").write_bytes(b"damaged")
    with pytest.raises(ConfigError, match="different names"):
        OfferedWords([models / "low.onnx", tmp_path / "low.onnx"], None, PointOptions())
    with pytest.raises(ModelError, match=r"low\.onnx"):
        OfferedWords([tmp_path / "low.onnx"], None, PointOptions())
    with pytest.raises(ConfigError, match="expected a folder"):
        OfferedWords([], tmp_path / "nothing", PointOptions())


def test_a_word_has_its_files_name_its_phrase_and_the_chosen_threshold(models: Path) -> None:
    word = load_word(models / "high.onnx", PointOptions())
    assert (word.name, word.phrase, word.threshold) == ("high", "hey high", 0.5)
    assert word.warnings == ()
    assert load_word(models / "high.onnx", PointOptions(threshold=0.75)).threshold == 0.75


def test_a_link_that_leads_nowhere_leaves_the_others(followed: Followed) -> None:
    for name, target in (("loop.onnx", "loop.onnx"), ("nothing.onnx", "nowhere")):
        try:
            (followed.folder / name).symlink_to(target)
        except OSError:
            pytest.skip("this system has no symbolic links")
    followed.put("one.onnx", band_model_bytes("low", 1))
    assert followed.look() == ["one"]
    assert followed.reported() == ["added"]
