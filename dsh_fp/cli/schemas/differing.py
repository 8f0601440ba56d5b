"""A difference between two requests, as `diff` prints it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from dsh_fp.cli.schemas.parts import (
    Schema,
    anything,
    constant,
    count,
    flag,
    listed,
    maybe,
    one_of,
    record,
    ref,
    text,
)
from dsh_fp.core.json_paths import Kind
from dsh_fp.core.runs import RunKind

_BEHIND: Final = ref("behind")
_EVENTS: Final = listed(maybe(ref("event_behind")), "One for each message of that side.")

REQUESTS_SHAPES: Final[Mapping[str, Schema]] = {
    "behind": record(
        {
            "old": maybe(ref("event_behind"), "What put the old value there."),
            "new": maybe(ref("event_behind"), "What put the new value there."),
            "cause": maybe(ref("event_behind"), "What made the change, within one session."),
        },
        says="The events behind one change.",
    ),
    "part_change": record(
        {
            "part": text("The key of the request."),
            "kind": one_of(get_args(Kind)),
            "old": anything(),
            "new": anything(),
            "behind": _BEHIND,
        }
    ),
    "system_change": record(
        {
            "first_changed_line": count("From 1, the same in both texts.", least=1),
            "hunks": listed(
                record(
                    {
                        "old_line": count("From 1.", least=1),
                        "old_lines": listed(text()),
                        "new_line": count("From 1.", least=1),
                        "new_lines": listed(text()),
                    }
                ),
                "Lines that stand for others.",
                minItems=1,
            ),
            "behind": _BEHIND,
        }
    ),
    "tool_change": record(
        {
            "name": text(),
            "old_place": maybe(count(), "Its place among the old tools, from 0."),
            "new_place": maybe(count(), "Its place among the new tools, from 0."),
            "differences": listed(ref("difference"), "Of a changed tool, from the tool itself."),
            "more": flag("Whether there are more differences than are listed."),
            "behind": _BEHIND,
        }
    ),
    "tools_change": record(
        {
            "added": listed(ref("tool_change")),
            "removed": listed(ref("tool_change")),
            "changed": listed(ref("tool_change")),
            "reordered": flag("Whether the tools of both stand in another order."),
            "behind": _BEHIND,
        }
    ),
    "run": record(
        {
            "kind": one_of(get_args(RunKind)),
            "old_start": count("A place from 0."),
            "old_stop": count("The place behind the last one."),
            "new_start": count("A place from 0."),
            "new_stop": count("The place behind the last one."),
            "old_events": _EVENTS,
            "new_events": _EVENTS,
            "causes": listed(ref("event_behind"), "What made the change, within one session."),
            "first": maybe(ref("difference"), "From the first message of both sides."),
        },
        says="Messages that stand for others.",
    ),
    "requests_equal": record(
        {
            "equal": constant(True),
            "only_call_ids": constant(False),
            "first": constant(None),
            "first_behind": _BEHIND,
            "parts": {"type": "array", "maxItems": 0},
            "system": constant(None),
            "tools": constant(None),
            "messages": record(
                {
                    "old": count(),
                    "new": count(),
                    "common": count(),
                    "first": constant(None),
                    "runs": {"type": "array", "maxItems": 0},
                }
            ),
        },
        says="Two requests of the same text.",
    ),
    "requests_differ": record(
        {
            "equal": constant(False),
            "only_call_ids": flag("Whether they are equal but for the spelling of call ids."),
            "first": ref("difference", "Where they part first, in the order of the request."),
            "first_behind": _BEHIND,
            "parts": listed(ref("part_change"), "Parts that are compared whole."),
            "system": maybe(ref("system_change")),
            "tools": maybe(ref("tools_change")),
            "messages": record(
                {
                    "old": count("How many messages the old one has."),
                    "new": count("How many the new one has."),
                    "common": count("How many both begin with."),
                    "first": maybe(count(), "The first message that differs, from 0."),
                    "runs": listed(ref("run")),
                }
            ),
        },
        says="Two requests that differ.",
    ),
}
