"""The imports of the packages, the size of their modules, and where they find their files."""

import ast
import importlib
import re
import subprocess
import sys

import pytest
from support import ROOT
from support.source import INSTALLED, PACKAGES, Module, below, lines_of, modules, modules_below, names_of

from wakeword.model.installed import assets_folder

TRAINING = {"torch", "torchaudio", "librosa", "scipy", "matplotlib", "onnx"}
"""Libraries that are installed only for training."""


def above(package: str) -> set[str]:
    """The packages that a package must not use."""
    return set(PACKAGES) - {package} - below(package)


def assert_imports_none_of(module: Module, forbidden: set[str], *, at_import: bool = False) -> None:
    found = [
        f"line {one.line}: {one.module}" for one in module.imports(at_import=at_import) if one.package in forbidden
    ]
    assert not found, f"{module} imports {', '.join(found)}"


# --- layers


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_those_below_them(package: str) -> None:
    for module in modules(package):
        assert_imports_none_of(module, above(package))


def test_only_the_command_line_imports_the_command_line() -> None:
    for module in modules("wakeword"):
        if module.name.startswith("wakeword.cli") or module.name == "wakeword.__main__":
            continue
        found = [one.line for one in module.imports() if f"{one.module}.{one.name}.".startswith("wakeword.cli.")]
        assert not found, f"{module} imports wakeword.cli in the lines {found}"


@pytest.mark.parametrize("package", ["wakeword", "wakeword_echo", "wakeword_serve", "wakeword_tools"])
def test_only_training_imports_torch(package: str) -> None:
    for module in modules(package):
        assert_imports_none_of(module, {"torch", "torchaudio"})


def test_of_an_export_only_what_training_calls_imports_training() -> None:
    """So that files of other engines are written and measured without torch."""
    for module in modules("wakeword_export"):
        if not module.name.startswith("wakeword_export.student"):
            assert_imports_none_of(module, {"torch", "torchaudio", "wakeword_train"})
            assert not [one for one in module.imports() if one.module.startswith("wakeword_export.student")], module


def test_the_runtime_starts_without_the_libraries_of_training() -> None:
    for module in modules("wakeword"):
        assert_imports_none_of(module, TRAINING, at_import=True)


@pytest.mark.parametrize("package", PACKAGES)
def test_only_the_table_of_commands_and_the_seam_of_a_stream_name_packages_above(package: str) -> None:
    # A name in a string can be an import that the tests above do not find.
    for module in modules(package):
        if module.name in ("wakeword.cli.app", "wakeword.stream.sound_input"):
            continue
        for string in module.strings():
            named = re.match(r"(\w+)(?=\.(?!json)\w+(\.|:|$))", string.value)
            assert named is None or named.group() not in above(package), f"{module}, line {string.lineno}"


@pytest.mark.parametrize("statement", ["from wakeword import *", "import wakeword.cli"])
def test_the_runtime_loads_nothing_that_only_training_needs(statement: str) -> None:
    heavy = "torch torchaudio librosa onnx scipy matplotlib numba sklearn sounddevice "
    heavy += "wakeword_echo wakeword_serve wakeword_train wakeword_tools wakeword_export"
    code = f"import sys; {statement}; print(*(set('{heavy}'.split()) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_inside_a_package_form_no_cycle(package: str) -> None:
    """Those inside functions count too: a file that is imported late still cannot be read without the other."""
    here = {module.name: module for module in modules(package)}
    edges = {}
    for name, module in here.items():
        needs = set()
        for one in module.imports():
            # ``from a import b`` is the module a.b if there is one.
            inside = f"{one.module}.{one.name}"
            needs.add(inside if inside in here else one.module)
        edges[name] = needs & set(here)
    while edges:
        leaves = {name for name, needs in edges.items() if not needs & set(edges)}
        assert leaves, f"expected no import cycle, got one among {sorted(edges)}"
        edges = {name: needs for name, needs in edges.items() if name not in leaves}


@pytest.mark.parametrize("package", PACKAGES)
def test_private_names_stay_in_their_module(package: str) -> None:
    for module in modules(package):
        for one in module.imports():
            private = one.name is not None and one.name.startswith("_") and not one.name.endswith("__")
            assert not (private and one.package in PACKAGES), f"{module}, line {one.line}: {one.name}"


@pytest.mark.parametrize("package", INSTALLED)
def test_tests_import_only_what_their_package_may(package: str) -> None:
    """Directly or through ``support``; the runtime's tests must run with nothing else installed."""
    folder = package.removeprefix("wakeword_") if package != "wakeword" else "runtime"
    # The scripts make what some tests read.
    forbidden = above(package) - {"scripts"} | (
        TRAINING if package in ("wakeword", "wakeword_echo", "wakeword_serve") else set()
    )
    support = {module.name: module for module in modules_below(ROOT / "tests" / "support", "support")}
    waiting = [Module("conftest", ROOT / "tests" / "conftest.py"), *modules_below(ROOT / "tests" / folder)]
    waiting += [support["support.commands"]]  # a plugin of the conftest, by its name
    seen = set()
    while waiting:
        module = waiting.pop()
        assert_imports_none_of(module, forbidden)
        for one in module.imports():
            for name in (one.module, f"{one.module}.{one.name}"):
                if name in support and name not in seen:
                    seen.add(name)
                    waiting.append(support[name])


# --- rooms

ROOMS = (
    *("base", "audio", "format", "verify", "model", "stream", "engine", "microphone", "checkup", "takes", "saving"),
    *("batch", "browser", "cli"),
)
"""The folders of the runtime, and its engine: a room imports only those before it."""
APART = {"microphone", "checkup", "takes", "saving", "batch", "browser"}
"""Rooms for one job each, which import one another only where ``NEIGHBOURS`` says so."""
NEIGHBOURS = {("checkup", "microphone"), ("takes", "microphone")}


ROOMS_ABOVE = {
    "wakeword_tools": (
        *(
            "registered",
            "kinds",
            "transcripts",
            "contenders",
            "engines",
            "texts",
            "clips",
            "measure",
            "training_record",
            "voices",
            "cli",
        ),
    ),
    "wakeword_train": (
        *(
            "fields",
            "pack",
            "methods",
            "fitting",
            "model",
            "synthesis_config",
            "data",
            "second_stage_config",
            "config",
            "training_run",
            "spoken_texts",
            "synthesis",
            "points",
        ),
        *(
            "ear",
            "quick_gate",
            "epochs",
            "enrol",
            "second_stage",
            "training",
            "report",
            "display",
            "enrolment",
        ),
        "voice_network",
        *(
            "recipe",
            "pipeline",
            "train_options",
            "typed_points",
            "from_text",
            "from_takes",
            "text_first",
        ),
        *("train_command", "cli"),
    ),
    "wakeword_export": (
        *("exporter", "kept_networks", "flat_model", "trial", "head", "micro"),
        *("registry", "contenders", "student", "cli"),
    ),
}
"""The folders and files of the other wheels: each imports only those before it."""


def room_of(name: str, package: str = "wakeword") -> str | None:
    """The room of a module of a package; ``None`` for the package itself."""
    parts = name.split(".")
    return parts[1] if parts[0] == package and len(parts) > 1 else None


@pytest.mark.parametrize("package", ROOMS_ABOVE)
def test_rooms_of_tools_and_training_form_a_line(package: str) -> None:
    rooms, climbs = ROOMS_ABOVE[package], set()
    here = {module.name: module for module in modules(package)}
    new = {room_of(name, package) for name in here} - {None, *rooms}
    assert not new, f"add {new} to ROOMS_ABOVE in tests/test_layers.py, each after what it imports"
    for name, module in here.items():
        room = room_of(name, package)
        if room is None:
            continue
        for one in module.imports():
            inside = f"{one.module}.{one.name}"
            other = room_of(inside if inside in here else one.module, package)
            if other is not None and rooms.index(other) > rooms.index(room):
                climbs.add((room, other))
    assert not climbs


def test_every_module_of_the_runtime_is_in_a_room() -> None:
    outside = {"wakeword", "wakeword.__main__"}
    assert {room_of(module.name) for module in modules("wakeword") if module.name not in outside} == set(ROOMS)


def test_a_room_imports_only_the_rooms_above_it() -> None:
    wrong = []
    for module in modules("wakeword"):
        room = room_of(module.name)
        if room not in ROOMS:
            continue
        for one in module.imports():
            other = room_of(one.module)
            if other in (None, room):
                continue
            apart = {room, other} <= APART and (room, other) not in NEIGHBOURS
            if apart or ROOMS.index(other) > ROOMS.index(room):
                wrong.append(f"{module}, line {one.line}: {one.module}")
    assert not wrong, "\n".join(wrong)


def test_the_engine_is_the_way_of_a_block_and_names_its_modules() -> None:
    here = {module.name: module for module in modules("wakeword")}
    engine = here["wakeword.engine"]
    assert len(engine.path.read_text().splitlines()) <= 220
    docstring = ast.get_docstring(engine.tree) or ""
    named = {f"wakeword.{name}" for name in re.findall(r"``([a-z_]+\.[a-z_]+)``", docstring)}
    assert named <= set(here), f"no such modules: {named - set(here)}"
    ways = {name for name, module in here.items() if re.fullmatch(r"wakeword\.stream\.[a-z_]+", name)}
    assert ways - {"wakeword.stream.pool"} <= named, f"not in the docstring: {ways - named}"


@pytest.mark.parametrize("where", ["wakeword_train.pipeline", "wakeword_serve.connection"])
def test_the_ways_of_a_training_and_of_a_client_name_their_modules(where: str) -> None:
    package = where.partition(".")[0]
    here = {module.name: module for module in modules(package)}
    named = {f"{package}.{name}" for name in re.findall(r"``([a-z_.]+)``", ast.get_docstring(here[where].tree) or "")}
    assert len(named) > 9
    assert named <= set(here), f"no such modules: {named - set(here)}"


def test_each_file_name_stands_once() -> None:
    """Where a name stands twice, a reader has to look at the folder each time."""
    shared = {"__init__.py", "__main__.py", "cli.py", "config.py", "registry.py"}
    places: dict[str, list[str]] = {}
    for package in PACKAGES:
        for module in modules(package):
            places.setdefault(module.path.name, []).append(str(module))
    twice = {name: found for name, found in places.items() if len(found) > 1 and name not in shared}
    assert not twice, f"expected each file name once, got {twice}"


def test_no_file_is_named_by_another_form_of_the_same_word() -> None:
    """No one guesses whether the work of ``check`` is in ``check`` or in ``checking``."""
    names = {module.path.stem for package in PACKAGES for module in modules(package)}
    twins = {
        (name, name.removesuffix("e") + ending)
        for name in names
        for ending in ("ing", "ion", "ation")
        if name.removesuffix("e") + ending in names
    }
    assert not twins, f"expected one form of each word, got {twins}"


def test_each_public_name_stands_once() -> None:
    """In the wheels each class, function, type and constant; each class in the other packages too."""
    shared = {"ENGINE", "ENTRY_POINTS", "T", "logger", "log", "train"}
    places: dict[str, list[str]] = {}
    for package in PACKAGES:
        for module in modules(package):
            for node in module.tree.body:
                for name in names_of(node) if package in INSTALLED or isinstance(node, ast.ClassDef) else ():
                    if not name.startswith("_") and name not in shared:
                        places.setdefault(name, []).append(str(module))
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert not twice, f"expected each public name once, got {twice}"


def test_names_of_bounds_begin_with_max_or_min() -> None:
    """One word for one thing: not ``MOST_`` in one file and ``MAX_`` in the next."""
    others = []
    for module in (module for package in PACKAGES for module in modules(package)):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Name) and re.match(r"_?(MOST|LEAST)(_|$)", node.id):
                others.append(f"{module}, line {node.lineno}: {node.id}")
    assert not others, f"expected MAX_ or MIN_, got {others}"


LONG = 45
"""Characters from which a string says so much that two modules that have it say the same thing twice."""


def test_each_long_string_stands_in_one_module() -> None:
    """What two modules say, an error, a help or a piece of advice, has one definition, which both use."""
    places: dict[str, set[str]] = {}
    for module in (module for package in INSTALLED for module in modules(package)):
        for string in module.strings():
            if len(string.value) >= LONG:
                places.setdefault(string.value, set()).add(str(module))
    twice = {string: sorted(found) for string, found in places.items() if len(found) > 1}
    assert not twice, f"expected each long string in one module, got {twice}"


# --- sizes


@pytest.mark.parametrize("package", PACKAGES)
def test_modules_and_functions_stay_short(package: str) -> None:
    long = []
    for module in modules(package):
        lines = len(module.path.read_text().splitlines())
        if lines > 350:
            long.append(f"{module}: {lines} lines")
        long += [
            f"{module}: {function.name} has {lines_of(function)} lines"
            for function in module.functions()
            if lines_of(function) > 60
        ]
    assert not long, "expected at most 350 lines in a module and 60 in a function:\n" + "\n".join(long)


WIDE = {
    # Public settings, all but the first by keyword.
    *("Detector.__init__", "DetectorPool.__init__", "find_adversaries"),
    # Made from the tables of a configuration.
    *("BatchSampler.__init__",),
}
"""Functions with more than eight parameters."""


def test_functions_take_at_most_eight_parameters() -> None:
    wide = set()
    for module in (module for package in INSTALLED for module in modules(package)):
        owners = {
            id(child): node.name
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ClassDef)
            for child in node.body
        }
        for function in module.functions():
            given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
            if len([one for one in given if one.arg not in ("self", "cls")]) > 8:
                wide.add(".".join(filter(None, [owners.get(id(function)), function.name])))
    assert wide == WIDE


# --- processes

STARTED = [*(module for package in INSTALLED for module in modules(package)), *modules_below(ROOT / "deploy")]


@pytest.mark.parametrize("module", STARTED, ids=str)
def test_no_python_of_ours_looks_for_modules_in_the_current_folder(module: Module) -> None:
    """Each command that begins with this Python goes on with ``-P`` or ``-I``, and ``multiprocessing`` gets the same."""
    of_python, safe = 0, 0
    for node in ast.walk(module.tree):
        of_python += isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.executable"
        if isinstance(node, ast.List | ast.Tuple) and node.elts:
            first, *rest = map(ast.unparse, node.elts)
            assert not re.fullmatch(r"'[^']*python[\d.]*(\.exe)?'", first), f"{module}, line {node.lineno}"
            safe += first == "sys.executable" and rest[:1] in (["'-P'"], ["'-I'"])
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("os.exec"):
            safe += ast.unparse(node.args[0]) == "sys.executable"  # the program; its arguments are a list
    assert of_python == safe, f"{module}: expected -P or -I after each sys.executable"
    starts = {"Process", "Pool", "ProcessPoolExecutor", "Manager"}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in starts:
            assert str(module) == "wakeword/batch/jobs/processes.py", (
                f"{module}: use ``Crew``, which starts them safely"
            )


# --- packages


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_are_typed(package: str) -> None:
    assert (PACKAGES[package] / "py.typed").exists()
    assert importlib.import_module(package).__doc__


@pytest.mark.parametrize("package", ["wakeword", "wakeword_train"])
def test_every_public_name_exists_once(package: str) -> None:
    names = importlib.import_module(package)
    assert len(set(names.__all__)) == len(names.__all__)
    assert all(hasattr(names, name) for name in names.__all__)
    assert set(names.__all__) <= set(dir(names))
    with pytest.raises(AttributeError, match="attribute absent"):
        _ = names.absent


@pytest.mark.parametrize("package", ["wakeword", "wakeword_train"])
def test_type_checkers_see_the_public_names_where_a_program_finds_them(package: str) -> None:
    names, tree = importlib.import_module(package), ast.parse((PACKAGES[package] / "__init__.pyi").read_text())
    seen = {one.name: node.module for node in tree.body if isinstance(node, ast.ImportFrom) for one in node.names}
    assert sorted(seen) == sorted(names.__all__)
    for name, module in seen.items():
        assert getattr(names, name) is getattr(importlib.import_module(f"{package}.{module}"), name), name


def test_assets_are_found_in_a_checkout() -> None:
    assert assets_folder() == ROOT / "assets"
    assert (assets_folder() / "audio" / "demo.flac").is_file()
