"""Speech Commands from its publisher."""

from pathlib import Path

from wakeword.errors import DataError
from wakeword_train.data.torchaudio_guard import import_torchaudio


def download_speech_commands(root: Path, *, version: str = "speech_commands_v0.02") -> Path:
    """Download (2.3 GB), verify the checksum, unpack and return the folder of words. Does nothing if it already exists.

    Raises ``DataError`` if the network or the checksum fails.
    """
    datasets = import_torchaudio().datasets
    root.mkdir(parents=True, exist_ok=True)
    try:
        datasets.SPEECHCOMMANDS(root, url=version, download=True)
    except (OSError, RuntimeError) as error:
        raise DataError(
            f"could not download {version} into {root}: {error}; check the network and try again"
        ) from error
    return root / "SpeechCommands" / version
