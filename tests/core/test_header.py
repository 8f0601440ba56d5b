"""The request header in force: canonical form, difference, application, fold, writer."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import (
    Code,
    HeaderEvent,
    Session,
    apply_delta,
    canonical_header,
    diff_headers,
    fold_header,
    headers_equal,
    next_header_event,
    to_text,
)
from tests.core.making import CONFIG, delta, event, header, note

Header = dict[str, Any]

PLAIN: Header = {"config": CONFIG}
MORE: Header = {"config": {"model": "m-1", "temperature": 0.5, "stop": ["a", "b"]}}


def tool(name: str, **schema: Any) -> Header:
    return {"name": name, "schema": schema}


def with_system(system: str | None) -> Header:
    return PLAIN if system is None else {**PLAIN, "system": system}


def with_tools(*tools: Header) -> Header:
    return {**PLAIN, "tools": list(tools)}


def test_canonical_form_drops_what_is_empty_or_unknown_and_orders_the_rest() -> None:
    """Key order is config, system, tools, messagePrefix; other keys are gone."""
    given = {
        "messagePrefix": [{"role": "system", "content": []}],
        "x": 1,
        "tools": [tool("a")],
        "system": "Be brief.",
        "config": {"zeta": 1, "model": "m-1"},
    }

    made = canonical_header(given).unwrap()

    assert list(made) == ["config", "system", "tools", "messagePrefix"]
    assert to_text(made["config"]) == '{"zeta":1,"model":"m-1"}'


def test_empty_parts_are_absent_in_canonical_form() -> None:
    """An empty system, tool list or prefix says the same as none."""
    given = {"system": "", "tools": [], "messagePrefix": [], "config": {}}

    assert to_text(canonical_header(given).unwrap()) == '{"config":{}}'


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ([], "$"),
        ({}, "$.config"),
        ({"config": None}, "$.config"),
        ({"config": []}, "$.config"),
        ({**PLAIN, "system": None}, "$.system"),
        ({**PLAIN, "system": ["a"]}, "$.system"),
        ({**PLAIN, "tools": None}, "$.tools"),
        ({**PLAIN, "tools": {}}, "$.tools"),
        ({**PLAIN, "tools": ["a"]}, "$.tools"),
        ({**PLAIN, "tools": [{}]}, "$.tools"),
        ({**PLAIN, "tools": [{"name": 1}]}, "$.tools"),
        ({**PLAIN, "messagePrefix": None}, "$.messagePrefix"),
        ({**PLAIN, "messagePrefix": "hello"}, "$.messagePrefix"),
    ],
    ids=str,
)
def test_a_header_that_cannot_be_folded_names_the_part(given: Any, path: str) -> None:
    """HEADER_INVALID says which part has the wrong shape."""
    fault = canonical_header(given).failure()

    assert (fault.code, fault.path) == (Code.HEADER_INVALID, path)


def test_what_config_holds_is_not_looked_at() -> None:
    """Any object is a config: unknown fields and odd values are kept."""
    given = {"config": {"model": 5, "temperature": "hot", "stop": None, "extra": {"a": []}}}

    assert canonical_header(given).unwrap() == given


def test_a_lossy_header_is_not_json() -> None:
    """A header from Python is snapshotted first."""
    fault = canonical_header({"config": {"temperature": float("nan")}}).failure()

    assert (fault.code, fault.path) == (Code.NOT_JSON, "$.config.temperature")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PLAIN, {**PLAIN, "tools": [], "messagePrefix": []}),
        (PLAIN, {"config": {"model": "m-1", "extra": 1}}),
        (MORE, {"config": {"stop": ["a", "b"], "temperature": 0.5, "model": "m-1"}}),
        (with_tools(tool("a", x=1)), with_tools(tool("a", x=1))),
    ],
    ids=["empty lists", "unknown config", "config order", "tools"],
)
def test_headers_that_ask_for_the_same_are_equal(one: Header, other: Header) -> None:
    """Empty lists equal absent ones; of config only the four fields count, in any order."""
    assert headers_equal(one, other)
    assert headers_equal(other, one)
    assert diff_headers(one, other).unwrap() is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PLAIN, with_system("")),
        (with_system("a"), with_system("b")),
        (PLAIN, MORE),
        (PLAIN, {"config": {"model": "m-2"}}),
        ({"config": {"temperature": 1}}, {"config": {"temperature": True}}),
        ({"config": {"maxTokens": None}}, {"config": {}}),
        ({"config": {"stop": ["a", "b"]}}, {"config": {"stop": ["b", "a"]}}),
        (with_tools(tool("a", x=1, y=2)), with_tools(tool("a", y=2, x=1))),
        (with_tools(tool("a"), tool("b")), with_tools(tool("b"), tool("a"))),
        (
            {**PLAIN, "messagePrefix": [{"a": 1, "b": 2}]},
            {**PLAIN, "messagePrefix": [{"b": 2, "a": 1}]},
        ),
    ],
    ids=[
        "empty system",
        "system",
        "config",
        "model",
        "True is not 1",
        "null is not absent",
        "stop order",
        "tool key order",
        "tool order",
        "prefix key order",
    ],
)
def test_headers_that_ask_for_something_else_differ(one: Header, other: Header) -> None:
    """An empty system is not an absent one; tools and prefix count by their text."""
    assert not headers_equal(one, other)
    assert not headers_equal(other, one)


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (None, "a", {"keepStart": 0, "keepEnd": 0, "insert": ["a"]}),
        ("a", None, {"keepStart": 0, "keepEnd": 0, "insert": []}),
        ("a", "", {"keepStart": 0, "keepEnd": 0, "insert": [""]}),
        ("a\nb\nc", "a\nx\nc", {"keepStart": 1, "keepEnd": 1, "insert": ["x"]}),
        ("a\nb", "a\nb\nc", {"keepStart": 2, "keepEnd": 0, "insert": ["c"]}),
        ("b\nc", "a\nb\nc", {"keepStart": 0, "keepEnd": 2, "insert": ["a"]}),
        ("a\na", "a\na\na", {"keepStart": 2, "keepEnd": 0, "insert": ["a"]}),
        ("a\nb\na", "a", {"keepStart": 1, "keepEnd": 0, "insert": []}),
        ("a\r\nb", "a\r\nc", {"keepStart": 1, "keepEnd": 0, "insert": ["c"]}),
        ("a\u2028b", "a\u2028c", {"keepStart": 0, "keepEnd": 0, "insert": ["a\u2028c"]}),
    ],
)
def test_a_system_change_keeps_the_longest_ends(
    old: str | None, new: str | None, change: Header
) -> None:
    """Lines split at LF only; first the common prefix, then a suffix that does not overlap."""
    made = diff_headers(with_system(old), with_system(new)).unwrap()

    assert made == {"system": change}


def test_a_tool_change_lists_added_removed_and_changed() -> None:
    """Added and changed in the new order, removed in the old, by name."""
    old = with_tools(tool("c"), tool("a"), tool("b", x=1), tool("d"))
    new = with_tools(tool("f"), tool("b", x=2), tool("e"), tool("a"))

    made = diff_headers(old, new).unwrap()

    assert made == {
        "tools": {
            "added": [tool("f"), tool("e")],
            "removed": ["c", "d"],
            "changed": [tool("b", x=2)],
        }
    }


def test_of_a_tool_listed_twice_the_last_counts() -> None:
    """The last of two tools with one name is what a new one is compared with."""
    old = with_tools(tool("a", x=1), tool("a", x=2))

    made = diff_headers(old, with_tools(tool("a", x=1))).unwrap()
    same = diff_headers(old, with_tools(tool("a", x=2))).unwrap()

    assert made == {"tools": {"added": [], "removed": [], "changed": [tool("a", x=1)]}}
    assert same == {"tools": {"added": [], "removed": [], "changed": []}}


def test_config_and_prefix_change_as_wholes() -> None:
    """Config is given whole, and a prefix that is gone is an empty list."""
    old = {"config": {"model": "m-1", "extra": 1}, "messagePrefix": [{"role": "system"}]}
    new = {"config": {"model": "m-2", "extra": 2}}

    made = diff_headers(old, new).unwrap()

    assert to_text(made) == '{"config":{"model":"m-2","extra":2},"messagePrefix":[]}'


def test_a_diff_of_unfoldable_headers_is_refused() -> None:
    """Either side may be the one with the wrong shape."""
    assert diff_headers({}, PLAIN).failure().code is Code.HEADER_INVALID
    assert diff_headers(PLAIN, {**PLAIN, "tools": "all"}).failure().path == "$.tools"


@pytest.mark.parametrize(
    ("system", "change", "after"),
    [
        ("a\nb\nc", (1, 1, ["x", "y"]), "a\nx\ny\nc"),
        ("a\nb", (0, 0, []), None),
        ("a", (0, 0, [""]), None),
        (None, (0, 0, ["a", "b"]), "a\nb"),
        (None, (5, 5, []), None),
        ("a\nb\nc", (3, 3, []), "a\nb\nc\na\nb\nc"),
        ("a\nb\nc", (2, 2, []), "a\nb\nb\nc"),
        ("a\nb\nc", (0, 4, []), "c"),
        ("a\nb\nc", (-1, 0, []), "a\nb"),
        ("a\nb\nc", (-9, 0, ["x"]), "x"),
        ("a\nb\nc", (9, 0, []), "a\nb\nc"),
        ("a\nb\nc", (0, -1, ["x"]), "x"),
        ("a\nb\nc", (1.9, 0, []), "a"),
        ("a\nb\nc", (-0.5, 0, ["x"]), "x"),
        ("a\nb\nc", (0, 1.5, []), "b\nc"),
        ("a\nb\nc", (0, 0.5, ["x"]), "x\nc"),
        ("a\nb\nc", (1e300, -1e300, []), "a\nb\nc"),
    ],
)
def test_a_system_change_is_applied_as_slices(
    system: str | None, change: tuple[float, float, list[str]], after: str | None
) -> None:
    """Lines are cut as JavaScript's `slice` cuts: odd numbers do odd things, all of them known."""
    keep_start, keep_end, insert = change
    lines = {"keepStart": keep_start, "keepEnd": keep_end, "insert": insert}

    made = apply_delta(with_system(system), {"system": lines}).unwrap()

    assert made == with_system(after)


def test_tools_are_dropped_changed_in_place_and_added() -> None:
    """Removal comes before addition, so a removed tool can be added again at the end."""
    old = with_tools(tool("a"), tool("b", x=1), tool("c"))
    change = {
        "removed": ["a", "ghost", 5],
        "changed": [tool("b", x=2), tool("ghost")],
        "added": [tool("a", x=9)],
    }

    made = apply_delta(old, {"tools": change}).unwrap()

    assert made == with_tools(tool("b", x=2), tool("c"), tool("a", x=9))


def test_the_last_of_two_changes_to_a_tool_is_applied() -> None:
    """Of a name listed twice the last one counts, at every place of that name."""
    old = with_tools(tool("a"), tool("a", x=1))
    change = {"removed": [], "changed": [tool("a", x=2), tool("a", x=3)], "added": []}

    made = apply_delta(old, {"tools": change}).unwrap()

    assert made == with_tools(tool("a", x=3), tool("a", x=3))


def test_a_null_part_keeps_the_old_one() -> None:
    """Null and absent parts of a delta change nothing."""
    old = {**MORE, "system": "a", "messagePrefix": [{"role": "system"}]}
    nulls = {"config": None, "messagePrefix": None}

    assert apply_delta(old, nulls).unwrap() == old
    assert apply_delta(old, {}).unwrap() == old


def test_an_empty_prefix_takes_the_prefix_away() -> None:
    """`[]` is the change to none."""
    old = {**PLAIN, "messagePrefix": [{"role": "system"}]}

    assert apply_delta(old, {"messagePrefix": []}).unwrap() == PLAIN


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"system": "a"}, "system"),
        ({"system": {}}, "system"),
        ({"system": {"keepStart": 0, "keepEnd": 0}}, "system"),
        ({"system": {"keepStart": "0", "keepEnd": 0, "insert": []}}, "system"),
        ({"system": {"keepStart": True, "keepEnd": 0, "insert": []}}, "system"),
        ({"system": {"keepStart": 0, "keepEnd": 0, "insert": [1]}}, "system"),
        ({"system": {"keepStart": 0, "keepEnd": 0, "insert": "a"}}, "system"),
        ({"tools": []}, "tools"),
        ({"tools": {"added": [], "removed": []}}, "tools"),
        ({"tools": {"added": [{}], "removed": [], "changed": []}}, "tools"),
        ({"tools": {"added": [], "removed": {}, "changed": []}}, "tools"),
        ({"config": []}, "config"),
        ({"config": "m-2"}, "config"),
        ({"messagePrefix": {}}, "messagePrefix"),
        ({"messagePrefix": "a"}, "messagePrefix"),
    ],
    ids=str,
)
def test_a_delta_of_the_wrong_shape_names_the_part(change: Header, part: str) -> None:
    """HEADER_INVALID with the path of the part, from a call and from a log alike."""
    called = apply_delta(PLAIN, change).failure()
    logged = fold_header([header(0), delta(1, **change)]).failure()

    assert called.code is logged.code is Code.HEADER_INVALID
    assert logged.path == f"$.data.{part}"
    assert (logged.seq, logged.index) == (1, 1)


def test_a_delta_that_is_no_object_is_refused() -> None:
    """A header-delta event may carry any JSON value; only an object can be applied."""
    fault = fold_header([header(0), event("request/header-delta", 1, [1])]).failure()

    assert (fault.code, fault.path) == (Code.HEADER_INVALID, "$.data")


def test_folding_takes_snapshots_and_deltas_in_turn() -> None:
    """A snapshot replaces, a delta amends, everything else passes by."""
    change = {"keepStart": 1, "keepEnd": 0, "insert": ["c"]}

    folded = fold_header(
        [
            note(0),
            header(1, system="a\nb", tools=[]),
            delta(2, system=change),
            note(3),
            header(4, system="z"),
            delta(5, config={"model": "m-2"}),
        ]
    ).unwrap()

    assert folded == {"config": {"model": "m-2"}, "system": "z"}
    assert list(folded) == ["config", "system"]


def test_no_header_event_is_no_header() -> None:
    """Nothing logged, nothing in force; a given start stays."""
    assert fold_header([]).unwrap() is None
    assert fold_header([note(0)]).unwrap() is None
    assert fold_header([note(0)], start=PLAIN).unwrap() == PLAIN
    assert fold_header([delta(0, config=MORE["config"])], start=PLAIN).unwrap() == MORE


def test_a_delta_before_any_snapshot_is_a_fault() -> None:
    """The fold ends at its first fault, and a later snapshot does not mend it."""
    fault = fold_header([note(0), delta(1, config={}), header(2)]).failure()

    assert fault.code is Code.HEADER_DELTA_WITHOUT_SNAPSHOT
    assert (fault.seq, fault.index) == (1, 1)


@pytest.mark.parametrize("data", [None, 1, [], {}, {"header": None}, {"header": {"config": 1}}])
def test_a_snapshot_of_the_wrong_shape_is_a_fault(data: object) -> None:
    """A request/header without a header that can be folded is HEADER_INVALID."""
    fault = fold_header([event("request/header", 0, data)]).failure()

    assert fault.code is Code.HEADER_INVALID
    assert (fault.seq, fault.index) == (0, 0)
    assert fault.path is not None
    assert fault.path.startswith("$.data.header")


def test_the_first_header_is_an_initial_snapshot() -> None:
    """Without a header in force a writer logs the whole canonical one."""
    made = next_header_event(None, {"tools": [], "config": CONFIG}, first=True).unwrap()

    assert made == HeaderEvent("request/header", {"header": PLAIN, "reason": "initial"})  # type: ignore[arg-type]  # equal to the frozen one


def test_a_new_writer_logs_a_resume_snapshot_even_when_nothing_changed() -> None:
    """The first header of this writer is whole, so that its part of the log stands alone."""
    made = next_header_event(PLAIN, PLAIN, first=True).unwrap()

    assert made == HeaderEvent("request/header", {"header": PLAIN, "reason": "resume"})  # type: ignore[arg-type]  # equal to the frozen one


def test_nothing_is_logged_when_nothing_changed() -> None:
    """An equal header needs no event, also when only what does not count differs."""
    other = {"config": {"model": "m-1", "extra": 1}, "tools": []}

    assert next_header_event(PLAIN, PLAIN, first=False).unwrap() is None
    assert next_header_event(PLAIN, other, first=False).unwrap() is None


def test_a_change_that_round_trips_is_a_delta() -> None:
    """A tool added at the end, with a changed system, is written as a change."""
    old = {**with_tools(tool("a")), "system": "a\nb"}
    new = {**with_tools(tool("a"), tool("b")), "system": "a\nc"}

    made = next_header_event(old, new, first=False).unwrap()

    assert made is not None
    assert made.type == "request/header-delta"
    assert list(made.data) == ["system", "tools"]
    assert apply_delta(old, made.data).unwrap() == new


@pytest.mark.parametrize(
    "new",
    [
        with_tools(tool("b"), tool("a")),
        with_tools(tool("new"), tool("a"), tool("b")),
        with_tools(tool("a"), tool("new"), tool("b")),
    ],
    ids=["reordered", "inserted first", "inserted between"],
)
def test_a_change_that_does_not_round_trip_is_a_fallback_snapshot(new: Header) -> None:
    """A delta puts new tools last; any other order is logged whole."""
    old = with_tools(tool("a"), tool("b"))

    made = next_header_event(old, new, first=False).unwrap()

    assert made == HeaderEvent("request/header", {"header": new, "reason": "fallback"})  # type: ignore[arg-type]  # equal to the frozen one


def test_a_writer_is_told_of_a_header_that_cannot_be_folded() -> None:
    """Either header may be at fault; nothing is to be logged then."""
    new = next_header_event(PLAIN, {"config": 1}, first=False).failure()
    old = next_header_event({}, PLAIN, first=False).failure()

    assert (new.code, old.code) == (Code.HEADER_INVALID, Code.HEADER_INVALID)


def test_headers_handed_in_come_back_unchanged() -> None:
    """No function here touches the caller's dicts."""
    old: Header = {**with_tools(tool("a"), tool("b")), "system": "a", "x": 1}
    new: Header = {**with_tools(tool("b")), "system": ""}

    canonical_header(old).unwrap()
    diff_headers(old, new).unwrap()
    next_header_event(old, new, first=False).unwrap()

    assert old == {**with_tools(tool("a"), tool("b")), "system": "a", "x": 1}
    assert new == {**with_tools(tool("b")), "system": ""}


def test_changes_may_not_grow_the_system_without_bound() -> None:
    """Doubled again and again, the system text becomes a fault before it takes all memory."""
    double = {"system": {"keepStart": 1e9, "keepEnd": 1e9, "insert": []}}
    events: list[Any] = [
        {
            "type": "request/header",
            "seq": 0,
            "time": 0,
            "data": {"header": {"config": {}, "system": "a"}, "reason": "initial"},
        }
    ]
    events += [
        {"type": "request/header-delta", "seq": seq, "time": 0, "data": double}
        for seq in range(1, 45)
    ]

    fault = Session.replay(events).unwrap().request_header().failure()

    assert fault.code is Code.HEADER_INVALID
    assert fault.path == "$.data.system"
    assert fault.seq == 22  # 2**22 lines of one character each
