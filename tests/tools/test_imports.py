"""The modules of the tools import one another without circles."""

import ast
from pathlib import Path

import wakeword_tools

ROOT = Path(wakeword_tools.__file__).parent


def modules() -> dict[str, Path]:
    """Dotted name -> file of every module of the tools."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imported(path: Path, names: set[str]) -> set[str]:
    """The modules among ``names`` that a file imports at module level."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= members & names or {node.module}
    return found & names


def test_imports_inside_the_tools_form_no_circle() -> None:
    files = modules()
    edges = {name: imported(path, set(files)) - {name} for name, path in files.items()}
    assert edges["wakeword_tools.engines.registry"] >= {"wakeword_tools.engines.espeak", "wakeword_tools.kinds"}
    while edges:
        leaves = {name for name, needs in edges.items() if not needs & set(edges)}
        assert leaves, f"these import each other in a circle: {sorted(edges)}"
        edges = {name: needs for name, needs in edges.items() if name not in leaves}


def test_engines_import_neither_the_registry_nor_modules_above_it() -> None:
    files = modules()
    above = {name for name in files if ".engines" not in name} - {"wakeword_tools", "wakeword_tools.kinds"}
    above.add("wakeword_tools.engines.registry")
    for name, path in files.items():
        if ".engines." in name and not name.endswith(".registry"):
            assert not imported(path, above), name
