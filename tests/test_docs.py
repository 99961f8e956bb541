"""The pages: every link is valid, every page is in the menu and short, and the API page has every public name."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import wakeword
from wakeword.cli.options import DEFAULT_KEYWORD

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / ".github").rglob("*.md")])
MAX_WORDS, LONG_WORDS = 45, 35
"""Words of the longest sentence on a page, and of a sentence that is long."""
LONG_SENTENCES = 24
"""Sentences of all pages that may be long: a bound that only falls."""
PAGE_WORDS = 1_200
"""Words of a page, as ``wc -w`` counts them: what a reader takes in at once."""
OWN_WORDS = {"README.md": 1_000, "CONTRIBUTING.md": 480, "SECURITY.md": 590}
"""Pages that are read first, and have to be shorter."""


def prose(path: Path) -> str:
    """A page without its code blocks and spans."""
    text = re.sub(r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "`code`", text)


def anchors(path: Path) -> set[str]:
    """Possible anchors in a link to a page: its headings as the site and GitHub write them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in headings)
    return {re.sub(r"[\s-]+", "-", heading.strip()) for heading in plain}


def links(path: Path) -> list[str]:
    """The targets of a page's links and images on the same site."""
    text = prose(path)
    found = [*re.findall(r"\]\(<?([^)\s>]+)>?\)", text), *re.findall(r'<img src="([^"]+)"', text)]
    return [link for link in found if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_is_valid(path: Path) -> None:
    for link in links(path):
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), f"{link}: no such file"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"
        if path.is_relative_to(DOCS):
            assert target.is_relative_to(DOCS), f"{link}: outside docs/, so not on the site"


SHORT = [path for path in [*DOCS.glob("*.md"), *ROOT.glob("*.md")] if path.name != "CHANGELOG.md"]


def words(path: Path) -> int:
    """Words and figures; the rules of a table and signs alone are none."""
    return sum(any(map(str.isalnum, word)) for word in path.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("path", SHORT, ids=lambda path: path.name)
def test_pages_are_short(path: Path) -> None:
    bound = OWN_WORDS.get(path.name, PAGE_WORDS)
    assert words(path) <= bound, "remove what a user does not need, or move evidence to train/evidence"


def test_the_glossary_defines_what_pages_call_things() -> None:
    """Words that mean something of their own here."""
    rows = re.findall(r"^\| ([^|]+) \|", (DOCS / "glossary.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    defined = {name.strip() for row in rows for name in row.split(",")}
    ours = {"look", "house", "promise", "reference", "kept event", "fit", "typed word", "group", "label"}
    assert ours | {"known voice", "near miss", "take", "card", "gate", "span", "student", "satellite"} <= defined


def sentences(path: Path) -> list[str]:
    """The sentences of a page, without headings, tables and code; an item of a list begins a new one."""
    text = re.sub(r"\]\([^)]*\)", "]", prose(path))
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=[|#])", f"\n{text}")
    plain = (re.sub(r"^\s*(?:[-*]|\d+\.) ", "", block) for block in blocks if not re.match(r"\s*(?:[|#]|:::)", block))
    end = r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*\[`A-Z0-9])"
    return [sentence for block in plain for sentence in re.split(end, " ".join(block.split()))]


def test_sentences_are_short() -> None:
    """A reader keeps some thirty words in mind: a longer sentence is two."""
    long = []
    for path in [*sorted(DOCS.glob("*.md")), ROOT / "README.md"]:
        for sentence in sentences(path):
            words = len(re.findall(r"\S*\w\S*", sentence))
            assert words <= MAX_WORDS, f"{path.name}: {words} words, make two sentences of it: {sentence}"
            long += [f"{path.name}: {sentence}"] if words > LONG_WORDS else []
    assert len(long) <= LONG_SENTENCES, "\n".join(long)
    assert len(long) > LONG_SENTENCES - 10, f"lower LONG_SENTENCES to {len(long)}"


def test_what_is_unreleased_is_one_page() -> None:
    """A user reads what there is now: a line takes the place of the one that it makes old."""
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = re.search(r"^## .*\(unreleased\)\n(?:(?!## ).*\n)*", log, flags=re.MULTILINE)
    assert unreleased is None or len(unreleased.group().splitlines()) <= 120


def test_every_page_of_the_site_is_in_its_menu() -> None:
    named = re.findall(r"[\w/-]+\.md$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(named) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_the_site_loads_no_fonts_from_other_hosts() -> None:
    assert re.search(r"^  font: false", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_every_public_name_is_on_the_api_page() -> None:
    listed = re.findall(r"^::: wakeword\.(\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    constants = {"__version__", "SAMPLE_RATE"}
    assert all(f"`{name}`" in (DOCS / "api.md").read_text(encoding="utf-8") for name in constants)
    assert set(wakeword.__all__) - constants <= set(listed)
    assert len(listed) == len(set(listed))


def test_the_table_of_the_api_page_has_the_first_sentence_of_each_description() -> None:
    """In a checkout a reader sees no more of it: the site makes the rest from the directives."""
    pytest.importorskip("torch", reason="torch, which training needs, is not installed")
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    rows = []
    for module, name in re.findall(r"^::: ([\w.]+)\.(\w+)$", page, flags=re.MULTILINE):
        described = getattr(import_module(module), name)
        if not inspect.ismodule(described):
            paragraph = " ".join((inspect.getdoc(described) or "").partition("\n\n")[0].split())
            line = re.split(r"\.(?:\s|$)", paragraph)[0].replace("``", "`").replace("|", "or")
            rows.append(f"| `{name}` | {line} |")
    table = "\n".join(["| name | what it is |", "| --- | --- |", *rows])
    assert table in page, f"expected this table in docs/api.md:\n{table}"


def test_every_page_of_the_site_is_in_its_index() -> None:
    index = DOCS / "index.md"
    assert {path.name for path in DOCS.glob("*.md")} - {index.name} <= {link.partition("#")[0] for link in links(index)}


def test_pages_mentioned_in_the_code_exist() -> None:
    folders = ("wakeword", "tools", "train", "export", "assets", "examples", "tests")
    files = [
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".toml", ".md")
    ]
    named = {
        (path.relative_to(ROOT).as_posix(), page)
        for path in files
        for page in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text(encoding="utf-8"))
        if path != Path(__file__)
    }
    assert named
    assert {(file, page) for file, page in named if not (ROOT / page).is_file()} == set()


def test_the_readme_has_the_accuracy_table() -> None:
    page = (DOCS / "accuracy.md").read_text(encoding="utf-8")
    table = re.search(r"(?:^\|.*\n)+", page, flags=re.MULTILINE)
    assert table is not None
    assert table.group() in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_word_of_every_first_example_was_tested_with_several_people() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (people,) = re.findall(rf"^\| {DEFAULT_KEYWORD} \| .* of (\d+) people \|", readme, flags=re.MULTILINE)
    assert int(people) >= 5
    pages = [ROOT / "README.md", *(DOCS / f"{name}.md" for name in ("index", "install", "listen", "embedding", "scan"))]
    for path in (*pages, *ROOT.glob("examples/*.py")):
        first = re.search(r"(?:Detector(?:Pool)?\(\"|--keyword |--word )(\w+)", path.read_text(encoding="utf-8"))
        assert first is None or first[1] == DEFAULT_KEYWORD, path.name
    for name, text in {
        "Makefile": f"scan --keyword {DEFAULT_KEYWORD} ",
        "web/demo/app.js": f'DEFAULT = "{DEFAULT_KEYWORD}"',
        "deploy/home-assistant/config.yaml": f"  keywords:\n    - {DEFAULT_KEYWORD}\n",
        "deploy/docker/compose.yaml": f'"--keyword", "{DEFAULT_KEYWORD},',
    }.items():
        assert text in (ROOT / name).read_text(encoding="utf-8"), name
