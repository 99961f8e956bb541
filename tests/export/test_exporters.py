"""Laws of the registry of exporters: each is found by its name, also one of another package, and errors name the cause."""

import dataclasses
from pathlib import Path

import pytest

from wakeword.base.errors import ConfigError, ModelError
from wakeword.format.verifier_card import Fusion
from wakeword.model.installed import assets_folder
from wakeword.model.model import parse_model, read_model
from wakeword_export.exporter import require_second_stage
from wakeword_export.registry import EXPORTERS, exporter_named
from wakeword_tools.measure.cards import embed_card


def package(folder: Path, name: str, code: str) -> str:
    """An installed package with an exporter, in a folder for the import path."""
    described = folder / f"{name}_files-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-files\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[wakeword.exporters]\n{name} = {name}_files:EXPORTER\n")
    (folder / f"{name}_files.py").write_text(code)
    return str(folder)


def test_every_built_in_exporter_is_found_by_its_name() -> None:
    assert [exporter_named(one.name) for one in EXPORTERS] == list(EXPORTERS)


def test_a_package_does_not_replace_a_built_in_exporter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(package(tmp_path, "openwakeword", "EXPORTER = None"))
    assert exporter_named("openwakeword") in EXPORTERS


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import nothing_of_this_name", r"mine: could not load mine_files:EXPORTER: .*nothing_of_this_name"),
        ("EXPORTER = 1", "expected the Exporter of that name, 'mine', at mine_files:EXPORTER, got 1"),
    ],
)
def test_an_unusable_package_is_named(code: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(package(tmp_path, "mine", code))
    monkeypatch.delitem(__import__("sys").modules, "mine_files", raising=False)
    with pytest.raises(ConfigError, match=reason):
        exporter_named("mine")
    with pytest.raises(ConfigError, match="to export to among openwakeword, microwakeword, hacs, mine, got 'theirs'"):
        exporter_named("theirs")


def test_a_model_of_a_text_alone_is_refused_by_the_name_of_the_trained_one() -> None:
    file = assets_folder("wakeword_train") / "encoders" / "typed.onnx"
    template = read_model(file).card
    assert template.verifier is not None
    alone = dataclasses.replace(template.verifier, fusion=Fusion(5.0, 0.0, 0.0, 5.0, 2.5, -1e6))
    training = {"compared": {"file": "runs/jarvis/jarvis-trained.onnx"}}
    typed, kept = (
        parse_model(embed_card(file.read_bytes(), dataclasses.replace(template, verifier=alone, training=some)))
        for some in ({}, training)
    )
    with pytest.raises(ModelError, match=r"made from its text.*take runs/jarvis/jarvis-trained\.onnx"):
        require_second_stage(kept)
    with pytest.raises(ModelError, match="take a trained one"):
        require_second_stage(typed)
