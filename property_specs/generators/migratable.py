"""Logs of v0 to v3 that can be carried on, with what each step sent, told while they are made.

Leaves out: what a step of the way refuses; spellings that only one of the steps mends.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

Wire = dict[str, Any]
Request = tuple[str, str, list[str], list[tuple[str, str]]]
"""Model, system text, names of tools, and the messages as role and text."""

_TEXTS = st.sampled_from(["a", "Sow", "\u2028", "\U0001f331", "\ud800", '"\\'])


@cache
def turns() -> st.SearchStrategy[list[Wire]]:
    """What happens in each of a few turns."""
    turn = st.fixed_dictionaries(
        {
            "said": st.lists(_TEXTS, max_size=2),
            "is_late": st.booleans(),  # whether the header comes after what was said
            "system": st.sampled_from(["", "Be brief.", "Be kind."]),
            "tools": st.lists(st.sampled_from(["dig", "sow"]), unique=True, max_size=2),
            "lost": st.lists(_TEXTS, max_size=4),  # streamed, then tried again
            "pieces": st.lists(_TEXTS, max_size=4),
            "calls": st.integers(0, 2),
            "shortens": st.booleans(),
        }
    )
    return st.lists(turn, max_size=4)


def migratable(version: int, script: list[Wire]) -> tuple[list[Wire], list[Request]]:
    """The events of a script in one generation, and the requests that it stands for."""
    log = _Log(version)
    for number, turn in enumerate(script, start=1):
        log.take(number, turn)
    return log.events, log.requests


class _Log:
    def __init__(self, version: int) -> None:
        self.version = version
        self.events: list[Wire] = []
        self.requests: list[Request] = []
        self.nodes: list[tuple[int, str, str]] = []  # seq, role and text
        self.head: int | None = None
        self.system: str | None = None
        self.tools: list[str] | None = None

    def add(self, kind: str, data: Any, **more: Any) -> int:
        seq = len(self.events)
        self.events.append({"type": kind, "seq": seq, "time": 9 * seq, "data": data, **more})
        return seq

    def take(self, number: int, turn: Wire) -> None:
        place = {"turn": number, "step": 1}
        self.add("turn/start", {"turn": number})
        self.add("step/start", place)
        if self.version >= 3:
            self.put_system(place, turn["system"])
        if not turn["is_late"]:
            self.put_header(turn)
        for said in turn["said"]:
            self.say(said)
        self.put_header(turn)
        messages = [(role, text) for _, role, text in self.nodes if text]
        self.requests.append(("m-1", turn["system"], turn["tools"], messages))
        if turn["lost"]:
            self.lose(place, turn["lost"])
            self.add("llm/retry", {**place, "retryId": "r", "retry": 1, "provider": "p"})
        self.answer(place, turn["pieces"], turn["calls"])
        self.add("step/end", place)
        self.add("turn/end", {"turn": number, "reason": {"kind": "completed"}})
        if turn["shortens"] and self.nodes:
            self.shorten()

    def put_system(self, place: Wire, text: str) -> None:
        if text == self.system and self.head is not None:
            return
        content = [{"type": "text", "text": text}] if text else []
        source = {"kind": "plugin", "plugin": "p"}
        message = {"role": "system", "content": content, "source": source, "id": "m"}
        data = {**place, "message": message}
        if self.head is None:
            self.head = self.add("system/message", data, surfaceOp="append")
            return
        op = {"op": "replace", "startSeq": self.head, "endSeq": self.head}
        self.head = self.add("system/message", data, sourceEventSeqs=[self.head], surfaceOp=op)

    def put_header(self, turn: Wire) -> None:
        if (turn["system"], turn["tools"]) == (self.system, self.tools):
            return
        self.system, self.tools = turn["system"], turn["tools"]
        header: Wire = {"config": {"provider": "p", "model": "m-1"}}
        if self.version < 3 and self.system:
            header["system"] = self.system
        if self.tools or self.version < 3:
            header["tools"] = [{"name": name, "parameters": {}} for name in self.tools]
        self.add("request/header", {"header": header, "reason": "change"})

    def say(self, text: str, **more: Any) -> int:
        content = [{"type": "text", "text": text}]
        data = {"role": "user", "content": content, "source": {"kind": "user"}, "id": "m"}
        seq = self.add("user/message", data, **(more or {"surfaceOp": "append"}))
        if not more:
            self.nodes.append((seq, "user", text))
        return seq

    def stream(self, place: Wire, pieces: list[str]) -> tuple[list[int], list[Wire]]:
        """The seqs of the pieces, or their records, as the generation has them."""
        if self.version >= 2:
            gaps = [1] * (len(pieces) - 1)
            record = {"type": "text-chunks", "time0": 0, "index": 0, "dt": gaps, "texts": pieces}
            return [], [record] if pieces else []
        chunks = [{"type": "text-delta", "index": 0, "text": piece} for piece in pieces]
        return [self.add("assistant/chunk", {**place, "chunk": chunk}) for chunk in chunks], []

    def lose(self, place: Wire, pieces: list[str]) -> None:
        _, records = self.stream(place, pieces)
        if self.version >= 2:
            self.add("assistant/attempt", {**place, "stream": records})

    def answer(self, place: Wire, pieces: list[str], calls: int) -> None:
        cited, records = self.stream(place, pieces)
        ids = [f"c-{place['turn']}-{number}" for number in range(calls)]
        text = "".join(pieces)
        content: list[Wire] = [{"type": "text", "text": text}] if pieces else []
        content += [{"type": "tool-call", "id": i, "name": "dig", "arguments": "{}"} for i in ids]
        source = {"kind": "model", "provider": "p", "model": "m-1"}
        message = {"role": "assistant", "content": content, "source": source, "id": "m"}
        data: Wire = {**place, "message": message}
        if self.version >= 2:
            data["stream"] = records
        sources = {"sourceEventSeqs": cited} if cited else {}
        seq = self.add("assistant/message", data, **sources, surfaceOp="append")
        self.nodes.append((seq, "assistant", text + "".join(ids)))
        for call_id in ids:
            data = {**place, "callId": call_id, "name": "dig", "arguments": "{}"}
            call = self.add("tool/call", data)
            inner = [{"type": "text", "text": "done"}]
            block = {"type": "tool-result", "toolCallId": call_id, "content": inner}
            source = {"kind": "tool", "callId": call_id}
            message = {"role": "user", "source": source, "content": [block], "id": "m"}
            seq = self.add(
                "tool/result",
                {**place, "message": message},
                sourceEventSeqs=[call],
                surfaceOp="append",
            )
            self.nodes.append((seq, "tool", f"{call_id}done"))

    def shorten(self) -> None:
        """Put one message in place of all that was said."""
        seqs = [seq for seq, _, _ in self.nodes]
        start, end = ("startSeq", "endSeq") if self.version >= 3 else ("start", "end")
        op = {"op": "replace", start: seqs[0], end: seqs[-1]}
        seq = self.say("short", sourceEventSeqs=seqs, surfaceOp=op)
        self.nodes = [(seq, "user", "short")]


def sent(request: Wire) -> Request:
    """A request of any generation as the script tells it."""
    system = request.get("system", "")
    messages: list[tuple[str, str]] = []
    for message in request["messages"]:
        if message["role"] == "system":
            system = "".join(block["text"] for block in message["content"])
            continue
        role, content = message["role"], message["content"]
        text = message.get("toolCallId", "")
        if content and content[0]["type"] == "tool-result":
            role, text, content = "tool", content[0]["toolCallId"], content[0]["content"]
        text += "".join(block.get("text", block.get("id", "")) for block in content)
        messages.append((role, text))
    tools = [tool["name"] for tool in request.get("tools", ())]
    return request["model"], system, tools, messages
