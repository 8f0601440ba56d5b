"""Request headers, sequences of them, and deltas, odd and broken ones too.

Leaves out: a tool name twice in the header that a difference leads to (the writer never has
it; what a delta then says is not pinned down), and stop lists of anything but strings.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.generators.json_values import objects
from property_specs.models import headers as model
from property_specs.models.json_values import settle

TOOL_NAMES = ("read", "write", "run")
POSITIONS = (0, 1, 2, 3, 4, 7, -1, -2, -9, 1.5, 2.9, -0.5, -1.5, 0.2, 1e300, -1e300)


# Many share lines at both ends, some so many that the ends meet.
SYSTEMS = (
    "",
    "b",
    "b\nb",
    "b\nb\nb",
    "b\nb\nb\nb",
    "be kind\nb",
    "be kind\nb\nb",
    "be kind\nb\nbe kind",
    "b\nbe kind",
    "\n",
    "be kind\r\nb",
)
SCHEMAS: tuple[Any, ...] = ({"type": "object"}, {"a": 1, "b": True}, {"b": True, "a": 1})
CONFIGS: tuple[Any, ...] = (
    {"model": "small"},
    {"model": "large"},
    {"temperature": 0, "model": "small"},
    {"model": "small", "temperature": 0.5, "maxTokens": 100},
    {"model": "small", "maxTokens": None},
    {"model": "small", "stop": []},
    {"model": "small", "stop": ["END", "\n"]},
    {"model": "small", "x-extra": {"b": 1, "a": [True]}},
    {},
)
HI = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
RULES = {"role": "system", "content": [{"type": "text", "text": "rules"}]}
PREFIXES: tuple[Any, ...] = ([], [HI], [RULES, HI], [{"content": [], "role": "user"}])


@cache
def systems() -> st.SearchStrategy[str]:
    """System texts of a few lines; may be empty."""
    return st.sampled_from(SYSTEMS)


@cache
def tools(*, twice: bool = False) -> st.SearchStrategy[list[Any]]:
    """Tool lists; a name stands in one once, unless asked."""
    tool = st.builds(
        lambda name, schema: {"name": name, "inputSchema": schema},
        st.sampled_from(TOOL_NAMES),
        st.sampled_from(SCHEMAS),
    )
    name = None if twice else _name
    return st.lists(tool, max_size=3, unique_by=name)


def _name(tool: dict[str, Any]) -> str:
    return str(tool["name"])


@cache
def configs() -> st.SearchStrategy[dict[str, Any]]:
    """Model and options; fields no one knows are kept too."""
    return st.sampled_from(CONFIGS)


@cache
def prefixes() -> st.SearchStrategy[list[Any]]:
    """Messages that stand before all others; may be empty."""
    return st.sampled_from(PREFIXES)


@cache
def headers(*, twice: bool = False) -> st.SearchStrategy[dict[str, Any]]:
    """Headers as they stand: parts may be empty, keys in any order, unknown ones among them."""
    return st.fixed_dictionaries(
        {"config": configs()},
        optional={
            "system": systems(),
            "tools": tools(twice=twice),
            "messagePrefix": prefixes(),
            "x-unknown": st.just([1]),
        },
    )


@cache
def canonical_headers(*, twice: bool = False) -> st.SearchStrategy[dict[str, Any]]:
    """Headers in their one canonical form."""
    return headers(twice=twice).map(model.canonical)


@cache
def header_sequences() -> st.SearchStrategy[list[dict[str, Any]]]:
    """The headers a writer has in force one after another, neighbours often alike."""

    def doubled(made: list[tuple[dict[str, Any], bool]]) -> list[dict[str, Any]]:
        return [header for header, again in made for _ in range(2 if again else 1)]

    return st.lists(st.tuples(headers(), st.booleans()), min_size=1, max_size=4).map(doubled)


@cache
def odd_deltas() -> st.SearchStrategy[dict[str, Any]]:
    """Deltas of the right shape that no writer would make."""
    lines = st.fixed_dictionaries(
        {
            "keepStart": st.sampled_from(POSITIONS) | st.integers(-5, 8),
            "keepEnd": st.sampled_from(POSITIONS) | st.integers(-5, 8),
            "insert": st.lists(st.sampled_from(["new", "", "b"]), max_size=2),
        }
    )
    changes = st.fixed_dictionaries(
        {
            "added": tools(twice=True),
            "removed": st.lists(st.sampled_from([*TOOL_NAMES, "unknown", 1, None]), max_size=3),
            "changed": tools(twice=True),
        }
    )
    return st.fixed_dictionaries(
        {},
        optional={
            "system": st.none() | lines,
            "tools": st.none() | changes,
            "config": st.none() | configs(),
            "messagePrefix": st.none() | prefixes(),
            "x-unknown": st.just([1]),
        },
    ).map(settle)


BROKEN_DELTAS: tuple[Any, ...] = (
    None,
    "delta",
    {"system": "text"},
    {"system": {"keepStart": 0, "keepEnd": 0}},
    {"system": {"keepStart": True, "keepEnd": 0, "insert": []}},
    {"system": {"keepStart": 0, "keepEnd": "0", "insert": []}},
    {"system": {"keepStart": 0, "keepEnd": 0, "insert": [1]}},
    {"tools": []},
    {"tools": {"added": [], "removed": []}},
    {"tools": {"added": [{}], "removed": [], "changed": []}},
    {"tools": {"added": [], "removed": {}, "changed": []}},
    {"config": "small"},
    {"config": []},
    {"messagePrefix": "hi"},
    {"messagePrefix": {}},
)
BROKEN_HEADERS: tuple[Any, ...] = (
    None,
    [],
    {},
    {"config": None},
    {"config": []},
    {"config": {}, "system": None},
    {"config": {}, "system": ["a"]},
    {"config": {}, "tools": {}},
    {"config": {}, "tools": [{"name": 1}]},
    {"config": {}, "tools": ["read"]},
    {"config": {}, "messagePrefix": {}},
    {"config": {}, "messagePrefix": None},
)


@cache
def snapshot_payloads() -> st.SearchStrategy[dict[str, Any]]:
    """Payloads of request/header that can be folded."""
    return headers(twice=True).map(lambda header: {"header": header, "reason": "initial"})


@cache
def header_event_fields() -> st.SearchStrategy[tuple[str, Any]]:
    """Type and payload of a header event: snapshots and deltas, sound, odd and broken."""
    snapshot, delta = "request/header", "request/header-delta"
    broken = st.sampled_from(BROKEN_HEADERS).map(lambda header: {"header": header})
    return st.one_of(
        st.tuples(st.just(snapshot), snapshot_payloads()),
        st.tuples(st.just(delta), odd_deltas()),
        st.tuples(st.just(delta), odd_deltas()),
        st.tuples(st.just(snapshot), broken | objects()),
        st.tuples(st.just(delta), st.sampled_from(BROKEN_DELTAS)),
    )
