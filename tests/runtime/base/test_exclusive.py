"""Taking turns in a folder: who waits says so, and for how long at most."""

import errno
import logging
import time
from pathlib import Path

import pytest

from wakeword.base.errors import ConfigError
from wakeword.base.exclusive import alone_with, turn_in


def test_a_turn_that_does_not_come_is_a_line_and_then_an_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with turn_in(tmp_path), caplog.at_level(logging.WARNING):
        begun = time.monotonic()
        with pytest.raises(TimeoutError, match="another process has locked the folder") as told, turn_in(tmp_path, 1.2):
            pass
        assert 1.1 < time.monotonic() - begun < 10
        assert (told.value.errno, told.value.filename) == (errno.ETIMEDOUT, str(tmp_path))
    assert [one.getMessage() for one in caplog.records] == [
        f"{tmp_path}: waiting for another process that has locked the folder"
    ]
    with turn_in(tmp_path, 0.0):
        pass


def test_one_process_has_a_file_also_after_it_was_removed_and_made_again(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with alone_with(lock, output=tmp_path / "model"):
        with (
            pytest.raises(ConfigError, match="model: expected to be alone"),
            alone_with(lock, output=tmp_path / "model"),
        ):
            pass
        lock.unlink()
        with alone_with(lock), pytest.raises(ConfigError), alone_with(lock):
            pass
    with alone_with(lock):
        pass
