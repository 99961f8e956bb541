"""Laws of the registry: every engine is found by its name, including those of other packages."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wakeword import SynthesisError
from wakeword_tools.clips.manifest import MANIFEST
from wakeword_tools.engines.espeak import ESPEAK, espeak_voices
from wakeword_tools.engines.registry import (
    BUILT_IN,
    engine_named,
    engine_of,
    english_voices,
    installed_engines,
    resolved_engines,
)
from wakeword_tools.kinds import Split

# A tone for each letter, and a voice in each split.
ENGINE = """
import numpy as np
from wakeword_tools.engines.synthesizer import Engine
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split

class Whistle:
    def speak(self, text, voice, prosody=None):
        tones = [np.sin(np.arange(800) * (0.05 + ord(letter) / 1_000)) for letter in text]
        return np.concatenate(tones).astype(np.float32)

def voices(place):
    return [
        Voice(f"{name}:{{own}}", "{name}", "en", own, f"{name}:{{own}}", own, "CC0-1.0", place) for own in Split
    ]

ENGINE = Engine(name="{name}", voices=voices, synthesizer=Whistle, takes_place="PITCH",
    kind="fast", available=lambda: "{name}:high")
"""


def package(folder: Path, name: str, *, record: str = "ENGINE") -> Path:
    """An installed package with an engine, in a folder for the import path."""
    described = folder / f"{name}_tts-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-tts\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[wakeword.engines]\n{name} = {name}_tts:{record}\n")
    (folder / f"{name}_tts.py").write_text(ENGINE.format(name=name))
    return folder


def test_an_engine_of_another_package_speaks_on_the_command_line(tmp_path: Path) -> None:
    installed = package(tmp_path / "site", "whistle")
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "wakeword", "synth", "marvin", "--engine", "whistle:high", "--voices", "test"]
    done = subprocess.run(
        [*command, "--count", "3", "--out", str(tmp_path / "set")],
        env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "set" / MANIFEST).read_text().splitlines()]
    assert [row["split"] for row in rows] == ["test"] * 3
    assert {row["engine"] for row in rows} == {"whistle"}


def test_training_speaks_with_an_engine_of_another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = installed_engines("fast")
    assert before[0] == "espeak-ng"
    monkeypatch.syspath_prepend(package(tmp_path, "chirp"))
    assert installed_engines("fast") == (*before, "chirp:high")
    assert "chirp:high" not in installed_engines("natural")
    assert resolved_engines(("command:x.toml", "installed"), natural=False)[-1] == "chirp:high"
    assert resolved_engines(("command:x.toml",), natural=False) == ("command:x.toml",)


def test_an_engine_of_another_package_is_used_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(package(tmp_path, "hum"))
    assert [voice.locator for voice in english_voices(Split.TEST, engines=["hum:low", "hum:high"])] == ["low", "high"]
    voice = english_voices(Split.TRAIN, engines=["hum:high"])[0]
    assert engine_of(voice) is engine_of(voice)
    with pytest.raises(SynthesisError, match=r"engines among espeak-ng, .*command, hum, got 'nothing'"):
        english_voices(engines=["nothing"])


def test_the_error_of_an_unusable_package_names_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(package(tmp_path / "one", "mute", record="Whistle"))
    with pytest.raises(SynthesisError, match="expected the Engine of that name, 'mute', at mute_tts:Whistle"):
        engine_named("mute")
    monkeypatch.syspath_prepend(package(tmp_path / "two", "broken"))
    (tmp_path / "two" / "broken_tts.py").write_text("import nothing_of_this_name")
    with pytest.raises(SynthesisError, match=r"broken: could not load broken_tts:ENGINE: .*nothing_of_this_name"):
        engine_named("broken")


def test_a_package_does_not_replace_a_built_in_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(package(tmp_path, "kokoro"))
    engine_named.cache_clear()
    assert engine_named("kokoro") in BUILT_IN


def test_every_built_in_engine_is_found_by_its_name() -> None:
    assert len({engine.name for engine in BUILT_IN}) == len(BUILT_IN)
    for engine in BUILT_IN:
        assert engine_named(engine.name) is engine
    for voice in espeak_voices():
        assert voice.engine == ESPEAK
        assert voice.name.startswith(f"{ESPEAK}:")


@pytest.mark.parametrize("engine", ["espeak-ng:folder", "espeak-ng:", "command", "command:", "kokoro:folder"])
def test_an_unexpected_or_missing_place_is_refused(engine: str) -> None:
    with pytest.raises(SynthesisError, match=r"engines among .*command:FILE.toml|found none"):
        english_voices(engines=[engine])


def test_a_speaker_of_several_voices_is_in_one_split() -> None:
    of_source: dict[str, set[Split]] = {}
    for voice in espeak_voices():
        of_source.setdefault(voice.source, set()).add(voice.split)
    assert all(len(splits) == 1 for splits in of_source.values())


def test_the_split_of_every_built_in_voice_never_changes() -> None:
    # The shipped models were trained and measured on these voices.
    lines = [f"{voice.name} {voice.source} {voice.split}" for voice in espeak_voices()]
    assert len(lines) == 656
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] == "5874665f6f9ae75d"
