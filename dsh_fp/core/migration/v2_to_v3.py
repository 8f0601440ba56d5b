"""From v2 to v3: the system's text becomes the first node of the surface."""

from __future__ import annotations

from hashlib import sha256
from types import MappingProxyType
from typing import Final

import attrs

from dsh_fp.core.events import SessionHeader
from dsh_fp.core.lossless import AnyJson, JsonObject, json_array, json_object, text_of
from dsh_fp.core.migration.drafts import Draft, fields_of
from dsh_fp.core.migration.messages import with_sources
from dsh_fp.core.rejection import Rejection, conversion_refused

_RENAMED: Final = MappingProxyType({"start": "startSeq", "end": "endSeq"})
_PLUGINS: Final = MappingProxyType({"tools-code-mode": "tools-ptc"})
_CODE: Final = "tool/code-dispatch"
_PRODUCER: Final = json_object({"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"})
_STEP: Final = "session-format-v2-to-v3"
_EMPTY: Final = frozenset({"tools", "adapterDefaults"})


def header_to_v3(header: SessionHeader) -> SessionHeader:
    """The session header of the same session in v3."""
    extra = {key: "ptc" if _is_code(key, value) else value for key, value in header.extra.items()}
    return attrs.evolve(header, version=3, extra=json_object(extra))


def _is_code(key: str, value: AnyJson) -> bool:
    return key in ("agentPreset", "preset") and value == "code"


def v2_to_v3(header: SessionHeader, drafts: list[Draft]) -> list[Draft] | Rejection:
    """The drafts with a system message at the head, and what v3 calls otherwise.

    Errors:  CONVERSION_REFUSED for a node before the first step, and for a change of the
             system's text outside a step.
    """
    head = _Head(header.id, fresh=len(drafts))
    made: list[Draft] = []
    for draft in drafts:
        one = _renamed(draft)
        if draft.type == "step/start":
            made += [one, *head.step_started(one)]
            continue
        if draft.type in ("step/end", "turn/end"):
            head.step = None
        if draft.op is not None and head.key is None:
            what = "a message stands before the first step, so the system cannot come first"
            return conversion_refused(draft.key, what)
        if draft.type == "request/header":
            before = head.header_came(one)
            if isinstance(before, Rejection):
                return before
            made += before
            one = _without_system(one)
        made.append(one)
    return made


class _Head:
    """The system's node as it is so far: its key and the text in force."""

    def __init__(self, session_id: str, fresh: int) -> None:
        self.session_id = session_id
        self.fresh = fresh
        self.key: int | None = None
        self.text = ""
        self.step: tuple[AnyJson, AnyJson] | None = None

    def step_started(self, draft: Draft) -> list[Draft]:
        data = fields_of(draft.data)
        self.step = data.get("turn"), data.get("step")
        return [self.node(draft)] if self.key is None else []

    def header_came(self, draft: Draft) -> list[Draft] | Rejection:
        header = fields_of(draft.data).get("header")
        text = fields_of(header).get("system", "")
        if text == self.text:
            return []
        if not isinstance(text, str):
            return conversion_refused(draft.key, "the system of its header is no text")
        if self.step is None or self.key is None:
            return conversion_refused(draft.key, "the system's text changes outside a step")
        self.text = text
        return [self.node(draft)]

    def node(self, anchor: Draft) -> Draft:
        """The system's text in force as a message, in place of the one before it."""
        assert self.step is not None
        turn, step = self.step
        named = (_STEP, self.session_id, anchor.key, anchor.type)
        name = sha256(text_of(json_array(named)).encode()).hexdigest()
        blocks = [json_object({"type": "text", "text": self.text})] if self.text else []
        message = {
            "id": f"v2-to-v3-system-{name}",
            "role": "system",
            "source": _PRODUCER,
            "content": json_array(blocks),
        }
        data = json_object({"turn": turn, "step": step, "message": json_object(message)})
        before, self.key = self.key, self.fresh
        self.fresh += 1
        if before is None:
            return Draft(self.key, "system/message", anchor.time, data, op="append")
        place = {"op": "replace", "startSeq": before, "endSeq": before}
        op = json_object(place)
        return Draft(self.key, "system/message", anchor.time, data, (before,), op, is_op_first=True)


def _renamed(draft: Draft) -> Draft:
    kind, op, data = draft.type, draft.op, draft.data
    if kind.startswith(_CODE):
        kind = "tool/ptc-dispatch" + kind.removeprefix(_CODE)
    if isinstance(op, JsonObject):
        op = json_object({_RENAMED.get(key, key): value for key, value in op.items()})
    if kind == "agent-preset/selected":
        chosen = fields_of(data)
        data = json_object(
            {key: "ptc" if _is_code(key, value) else value for key, value in chosen.items()}
        )
    data = with_sources(kind, data, _source)
    return attrs.evolve(draft, type=kind, op=op, data=data)


def _source(source: JsonObject, role: AnyJson) -> JsonObject:
    del role
    name = source.get("plugin")
    if source.get("kind") != "plugin" or not isinstance(name, str) or name not in _PLUGINS:
        return source
    return json_object({**source, "plugin": _PLUGINS[name]})


def _without_system(draft: Draft) -> Draft:
    data = fields_of(draft.data)
    header = fields_of(data.get("header"))
    kept = {
        key: value
        for key, value in header.items()
        if key != "system" and not (key in _EMPTY and not value)
    }
    return draft.with_data({**data, "header": json_object(kept)})
