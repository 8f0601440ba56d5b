"""Which event types exist, what each may do, how each makes a message: an immutable value.

A plugin's types are added with `extend`; nothing here is ever edited at run time. What is
not listed is a valid event that is kept and does nothing (`Role.LOG_ONLY`).
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Final, Literal

import attrs
from pyrsistent import PMap, pmap

from dsh_fp.core.events import JULY, Envelope, Event, HeaderRule
from dsh_fp.core.lossless import AnyJson, JsonObject
from dsh_fp.core.rejection import Rejection, payload_invalid


class Role(enum.Enum):
    """What an event type does to the state."""

    LOG_ONLY = "log-only"
    SURFACE = "surface"
    REQUEST_HEADER = "request-header"


class Frame(enum.Enum):
    """How a payload's content becomes the content of a message."""

    PLAIN = "as it is"
    TAGGED = "between an opening and a closing tag that names its source"
    TOOL_RESULT = "as one tool-result block"
    RECORD = "the message stands in the payload as it is"


Speaker = Literal["user", "assistant", "system", "developer", "tool"]
"""Who a message is from."""


@attrs.frozen
class MessageRule:
    """How the payload of a surface type becomes a message."""

    speaker: Speaker
    frame: Frame = Frame.PLAIN
    tag: str | None = None
    drop_empty: bool = False  # an empty content list makes no message at all
    within: str | None = None  # the payload's key that holds the record; None: it is the payload


class Kind(enum.Enum):
    """What a payload field must hold, for writers that ask for strictness."""

    NUMBER = "a number"
    TEXT = "a string"
    FLAG = "true or false"
    LIST = "a list"
    OBJECT = "an object"
    KINDED = "an object with a string kind"
    BLOCKS = "a list of objects with a string type"


@attrs.frozen
class Field:
    """One field of a payload: its key, what it must hold, whether it may be absent."""

    key: str
    kind: Kind
    optional: bool = False


@attrs.frozen
class TypeRule:
    """All that is known of one event type."""

    role: Role = Role.LOG_ONLY
    message: MessageRule | None = None
    shape: tuple[Field, ...] = ()


_UNKNOWN: Final = TypeRule()


Route = Literal["chat", "messages"]
"""A provider's interface: chat completions, or the Messages API."""


@attrs.frozen
class Form:
    """How a generation writes its events, and what it asks of them beyond July's rules.

    `start` and `end` are the keys of a replacement. With `refuses_unknown` an event of a type
    that is not listed, nor of one of the `families` whose names begin alike, is refused unless
    it says that it may be ignored. `noted` are the surface types whose events a surface keeps
    for `checks`, which see them beside the event that comes. `admits_append` tells quickly
    that an append with sound sources passes them all; it is given the event and whether there
    is a node already. `fold_header` folds a header event, which puts a header in force whole
    (None: July's way, with deltas). With `sent_at_output` a request holds what was logged
    before the step's first output, not before its start. `routes` are the ways its requests
    may have gone to a provider, the usual one first.

    Of files: `version` is the header's, `session_header` reads one (None: July's way). With
    `packed` a line may stand for a run of chunks. With `judges_rows` a line that is no event of
    this form is a damaged line; else it is an event that acceptance refuses. `inherited_by`
    is the header field that tells what was inherited.
    """

    generation: str = "July"
    version: int = 0
    session_header: HeaderRule | None = None
    packed: bool = False
    judges_rows: bool = False
    inherited_by: Literal["seedLength", "isSeeded"] = "seedLength"
    envelope: Envelope = JULY
    start: str = "start"
    end: str = "end"
    refuses_unknown: bool = False
    families: tuple[str, ...] = ()
    may_cite_nothing: frozenset[str] = frozenset()
    noted: frozenset[str] = frozenset()
    checks: tuple[Callable[..., Rejection | None], ...] = ()
    admits_append: Callable[[Event, bool], bool] | None = None
    fold_header: Callable[[Event], JsonObject | Rejection] | None = None
    sent_at_output: bool = False
    outputs: tuple[str, ...] = ("step/end",)
    routes: tuple[Route, ...] = ("chat",)


JULY_FORM: Final = Form()


@attrs.frozen(repr=False)
class Vocabulary:
    """The event types in use, by name, and the form they are written in."""

    rules: PMap[str, TypeRule]
    form: Form = JULY_FORM
    # What is not log-only, as a plain dict: looked up once per event of a log.
    _special: dict[str, Role] = attrs.field(init=False, eq=False, repr=False)
    # The listed names, as a plain set for the same reason.
    names: frozenset[str] = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        special = {
            name: rule.role for name, rule in self.rules.items() if rule.role is not Role.LOG_ONLY
        }
        object.__setattr__(self, "_special", special)
        object.__setattr__(self, "names", frozenset(self.rules))

    def rule(self, event_type: str) -> TypeRule:
        """What is known of a type; an unknown one is log-only, never an error."""
        return self.rules.get(event_type, _UNKNOWN)

    def role(self, event_type: str) -> Role:
        """What events of a type do to the state."""
        return self._special.get(event_type, Role.LOG_ONLY)

    def special_roles(self) -> Mapping[str, Role]:
        """The roles of the types that are not log-only."""
        return self._special.copy()

    def knows(self, event_type: str) -> bool:
        """Whether a type is listed, or of a listed family."""
        return event_type in self.names or event_type.startswith(self.form.families)

    def extend(self, rules: Mapping[str, TypeRule]) -> Vocabulary:
        """This vocabulary with more types; a listed type gets its new rule."""
        return Vocabulary(self.rules.update(dict(rules)), self.form)

    def __hash__(self) -> int:
        return hash(self.rules)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self.rules)} types)"


def check_payload(
    event_type: str, seq: int, data: AnyJson, vocabulary: Vocabulary
) -> Rejection | None:
    """The first field of a payload that does not have its type's shape.

    Opt-in: acceptance never looks into payloads.
    """
    shape = vocabulary.rule(event_type).shape
    if shape and not isinstance(data, dict):
        return payload_invalid(seq, "$.data", "object of fields")
    for field in shape:
        if field.key not in data:
            if not field.optional:
                return payload_invalid(seq, f"$.data.{field.key}", field.key)
        elif not _fits(field.kind, data[field.key]):
            return payload_invalid(
                seq, f"$.data.{field.key}", f"{field.key} that is {field.kind.value}"
            )
    return None


def _fits(kind: Kind, value: AnyJson) -> bool:
    match kind:
        case Kind.NUMBER:
            return type(value) in (int, float)
        case Kind.TEXT:
            return isinstance(value, str)
        case Kind.FLAG:
            return isinstance(value, bool)
        case Kind.LIST:
            return isinstance(value, tuple)
        case Kind.OBJECT:
            return isinstance(value, dict)
        case Kind.KINDED:
            return isinstance(value, dict) and isinstance(value.get("kind"), str)
        case Kind.BLOCKS:
            return isinstance(value, tuple) and all(
                isinstance(block, dict) and isinstance(block.get("type"), str) for block in value
            )


_TURN: Final = Field("turn", Kind.NUMBER)
_STEP: Final = Field("step", Kind.NUMBER)
_CONTENT: Final = Field("content", Kind.BLOCKS)
_SOURCE: Final = Field("source", Kind.KINDED)


def _surface(message: MessageRule, *shape: Field) -> TypeRule:
    return TypeRule(Role.SURFACE, message, shape)


def _log_only(*shape: Field) -> TypeRule:
    return TypeRule(Role.LOG_ONLY, None, shape)


STANDARD: Final = Vocabulary(
    pmap(
        {
            "user/message": _surface(MessageRule("user"), _CONTENT, _SOURCE),
            "assistant/message": _surface(
                MessageRule("assistant", drop_empty=True),
                _TURN,
                _STEP,
                _CONTENT,
                Field("usage", Kind.OBJECT, optional=True),
            ),
            "tool/result": _surface(
                MessageRule("user", Frame.TOOL_RESULT),
                _TURN,
                _STEP,
                Field("callId", Kind.TEXT),
                _CONTENT,
                Field("isError", Kind.FLAG),
                Field("error", Kind.OBJECT, optional=True),
            ),
            "context/message": _surface(
                MessageRule("user", Frame.TAGGED, "context"), _CONTENT, _SOURCE
            ),
            "steering/message": _surface(
                MessageRule("user", Frame.TAGGED, "steering"), _TURN, _CONTENT, _SOURCE
            ),
            "request/header": TypeRule(
                Role.REQUEST_HEADER,
                None,
                (Field("header", Kind.OBJECT), Field("reason", Kind.TEXT)),
            ),
            "request/header-delta": TypeRule(Role.REQUEST_HEADER),
            "turn/start": _log_only(_TURN, Field("trigger", Kind.KINDED)),
            "turn/end": _log_only(_TURN, Field("reason", Kind.KINDED)),
            "step/start": _log_only(_TURN, _STEP),
            "step/end": _log_only(_TURN, _STEP),
            "prompt/blocked": _log_only(_CONTENT, _SOURCE, Field("reason", Kind.TEXT)),
            "assistant/chunk": _log_only(_TURN, _STEP, Field("chunk", Kind.OBJECT)),
            "tool/call": _log_only(
                _TURN,
                _STEP,
                Field("callId", Kind.TEXT),
                Field("name", Kind.TEXT),
                Field("arguments", Kind.TEXT),
            ),
            "todo/write": _log_only(Field("todos", Kind.LIST)),
            "compact/start": _log_only(_TURN),
            "compact/summary": _log_only(
                Field("shadowedRange", Kind.OBJECT), Field("shadowedSeqs", Kind.LIST)
            ),
            "compact/end": _log_only(_TURN),
        }
    )
)
"""The types of the July format."""
