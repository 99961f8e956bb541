"""A method is one record that the rest of the package uses, and installed packages can add their own methods."""

import ast
import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.first_stages import train
from support.small_world import small_config, write_world

import wakeword_train
from wakeword.base.errors import ConfigError
from wakeword.model.model import read_model
from wakeword_train import DataFolders, TrainConfig
from wakeword_train.methods.registry import DEFAULT_METHOD, METHODS, method_named

PACKAGE = Path(wakeword_train.__file__).parent
NAMES = [method.name for method in METHODS]
SQUARED = '''
"""A method from another package: the squared difference from the labels."""

from wakeword_train import Method


class Squared:
    def __call__(self, logit_function, inputs, labels, generator):
        return (logit_function(inputs).sigmoid() - labels).square().mean(), None


SQUARED = Method("squared", lambda settings: Squared())
'''


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that offers the method ``squared``, and three names that give no method of their name."""
    folder = tmp_path / "site"
    (folder / "others_methods-1.0.dist-info").mkdir(parents=True)
    (folder / "others_methods.py").write_text(SQUARED)
    (folder / "others_methods-1.0.dist-info" / "METADATA").write_text("Name: others-methods\nVersion: 1.0\n")
    (folder / "others_methods-1.0.dist-info" / "entry_points.txt").write_text(
        "[wakeword.methods]\nsquared = others_methods:SQUARED\nrenamed = others_methods:SQUARED\n"
        "broken = others_methods:ABSENT\nbce = others_methods:SQUARED\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    yield
    sys.modules.pop("others_methods", None)


@pytest.mark.usefixtures("installed")
def test_a_method_of_another_package_trains_a_model(tmp_path: Path) -> None:
    config = small_config(method="squared")
    schedule = dataclasses.replace(config.schedule, warmup_epochs=1, epochs=3, steps_per_epoch=4)
    world = DataFolders(speech_commands=write_world(tmp_path / "world"))
    result = train(dataclasses.replace(config, schedule=schedule), world, tmp_path / "m.onnx")
    assert [report.phase for report in result.reports] == ["warm-up", "squared", "squared"]
    assert read_model(result.path).card.training["method"] == "squared"


@pytest.mark.usefixtures("installed")
def test_an_unknown_name_is_refused_with_a_list_of_all_methods() -> None:
    for refuse in (lambda: method_named("magic"), lambda: TrainConfig(method="magic")):
        with pytest.raises(ConfigError, match=f"expected method {', '.join(NAMES)}, broken, .*renamed, squared, got"):
            refuse()


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("name", "reason"), [("broken", "could not load"), ("renamed", "of that name")])
def test_an_entry_point_without_a_method_of_its_name_is_refused(name: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        method_named(name)


@pytest.mark.usefixtures("installed")
def test_a_built_in_name_cannot_be_taken() -> None:
    assert method_named("bce") in METHODS


def test_the_default_is_a_method_and_the_same_everywhere() -> None:
    assert TrainConfig().method == DEFAULT_METHOD == "bce"
    assert [method_named(name) for name in NAMES] == list(METHODS)


def compared_names(path: Path) -> list[str]:
    """Names of methods in comparisons and matches in a file."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare | ast.MatchValue):
            found += [leaf.value for leaf in ast.walk(node) if isinstance(leaf, ast.Constant)]
    return [str(value) for value in found if value in NAMES]


def test_no_code_depends_on_a_methods_name() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert compared_names(path) == [], f"{path.relative_to(PACKAGE)}: use the method's record"
