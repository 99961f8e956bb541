"""Fixtures shared by the tests of training."""

import pytest
import torch

from wakeword.base.errors import SynthesisError

# Networks this small gain nothing from more threads, and are much slower with them if other programs are running.
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def no_voices_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A training would fetch natural voices where there are none."""

    def install(report: object) -> None:
        raise SynthesisError("tests fetch nothing")

    monkeypatch.setattr("wakeword_train.train_command.install_kokoro", install)
