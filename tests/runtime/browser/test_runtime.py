"""ONNX Runtime for the web: fetched once from npm, and believed only by its digests."""

import hashlib
import io
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from wakeword import ConfigError
from wakeword.browser import runtime
from wakeword.browser.runtime import cache_folder, fetch_runtime, problem_of, require_runtime

CONTENTS = {"one.mjs": b"one", "two.wasm": b"two" * 1_000}
PATH = runtime._PACKAGE


def package(contents: dict[str, bytes]) -> bytes:
    """An npm package with these files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in {
            "package.json": b"{}",
            **{f"dist/{key}": value for key, value in contents.items()},
        }.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """What the registry has, by address."""
    served: dict[str, bytes] = {}

    def fetched(address: str, *, most: int, failure: type[Exception]) -> Iterator[bytes]:
        if address not in served:
            raise failure("could not download it: Not Found")
        assert len(served[address]) <= most
        yield served[address]

    monkeypatch.setattr(runtime, "DIGESTS", {name: hashlib.sha256(data).hexdigest() for name, data in CONTENTS.items()})
    monkeypatch.setattr(runtime, "fetched", fetched)
    return served


def test_the_files_are_fetched_and_checked(registry: dict[str, bytes], tmp_path: Path) -> None:
    registry[PATH] = package({"other.wasm": b"other", **CONTENTS})
    folder = tmp_path / "new" / "folder"
    assert problem_of(folder) is not None
    fetch_runtime(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENTS
    assert require_runtime(folder) == folder
    (folder / "one.mjs").write_bytes(b"changed")
    with pytest.raises(ConfigError, match=r"one\.mjs has SHA-256 .* give --runtime FOLDER"):
        require_runtime(folder)


@pytest.mark.parametrize(
    ("contents", "told"),
    [
        ({"one.mjs": b"one", "two.wasm": b"bad"}, r"two\.wasm has SHA-256"),
        ({"one.mjs": b"one"}, r"got none: .*dist/two\.wasm"),
        (None, "got none: .*Not Found"),
        (b"no package", "got none"),
    ],
)
def test_what_is_not_the_package_is_refused(
    contents: dict[str, bytes] | bytes | None, told: str, registry: dict[str, bytes], tmp_path: Path
) -> None:
    if contents is not None:
        registry[PATH] = contents if isinstance(contents, bytes) else package(contents)
    with pytest.raises(ConfigError, match=told) as raised:
        fetch_runtime(tmp_path)
    assert "--runtime FOLDER" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert problem_of(tmp_path) is not None


def test_a_package_that_is_cut_off_is_refused(registry: dict[str, bytes], tmp_path: Path) -> None:
    registry[PATH] = package(CONTENTS)[:60]
    with pytest.raises(ConfigError, match="got none"):
        fetch_runtime(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="XDG_CACHE_HOME is of Linux")
def test_the_files_are_kept_where_this_user_keeps_such(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "wakeword" / f"onnxruntime-web-{runtime.RUNTIME_VERSION}"
