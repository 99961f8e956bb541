"""Fixtures shared by all tests, and their distribution over workers."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from support.builders import band_model_bytes
from wakeword import Model
from wakeword.model.installed import HOME_VARIABLE
from wakeword.model.model import parse_model

# If a shell runs the tests in the background, they and every program that they start would ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# With it Python's stdout has no buffer, which hides what becomes of the text that is left in one at the end.
os.environ.pop("PYTHONUNBUFFERED", None)

# The same examples in every run, and no deadline: a busy machine must not fail a test.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def _no_installed_models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What whoever runs the tests has installed changes none of them, nor is it changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME_VARIABLE, str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def low_model() -> Model:
    """Keyword "low": fires on the low bursts of ``builders.bursts``."""
    return parse_model(band_model_bytes("low", 1))


@pytest.fixture(scope="session")
def high_model() -> Model:
    """Keyword "high": fires on the high bursts of ``builders.bursts``."""
    return parse_model(band_model_bytes("high", -1))


SLOW = (
    *(
        "tests/train/",
        "tests/benchmarks/",
        "tests/fuzz/",
        "tests/scripts/",
        "tests/test_examples",
        "tests/test_product.py",
    ),
    *(f"tests/tools/{room}/" for room in ("cli", "clips", "engines")),
    *("tests/tools/texts/test_advice.py", "tests/tools/texts/test_confusables.py"),
    "tests/runtime/cli/listen/",
    "tests/serve/test_command.py",
    *(f"tests/runtime/batch/jobs/test_{name}.py" for name in ("processes", "cluster")),
    *(f"tests/runtime/microphone/test_{name}.py" for name in ("faults", "microphone", "examples_device")),
    *(f"tests/runtime/microphone/test_{name}_device.py" for name in ("doctor", "listen", "record")),
)
"""Files whose tests are marked ``slow``: training runs, synthesis, whole commands over recordings, sound devices."""

FIRST = ("microphone", "tests/train/", "tests/web/", "tests/export/", "train/evidence/tests/", "tests/tools/")
"""Long tests start first, so that no worker is left alone with one at the end."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests and those that go to one worker (``--dist loadgroup``), and set the order.

    The tests of a file share its fixtures. Those of a microphone listen in real time and would disturb each other.
    """
    places: dict[pytest.Item, int] = {}
    for item in items:
        file = item.path.relative_to(item.config.rootpath).as_posix()
        group = "microphone" if "/microphone/" in file else file
        item.add_marker(pytest.mark.xdist_group(group))
        if file.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        places[item] = next((place for place, name in enumerate(FIRST) if group.startswith(name)), len(FIRST))
    items.sort(key=places.__getitem__)
