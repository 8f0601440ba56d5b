"""Logs with secrets at known places: a template, filled once with secrets and once with marks.

A text is a list of parts, plain ones and numbers of secrets. The model fills it by itself, so
what redaction has to give is known without looking for anything.

Leaves out: secrets that overlap, or that plain text could make up.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

Log = list[dict[str, Any]]
Parts = list[str | int]
HOME = "/home/"

_PLAIN = st.text(alphabet='ab {}[]",:\\\n/0é😀\udc00', max_size=8)
_BODY = st.text(alphabet='xyZ01"\\/\n +é😀', min_size=6, max_size=14)


@dataclass(frozen=True)
class Planted:
    """A session header and a log with secrets, and both as they are to be after redaction."""

    secrets: list[str]
    header: dict[str, Any]
    log: Log
    redacted_header: dict[str, Any]
    redacted_log: Log
    counts: list[int]


@cache
def planted_logs() -> st.SearchStrategy[Planted]:
    """Logs of one turn whose texts hold secrets in every place there is for a text."""
    return st.composite(_planted)()


def _planted(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Planted:
    bodies = draw(st.lists(_BODY, min_size=1, max_size=3))
    secrets = [f"KEY{number}{body}!" for number, body in enumerate(bodies)]
    part = st.integers(0, len(secrets) - 1) | _PLAIN
    texts = {name: draw(st.lists(part, max_size=4)) for name in _TEXTS}
    cuts = draw(st.lists(st.integers(0, 40), max_size=5))
    ascii_only = draw(st.booleans())
    in_key = draw(st.none() | st.integers(0, len(secrets) - 1))
    marks: dict[int, str] = {}
    plain, masked = (
        _Filled(secrets, told, texts, cuts, ascii_only=ascii_only, in_key=in_key)
        for told in (None, marks)
    )
    header, log = plain.session()
    redacted_header, redacted_log = masked.session()
    counts = [0] * len(secrets)
    for number, mark in marks.items():
        counts[number] = json.dumps([redacted_header, redacted_log]).count(mark)
    return Planted(secrets, header, log, redacted_header, redacted_log, counts)


_TEXTS = ("cwd", "system", "tool", "line", "user", "answer", "argument", "result", "nested")


class _Filled:
    """The log of a template, filled with secrets, or with marks that are numbered as they come."""

    def __init__(
        self,
        secrets: list[str],
        marks: dict[int, str] | None,
        texts: dict[str, Parts],
        cuts: list[int],
        *,
        ascii_only: bool,
        in_key: int | None,
    ) -> None:
        self._secrets = secrets
        self._marks = marks
        self._texts = texts
        self._cuts = cuts
        self._ascii_only = ascii_only
        self._in_key = in_key

    def _mark(self, number: int) -> str:
        assert self._marks is not None
        return self._marks.setdefault(number, f"[redacted:value:{len(self._marks) + 1}]")

    def _one(self, number: int) -> str:
        secret = self._secrets[number]
        if self._marks is None:
            return secret
        return self._mark(number) + "\n" * secret.count("\n")

    def text(self, name: str) -> str:
        """A text; a mark keeps the lines of its secret."""
        return "".join(self._one(p) if isinstance(p, int) else p for p in self._texts[name])

    def _inside(self, name: str) -> str:
        """A text that goes into JSON text, where lines are written otherwise."""
        return "".join(
            p if isinstance(p, str) else self._secrets[p] if self._marks is None else self._mark(p)
            for p in self._texts[name]
        )

    def json(self, value: Any) -> str:
        """JSON text inside a string."""
        return json.dumps(value, ensure_ascii=self._ascii_only)

    def pieces(self, name: str) -> list[str]:
        """A text in pieces; a mark stands whole where its secret begins."""
        pieces = [""]
        at = 0
        for part in self._texts[name]:
            whole = part if isinstance(part, str) else self._secrets[part]
            for place, character in enumerate(whole):
                if at in self._cuts:
                    pieces.append("")
                at += 1
                if isinstance(part, str) or self._marks is None:
                    pieces[-1] += character
                else:
                    pieces[-1] += self._mark(part) if place == 0 else ""
                    pieces[-1] += "\n" if character == "\n" else ""
        return pieces

    def session(self) -> tuple[dict[str, Any], Log]:
        """The session header and the log."""
        header = {"id": "planted", "cwd": HOME + self.text("cwd")}
        log: Log = []

        def add(kind: str, data: Any, **marker: Any) -> None:
            log.append({"type": kind, "seq": len(log), "time": 0, "data": data, **marker})

        where = {"turn": 1, "step": 1}
        add("turn/start", {"turn": 1, "trigger": {"kind": "continuation"}})
        add("step/start", where)
        # Marks are numbered as they come, so each text is made where it stands.
        system = f"one\n{self.text('system')}\nlast"
        schema = {"type": "object", "description": self.text("tool")}
        tools = [{"name": "sh", "parameters": schema}]
        config = {"config": {"model": "m"}, "system": system, "tools": tools}
        add("request/header", {"header": config, "reason": "initial"})
        inserted = ["first", *self.text("line").split("\n")]
        change = {"system": {"keepStart": 1, "keepEnd": 1, "insert": inserted}}
        add("request/header-delta", change)
        said = [{"type": "text", "text": self.text("user")}]
        add("user/message", {"content": said, "source": {"kind": "user"}}, surfaceOp="append")
        for piece in self.pieces("answer"):
            chunk = {"type": "text-delta", "index": 0, "text": piece}
            add("assistant/chunk", where | {"chunk": chunk})
        block = {"type": "text", "text": self.text("answer")}
        ended = {"type": "block-end", "index": 0, "block": block}
        add("assistant/chunk", where | {"chunk": ended})
        arguments = self.json({"do": self._inside("argument")})
        call = {"type": "tool-call", "id": "c", "name": "sh", "arguments": arguments}
        add("assistant/message", where | {"content": [block, call]}, surfaceOp="append")
        add("tool/call", where | {"callId": "c", "name": "sh", "arguments": arguments})
        result = {"type": "text", "text": self.text("result")}
        deep = self.json({"deep": self.json([self._inside("nested")])})
        told = [result, {"type": "text", "text": deep}]
        meta = {} if self._in_key is None else {self._one(self._in_key): True}
        outcome = {"callId": "c", "content": told, "isError": False, "meta": meta}
        add("tool/result", where | outcome, surfaceOp="append")
        read: Log = json.loads(json.dumps(log))
        return json.loads(json.dumps(header)), read
