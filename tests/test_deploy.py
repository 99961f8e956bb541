"""What is in deploy/: each file names real options of the command, and is valid by the programs that will read it.

Images are not built here. What a container and the add-on run is run without one.
"""

import importlib.util
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
import tomllib
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from support import ROOT

from wakeword import ConfigError, __version__, shipped_models
from wakeword.cli.app import COMMANDS
from wakeword.cli.options import DEFAULT_KEYWORD
from wakeword_serve.addresses import host_and_port

yaml = pytest.importorskip("yaml", reason="pyyaml is missing: pip install '.[dev]'")

DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "systemd" / "wakeword.service"
DOCKER = DEPLOY / "docker"
ADDON = DEPLOY / "home-assistant"
DOCKERFILES = [DOCKER / "Dockerfile", ADDON / "Dockerfile"]
CONFIG = yaml.safe_load((ADDON / "config.yaml").read_text())


def options_of(arguments: list[str]) -> dict[str, Any]:
    """The options that `wakeword serve` reads from arguments; fails where it would refuse them."""
    command = typer.Typer()
    command.command()(COMMANDS["serve"].load())
    found = typer.main.get_command(command).make_context("serve", list(arguments)).params
    # Versions of typer differ in these: a tuple or a list of what can be repeated, a path or its name.
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}
    return {name: str(value) if isinstance(value, Path) else value for name, value in plain.items()}


def program(name: str) -> str:
    """A program of this machine or environment; skips where there is none."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed here")
    return found


def addon_program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("addon_run", ADDON / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_live_page_has_the_same_port_everywhere() -> None:
    found = {}
    for path in (UNIT, DOCKER / "Dockerfile", ROOT / "docs" / "serve.md", ROOT / "docs" / "home-assistant.md"):
        found[path.name] = set(re.findall(r"--http\b[\s\",]+[\d.]+:(\d+)", path.read_text()))
    found["add-on"] = {str(CONFIG["ingress_port"])}
    with pytest.raises(ConfigError) as caught:
        host_and_port("")
    found["message"] = set(re.findall(r"instance [\d.]+:(\d+)", str(caught.value)))
    assert found == {name: {"10401"} for name in found}


# --- systemd


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit, with a program that exists here in place of the installed one."""
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/opt/wakeword/bin/wakeword", "/bin/true"))
    return copy


def test_systemd_understands_every_line_of_the_unit(unit: Path) -> None:
    """It exits with 0 even for unknown keys, and then only says so."""
    done = subprocess.run([program("systemd-analyze"), "verify", unit], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")
    wrong = unit.with_name("wrong.service")
    wrong.write_text(unit.read_text().replace("PrivateTmp", "PrivateTemp"))
    done = subprocess.run([program("systemd-analyze"), "verify", wrong], capture_output=True, text=True, timeout=60)
    assert "PrivateTemp" in done.stderr


def test_the_service_is_locked_in(unit: Path) -> None:
    """The exposure is from 0 to 100; without the settings of the unit it is 96."""
    command = [program("systemd-analyze"), "security", "--offline=yes", "--threshold=20", unit]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_the_unit_starts_the_command_with_its_own_options() -> None:
    (line,) = re.findall(r"^ExecStart=/opt/wakeword/bin/wakeword serve (.*)$", UNIT.read_text(), flags=re.MULTILINE)
    (example,) = re.findall(r"^# +WAKEWORD_OPTIONS=(.*)$", UNIT.read_text(), flags=re.MULTILINE)
    alone = options_of(shlex.split(line.replace("$WAKEWORD_OPTIONS", "")))
    assert alone["uri"].startswith("tcp://127.0.0.1:")
    home = options_of(shlex.split(line.replace("$WAKEWORD_OPTIONS", example)))
    assert (home["uri"], home["keyword"], home["zeroconf"]) == ("tcp://0.0.0.0:10400", ["jarvis"], True)


# --- containers


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.parent.name)
def test_hadolint_finds_nothing(path: Path) -> None:
    done = subprocess.run([program("hadolint"), path], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def instruction(name: str) -> list[str]:
    """The arguments of an instruction of the container's Dockerfile in the form of a JSON list."""
    text = (DOCKER / "Dockerfile").read_text().replace("\\\n", " ")
    (found,) = re.findall(rf"\b{name} (\[.*\])$", text, flags=re.MULTILINE)
    return list(json.loads(found))


def test_the_container_is_given_all_that_its_packages_are_made_of() -> None:
    """Its build sees only what the ignore file lets through."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = [*settings["project"]["license-files"], settings["project"]["readme"]]
    for place in (ROOT, ROOT / "serve"):
        wheel = tomllib.loads((place / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
        files = [place / name for name in (*wheel["packages"], *wheel["force-include"], "pyproject.toml")]
        needed += [file.resolve().relative_to(ROOT).as_posix() for file in files]
    lines = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    assert "*" in lines
    allowed = [line.removeprefix("!") for line in lines if line.startswith("!")]
    for name in needed:
        assert (ROOT / name).exists()
        assert any(fnmatch(name, one) or name.startswith(f"{one}/") for one in allowed), name
    assert not {"tests", ".git", ".venv", "docs"} & set(allowed)


def test_the_container_runs_as_a_user_without_rights() -> None:
    users = re.findall(r"^USER (\S+)$", (DOCKER / "Dockerfile").read_text(), flags=re.MULTILINE)
    assert [user.split(":")[0].isdigit() and not user.startswith("0") for user in users] == [True]


def test_the_example_of_compose_names_what_exists() -> None:
    compose = yaml.safe_load((DOCKER / "compose.yaml").read_text())
    (service,) = compose["services"].values()
    context = (DOCKER / service["build"]["context"]).resolve()
    assert context == ROOT
    assert (context / service["build"]["dockerfile"]).samefile(DOCKER / "Dockerfile")
    options = options_of([*instruction("ENTRYPOINT")[2:], *service["command"]])
    assert set(options["keyword"]) <= set(shipped_models())
    (volume,) = service["volumes"]
    assert volume.split(":")[1:] == [str(options["models"]), "ro"]
    assert [port.split(":")[1] for port in service["ports"]] == [options["uri"].rsplit(":", 1)[1]]


@pytest.mark.slow
def test_the_health_check_knows_whether_the_server_runs(tmp_path: Path) -> None:
    """What the container runs and checks, on free ports of this machine."""
    pytest.importorskip("wyoming", reason="wyoming is missing: pip install '.[serve]'")
    ports = {"10400": str(free_port()), "10401": str(free_port())}

    def here(arguments: list[str]) -> list[str]:
        python = [sys.executable, "-m", "wakeword"] if arguments[0].endswith("/wakeword") else [sys.executable]
        return [*python, *(re.sub("1040[01]", lambda port: ports[port[0]], one) for one in arguments[1:])]

    check = here(instruction("CMD"))
    assert subprocess.run(check, capture_output=True, timeout=60).returncode != 0
    with (tmp_path / "log").open("wb") as log:
        command = [*here(instruction("ENTRYPOINT")), "--keyword", "marvin"]
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path)
    try:
        latest = time.monotonic() + 60
        while subprocess.run(check, capture_output=True, timeout=60).returncode != 0:
            assert server.poll() is None, (tmp_path / "log").read_text()
            assert time.monotonic() < latest, (tmp_path / "log").read_text()
        server.terminate()
        assert server.wait(timeout=30) == 0
    finally:
        server.kill()
    assert subprocess.run(check, capture_output=True, timeout=60).returncode != 0


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


# --- the add-on


def test_the_add_on_says_what_home_assistant_requires() -> None:
    """The required keys and the kinds of values of its documentation, "Add-on configuration"."""
    assert {"name", "version", "slug", "description", "arch"} <= set(CONFIG)
    assert CONFIG["version"] == __version__
    assert re.fullmatch(r"[-_.A-Za-z0-9]+", CONFIG["slug"])
    # 32-bit systems lack ONNX Runtime.
    assert set(CONFIG["arch"]) <= {"aarch64", "amd64"}
    assert CONFIG["startup"] in {"initialize", "system", "services", "application", "once"}
    assert CONFIG["discovery"] == ["wyoming"]
    assert [{*one} for one in CONFIG["map"]] == [{"type", "read_only", "path"}]
    assert [Path(one["path"]) for one in CONFIG["map"]] == [addon_program().FOLDER]
    assert set(CONFIG["ports"]) == {f"{addon_program().PORT}/tcp"}
    # Home Assistant shows the page that the server has there, and nobody else reaches it.
    assert CONFIG["ingress"] is True
    options = options_of(addon_program().command(CONFIG["options"], Path()))
    assert (options["http"], options["http_ingress"]) == (f"0.0.0.0:{CONFIG['ingress_port']}", True)
    assert f"{CONFIG['ingress_port']}/tcp" not in CONFIG["ports"]
    kinds = r"(str|bool|int(\(\d*,\d*\))?|float(\(\d*,\d*\))?|list\(.+\))\??"
    for kind in CONFIG["schema"].values():
        assert re.fullmatch(kinds, kind[0] if isinstance(kind, list) else kind)
    # What has no default and is not optional would have to be filled in before the first start.
    required = {name for name, kind in CONFIG["schema"].items() if isinstance(kind, list) or not kind.endswith("?")}
    assert required == set(CONFIG["options"])


def test_the_add_on_offers_every_included_word() -> None:
    (kind,) = CONFIG["schema"]["keywords"]
    assert kind == f"list({'|'.join(sorted(shipped_models()))})"
    # An installation without saved options keeps "marvin", the earlier default.
    assert CONFIG["options"]["keywords"] == [DEFAULT_KEYWORD, "marvin"]


@pytest.mark.parametrize("path", sorted((ADDON / "translations").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_option_of_the_add_on_is_explained(path: Path) -> None:
    texts = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert set(texts["configuration"]) == set(CONFIG["schema"])
    assert all(one["name"] and one["description"] for one in texts["configuration"].values())
    assert set(texts["network"]) == set(CONFIG["ports"])


CHOSEN = {
    "keywords": ["marvin", "seven"],
    "point": "fpr=0.03",
    "threshold": 0.9,
    "min_gap": 2.5,
    "verify": False,
    "group": ["home=192.168.1.10,192.168.1.20"],
    "voice": ["me", "you"],
    "keep": True,
    "save": True,
    "save_limit": 50,
    "debug": True,
}
"""A value other than the default for each option of the add-on."""


def test_every_option_of_the_add_on_is_one_of_the_command(tmp_path: Path) -> None:
    assert set(CHOSEN) == set(CONFIG["schema"])
    command = addon_program().command
    plain = options_of(command(CONFIG["options"], tmp_path))
    assert plain["keyword"] == CONFIG["options"]["keywords"]
    assert plain["models"] == str(tmp_path / "models")
    assert plain["save"] is None
    for name, value in CHOSEN.items():
        options = options_of(command({**CONFIG["options"], name: value}, tmp_path))
        changed = {key for key in options if options[key] != plain[key]}
        if name == "save":
            assert options["save"] == str(tmp_path / "heard")
            assert changed == {"save", "save_limit"}
        elif name == "save_limit":
            assert changed == set()  # only where something is saved
        elif name == "keep":
            assert changed == {"keep"}
            assert options["keep"] == "audio"
        else:
            assert changed == {"keyword" if name == "keywords" else name}
            assert options[changed.pop()] == value
    everything = options_of(command(CHOSEN, tmp_path))
    assert (everything["save_limit"], everything["point"]) == (50, "fpr=0.03")


def test_options_that_were_left_empty_are_left_out(tmp_path: Path) -> None:
    command = addon_program().command
    empty = {**CONFIG["options"], "point": "", "threshold": None}
    assert command(empty, tmp_path) == command(CONFIG["options"], tmp_path)


class Supervisor:
    """Keeps what is announced to it."""

    def __init__(self) -> None:
        requests = self.requests = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                requests.append((self.path, self.headers["Authorization"], body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> "Supervisor":
        self.thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def test_the_add_on_announces_itself_once_it_answers() -> None:
    announce = addon_program().announce
    port = free_port()
    with Supervisor() as supervisor:
        waiting = threading.Thread(target=announce, args=(supervisor.url, "secret", "addon-host", port))
        waiting.start()
        time.sleep(0.3)
        assert supervisor.requests == []
        with socket.create_server(("127.0.0.1", port)):
            waiting.join(30)
        assert not waiting.is_alive()
        found = {"service": "wyoming", "config": {"uri": f"tcp://addon-host:{port}"}}
        assert supervisor.requests == [("/discovery", "Bearer secret", found)]
        with pytest.raises(OSError, match="refused"):
            announce(supervisor.url, "secret", "addon-host", free_port(), wait=0.1)
        assert len(supervisor.requests) == 1


def test_the_add_on_becomes_the_server_without_the_rights_of_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    addon = addon_program()
    steps: list[Any] = []
    (tmp_path / "options.json").write_text(json.dumps(CONFIG["options"]))
    monkeypatch.setattr(addon, "OPTIONS", tmp_path / "options.json")
    monkeypatch.setattr(addon, "FOLDER", tmp_path)
    monkeypatch.setattr(addon, "USER", "nobody")
    monkeypatch.setenv("SUPERVISOR_TOKEN", "secret")
    monkeypatch.setenv("WAKEWORD_HOME", "elsewhere")
    monkeypatch.setattr(os, "fork", lambda: steps.append("fork") or 1)
    monkeypatch.setattr(os, "chown", lambda path, *_, **__: steps.append(("chown", path)))
    for name in ("setgroups", "setgid", "setuid"):
        monkeypatch.setattr(os, name, lambda _, name=name: steps.append(name))
    monkeypatch.setattr(os, "execv", lambda path, arguments: steps.append((path, arguments)))
    addon.main()
    assert (tmp_path / "models").is_dir()
    folders = [("chown", tmp_path / name) for name in ("heard", "kept", "known-voices")]
    assert steps[:-1] == [*folders, "setgroups", "setgid", "setuid", "fork"]
    # What is kept, and which voices are known.
    assert os.environ["WAKEWORD_HOME"] == str(tmp_path)
    path, arguments = steps[-1]
    assert (path, arguments[:5]) == (sys.executable, [sys.executable, "-P", "-m", "wakeword", "serve"])
    assert options_of(arguments[5:])["keyword"] == CONFIG["options"]["keywords"]
    assert "SUPERVISOR_TOKEN" not in os.environ
