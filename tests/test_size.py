"""The code of each wheel only becomes less: ``size.toml`` holds the bounds."""

import ast
import tomllib

import pytest
from support import ROOT
from support.source import INSTALLED, modules, names_of

WIDTH = 88
"""Columns of a line."""
ROOM = 0.005
"""The part of a bound by which mends may exceed it, until the next step pays for them."""
SLACK = 0.02
"""The part of a bound that may be free. A bound with more is lowered, so that nobody fills it again."""

STEPS = tomllib.loads((ROOT / "tests" / "size.toml").read_text())


class WithoutDocstrings(ast.NodeTransformer):
    """Removes docstrings of modules, classes, functions and fields: an explanation has no price."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) else node


def lines_of_code(code: str) -> int:
    """The lines that the statements of a module fill if each begins a line of its own, without indentation.

    Python writes them anew, so neither layout nor comments count, and a statement that is packed into a wide line
    counts as many lines as it is long.
    """
    statements = ast.unparse(WithoutDocstrings().visit(ast.parse(code))).splitlines()
    return sum(-(-len(statement.strip()) // WIDTH) for statement in statements)


def sizes(package: str) -> dict[str, int]:
    """Lines of code, and public classes, functions, types and constants."""
    here = modules(package)
    names = {f"{module}: {name}" for module in here for node in module.tree.body for name in names_of(node)}
    return {
        "lines": sum(lines_of_code(module.path.read_text()) for module in here),
        "names": len([name for name in names if ": _" not in name]),
    }


@pytest.mark.parametrize("package", INSTALLED)
def test_a_package_only_becomes_smaller(package: str) -> None:
    bounds = STEPS[package][-1]
    for what, size in sizes(package).items():
        bound = bounds[what]
        most = int((1 + ROOM) * bound)
        assert size <= most, (
            f"expected at most {most} {what} in {package}, got {size}; remove something, or see CONTRIBUTING"
        )
        assert size >= (1 - SLACK) * bound, f"{package} has {size} {what}: lower its bound of {bound} in size.toml"


@pytest.mark.parametrize("package", INSTALLED)
def test_each_step_of_the_bounds_says_what_was_removed(package: str) -> None:
    for step in STEPS[package]:
        assert len(step["removed"].split()) > 2, f"{package}: {step}"


def test_packing_gains_nothing() -> None:
    plain = '"""About."""\n\nvalues = ["one", "two", "three"]\nif values:\n    # why\n    print(values)\n    print(1)\n'
    packed = 'values = [*("one", "two", "three")]\nif values: print(values); print(1)\n'
    wide = f"values = {['a long word'] * 20}\n"
    split = "values = [\n" + '    "a long word",\n' * 20 + "]\n"
    assert lines_of_code(plain) == lines_of_code(packed) == 4
    assert lines_of_code(wide) == lines_of_code(split) == 4
