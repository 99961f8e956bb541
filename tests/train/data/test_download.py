"""Speech Commands is downloaded by the library that knows its checksum; a network error is reported in one line."""

from pathlib import Path

import pytest

from wakeword.errors import DataError
from wakeword_train.data.download import download_speech_commands
from wakeword_train.data.torchaudio_guard import import_torchaudio


def test_the_folder_of_words_is_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Path, str, bool]] = []
    datasets = import_torchaudio().datasets
    monkeypatch.setattr(datasets, "SPEECHCOMMANDS", lambda root, url, download: calls.append((root, url, download)))
    folder = download_speech_commands(tmp_path / "new")
    assert calls == [(tmp_path / "new", "speech_commands_v0.02", True)]
    assert folder == tmp_path / "new" / "SpeechCommands" / "speech_commands_v0.02"


@pytest.mark.parametrize("failure", [OSError("no route to host"), RuntimeError("the hash of the file does not match")])
def test_a_failed_download_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    def fail(root: Path, url: str, download: bool) -> None:
        raise failure

    monkeypatch.setattr(import_torchaudio().datasets, "SPEECHCOMMANDS", fail)
    with pytest.raises(DataError, match=str(failure)):
        download_speech_commands(tmp_path)
