"""``wakeword info`` for any file that can be measured: a model of this project, or a file of another engine."""

import json
from dataclasses import asdict
from pathlib import Path

from wakeword.base.text import printable
from wakeword.cli.info import InfoAll, InfoJson, InfoModel, info, print_entry
from wakeword.model.installed import find_model, shipped_models
from wakeword_tools.contenders.foreign import ForeignCard
from wakeword_tools.measure.subject import read_foreign

_UNKNOWN = "not measured here: README.txt next to an export says what was; wakeword evaluate measures it"


def info_of_any(model: InfoModel, everything: InfoAll = False, as_json: InfoJson = False) -> None:
    """Show what a model listens for, and how often it is right and wrong."""
    # A name that is known comes before a file of that name, as everywhere.
    is_file = find_model(model, shipped_models()) is None and Path(model).is_file()
    foreign = read_foreign(Path(model)) if is_file else None
    if foreign is None:
        info(model, everything, as_json)
    elif as_json:
        print(json.dumps(asdict(foreign.card), indent=2))
    else:
        _print(foreign.card)


def _print(card: ForeignCard) -> None:
    source = "" if card.names_phrase else ", as the file is called; it names no word"
    for name, text in (
        ("listens for", printable(card.phrase) + source),
        ("engine", card.engine),
        ("cutoff", f"{card.cutoff:.4g}; it fires above it. Another is set {card.where}"),
        ("finds", _UNKNOWN),
        ("fires wrongly", _UNKNOWN),
    ):
        print_entry(f"{name:<15}", text)
