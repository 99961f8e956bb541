"""A command with one list of options: the fields of a dataclass, and of dataclasses in it for what commands share."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

_Options = TypeVar("_Options")


def command(run: Callable[[_Options], None]) -> Callable[..., None]:
    """``run(options)`` as a function that typer reads: its parameters are the fields of the dataclass of ``options``.

    Each field is ``Annotated`` with its ``typer.Option`` or ``typer.Argument`` and has its default, or is a dataclass of
    such fields, which take its place. A dataclass checks in ``__post_init__`` what contradicts itself, and raises
    ``typer.BadParameter``.
    """
    ((_, taken),) = inspect.signature(run).parameters.items()
    return _function(run, taken.annotation)


def command_of(options: type[Any], work: str) -> Callable[..., None]:
    """``command`` of options with the help as their docstring; ``work``: ``module:function``, imported when it runs."""

    def run(given: object) -> None:
        module, function = work.split(":")
        getattr(import_module(module), function)(given)

    run.__doc__ = options.__doc__
    return _function(run, options)


def _function(run: Callable[[Any], None], options: Any) -> Callable[..., None]:
    parameters = list(_parameters(options))

    @wraps(run)
    def called(**values: Any) -> None:
        run(_made(options, values))

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _parameters(options: Any) -> Iterator[inspect.Parameter]:
    for field in fields(options):
        if is_dataclass(field.type):
            yield from _parameters(field.type)
        else:
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            yield inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=field.type)


def _made(options: Any, values: dict[str, Any]) -> Any:
    return options(
        **{
            field.name: _made(field.type, values) if is_dataclass(field.type) else values[field.name]
            for field in fields(options)
        }
    )
