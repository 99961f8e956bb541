"""The files of the page, and the command that serves them."""

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from wakeword import ConfigError
from wakeword.browser import page_server
from wakeword.browser.page_server import PAGE, RUNTIME, site_files, web_folder
from wakeword.browser.runtime import DIGESTS
from wakeword.model.installed import shipped_models


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """A folder with files of the names of ONNX Runtime's."""
    for name in DIGESTS:
        (tmp_path / name).write_bytes(b"")
    return tmp_path


def test_the_page_has_all_that_it_needs(stand_in: Path) -> None:
    files = site_files(stand_in)
    assert f"{PAGE}index.html" in files
    assert {f"assets/models/{keyword}.onnx" for keyword in shipped_models()} <= set(files)
    assert {files[RUNTIME + name] for name in DIGESTS} == {stand_in / name for name in DIGESTS}
    assert all(file.is_file() for file in files.values())


@pytest.mark.parametrize("extra", ["ear", "languages"])
def test_a_recogniser_is_served_where_it_is_installed_and_its_quick_one_where_it_has_one(
    stand_in: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, extra: str
) -> None:
    names = f"assets/encoders/{extra}.onnx", f"assets/encoders/{extra}-quick.onnx"
    monkeypatch.setattr(page_server, "recogniser_folders", dict)
    assert not {*names} & {*site_files(stand_in)}
    monkeypatch.setattr(page_server, "recogniser_folders", lambda: {extra: tmp_path})
    (tmp_path / "phonemes.onnx").touch()
    assert site_files(stand_in)[names[0]] == tmp_path / "phonemes.onnx"
    assert names[1] not in site_files(stand_in)
    (tmp_path / "quick.onnx").touch()
    assert site_files(stand_in)[names[1]] == tmp_path / "quick.onnx"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"onnxruntime-web/dist/ort-wasm-simd-threaded\.mjs"):
        site_files(tmp_path)


def test_a_damaged_list_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "files.json").write_text("[")
    monkeypatch.setattr(page_server, "web_folder", lambda: tmp_path)
    with pytest.raises(ConfigError, match=r"expected the page's files.json, got: .*; install it again"):
        site_files(tmp_path)


def test_nothing_of_the_page_names_another_host() -> None:
    """Besides names of formats, which nobody asks for anything."""
    own = [path for folder in ("src", "demo") for path in (web_folder() / folder).rglob("*") if path.is_file()]
    assert len(own) >= 30
    named = [
        f"{path.name}: {line.strip()}"
        for path in [*own, web_folder() / "sw.js"]
        for line in path.read_text(encoding="utf-8").splitlines()
        if "://" in line and "http://www.w3.org/2000/svg" not in line
    ]
    assert named == []


def test_a_runtime_of_another_version_is_refused(cli, stand_in: Path) -> None:
    shown = cli("web", "--runtime", stand_in)
    assert shown.status == 1
    assert shown.err.count("\n") == 1
    assert "expected ONNX Runtime for the web" in shown.err


def test_the_command_serves_until_it_is_ended(stand_in: Path) -> None:
    program = (
        "import sys; from wakeword.browser import page_server, runtime; from wakeword.cli import web, main; "
        "web.problem_of = lambda folder: None; web.require_runtime = lambda folder: folder; "
        f"sys.argv = ['wakeword', 'web', '--port', '0', '--runtime', {str(stand_in)!r}]; main()"
    )
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment, text=True
    ) as started:
        assert started.stdout is not None
        url = started.stdout.readline().split()[0]
        with urllib.request.urlopen(url, timeout=20) as answer:
            assert b"<title>wakeword" in answer.read()
        started.send_signal(signal.SIGTERM)
        assert started.wait(20) == 143
