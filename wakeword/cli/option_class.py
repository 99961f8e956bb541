"""A command with one list of options: the fields of a dataclass."""

import dataclasses
import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

_Options = TypeVar("_Options")


def command(run: Callable[[_Options], None]) -> Callable[..., None]:
    """``run(options)`` as a function that typer reads: its parameters are the fields of the dataclass of ``options``.

    Each field is ``Annotated`` with its ``typer.Option`` or ``typer.Argument`` and has its default. The dataclass checks in
    ``__post_init__`` what contradicts itself, and raises ``typer.BadParameter``.
    """
    ((_, taken),) = inspect.signature(run).parameters.items()
    options: type[Any] = taken.annotation
    fields = dataclasses.fields(options)

    @wraps(run)
    def called(**values: Any) -> None:
        run(options(**values))

    keyword_only = inspect.Parameter.KEYWORD_ONLY
    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                field.name,
                keyword_only,
                default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
                annotation=field.type,
            )
            for field in fields
        ]
    )
    called.__annotations__ = {field.name: field.type for field in fields}
    return called
