"""Every number that a command takes has a range, and none takes NaN or infinity."""

from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest
from support.each_command import INSTALLED_COMMANDS
from typer.models import OptionInfo

from wakeword.cli.app import COMMANDS


def numbers(name: str) -> Iterator[tuple[OptionInfo, type]]:
    """The options of a command that take whole (``int``) or other numbers (``float``)."""
    for hint in get_type_hints(COMMANDS[name].load(), include_extras=True).values():
        infos = [one for one in get_args(hint) if isinstance(one, OptionInfo)]
        kinds = _parts(hint) & {int, float}
        if infos and kinds:
            yield infos[0], kinds.pop()


def _parts(hint: Any) -> set[Any]:
    return {hint} | {part for one in get_args(hint) if not isinstance(one, OptionInfo) for part in _parts(one)}


def test_there_are_numbers_to_check() -> None:
    found = [kind for name in INSTALLED_COMMANDS for _, kind in numbers(name)]
    assert found.count(int) >= 5
    assert found.count(float) >= 8


@pytest.mark.parametrize("name", [name for name in INSTALLED_COMMANDS if any(numbers(name))])
def test_a_number_outside_of_its_range_is_wrong_usage(cli, name: str) -> None:
    for option, kind in numbers(name):
        # In an annotation the first name is where a default would be.
        option_name = next(one for one in (*(option.param_decls or ()), option.default) if str(one).startswith("--"))
        assert option.min is not None, f"{name} {option_name} has no least value"
        assert option.max is not None, f"{name} {option_name} has no largest value"
        outside = [option.min - 1, option.max + 1, "1" * 400, *(["nan", "inf", "-inf"] if kind is float else [])]
        for value in outside:
            done = cli(name, f"{option_name}={value}")
            assert done.status == 2, f"{name} {option_name}={value} gave {done}"
            assert option_name in done.err, done.err
