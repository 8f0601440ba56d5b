"""A request body as it goes over the wire, and where in the request each part of it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from dsh_fp.core.json_paths import Step, leading_steps
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_object
from dsh_fp.wire.javascript import joined

SYSTEM: Final = -1
"""The owner of a wire message that carries the request's system text."""

TEXT: Final = "text"


@attrs.frozen
class WireBody:
    """The JSON body of one request, and which part of the request each part comes from.

    Units:   owners has, for each message of the body, the place of the request's message it
             was made from, or SYSTEM; tools the place in the request of each tool of the body.
    Law:     every_part_of_a_body_has_its_origin.
    """

    body: JsonObject
    owners: tuple[int, ...]
    # From a key of the body to the key of the request it carries.
    carried: Mapping[str, str] = attrs.field(repr=False)

    def request_steps(self, path: str | tuple[Step, ...]) -> tuple[Step, ...] | None:
        """Where in the request the value at a JSON path of the body comes from.

        None for what comes from no part of it: fixed words, options of the adapter, a message
        behind the last one. A key that the body lacks has its part too, if it could have one.

        Shapes:  `$.messages[3].tool_calls[0].id`, or the same as steps; the answer is as deep
                 as the part goes: `("messages", 2)`, `("tools", 1)`, `("maxTokens",)`.
        """
        steps = leading_steps(path) if isinstance(path, str) else path
        match steps:
            case ("messages", int(place), *_):
                if not 0 <= place < len(self.owners):
                    return None
                owner = self.owners[place]
                return ("system",) if owner == SYSTEM else ("messages", owner)
            case (str(key), int(place), *_) if key in self.carried:
                return (self.carried[key], place)
            case (str(key), *_) if key in self.carried:
                return (self.carried[key],)
            case _:
                return None


def blocks_of(content: AnyJson) -> Iterator[JsonObject]:
    """The blocks of a message's content; what is no object is passed over.

    A content that is one text, as a stranger may have put it into a message prefix, is a block.
    """
    if isinstance(content, str):
        yield json_object({"type": TEXT, "text": content})
    elif isinstance(content, tuple):
        for block in content:
            if isinstance(block, JsonObject):
                yield block


def text_of_blocks(content: AnyJson, kind: str = TEXT) -> str:
    """The texts of the blocks of one kind, joined by nothing."""
    return joined(block.get("text") for block in blocks_of(content) if block.get("type") == kind)


def messages_of(request: Mapping[str, AnyJson]) -> JsonArray | tuple[()]:
    """The messages of a request; none where it has no list of them."""
    messages = request.get("messages")
    return messages if isinstance(messages, JsonArray) else ()


def picked(fields: Mapping[str, AnyJson], names: Mapping[str, str]) -> dict[str, AnyJson]:
    """Fields under their new names, in the order of the names; absent ones stay absent."""
    return {new: fields[old] for new, old in names.items() if old in fields}
