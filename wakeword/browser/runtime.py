"""ONNX Runtime for the web: three files of the npm package onnxruntime-web, kept on this machine and checked by digest.

They are not in the wheel, as 14 MB are much for the few who want the page.
"""

import hashlib
import io
import tarfile
import zlib
from pathlib import Path

from platformdirs import user_cache_path

from wakeword.base.errors import ConfigError, reason_of
from wakeword.base.fetching import NPM, fetched
from wakeword.base.files import read_limited, write_whole

RUNTIME_VERSION = "1.30.0"
DIGESTS = {
    "ort.wasm.min.mjs": "219e6a1fc8a9938268d18efca3c91d310bd2f4a59bbd13744df5b2b7fc6cee3b",
    "ort-wasm-simd-threaded.mjs": "e13f7f94fc51b4ca72b12faeb1ee95f4ace6dfbc8939bc718aabdc0a27c4299b",
    "ort-wasm-simd-threaded.wasm": "3398c10d07d229bd91b364548e130e0e51a8e5704b88c7c083ebbeb78842dee2",
}
"""The files that the page needs: SHA-256, in hex."""
_ADVICE = (
    f"give --runtime FOLDER with these files of the npm package onnxruntime-web {RUNTIME_VERSION}, from its folder dist: "
    f"{', '.join(DIGESTS)}"
)

_PACKAGE = f"{NPM}/onnxruntime-web/-/onnxruntime-web-{RUNTIME_VERSION}.tgz"
_MAX_PACKAGE_BYTES = 64 * 2**20
_MAX_BYTES = 32 * 2**20


def cache_folder() -> Path:
    """Where the files are kept, for this user."""
    return user_cache_path("wakeword", appauthor=False) / f"onnxruntime-web-{RUNTIME_VERSION}"


def problem_of(folder: Path) -> str | None:
    """What is wrong with the files in ``folder``; ``None`` if all are there and have their digests."""
    for name, digest in DIGESTS.items():
        try:
            found = hashlib.sha256(read_limited(folder / name, _MAX_BYTES)).hexdigest()
        except (OSError, ValueError) as error:
            return f"could not read {name}: {reason_of(error)}"
        if found != digest:
            return f"{name} has SHA-256 {found[:16]}... in place of {digest[:16]}...: another version, or damaged"
    return None


def require_runtime(folder: Path) -> Path:
    """``folder``, if it has the files. ``ConfigError`` otherwise."""
    if problem := problem_of(folder):
        raise ConfigError(f"{folder}: expected ONNX Runtime for the web {RUNTIME_VERSION}, {problem}; {_ADVICE}")
    return folder


def fetch_runtime(folder: Path) -> None:
    """Download the files into ``folder``. Raises ``ConfigError`` if they cannot be had or have other digests."""
    try:
        package = b"".join(fetched(_PACKAGE, most=_MAX_PACKAGE_BYTES, failure=ConfigError))
        with tarfile.open(fileobj=io.BytesIO(package), mode="r:gz") as archive:
            for name in DIGESTS:
                content = archive.extractfile(f"package/dist/{name}")
                write_whole(folder / name, b"" if content is None else content.read(_MAX_BYTES))
    except (ConfigError, OSError, tarfile.TarError, EOFError, KeyError, zlib.error) as error:
        raise ConfigError(f"expected ONNX Runtime for the web, got none: {reason_of(error)}; {_ADVICE}") from error
    require_runtime(folder)
