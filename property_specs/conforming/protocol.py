"""The questions an implementation may be asked, and how one is written down.

A question is an operation with arguments, all of them plain JSON values; a log is always
handed over whole, so that nothing has to be kept between two questions. What an
implementation can answer it says by name; only `accept` is asked of everyone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final
from unittest import SkipTest

from property_specs.core import Refused
from property_specs.models.json_values import Lossy, exact, settle

NAME: Final = "dsh_fp conform"
VERSION: Final = 1


@dataclass(frozen=True)
class Operation:
    """One question: its arguments in order, what is answered, whether it is about a session.

    A session is the two arguments `log` and, where its session header matters, `header`.
    `optional` arguments are left out where there is nothing to say.
    """

    parameters: tuple[str, ...]
    answer: str
    of_session: bool = False
    optional: tuple[str, ...] = ()


def _of_session(answer: str, *more: str, optional: tuple[str, ...] = ()) -> Operation:
    return Operation(("log", *more), answer, of_session=True, optional=("header", *optional))


OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType(
    {
        # the small protocol
        "accept": _of_session("`{length}`: how many events were accepted; or refused"),
        "surface": _of_session("`{seqs, generation}`: the nodes in order, how many replacements"),
        "messages": _of_session("the list of messages; or refused with `seq`"),
        "header": _of_session("the request header in force, `null` for none; or refused"),
        "requests": _of_session("a list of `{seq, request}` or `{seq, fault}`, one for each step"),
        "closers": Operation(("log",), "the events that close an interrupted turn"),
        "fork": _of_session(
            "`{header, length}` of the child, whose id is `fork`; or refused",
            optional=("boundary",),
        ),
        # more about a session
        "events": _of_session("the events as they are held"),
        "strictly": Operation(
            ("log",), "as `accept`, for a writer that wants unsound payloads and turns refused"
        ),
        "todos": _of_session("the last list of todos, `null` for none"),
        "usage": _of_session("`{own, inherited}`, each the five counts and `calls`"),
        "balanced": _of_session("whether no call waits before a cut; or refused", "before"),
        "collapsible": _of_session("whether these nodes may be replaced", "start", "end"),
        "request_digests": _of_session("for each step `{header, messages, request}` or `null`"),
        "content_digests": _of_session("`{content, events}`"),
        # folds over bare events
        "fold_surface": Operation(("events",), "`{nodes, replacements}`; or refused"),
        "trace": Operation(
            ("events",),
            "`{open_turn, open_step, next_turn, next_step, pending_calls}`; or refused",
        ),
        "violations": Operation(("events",), "a list of `{code, index}`"),
        "assemble": Operation(("chunks",), "`{blocks, usage, finish, content}`; or refused"),
        "emitted": Operation(("chunks",), "for each chunk the block it finishes, or `null`"),
        # request headers
        "canonical": Operation(("header",), "the canonical header; or refused"),
        "equal": Operation(("one", "other"), "whether two headers ask for the same"),
        "diff": Operation(("prev", "next"), "the delta, `null` when they are equal; or refused"),
        "apply": Operation(("prev", "delta"), "the header after the delta; or refused"),
        "fold_header": Operation(
            ("events",), "the header in force, `null` for none; or refused", optional=("start",)
        ),
        "next_header_event": Operation(
            ("prev", "next", "first"), "`{type, data}`, `null` for nothing to log; or refused"
        ),
        # values and texts
        "text": Operation(("value",), "the JSON text of the value, as a string"),
        "parse": Operation(("text",), "the value of a JSON text; or refused"),
        "event": Operation(("text",), "the event that a JSON text stands for; or refused"),
        "event_text": Operation(("event",), "the text a writer makes of an event"),
        "session_header": Operation(("fields",), "the known fields; or refused"),
        "event_digest": Operation(("text",), "64 hex digits"),
        # names of files
        "encode_segment": Operation(("session_id",), "the file name of an id; or refused"),
        "decode_segment": Operation(("segment",), "the id of a file name; or refused"),
        "bucket": Operation(("cwd",), "the folder of a working directory"),
        "log_path": Operation(("root", "cwd", "session_id"), "the path of a log; or refused"),
    }
)
"""Every question of this version."""

SMALL: Final = ("accept", "surface", "messages", "header", "requests", "closers", "fork")
"""The small protocol: what makes an implementation of the session model."""

REQUEST_TEXTS: Final = "request_texts"
REFUSAL_DATA: Final = "refusal_data"
NOT_JSON: Final = "not_json"
FEATURES: Final[Mapping[str, str]] = MappingProxyType(
    {
        REQUEST_TEXTS: "each `{seq, request}` of `requests` has its JSON as `text` too",
        REFUSAL_DATA: "a refusal names the offending values: `missing` of REPLACE_UNCITED",
        NOT_JSON: "may be handed values that JSON has no text for (Python objects only)",
    }
)
"""What may be named beside operations."""


class NotOffered(SkipTest):
    """A law asked for something that the implementation does not offer; names it."""


class Senseless(Exception):
    """What an implementation said cannot be; says why."""


class NoJson(Exception):
    """A question holds a value that no JSON text stands for."""


def sendable(value: Any) -> Any:
    """The value as JSON will say it; NoJson when JSON would say something else."""
    try:
        return settle(value)
    except (Lossy, RecursionError):
        raise NoJson from None


def is_said_exactly(value: Any) -> bool:
    """Whether JSON says this value and no other: 0.0 is written as 0."""
    return exact(sendable(value)) == exact(value)


def refused_of(wire: Any) -> Refused:
    """A refusal as the laws know it; Senseless for what is none."""
    if not isinstance(wire, dict) or not isinstance(wire.get("code"), str):
        raise Senseless("a refusal is an object with a string 'code'")
    data = wire.get("data", {})
    if not isinstance(data, dict):
        raise Senseless("the 'data' of a refusal is an object")
    for key in ("seq", "index"):
        if wire.get(key) is not None and type(wire[key]) is not int:
            raise Senseless(f"the {key!r} of a refusal is an integer")
    if not isinstance(wire.get("path", ""), str):
        raise Senseless("the 'path' of a refusal is a string")
    facts = tuple((name, _fact(value)) for name, value in data.items())
    return Refused(wire["code"], wire.get("seq"), wire.get("index"), wire.get("path"), facts)


def refusal_wire(refused: Refused) -> dict[str, Any]:
    """A refusal as it is written down."""
    wire: dict[str, Any] = {"code": refused.code}
    for key in ("seq", "index", "path"):
        if getattr(refused, key) is not None:
            wire[key] = getattr(refused, key)
    return wire


def _fact(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def checked_capabilities(names: Any) -> frozenset[str]:
    """What an implementation says it can; Senseless when that cannot be."""
    if not isinstance(names, list | tuple | set | frozenset):
        raise Senseless("its capabilities are not a list")
    if not all(isinstance(name, str) for name in names):
        raise Senseless("its capabilities are not all strings")
    unknown = sorted(set(names) - {*OPERATIONS, *FEATURES})
    if unknown:
        raise Senseless(f"it claims a capability that version {VERSION} has not: {unknown[0]}")
    if "accept" not in names:
        raise Senseless("it does not offer 'accept', which everyone has to")
    return frozenset(names)
