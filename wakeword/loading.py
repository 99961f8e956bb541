"""The models and thresholds that a caller chooses, for all keywords or for each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from wakeword.errors import ConfigError
from wakeword.model import Model, load_model
from wakeword.verify.card import require_above_floor

T = TypeVar("T", str, float)


def loaded_models(
    models: Model | Path | str | Sequence[Model | Path | str], *, provider: str, verify: bool
) -> list[Model]:
    """The given models, loaded; unless ``verify``, the first stage of each alone.

    Raises ``ConfigError`` unless their keywords differ, and ``ModelError`` if a model or its second stage is unusable.
    """
    given = [models] if isinstance(models, (Model, Path, str)) else models
    if not isinstance(given, Sequence) or not all(isinstance(model, (Model, Path, str)) for model in given):
        raise ConfigError(f"expected keywords, model files or models, got {models!r:.80}")
    loaded = [model if isinstance(model, Model) else load_model(model, provider=provider) for model in given]
    if not verify:
        loaded = [model.stage_one() for model in loaded]
    names = [model.card.phrase for model in loaded]
    if not names or len(set(names)) != len(names):
        raise ConfigError(f"expected one or more models with different keywords, got {names}")
    return loaded


def chosen_thresholds(
    models: Sequence[Model], point: str | Mapping[str, str] | None, threshold: float | Mapping[str, float] | None
) -> list[float]:
    """The threshold of each model. Raises ``ConfigError`` for a point that a model lacks, or an unknown keyword."""
    names = [model.card.phrase for model in models]
    for choice in (point, threshold):
        if isinstance(choice, Mapping) and not set(choice) <= set(names):
            raise ConfigError(
                f"expected a choice for keywords among {names}, got one for {sorted(set(choice) - set(names))}"
            )
    found = []
    for model, name in zip(models, names, strict=True):
        given = _of(threshold, name)
        chosen = model.card.point(_of(point, name)).threshold if given is None else given
        if model.card.verifier is not None:
            require_above_floor(chosen, name)
        found.append(chosen)
    return found


def _of(choice: T | Mapping[str, T] | None, keyword: str) -> T | None:
    """The choice for a keyword: one for all, one for each, or none."""
    return choice.get(keyword) if isinstance(choice, Mapping) else choice
