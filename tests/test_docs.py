"""That the README and the documentation say what the code does, and forget nothing."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Final

import pytest

import dsh_fp
from docs._ext import consoles, tables
from dsh_fp import MAX_DEPTH, STANDARD, Code
from dsh_fp.core.trace import RULES

REPOSITORY: Final = consoles.REPOSITORY
DOCS: Final = REPOSITORY / "docs"
README: Final = REPOSITORY / "README.md"
PAGES: Final = consoles.pages()
MODULES: Final = sorted(
    path.stem if path.is_file() else path.name
    for path in itertools.chain(
        (REPOSITORY / "dsh_fp").iterdir(), (REPOSITORY / "dsh_fp" / "core").iterdir()
    )
    if path.stem[0] not in "_." and path.name not in ("core", "py.typed")
)

_FENCE: Final = re.compile(
    r"^```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)
_LINK: Final = re.compile(r"\]\((?P<target>[^)\s]+)\)")


def name_of(page: Path) -> str:
    """A page as it is called in the names of tests."""
    return str(page.relative_to(REPOSITORY))


def heading_anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(
        r"^#+ (.+)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE
    )
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


# ---- tables made from the code -----------------------------------------------------------


@pytest.mark.parametrize("page", tables.marked_pages(), ids=name_of)
def test_tables_made_from_the_code_are_current(page: Path) -> None:
    """Each marked table is what `python -m docs._ext` would write now."""
    assert tables.refreshed(page.read_text(encoding="utf-8")) == page.read_text(encoding="utf-8")


def test_each_table_stands_on_a_page() -> None:
    """No table is made for nobody."""
    text = "".join(page.read_text(encoding="utf-8") for page in tables.marked_pages())

    assert all(f"<!-- table: {name} -->" in text for name in tables.TABLES)


@pytest.mark.parametrize("code", Code)
def test_every_code_is_explained(code: Code) -> None:
    """Each code has a row on the page of codes and is told on another page too."""
    page = DOCS / "reference" / "codes.md"
    elsewhere = (other.read_text(encoding="utf-8") for other in PAGES if other != page)

    assert f"| `{code}` |" in page.read_text(encoding="utf-8")
    assert any(re.search(rf"\b{code}\b", text) for text in elsewhere)


def test_every_type_of_the_vocabulary_is_listed() -> None:
    """Each type of the standard vocabulary has a row on the page of events."""
    text = (DOCS / "reference" / "events.md").read_text(encoding="utf-8")

    assert all(f"| `{name}` |" in text for name in STANDARD.rules)


def test_codes_of_acceptance_stand_in_the_order_of_the_checks() -> None:
    """What the checks name, in their order, is the order of Code; one code needs gaps."""
    named = [code for _, code in tables.checked_codes()]
    codes = list(Code)
    first, last = codes.index(Code.NOT_JSON), codes.index(Code.REPLACE_UNCITED)

    assert named == [code for code in codes[first : last + 1] if code is not Code.SOURCES_UNKNOWN]


def test_trace_rules_stand_in_the_order_of_the_codes() -> None:
    """The page lists each trace code once, in order, and each type that has a rule."""
    text = (DOCS / "reference" / "trace-rules.md").read_text(encoding="utf-8")
    codes = list(Code)
    trace = codes[codes.index(Code.SEQ_NOT_INCREASING) : codes.index(Code.OUTSIDE_TURN) + 1]

    assert re.findall(r"^\|[^|]*\| `([A-Z_]+)` \|", text, re.MULTILINE) == trace
    assert all(f"`{event_type}`" in text for event_type in RULES)


# ---- names, commands, links --------------------------------------------------------------


def test_every_public_name_is_in_the_reference() -> None:
    """Each name of `dsh_fp.__all__` has an entry on the page of names, and no other has."""
    text = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    entries = re.findall(r"^\.\. (?:auto|py:)\w+:: (\w+)(?:\(\))?$", text, re.MULTILINE)

    assert sorted(entries) == sorted(dsh_fp.__all__)


def test_the_limit_of_nesting_is_the_documented_one() -> None:
    """The pages give `MAX_DEPTH` as it is."""
    reference = DOCS / "reference"

    assert f"`MAX_DEPTH` ({MAX_DEPTH:,})" in (reference / "lossless-json.md").read_text(
        encoding="utf-8"
    )
    assert f":value: {MAX_DEPTH}" in (reference / "api.md").read_text(encoding="utf-8")


def test_every_module_has_its_floor() -> None:
    """The README and the page about floors name each module in a table."""
    for page in (README, DOCS / "explanation" / "floors.md"):
        rows = [
            line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")
        ]
        named = set(
            re.findall(r"`(?:core\.)?(\w+)`", "\n".join(rows) + page.read_text(encoding="utf-8"))
        )

        assert set(MODULES) <= named


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_make_targets_exist(page: Path) -> None:
    """What a page calls as `make X` is a target of the Makefile."""
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    called = set(
        re.findall(
            r"(?:`|^ {4})make ([a-z][a-z-]*)", page.read_text(encoding="utf-8"), re.MULTILINE
        )
    )

    assert called <= targets


def test_the_readme_names_its_two_commands() -> None:
    """`make demo` and `make test` stand in the README before anything else does."""
    opening = README.read_text(encoding="utf-8").partition("\n## ")[0]

    assert re.findall(r"^ {4}(make \w+)", opening, re.MULTILINE) == ["make demo", "make test"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    """A link within the repository names a file that is there, and a heading of it."""
    for link in _LINK.finditer(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        target, _, anchor = link["target"].partition("#")
        if "://" in target:
            continue
        file = (page.parent / target).resolve() if target else page

        assert file.exists(), link["target"]
        assert not anchor or anchor in heading_anchors(file), link["target"]


def test_laws_named_in_the_readme_are_in_the_index() -> None:
    """Each law that the README begins with is one of the index."""
    laws = re.findall(r"^- `(\w+)`: ", README.read_text(encoding="utf-8"), re.MULTILINE)
    index = (REPOSITORY / "property_specs" / "INDEX.md").read_text(encoding="utf-8")

    assert laws
    assert [law for law in laws if law not in index] == []


def test_sources_of_docstrings_exist() -> None:
    """A docstring's `Source:` names a page of ours, and a heading of it if it quotes one."""
    for module in (REPOSITORY / "dsh_fp").rglob("*.py"):
        for source in re.finditer(
            r'Source: +(?P<page>docs/[\w/.-]+\.md)(?:, "(?P<heading>[^"]+)")?',
            module.read_text(encoding="utf-8"),
        ):
            page = REPOSITORY / source["page"]

            assert page.is_file(), f"{module.name}: {source['page']}"
            headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
            assert source["heading"] is None or source["heading"] in headings


# ---- what the command prints -------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "output"),
    [
        pytest.param(*shown, id=f"{name_of(page)}: {shown[0]}")
        for page in PAGES
        for shown in consoles.shown_in(page)
    ],
)
def test_console_blocks_show_what_the_command_prints(command: str, output: str) -> None:
    """A shell that runs a command of a `console` block prints what stands under it."""
    assert consoles.printed(command) == output
