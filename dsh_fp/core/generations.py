"""The released generations of the format, each a vocabulary: the one place that tells them apart.

v0 and v1 differ in name only; so do v1 and v2 apart from where streamed pieces stand. v3 has the
system prompt as the head of the surface, v4 tool results as messages of their own role.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs
from pyrsistent import pmap

from dsh_fp.core.events import RELEASED, Event, HeaderRule
from dsh_fp.core.lossless import AnyJson, JsonObject, json_object, text_of
from dsh_fp.core.rejection import Rejection, header_invalid, node_rule_broken
from dsh_fp.core.surface import Surface, span_of
from dsh_fp.core.vocabulary import Form, Frame, MessageRule, Role, Speaker, TypeRule, Vocabulary


def _record(speaker: Speaker, within: str | None = "message") -> TypeRule:
    rule = MessageRule(speaker, Frame.RECORD, drop_empty=True, within=within)
    return TypeRule(Role.SURFACE, rule)


def fold_released_header(event: Event) -> JsonObject | Rejection:
    """The header that a `request/header` of a released generation puts in force, whole."""
    data = event.data
    header = data.get("header") if isinstance(data, JsonObject) else None
    fault = _header_fault(header)
    if fault is not None:
        return fault.at(seq=event.seq)
    assert isinstance(header, JsonObject)
    kept = {key: header[key] for key in ("config", "system", "tools") if key in header}
    return json_object(
        {key: value for key, value in kept.items() if key == "config" or value not in ("", ())}
    )


def _header_fault(header: AnyJson) -> Rejection | None:
    path = "$.data.header"
    if not isinstance(header, JsonObject):
        return header_invalid(path, "the header is no object")
    if not isinstance(header.get("config"), JsonObject):
        return header_invalid(f"{path}.config", "config is no object")
    if not isinstance(header.get("system", ""), str):
        return header_invalid(f"{path}.system", "system is no string")
    tools = header.get("tools", ())
    named = isinstance(tools, tuple) and all(
        isinstance(tool, dict) and isinstance(tool.get("name"), str) for tool in tools
    )
    return None if named else header_invalid(f"{path}.tools", "tools is no list of named objects")


def _without_content(event: Event) -> str:
    """The text of a result's payload but for the content that pruning may change."""
    data = event.peek_data()
    if not isinstance(data, JsonObject):
        return text_of(data)
    message = data.get("message")
    if not isinstance(message, JsonObject):
        return text_of(data)
    fields = {key: value for key, value in message.items() if key not in ("content", "id")}
    content = message.get("content")
    if message.get("role") != "tool" and isinstance(content, tuple):
        blocks = [dict(block) if isinstance(block, JsonObject) else block for block in content]
        for block in blocks:
            if isinstance(block, dict):
                block.pop("content", None)
        fields["content"] = [
            json_object(block) if isinstance(block, dict) else block for block in blocks
        ]
    return text_of([{key: data[key] for key in data if key not in ("message", "meta")}, fields])


def pruning_changes_content_only(
    surface: Surface, event: Event, vocabulary: Vocabulary
) -> Rejection | None:
    """A result that replaces nodes replaces one result, and only its content."""
    if event.type != "tool/result":
        return None
    span = span_of(surface, event, vocabulary.form)
    if span is None:
        return None
    gone = surface.shadowed(*span)
    replaced = surface.note_of(gone[0])
    if len(gone) != 1 or replaced is None:
        what = "a tool result may only replace one tool result"
        return node_rule_broken(event.seq, what)
    if _without_content(replaced) != _without_content(event):
        what = "a tool result that replaces another may differ from it in content only"
        return node_rule_broken(event.seq, what)
    return None


def system_is_the_head(surface: Surface, event: Event, vocabulary: Vocabulary) -> Rejection | None:
    """The first node is the system's, and only a system message takes its place, alone."""
    seq = event.seq
    if not len(surface):
        if event.type == "system/message":
            return None
        return node_rule_broken(seq, "the first node of the surface is no system message")
    span = span_of(surface, event, vocabulary.form)
    if span is None or span[0] != 0:
        return None
    if event.type == "system/message" and span == (0, 0):
        return None
    return node_rule_broken(seq, "the system's node may only be replaced alone, by the system")


def answer_cites_nothing(
    surface: Surface, event: Event, vocabulary: Vocabulary
) -> Rejection | None:
    """An assistant/message holds its stream, so it has no sources."""
    if event.type == "assistant/message" and event.has_sources:
        return node_rule_broken(event.seq, "an assistant/message has no sources here")
    return None


def _admits_any(event: Event, is_begun: bool) -> bool:
    return True


def _admits_streamed(event: Event, is_begun: bool) -> bool:
    return event.type != "assistant/message" or not event.has_sources


def _admits_headed(event: Event, is_begun: bool) -> bool:
    return (is_begun or event.type == "system/message") and _admits_streamed(event, is_begun)


_COMMON_TYPES: Final = (
    "agent-preset/selected",
    "agent/inbox/spliced",
    "command/done",
    "command/run",
    "compaction/end",
    "compaction/prune",
    "compaction/start",
    "compaction/summary",
    "feedback/record",
    "goal/change",
    "llm/retry",
    "llm/retry-started",
    "model/selection",
    "permission/preset",
    "plan/mode",
    "request/context",
    "sandbox/mode",
    "schedule/change",
    "session-log-deepseek/delivery-accepted",
    "session/end-seed",
    "session/title",
    "session/title-llm-request",
    "step/end",
    "step/start",
    "subagent/descriptor",
    "subagent/model-selection-policy",
    "team/member",
    "team/message/delivered",
    "team/message/queued",
    "team/task",
    "todo/write",
    "tool/call",
    "turn/end",
    "turn/start",
    "web/deepseek-search-llm-request",
)
_V0_TYPES: Final = ("assistant/chunk",)
_V2_TYPES: Final = ("assistant/attempt",)
_V3_TYPES: Final = (
    "assistant/attempt",
    "deliverables/presented",
    "feedback/message-put",
    "feedback/message-delete",
    "subagent/catalog",
    "image/offload",
    "workspace/changes",
)
_V4_TYPES: Final = (*_V3_TYPES, "job/registered", "job/settled", "working-directory/change")


def _vocabulary(surface: dict[str, TypeRule], extra: Iterable[str], form: Form) -> Vocabulary:
    log_only = dict.fromkeys((*_COMMON_TYPES, *extra), TypeRule())
    header = {"request/header": TypeRule(Role.REQUEST_HEADER)}
    return Vocabulary(pmap({**log_only, **header, **surface}), form)


_WRAPPED: Final = {
    "user/message": _record("user", None),
    "assistant/message": _record("assistant"),
    "tool/result": _record("user"),
}
_HEADED: Final = {**_WRAPPED, "system/message": _record("system")}
_ROLED: Final = {
    **_HEADED,
    "tool/result": _record("tool"),
    "developer/message": _record("developer"),
}


_DEPTH: Final = ("delegationDepth",)
_SEEDED: Final = ("isSeeded", "delegationDepth")
_EARLIER_BUILDS: Final = ("sandboxMode", "approvalPolicy")

_V0_FORM: Final = Form(
    generation="v0",
    session_header=HeaderRule(0, _DEPTH, refused=_EARLIER_BUILDS),
    packed=True,
    envelope=RELEASED,
    refuses_unknown=True,
    # Of these only some members are known; a log that holds another is no less genuine.
    families=("approval/", "hook/", "tool/code-dispatch", "tool/ptc-dispatch", "tool-workflow/"),
    may_cite_nothing=frozenset({"assistant/message"}),
    noted=frozenset({"tool/result"}),
    checks=(pruning_changes_content_only,),
    admits_append=_admits_any,
    fold_header=fold_released_header,
    sent_at_output=True,
    outputs=("step/end", "llm/retry", "turn/end"),
)
_V1_FORM: Final = attrs.evolve(
    _V0_FORM,
    generation="v1",
    version=1,
    session_header=HeaderRule(1, _DEPTH, refused=_EARLIER_BUILDS),
)
_V2_FORM: Final = attrs.evolve(
    _V1_FORM,
    generation="v2",
    version=2,
    session_header=HeaderRule(2, _SEEDED, seeded=False, is_closed=True),
    packed=False,
    judges_rows=True,
    inherited_by="isSeeded",
    may_cite_nothing=frozenset(),
    checks=(answer_cites_nothing, pruning_changes_content_only),
    admits_append=_admits_streamed,
)
_V3_FORM: Final = attrs.evolve(
    _V2_FORM,
    generation="v3",
    version=3,
    session_header=HeaderRule(3, _SEEDED, seeded=False, is_closed=True),
    start="startSeq",
    end="endSeq",
    checks=(answer_cites_nothing, system_is_the_head, pruning_changes_content_only),
    admits_append=_admits_headed,
)
_V4_FORM: Final = attrs.evolve(
    _V3_FORM,
    generation="v4",
    version=4,
    session_header=HeaderRule(4, _SEEDED, seeded=False, is_closed=True),
    routes=("messages", "chat"),  # what was migrated into it had been sent by earlier runtimes
)


V0: Final = _vocabulary(_WRAPPED, _V0_TYPES, _V0_FORM)
V1: Final = _vocabulary(_WRAPPED, _V0_TYPES, _V1_FORM)
V2: Final = _vocabulary(_WRAPPED, _V2_TYPES, _V2_FORM)
V3: Final = _vocabulary(_HEADED, _V3_TYPES, _V3_FORM)
V4: Final = _vocabulary(_ROLED, _V4_TYPES, _V4_FORM)
RELEASED_GENERATIONS: Final = (V0, V1, V2, V3, V4)
