"""The models and thresholds that a caller chooses, for all keywords or for each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.checks import flag, number
from wakeword.base.errors import ConfigError
from wakeword.format.session import require_provider
from wakeword.format.verifier_card import require_above_floor
from wakeword.model.model import Model, load_model

T = TypeVar("T", str, float)

_MAX_PRE_ROLL = 60.0
"""Seconds."""


def loaded_models(
    models: Model | Path | str | Sequence[Model | Path | str], *, provider: str, verify: bool
) -> list[Model]:
    """The given models, loaded; unless ``verify``, the first stage of each alone.

    Raises ``ConfigError`` unless their keywords differ, and ``ModelError`` if a model or its second stage is unusable.
    """
    require_provider(provider)
    flag(verify, "verify")
    given = [models] if isinstance(models, (Model, Path, str)) else models
    if not isinstance(given, Sequence) or not all(isinstance(model, (Model, Path, str)) for model in given):
        raise ConfigError(f"expected keywords, model files or models, got {models!r:.80}")
    loaded = [model if isinstance(model, Model) else load_model(model, provider=provider) for model in given]
    if not verify:
        loaded = [model.stage_one() for model in loaded]
    names = [model.card.phrase for model in loaded]
    if not names or len(set(names)) != len(names):
        got = "none" if not names else f"two of {max(names, key=names.count)!r}; leave one out"
        raise ConfigError(f"expected one or more models with different keywords, got {got}")
    return loaded


def chosen_thresholds(
    models: Sequence[Model], point: str | Mapping[str, str] | None, threshold: float | Mapping[str, float] | None
) -> list[float]:
    """The threshold of each model. Raises ``ConfigError`` for a point that a model lacks, or an unknown keyword."""
    names = [model.card.phrase for model in models]
    for choice in (point, threshold):
        if isinstance(choice, Mapping) and not set(choice) <= set(names):
            raise ConfigError(
                f"expected a choice for keywords among {names}, got one for {sorted(map(str, set(choice) - set(names)))}"
            )
        if choice is point and not isinstance(choice, (str, Mapping, type(None))):
            raise ConfigError(f"expected the name of an operating point, or one for each keyword, got {choice!r:.80}")
    thresholds = []
    for model, name in zip(models, names, strict=True):
        own = _of(threshold, name)
        chosen = model.card.point(_of(point, name)).threshold if own is None else own
        chosen = number(chosen, f"a threshold for '{name}'", 0, 1, above=True)
        if model.card.verifier is not None:
            require_above_floor(chosen, name)
        thresholds.append(chosen)
    return thresholds


def pre_roll_samples(seconds: float) -> int:
    """Samples of audio before a window, from seconds. ``ConfigError`` out of range."""
    return round(number(seconds, "a pre-roll", 0, _MAX_PRE_ROLL, unit=" seconds") * SAMPLE_RATE)


def _of(choice: T | Mapping[str, T] | None, keyword: str) -> T | None:
    """The choice for a keyword: one for all, one for each, or none."""
    return choice.get(keyword) if isinstance(choice, Mapping) else choice
