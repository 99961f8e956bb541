"""What writes a model as files of another engine, and what it is asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wakeword.base.errors import ModelError
from wakeword.base.events import Line
from wakeword.model.installed import model_name
from wakeword.model.model import Model
from wakeword_tools.measure.recordings import Selection

_TAKEN = {"alexa", "hey_jarvis", "hey_mycroft", "hey_rhasspy", "ok_nabu", "okay_nabu"}
"""Models that the engines bring themselves: they take these in place of files of the same name."""


@dataclass(frozen=True)
class ExportOrder:
    """One model, and what its export is calibrated on."""

    model: Model
    data: bytes
    """The bytes of the model's file."""
    recordings: Selection
    """Background, and positives if they are given; none: nothing is calibrated."""
    fa_per_hour: float
    """False accepts an hour that the other engine's usual threshold is to keep."""
    report: Line
    """Gets warnings and what is being done, a line each."""
    run: Path
    """The folder of the word's training, which may be missing."""


@dataclass(frozen=True)
class Exporter:
    """The record of an exporter in the registry."""

    name: str
    """As in ``--to NAME``."""
    write: Callable[[ExportOrder, Path], Sequence[str]]
    """Writes its files into an empty folder, which gets its name only if this succeeds. The lines that it returns are
    printed: the promise first. Raises ``ModelError`` for a model that it cannot write."""
    check: Callable[[Model], None] = lambda model: None
    """Raises ``ModelError`` for such a model before any recording is read."""
    expected: str = "some ten minutes on two cores"
    """What is known before a word is trained from its text: time, and what words find."""
    trained_for: str | None = None
    """As in ``wakeword train --for``, if that trains networks for it."""


def require_second_stage(model: Model) -> None:
    """Raise ``ModelError`` for a model of one stage: other engines run the head of a second one, or what it teaches."""
    if model.card.verifier is None:
        raise ModelError(
            f"expected a model with a second stage, as `wakeword train` makes it, got the model {model.card.phrase!r} with "
            "one stage, which other engines cannot run; train the word again"
        )
    if model.card.verifier.by_phonemes_alone:
        trained = model.card.training.get("compared", {}).get("file", "a trained one")
        raise ModelError(
            f"expected a trained model, got the one of {model.card.phrase!r} that was made from its text, which other "
            f"engines cannot run; take {trained}"
        )


def engine_name(phrase: str) -> str:
    """The name under which the engines know the word: its file's."""
    name = model_name(phrase).replace("-", "_") or "wake_word"
    return f"{name}_wakeword" if name in _TAKEN else name
