"""The source of the packages, parsed without importing it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from support import ROOT

PACKAGES = {
    "wakeword": ROOT / "wakeword",
    "wakeword_echo": ROOT / "echo" / "wakeword_echo",
    "wakeword_serve": ROOT / "serve" / "wakeword_serve",
    "wakeword_tools": ROOT / "tools" / "wakeword_tools",
    "wakeword_train": ROOT / "train" / "wakeword_train",
    "wakeword_export": ROOT / "export" / "wakeword_export",
    "scripts": ROOT / "tools" / "scripts",
    "benchmarks": ROOT / "tools" / "benchmarks",
    "fuzz": ROOT / "tools" / "fuzz",
    "wakeword_experiments": ROOT / "train" / "evidence" / "wakeword_experiments",
}
"""From the lowest to the highest: each imports itself and those before it that ``below`` names."""

INSTALLED = ("wakeword", "wakeword_echo", "wakeword_serve", "wakeword_tools", "wakeword_train", "wakeword_export")
"""The packages of the wheels, one each. The others are for checkouts."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Import:
    """One name that a module imports."""

    module: str
    name: str | None
    """The name that is imported from the module; ``None`` if the module itself is imported."""
    line: int

    @property
    def package(self) -> str:
        return self.module.split(".")[0]


@dataclass(frozen=True)
class Module:
    """A source file."""

    name: str
    """Dotted name; a package has the name of its folder."""
    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text())

    def __str__(self) -> str:
        return str(self.path.relative_to(ROOT))

    def imports(self, *, at_import: bool = False) -> list[Import]:
        """Its imports, relative ones resolved: all of them, or with ``at_import`` those that run when it is imported."""
        return [found for node in _nodes(self.tree, functions=not at_import) for found in self._imported(node)]

    def _imported(self, node: ast.AST) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, None, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                above = node.level - (self.path.stem == "__init__")
                parent = self.name.split(".")[: len(self.name.split(".")) - above]
                module = ".".join([*parent, *filter(None, [module])])
            for alias in node.names:
                yield Import(module, alias.name, node.lineno)

    def functions(self) -> Iterator[Function]:
        """Functions and methods, including nested ones."""
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def strings(self) -> Iterator[ast.Constant]:
        """String constants, without docstrings and other bare strings."""
        bare = {id(node.value) for node in ast.walk(self.tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
                yield node


def _nodes(tree: ast.AST, *, functions: bool) -> Iterator[ast.AST]:
    """All nodes below ``tree``; with ``functions`` also those inside functions."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if functions or not isinstance(node, Function | ast.Lambda):
            yield from _nodes(node, functions=functions)


def below(package: str) -> set[str]:
    """The packages that a package may use: all before it; a wheel neither the echo's nor the server's."""
    before = list(PACKAGES)[: list(PACKAGES).index(package)]
    return set(before) - ({"wakeword_echo", "wakeword_serve"} if package in INSTALLED else set())


def modules(package: str) -> list[Module]:
    """The modules of a package, sub-packages included."""
    return modules_below(PACKAGES[package], package)


def modules_below(folder: Path, name: str = "") -> list[Module]:
    """The modules in a folder; ``name`` is the package of the folder."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        found.append(Module(".".join(filter(None, [name, *(part for part in parts if part != "__init__")])), path))
    return found


def lines_of(function: Function) -> int:
    """Lines from ``def`` to the end, without the docstring."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        assert first.end_lineno is not None
        lines -= first.end_lineno - first.lineno + 1
    return lines


def names_of(node: ast.stmt) -> list[str]:
    """The names of the class, function, type or constant that a statement of a module defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]
