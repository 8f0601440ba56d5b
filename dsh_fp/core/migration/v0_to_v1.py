"""From v0 to v1: older spellings become the one that is left. No seq changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import attrs

from dsh_fp.core.events import SessionHeader
from dsh_fp.core.generations import V0
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_object
from dsh_fp.core.migration.drafts import Draft
from dsh_fp.core.rejection import Rejection, conversion_refused
from dsh_fp.core.vocabulary import Frame, MessageRule, Role, TypeRule, Vocabulary

_RENAMED: Final = MappingProxyType(
    {
        "compact/start": "compaction/start",
        "compact/summary": "compaction/summary",
        "compact/end": "compaction/end",
        "compact/prune": "compaction/prune",
        "steering/message": "user/message",
    }
)
_GONE: Final = frozenset({"request/header-delta", "mode/set"})
_STEERING: Final = TypeRule(
    Role.SURFACE, MessageRule("user", Frame.RECORD, drop_empty=True, within=None)
)

V0_WITH_OLDER_NAMES: Final[Vocabulary] = V0.extend(
    {
        **{name: TypeRule() for name in (*_RENAMED, *_GONE)},
        "steering/message": _STEERING,
    }
)
"""v0 with the types that its earliest builds wrote and later readers do not know any more."""


def header_to_v1(header: SessionHeader) -> SessionHeader:
    """The session header of the same session in v1."""
    return attrs.evolve(header, version=1)


def v0_to_v1(header: SessionHeader, drafts: list[Draft]) -> list[Draft] | Rejection:
    """The drafts in the spelling of v1.

    Errors:  CONVERSION_REFUSED for a type that v1 has not, ignorable or not, and for headers
             that July alone could fold.
    """
    names = _Names(header.id)
    made: list[Draft] = []
    for draft in drafts:
        if draft.type in _GONE:
            return conversion_refused(draft.key, f"v1 has nothing that stands for {draft.type}")
        if not V0_WITH_OLDER_NAMES.knows(draft.type):
            return conversion_refused(draft.key, "its type is not known, so neither is its meaning")
        one = _converted(draft, names)
        if isinstance(one, Rejection):
            return one
        made.append(one)
    return made


class _Names:
    """Ids for what was written without one, each made of the session's and a seq."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.compaction: str | None = None
        self.retry: str | None = None

    def made(self, kind: str, seq: int) -> str:
        return f"legacy-{kind}:{self.session_id}:{seq}"


def _converted(draft: Draft, names: _Names) -> Draft | Rejection:
    kind = _RENAMED.get(draft.type, draft.type)
    if not isinstance(draft.data, JsonObject):
        return attrs.evolve(draft, type=kind)
    data = dict(draft.data)
    if draft.type == "steering/message":
        data = {key: value for key, value in data.items() if key not in ("turn", "step")}
        data.setdefault("role", "user")
    change = _CHANGES.get(kind)
    if change is not None:
        changed = change(data, draft.key, kind, names)
        if isinstance(changed, Rejection):
            return changed
        data = changed
    return attrs.evolve(draft, type=kind, data=json_object(data))


_Fields = dict[str, AnyJson]


def _turn_started(data: _Fields, seq: int, kind: str, names: _Names) -> _Fields:
    return {key: value for key, value in data.items() if key != "trigger"}


def _turn_ended(data: _Fields, seq: int, kind: str, names: _Names) -> _Fields:
    return {**data, "reason": _ending(data["reason"])} if "reason" in data else data


def _header(data: _Fields, seq: int, kind: str, names: _Names) -> _Fields | Rejection:
    if data.get("reason") == "fallback":
        return conversion_refused(seq, "v1 has no request header of a fallback")
    return {**data, "header": _without_prefix(data["header"])} if "header" in data else data


def _queue(data: _Fields, seq: int, kind: str, names: _Names) -> _Fields | Rejection:
    queued = data.get("inserted")
    if isinstance(queued, JsonArray) and not all(map(_has_id, queued)):
        return conversion_refused(seq, "a message of the queue has no id")
    return data


def _compaction(data: _Fields, seq: int, kind: str, names: _Names) -> _Fields:
    if "compactionId" in data:
        return data
    if kind == "compaction/start" or names.compaction is None:
        names.compaction = names.made("compaction", seq)
    return {"compactionId": names.compaction, **data}


def _retry(data: _Fields, seq: int, kind: str, names: _Names) -> _Fields:
    if "retryId" in data:
        names.retry = None
        return data
    is_first = kind == "llm/retry" and data.get("retry") == 1
    if names.retry is None or is_first:
        names.retry = names.made("retry", seq)
    return {"retryId": names.retry, **data}


def _said(data: _Fields, seq: int, kind: str, names: _Names) -> _Fields:
    return _identified(data, seq, names)


def _recorded(data: _Fields, seq: int, kind: str, names: _Names) -> _Fields:
    message = data.get("message")
    if not isinstance(message, JsonObject):
        return data
    return {**data, "message": json_object(_identified(dict(message), seq, names))}


_Change = Callable[[_Fields, int, str, _Names], _Fields | Rejection]
_CHANGES: Final[Mapping[str, _Change]] = MappingProxyType(
    {
        "turn/start": _turn_started,
        "turn/end": _turn_ended,
        "request/header": _header,
        "agent/inbox/spliced": _queue,
        "compaction/start": _compaction,
        "compaction/summary": _compaction,
        "compaction/end": _compaction,
        "llm/retry": _retry,
        "llm/retry-started": _retry,
        "user/message": _said,
        "assistant/message": _recorded,
        "tool/result": _recorded,
    }
)


def _ending(reason: AnyJson) -> AnyJson:
    """The reason of a turn's end as it is written now."""
    if not isinstance(reason, JsonObject):
        return reason
    kind = reason.get("kind")
    if kind == "aborted" and not isinstance(reason.get("reason"), JsonObject):
        return json_object({"kind": "aborted", "reason": json_object({"kind": "legacy"})})
    if kind == "disposed":
        return json_object({"kind": "aborted", "reason": json_object({"kind": "disposed"})})
    if kind == "error" and "error" not in reason:
        flat = {key: reason[key] for key in ("message", "code", "status") if key in reason}
        return json_object({"kind": "error", "error": json_object(flat)})
    return reason


def _without_prefix(header: AnyJson) -> AnyJson:
    if not isinstance(header, JsonObject) or "messagePrefix" not in header:
        return header
    return json_object({key: header[key] for key in header if key != "messagePrefix"})


def _has_id(message: AnyJson) -> bool:
    return isinstance(message, JsonObject) and isinstance(message.get("id"), str)


def _identified(message: dict[str, AnyJson], seq: int, names: _Names) -> dict[str, AnyJson]:
    return message if "id" in message else {**message, "id": names.made("message", seq)}
