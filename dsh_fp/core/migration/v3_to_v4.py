"""From v3 to v4: tool results get a role of their own, sources the kind of who made them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import attrs

from dsh_fp.core.events import SessionHeader
from dsh_fp.core.generations import V3, V4
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, json_object
from dsh_fp.core.migration.closing import with_turns_closed
from dsh_fp.core.migration.drafts import Draft, fields_of
from dsh_fp.core.migration.messages import with_messages
from dsh_fp.core.rejection import Rejection, conversion_refused

_KINDS: Final = MappingProxyType(
    {
        "compact": "compact-checkpoint",
        "tools-code-mode": "ptc-mode",
        "tools-ptc": "ptc-mode",
        "dsh-compaction-basic": "compact-basic",
    }
)
_PROMPT: Final = "@deepseek-ai/dsh-system-prompt"
_FIRST_PARTY: Final = frozenset(
    {
        "agent-instructions",
        "agent-message",
        "goal",
        "skill-catalog",
        "subagent-settled",
        "tool-registry",
        "working-directory",
    }
)
_BLOCKS: Final = frozenset({"text", "reasoning", "image", "file", "tool-call", "tool-result"})
_WRAPPER: Final = frozenset({"role", "source", "content", "id"})
_RESULT: Final = frozenset({"type", "toolCallId", "content", "isError"})
_STREAMED: Final = frozenset({"assistant/message", "assistant/attempt"})


def header_to_v4(header: SessionHeader) -> SessionHeader:
    """The session header of the same session in v4."""
    return attrs.evolve(header, version=4)


def v3_to_v4(header: SessionHeader, drafts: list[Draft]) -> list[Draft] | Rejection:
    """The drafts with results, sources and strangers' blocks as v4 has them.

    Errors:  CONVERSION_REFUSED for tools whose loading is deferred, for results that are not
             one block, and for blocks of results elsewhere.
    """
    del header
    made: list[Draft] = []
    for draft in with_turns_closed(drafts, fresh=len(drafts)):
        one = _converted(draft)
        if isinstance(one, Rejection):
            return one
        made.append(one)
    return made


def _converted(draft: Draft) -> Draft | Rejection:
    kind, data = draft.type, draft.data
    if not V3.knows(kind):
        if not draft.is_ignorable:
            return conversion_refused(draft.key, "its type is not known, and it says it is needed")
        named = kind if kind.startswith("plugin:") or V4.knows(kind) else f"plugin:{kind}"
        return attrs.evolve(draft, type=named)
    if kind == "request/header" and _defers(data):
        return conversion_refused(draft.key, "a tool's loading is deferred, as only v4 may ask")
    if kind == "tool/result":
        result = _result(draft)
        if isinstance(result, Rejection):
            return result
        data = result
    faults: list[str] = []

    def changed(message: JsonObject) -> JsonObject:
        parts = dict(message)
        if isinstance(message.get("source"), JsonObject):
            parts["source"] = _source(message["source"], message.get("role"))
        if "content" in message:
            parts["content"] = _blocks(message["content"])
            if _has_result(message["content"]):
                faults.append("a message holds a tool's result beside its own event")
        return json_object(parts)

    data = with_messages(kind, data, changed)
    if faults:
        return conversion_refused(draft.key, faults[0])
    return attrs.evolve(draft, data=_inner(kind, data))


def _defers(data: AnyJson) -> bool:
    tools = fields_of(fields_of(data).get("header")).get("tools")
    return isinstance(tools, JsonArray) and any("deferLoading" in fields_of(tool) for tool in tools)


def _result(draft: Draft) -> JsonObject | Rejection:
    """The payload of a result with its message taken out of the wrapper."""
    data = fields_of(draft.data)
    message = fields_of(data.get("message"))
    content = message.get("content")
    block = content[0] if isinstance(content, JsonArray) and len(content) == 1 else None
    source = fields_of(message.get("source"))
    if not isinstance(block, JsonObject) or block.get("type") != "tool-result":
        return conversion_refused(draft.key, "its message is not one block of a result")
    if source.get("callId") != block.get("toolCallId"):
        return conversion_refused(draft.key, "its message and its block name two calls")
    made: dict[str, AnyJson] = {
        "role": "tool",
        "source": message.get("source"),
        "toolCallId": block["toolCallId"],
        "content": block.get("content"),
    }
    if "isError" in block:
        made["isError"] = block["isError"]
    if "id" in message:
        made["id"] = message["id"]
    made |= {f"plugin:message:{key}": v for key, v in message.items() if key not in _WRAPPER}
    made |= {f"plugin:result:{key}": v for key, v in block.items() if key not in _RESULT}
    return json_object({**data, "message": json_object(made)})


def _source(source: JsonObject, role: AnyJson) -> JsonObject:
    if source.get("kind") != "plugin" or not isinstance(source.get("plugin"), str):
        return source
    name = source["plugin"]
    if name == _PROMPT:
        kind = "system-prompt" if role == "system" else "runtime-context"
    elif name in _FIRST_PARTY:
        kind = name
    else:
        kind = _KINDS.get(name, f"plugin:{name}")
    rest = {key: value for key, value in source.items() if key not in ("kind", "plugin")}
    return json_object({"kind": kind, **rest})


def _blocks(content: AnyJson) -> AnyJson:
    if not isinstance(content, JsonArray):
        return content
    return json_array(_block(block) for block in content)


def _block(block: AnyJson) -> AnyJson:
    """A block, a stranger's under the name that v4 keeps for strangers."""
    kind = block.get("type") if isinstance(block, JsonObject) else None
    if not isinstance(kind, str):
        return block
    return block if kind in _BLOCKS else json_object({**block, "type": block_name(kind)})


def block_name(kind: str) -> str:
    """What a block of a type is called in v4."""
    return kind if kind in _BLOCKS or kind.startswith("plugin:") else f"plugin:{kind}"


def _has_result(content: AnyJson) -> bool:
    return isinstance(content, JsonArray) and any(
        fields_of(block).get("type") == "tool-result" for block in content
    )


def _inner(kind: str, data: AnyJson) -> AnyJson:
    """A payload with the blocks renamed that stand elsewhere than in messages."""
    if not isinstance(data, JsonObject):
        return data
    if kind in _STREAMED and isinstance(data.get("stream"), JsonArray):
        return json_object({**data, "stream": json_array(map(_streamed, data["stream"]))})
    if kind == "compaction/summary":
        parts = {k: _blocks(v) if k in ("summary", "rawOutput") else v for k, v in data.items()}
        return json_object(parts)
    return data


def _streamed(record: AnyJson) -> AnyJson:
    chunk = fields_of(record).get("chunk")
    if not isinstance(record, JsonObject) or not isinstance(chunk, JsonObject):
        return record
    parts = dict(chunk)
    if "block" in parts:
        parts["block"] = _block(parts["block"])
    if isinstance(parts.get("blockType"), str):
        parts["blockType"] = block_name(parts["blockType"])
    return json_object({**record, "chunk": json_object(parts)})
