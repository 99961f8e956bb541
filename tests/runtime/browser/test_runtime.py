"""ONNX Runtime for the web: fetched once from where npm is set to look, and believed only by its digests."""

import hashlib
import io
import sys
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from wakeword import ConfigError
from wakeword.browser import runtime
from wakeword.browser.runtime import cache_folder, fetch_runtime, package_url, problem_of, require_runtime

CONTENTS = {"one.mjs": b"one", "two.wasm": b"two" * 1_000}
PATH = f"/npm/onnxruntime-web/-/onnxruntime-web-{runtime.RUNTIME_VERSION}.tgz"


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
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """What a registry has, by path; npm is set to use it."""
    served: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = served.get(self.path)
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, format: str, *args: object) -> None:
            pass

    monkeypatch.setattr(runtime, "DIGESTS", {name: hashlib.sha256(data).hexdigest() for name, data in CONTENTS.items()})
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{server.server_port}/npm/")
        yield served
        server.shutdown()


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
        ({"one.mjs": b"one", "two.wasm": b"bad"}, r"expected two\.wasm of its digest"),
        ({"one.mjs": b"one"}, r"expected two\.wasm in the package, found none"),
        (None, "could not get it: Not Found"),
        (b"no package", "could not get it"),
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
    assert not (tmp_path / "two.wasm").exists()


def test_a_package_that_is_cut_off_is_refused(registry: dict[str, bytes], tmp_path: Path) -> None:
    registry[PATH] = package(CONTENTS)[:60]
    with pytest.raises(ConfigError, match="could not get it"):
        fetch_runtime(tmp_path)


def test_npm_decides_on_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        monkeypatch.delenv(name, raising=False)
    assert package_url().startswith("https://registry.npmjs.org/onnxruntime-web/-/")
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "https://packages.example/npm/")
    assert package_url().startswith("https://packages.example/npm/onnxruntime-web/-/")
    monkeypatch.setenv("npm_config_registry", "file:///etc")
    with pytest.raises(ConfigError, match="an address of http or https"):
        package_url()


@pytest.mark.parametrize("address", ["http://[", "http://no host/", "http://127.0.0.1:port/"])
def test_an_address_that_is_none_is_one_line(address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("npm_config_registry", address)
    with pytest.raises(ConfigError, match="could not get it") as raised:
        fetch_runtime(tmp_path)
    assert "\n" not in str(raised.value)


@pytest.mark.skipif(sys.platform != "linux", reason="XDG_CACHE_HOME is of Linux")
def test_the_files_are_kept_where_this_user_keeps_such(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "wakeword" / f"onnxruntime-web-{runtime.RUNTIME_VERSION}"
