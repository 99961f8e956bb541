"""Completion in bash, zsh and fish: commands, options, and the names of models."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.each_command import needs_command

from wakeword.model.installed import shipped_models

WAKEWORD = Path(sys.executable).with_name("wakeword")
SHELLS = ("bash", "zsh", "fish")


def completions(words: str) -> list[str]:
    """What bash is offered for the last of the words."""
    parts = words.split(" ")
    asked = {"_WAKEWORD_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(parts) - 1)}
    command = [sys.executable, "-c", "import sys; sys.argv = ['wakeword']; from wakeword.cli import main; main()"]
    done = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("wakeword li", ["listen"]),
        ("wakeword info al", ["alexa"]),
        ("wakeword listen --keyword mar", ["marvin"]),
        pytest.param("wakeword serve --keyword ", sorted(shipped_models()), marks=needs_command("serve")),
        ("wakeword scan --refra", []),
        ("wakeword listen --no-ver", ["--no-verify"]),
    ],
)
def test_commands_options_and_models_are_offered(words: str, offered: list[str]) -> None:
    assert completions(words) == offered


def test_completion_does_not_load_the_engine() -> None:
    code = (
        "import sys; import wakeword.cli.ranges as names; names.model_names(''); "
        "print(*(set('onnxruntime torch rich sounddevice'.split()) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_is_installed_in_a_shell(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None or not WAKEWORD.exists():
        pytest.skip(f"{shell} or the program wakeword is not installed here")
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": f"{WAKEWORD.parent}:{os.environ['PATH']}"}
    environment.pop("XDG_CONFIG_HOME", None)
    # The second command keeps the shell from being replaced by the first: the shell is found as its parent.
    install = [program, "-c", "wakeword --install-completion; true"]
    done = subprocess.run(install, env=environment, capture_output=True, text=True, check=False)
    assert f"{shell} completion installed" in done.stdout, done.stdout + done.stderr
    written = [path.read_text() for path in tmp_path.rglob("*wakeword*") if path.is_file()]
    assert any("_WAKEWORD_COMPLETE" in text for text in written)
