"""Speech Commands from its publisher."""

import tarfile
from pathlib import Path

from torch.hub import download_url_to_file

from wakeword.base.errors import DataError
from wakeword.base.files import file_sha256, new_folder

VERSION = "speech_commands_v0.02"
URL = f"http://download.tensorflow.org/data/{VERSION}.tar.gz"
"""The publisher's address. What comes from there is used only if it has the digest."""
DIGEST = "af14739ee7dc311471de98f5f9d2c9191b18aedfe957f4a6ff791c709868ff58"
"""SHA-256 of the archive, in hex; torchaudio has the same."""


def download_speech_commands(root: Path) -> Path:
    """Download (2.3 GB), verify the SHA-256, unpack and return the folder of words. Does nothing if it already exists.

    An archive that is in ``root`` already is not downloaded again, but verified like a new one. Raises ``DataError`` if the
    network or the digest fails, or if the archive has members that belong elsewhere: it is unpacked whole
    or not at all.
    """
    folder = root / "SpeechCommands" / VERSION
    if folder.is_dir():
        return folder
    archive = root / f"{VERSION}.tar.gz"
    if not hasattr(tarfile, "data_filter"):
        raise DataError("expected Python 3.11.4 or newer to unpack an archive safely; update Python")
    try:
        root.mkdir(parents=True, exist_ok=True)
        if not archive.exists():
            download_url_to_file(URL, str(archive), hash_prefix=DIGEST)
        found = file_sha256(archive)
        if found != DIGEST:
            raise DataError(
                f"{archive}: expected the archive of SHA-256 {DIGEST[:16]}..., got {found[:16]}...; delete it and try again"
            )
        with new_folder(folder) as temporary, tarfile.open(archive) as members:
            members.extractall(temporary, filter="data")
    except (tarfile.TarError, EOFError) as error:
        raise DataError(f"{archive}: expected an archive of recordings, could not unpack it: {error}") from error
    except (OSError, RuntimeError) as error:
        raise DataError(
            f"could not download {VERSION} into {root}: {error}; check the network and try again"
        ) from error
    return folder
