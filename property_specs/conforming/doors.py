"""Doors: the ways to put a question to an implementation."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Final, Protocol

from property_specs.conforming.protocol import (
    OPERATIONS,
    REFUSAL_DATA,
    REQUEST_TEXTS,
    NotOffered,
    Senseless,
    checked_capabilities,
    refused_of,
)
from property_specs.core import Core, Refused

Arguments = Mapping[str, Any]


class Unusable(Exception):
    """The implementation cannot be judged at all; says why."""


class BadAnswer(AssertionError):
    """What came back is no answer: an exception, garbage, silence, the end of the process."""


class Door(Protocol):
    """One way to an implementation."""

    name: str
    kind: str
    capabilities: frozenset[str]

    def ask(self, operation: str, arguments: Arguments) -> Any:
        """The answer, plain or Refused; NotOffered, or BadAnswer."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class ObjectDoor:
    """A Python object with a method for each operation it offers.

    A method takes its arguments by position as `protocol.OPERATIONS` lists them, a session
    header and other optional ones by name and only if it names them, and answers plain JSON
    values; a refusal is `{"refused": {"code", ...}}`.
    """

    kind: str = "python"

    def __init__(self, made: Any, name: str) -> None:
        self.name = name
        self._made = made
        claimed = getattr(made, "capabilities", None)
        if callable(claimed):
            claimed = claimed()
        if claimed is None:
            claimed = [name for name in OPERATIONS if callable(getattr(made, name, None))]
        try:
            self.capabilities = checked_capabilities(claimed)
        except Senseless as fault:
            raise Unusable(f"{name}: {fault}") from None
        for operation in self.capabilities & set(OPERATIONS):
            if not callable(getattr(made, operation, None)):
                raise Unusable(f"{name}: it claims {operation!r} and has no such method")

    def ask(self, operation: str, arguments: Arguments) -> Any:
        """The answer of the method."""
        if operation not in self.capabilities:
            raise NotOffered(operation)
        method = getattr(self._made, operation)
        spec = OPERATIONS[operation]
        given = [arguments[name] for name in spec.parameters]
        named = {
            name: arguments[name]
            for name in spec.optional
            if name in arguments and _takes(method, name)
        }
        if "boundary" in arguments and "boundary" not in named:
            raise NotOffered(f"{operation} with a boundary")
        try:
            answer = method(*given, **named)
        except Exception as fault:  # whatever a stranger's code raises is its answer
            raise BadAnswer(f"{operation} raised {type(fault).__name__}: {fault}") from fault
        if isinstance(answer, dict) and list(answer) == ["refused"]:
            try:
                return refused_of(answer["refused"])
            except Senseless as fault:
                raise BadAnswer(f"{operation} answered no refusal: {fault}") from None
        return answer

    def close(self) -> None:
        """Nothing to let go of."""


def _takes(method: Any, name: str) -> bool:
    try:
        parameters = inspect.signature(method).parameters
    except (TypeError, ValueError):
        return True
    every = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    return every or name in parameters


class WideDoor:
    """An implementation of the whole `Core` protocol, asked the questions of the small one."""

    kind: str = "python"

    def __init__(self, core: Core, name: str) -> None:
        self.name = name
        self.core = core
        self.capabilities = frozenset(
            [
                *(name for name in OPERATIONS if hasattr(core, _method(name))),
                REQUEST_TEXTS,
                REFUSAL_DATA,
            ]
        )

    def ask(self, operation: str, arguments: Arguments) -> Any:
        """The answer of the core's own methods."""
        if operation not in self.capabilities:
            raise NotOffered(operation)
        core, spec = self.core, OPERATIONS[operation]
        if not spec.of_session:
            return self._plain(operation, arguments)
        session = core.accept(arguments["log"], arguments.get("header"))
        if isinstance(session, Refused):
            return session
        if operation == "accept":
            return {"length": len(core.events(session))}
        if operation == "surface":
            surface = core.surface(session)
            seqs = [node["seq"] for node in surface["nodes"]]
            return {"seqs": seqs, "generation": surface["generation"]}
        if operation == "fork":
            boundary = [arguments["boundary"]] if "boundary" in arguments else []
            child = core.fork(session, *boundary)
            if isinstance(child, Refused):
                return child
            return {"header": core.header_of(child), "length": len(core.events(child))}
        more = [arguments[name] for name in spec.parameters[1:]]
        return getattr(core, _method(operation))(session, *more)

    def _plain(self, operation: str, arguments: Arguments) -> Any:
        if operation == "next_header_event":
            prev, next, first = (arguments[name] for name in ("prev", "next", "first"))
            return self.core.next_header_event(prev, next, first=first)
        if operation == "strictly":
            session = self.core.strictly(arguments["log"])
            refused = isinstance(session, Refused)
            return session if refused else {"length": len(self.core.events(session))}
        return getattr(self.core, operation)(*arguments.values())

    def close(self) -> None:
        """Nothing to let go of."""


_RENAMED: Final = {"header": "request_header"}


def _method(operation: str) -> str:
    return _RENAMED.get(operation, operation)
