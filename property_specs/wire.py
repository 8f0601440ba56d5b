"""What the laws ask about provider bodies, and how this library answers."""

from __future__ import annotations

import json
from typing import Any, Protocol

import dsh_fp
from dsh_fp import Session
from dsh_fp.core.json_paths import Step
from dsh_fp.wire.captures import Capture, Place
from dsh_fp.wire.chat_completions import ChatBodies, ChatRules, encode_chat_body
from dsh_fp.wire.compaction import content_text
from dsh_fp.wire.expected import expected_requests
from dsh_fp.wire.exports import export_anthropic, export_openai
from dsh_fp.wire.matching import match_captures
from dsh_fp.wire.messages_api import MessagesBodies, Series, Setting


class Wires(Protocol):
    """Bodies of requests, and captured ones judged."""

    def chat_body(self, request: Any, options: dict[str, str]) -> str:
        """The text of the chat-completions body of a request."""
        ...

    def chat_owner(self, request: Any, steps: tuple[Step, ...]) -> list[Step] | None:
        """Where in the request the value at a path of its body comes from."""
        ...

    def released_chat_body(self, request: Any, *, every_reasoning: bool) -> str:
        """The text of the chat-completions body of a released generation's request."""
        ...

    def messages_body(self, case: Any) -> str:
        """The text of the Messages-API body of a request in its setting."""
        ...

    def transcript_text(self, content: Any) -> str:
        """A content list as it stands in a compaction's transcript."""
        ...

    def exported(self, request: Any, provider: str) -> dict[str, Any]:
        """`body` and `left_out` of a request as another provider takes it."""
        ...

    def sent_bodies(self, session: Any) -> list[dict[str, Any]]:
        """Of each request a session says it made: its `seq` and its `body`."""
        ...

    def check_wire(self, session: Any, bodies: list[Any]) -> list[dict[str, Any]]:
        """A verdict on each captured body."""
        ...


class DshFpWires:
    """This library's answers."""

    def chat_body(self, request: Any, options: dict[str, str]) -> str:
        return dsh_fp.to_text(encode_chat_body(_frozen(request), **options).body)

    def chat_owner(self, request: Any, steps: tuple[Step, ...]) -> list[Step] | None:
        found = encode_chat_body(_frozen(request)).request_steps(steps)
        return None if found is None else list(found)

    def released_chat_body(self, request: Any, *, every_reasoning: bool) -> str:
        rules = ChatRules(released=True, every_reasoning=every_reasoning)
        return dsh_fp.to_text(ChatBodies(rules).encode(_frozen(request), {}).body)

    def messages_body(self, case: Any) -> str:
        changes = {place: _frozen(added) for place, added in case["changes"].items()}
        series = Series(_frozen({"tools": case["first"]})["tools"], changes)
        setting = Setting(case["in_history"], case["updates"], series)
        return dsh_fp.to_text(MessagesBodies().encode(_frozen(case["request"]), setting).body)

    def transcript_text(self, content: Any) -> str:
        return content_text(_frozen({"content": content})["content"])

    def exported(self, request: Any, provider: str) -> dict[str, Any]:
        export = {"openai": export_openai, "anthropic": export_anthropic}[provider]
        made = export(_frozen(request))
        return {"body": dsh_fp.thaw(made.body), "left_out": list(made.left_out)}

    def sent_bodies(self, session: Session) -> list[dict[str, Any]]:
        return [
            {"seq": one.seq, "body": dsh_fp.thaw(one.encoding.body({}))}
            for one in expected_requests(session)
            if one.encoding is not None
        ]

    def check_wire(self, session: Session, bodies: list[Any]) -> list[dict[str, Any]]:
        captures = [Capture(Place("c"), _frozen(body)) for body in bodies]
        matched = match_captures([expected_requests(session)], captures)
        return [
            {
                "verdict": one.verdict,
                "seq": None if one.expected is None else one.expected.seq,
                "steps": None if one.difference is None else list(one.difference.steps),
                "kind": None if one.difference is None else one.difference.kind,
                "event": None if one.event is None else one.event.seq,
                "repeat": one.repeat,
            }
            for one in matched.verdicts
        ]


def _frozen(value: Any) -> Any:
    return dsh_fp.unwrap(dsh_fp.parse(json.dumps(value)))
