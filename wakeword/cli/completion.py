"""What a shell completes after an option: names of models, and of the operating points in them.

Nothing is loaded but the cards of models: a shell waits for this at every press of the tab key.
"""

import json
from pathlib import Path

import typer

from wakeword.base.errors import WakewordError
from wakeword.format.card import METADATA_KEY
from wakeword.format.digest import checked_metadata
from wakeword.model.installed import model_file, shipped_models, user_models


def model_names(incomplete: str) -> list[str]:
    """The included and installed models that begin with what is typed."""
    return [name for name in sorted({**shipped_models(), **user_models()}) if name.startswith(incomplete)]


def point_names(context: typer.Context, incomplete: str) -> list[str]:
    """The operating points of the models named before on the line, or else of the included ones."""
    named = [context.params.get(option) or [] for option in ("keyword", "model")]
    chosen = [one for each in named for one in ([each] if isinstance(each, str | Path) else each)]
    names = {point: None for model in chosen or shipped_models() for point in _points(model)}
    return [name for name in names if name.startswith(incomplete)]


def _points(model: str | Path) -> list[str]:
    """The names of the operating points in a model's card; none where there is no readable card."""
    try:
        card = json.loads(checked_metadata(model_file(model).read_bytes()).entries[METADATA_KEY])
        return [point["name"] for point in card["operating_points"]]
    except (WakewordError, OSError, LookupError, TypeError, ValueError):
        return []  # the command itself says what is wrong
