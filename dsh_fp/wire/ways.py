"""The ways a request may have gone over the wire that the log does not tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import attrs

from dsh_fp.core.lossless import AnyJson, JsonObject
from dsh_fp.core.vocabulary import Form, Route
from dsh_fp.wire.messages_api import TOOL_UPDATES, ToolUpdates

REASONING: Final = "reasoning_content"
UPDATES: Final = "tool_updates"
ROUTE: Final = "route"
"""How the three are named: in options, and where they were taken from a body."""

EVERY: Final = "always"
WITH_CALLS: Final = "with-calls"
REASONING_RULES: Final = (EVERY, WITH_CALLS)


@attrs.frozen
class Way:
    """One way: the route, and what was decided for it.

    `reasoning` is None on the Messages API and in July, `updates` on chat completions.
    """

    route: Route = "chat"
    reasoning: str | None = None
    updates: ToolUpdates | None = None


JULY_WAY: Final = Way()


def ways_of(form: Form, *, has_updates: bool) -> Iterator[Way]:
    """The ways that requests of a generation may have gone, the usual one first."""
    if form.fold_header is None:
        yield JULY_WAY
        return
    for route in form.routes:
        if route == "chat":
            for rule in REASONING_RULES:
                yield Way(route, reasoning=rule)
        else:
            for updates in TOOL_UPDATES if has_updates else TOOL_UPDATES[:1]:
                yield Way(route, updates=updates)


def route_of(body: JsonObject) -> Route:
    """The route that a captured body took, by its shape."""
    if "stream_options" in body or "reasoning_effort" in body:
        return "chat"
    if "system" in body or "output_config" in body or "stop_sequences" in body:
        return "messages"
    messages = body.get("messages")
    listed = messages if isinstance(messages, tuple) else ()
    if any(isinstance(_content(message), tuple) for message in listed):
        return "messages"
    return "chat"


def _content(message: AnyJson) -> AnyJson:
    return message.get("content") if isinstance(message, JsonObject) else None
