"""The code of each wheel only becomes less: ``size.toml`` holds the bounds."""

import ast
import tomllib

import pytest
from support import ROOT
from support.source import INSTALLED, modules, names_of

ROOM = 0.02
"""The part of a bound by which mends may exceed it, until the next step pays for them."""
SLACK = 0.02
"""The part of a bound that may be free. A bound with more is lowered, so that nobody fills it again."""

STEPS = tomllib.loads((ROOT / "tests" / "size.toml").read_text())


class WithoutDocstrings(ast.NodeTransformer):
    """Removes docstrings of modules, classes, functions and fields: an explanation has no price."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) else node


def parts_of_code(code: str) -> int:
    """The nodes of a module's syntax tree: statements, calls, names, operands.

    Neither layout nor comments count, nor how long a name is: packed code has as many parts as plain one.
    """
    tree = WithoutDocstrings().visit(ast.parse(code))
    return sum(not isinstance(node, ast.expr_context) for node in ast.walk(tree))


def sizes(package: str) -> dict[str, int]:
    """Parts of the code, and public classes, functions, types and constants."""
    here = modules(package)
    names = {f"{module}: {name}" for module in here for node in module.tree.body for name in names_of(node)}
    return {
        "parts": sum(parts_of_code(module.path.read_text()) for module in here),
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


def test_packing_and_short_names_gain_nothing() -> None:
    plain = '"""About."""\n\nvalues = ["one", "two"]\nif values:\n    # why\n    print(values)\n    print(1)\n'
    packed = 'v = ["one", "two"]\nif v: print(v); print(1)\n'
    assert parts_of_code(plain) == parts_of_code(packed)
    wide = f"values = {['a long word'] * 20}\n"
    split = "values = [\n" + '    "a long word",\n' * 20 + "]\n"
    assert parts_of_code(wide) == parts_of_code(split) > 20
