"""Help, errors and exit statuses, and the commands that describe models."""

import ast
import inspect
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.each_command import INSTALLED_COMMANDS, each_command
from support.separate_process import SeparateProcess

from wakeword.base.plugins import extra_of
from wakeword.base.version import __version__
from wakeword.cli.app import COMMANDS
from wakeword.model.installed import assets_folder
from wakeword.model.model import read_model

NAMES = (
    *("listen", "scan", "models", "info"),
    *("check", "train", "record", "voice", "review", "voices", "synth"),
    *("calibrate", "evaluate", "compare"),
    *("serve", "web", "export"),
    *("devices", "doctor"),
)


@pytest.mark.parametrize("command", each_command())
def test_every_command_has_help(cli, command: str) -> None:
    shown = cli(command, "--help")
    assert shown.status == 0
    assert command in shown.out
    assert "bool" not in shown.out.lower()  # a flag takes no value


@pytest.mark.parametrize("columns", [80, 100, 120, 200])
@pytest.mark.parametrize("command", each_command())
def test_the_help_of_a_command_cuts_no_name_of_an_option_and_breaks_no_range(
    cli, command: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = cli(command, "--help").out
    assert "…" not in shown
    for option in inspect.signature(COMMANDS[command].load()).parameters.values():
        for metadata in getattr(option.annotation, "__metadata__", ()):
            names = [name for given in getattr(metadata, "param_decls", None) or () for name in given.split("/")]
            assert all(name in shown.split() or f"{name}," in shown for name in names if name.startswith("--"))
            if (most := getattr(metadata, "max", None)) is not None:
                assert f"x<={most}" in shown


def test_help_lists_every_command(cli) -> None:
    assert tuple(COMMANDS) == NAMES
    shown = cli("--help")
    assert shown.status == 0
    positions = [shown.out.index(f"│ {command} ") for command in NAMES]
    assert positions == sorted(positions)


@pytest.mark.parametrize("name", each_command())
def test_the_list_of_commands_has_the_first_line_of_each_help(name: str) -> None:
    documented = inspect.getdoc(COMMANDS[name].load())
    assert documented is not None
    assert documented.splitlines()[0] == COMMANDS[name].help


@pytest.mark.parametrize("name", each_command())
def test_a_command_is_its_options_and_one_call(name: str) -> None:
    """The work is done elsewhere, by functions that a test or a program can call."""
    if COMMANDS[name].work:
        return  # the one call is the table's
    (function,) = ast.parse(inspect.getsource(COMMANDS[name].load())).body
    assert isinstance(function, ast.FunctionDef)
    assert len(function.body) <= 9


def test_the_list_of_commands_imports_none_of_them_and_nothing_heavy() -> None:
    unwanted = {command.place.split(":")[0] for command in COMMANDS.values()} | {*TRAINING_PACKAGES, "sounddevice"}
    done = SeparateProcess().run(f"""if True:
        from wakeword.cli import main
        sys.argv = ["wakeword", "--help"]
        try:
            main()
        except SystemExit:
            pass
        sys.exit(str(sorted({unwanted} & set(sys.modules))))
    """)
    assert (done.returncode, done.stderr) == (1, "[]\n")
    assert "evaluate" in done.stdout


def test_version(cli) -> None:
    assert cli("--version") == (0, f"wakeword {__version__}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["scan"],
        ["nonesuch"],
        ["scan", "--nonesuch", "x.wav"],
        ["scan", "--format", "xml", "x.wav"],
        ["scan", "--threshold", "high", "x.wav"],
        ["scan", "--threshold", "0.5", "--point", "fpr=0.03", "x.wav"],
        ["listen", "--threshold", "0.5", "--point", "fpr=0.03"],
        ["listen", "--channel", "-1"],
        ["listen", "--model", "{low}", "--input", "{wav}", "--exec", "say 'it"],
        ["listen", "--model", "{low}", "--input", "{wav}", "--exec", " "],
        ["listen", "--model", "{low}", "--input", "{wav}", "--device", "0"],
        ["listen", "--model", "{low}", "--input", "-", "--device", "0"],
        ["info"],
    ],
)
def test_wrong_usage_ends_with_2(cli, models: Path, recordings: Path, arguments: list[str]) -> None:
    names = {"low": models / "low.onnx", "wav": recordings / "first.wav"}
    assert cli(*(argument.format(**names) for argument in arguments)).status == 2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["scan", "{wav}", "--keyword", "nonesuch"], "no model for keyword 'nonesuch'"),
        (["scan", "{wav}", "--model", "{wav}"], "expected a model file of wakeword"),
        (["scan", "{wav}", "--model", "nonesuch.onnx"], "nonesuch.onnx: expected a model file"),
        (["scan", "{wav}", "--model", "{low}", "--model", "{low}"], "models with different keywords"),
        (["scan", "{wav}", "--model", "{low}", "--point", "x"], "no operating point 'x'; it has: fpr=0.03"),
        (["scan", "{wav}", "--model", "{low}", "--out", "{wav}/out.json"], "{wav}"),
        (["listen", "--input", "{wav}", "--model", "{low}", "--provider", "tpu"], "expected provider cpu or cuda"),
        (["listen", "--input", "nonesuch.wav", "--model", "{low}"], "nonesuch.wav: expected an audio file"),
        (["listen", "--input", "{txt}", "--model", "{low}"], "notes.txt: expected audio"),
        (["listen", "--input", "{wav}", "--model", "{low}", "--channel", "3"], "first.wav: expected a channel in 0..0"),
        (["listen", "--input", "{wav}", "--model", "{low}", "--exec", "nonesuch-program"], "'nonesuch-program'"),
        (
            ["listen", "--input", "{wav}", "--model", "{low}", "--save", "{txt}"],
            "--save: expected a folder, got the file {txt}",
        ),
        (["info", "nonesuch"], "no model for keyword 'nonesuch'"),
    ],
)
def test_a_known_error_is_one_line_and_ends_with_1(
    cli, models: Path, recordings: Path, arguments: list[str], complaint: str
) -> None:
    names = {"low": models / "low.onnx", "wav": recordings / "first.wav", "txt": recordings / "notes.txt"}
    ended = cli(*(argument.format(**names) for argument in arguments))
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith("wakeword: ")
    assert ended.err.count("\n") == 1
    assert complaint.format(**names) in ended.err
    assert names["txt"].read_text() == "no audio"  # it stays as it was


DEMO = str(assets_folder() / "audio" / "demo.flac")
OTHERS = ("wakeword_echo", "wakeword_serve", "wakeword_tools", "wakeword_train", "wakeword_export")
WITH_ALL = pytest.mark.skipif(not all(map(find_spec, OTHERS)), reason="needs all packages but the one that is missing")
"""The packages above the runtime."""
TRAINING_PACKAGES = ("torch", "torchaudio", "librosa", "onnx", "scipy", "matplotlib")


def test_a_plain_installation_has_help_for_every_command() -> None:
    done = SeparateProcess(*TRAINING_PACKAGES).run(f"""if True:
        from wakeword.cli.app import app
        for name in {INSTALLED_COMMANDS}:
            app([name, "--help"], standalone_mode=False)
    """)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("missing", "arguments", "extra"),
    [
        (TRAINING_PACKAGES, ["train", "marvin"], "train"),
        (TRAINING_PACKAGES, ["train", "marvin", "--from", "marvin", "--positives", "."], "train"),
        (TRAINING_PACKAGES, ["calibrate", "--model", "marvin.onnx", "--positives", "."], "tools"),
        (TRAINING_PACKAGES, ["evaluate", "--keyword", "marvin", "--positives", "."], "tools"),
        *(
            (OTHERS, [name, *options], extra)
            for name, one in COMMANDS.items()
            if (extra := extra_of(one.place.split(".")[0]))
            for options in ([], ["--help"])
        ),
        (["wakeword_train"], ["train", "marvin"], "train"),
        pytest.param(["wakeword_train"], ["export", "hey zorvella", "there", "--to", "hacs"], "train", marks=WITH_ALL),
        *(
            pytest.param(["wakeword_export"], ["train", "hey zorvella", "--for", engine], "export", marks=WITH_ALL)
            for engine in ("microwakeword", "openwakeword")
        ),
        (OTHERS, ["listen", "--keyword", "marvin", "--input", DEMO, "--playback", "monitor"], "echo"),
    ],
)
def test_what_is_not_installed_is_answered_with_the_line_that_installs_it(
    missing: Sequence[str], arguments: list[str], extra: str
) -> None:
    done = SeparateProcess(*missing).run(f"""if True:
        from wakeword.cli import main
        sys.argv = {["wakeword", *arguments]}
        main()
    """)
    assert done.returncode == 1
    assert done.stderr.startswith("wakeword: ")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith(f'pip install "wakeword[{extra}]"\n')
    without_torch = "torch" in missing or find_spec("torch") is None
    assert ("install torch first" in done.stderr) == (extra == "train" and without_torch)


def test_models_lists_what_is_shipped(cli, shipped: Path) -> None:
    listed = cli("models")
    assert listed.status == 0
    rows = [line.split("  ") for line in listed.out.splitlines()]
    assert [row[0] for row in rows] == ["keyword", "high (hey high)", "low"]
    assert all(text in listed.out for text in ("fpr=0.03", "0.900 (0.800-0.950)", "included"))


def test_a_broken_shipped_model_is_named_and_the_others_are_listed(cli, shipped: Path) -> None:
    (shipped / "broken.onnx").write_bytes(b"no model")
    listed = cli("models")
    assert listed.status == 1
    assert "low" in listed.out
    assert listed.err.startswith("wakeword: ")
    assert "broken.onnx" in listed.err


def test_info_shows_the_whole_card(cli, models: Path) -> None:
    model = read_model(models / "high.onnx")
    shown = json.loads(cli("info", "--json", models / "high.onnx").out)
    assert shown == {**json.loads(model.card.to_json()), "digest": model.digest}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("options", [["--version"], ["--help"], ["models"], ["models", "--json"], ["info", "marvin"]])
def test_text_that_cannot_be_written_is_an_error_of_one_line(options: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "wakeword", *options], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    lines = [line for line in done.stderr.splitlines() if not line.startswith("warning: ")]
    assert (done.returncode, lines) == (1, ["wakeword: No space left on device"])
