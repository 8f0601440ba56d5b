"""What every family asks the library for: events, sessions, prefixes, codes, digests.

The library is reached through its public names only, looked up when used, so that a name which
does not exist fails the case that needs it and no other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
from returns.result import Failure, Result

import dsh_fp
from tests.conformance.comparing import Facts

Case: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = tuple[str, Mapping[str, Any]]  # the route taken, and what it answered


@attrs.frozen
class Family:
    """One family of vectors: what a case must carry, what is asked, what is compared.

    `ask` may give several answers, one for each route through the library that must agree.
    """

    name: str
    needs: Callable[[Case], Iterable[str]]
    answers: frozenset[str]
    ask: Callable[[Case], Iterator[Answer]]
    expect: Callable[[Case], Mapping[str, Any]] | None = None

    def expected(self, case: Case) -> Mapping[str, Any]:
        """The part of a case that the answers are compared with."""
        if self.expect is not None:
            return self.expect(case)
        return Facts({key: value for key, value in case.items() if key in self.answers})


def must(result: Result[Any, Any]) -> Any:
    """The value of a result that the case takes for granted; else raises with the rejection."""
    return dsh_fp.unwrap(result)


def code_of(rejection: Any) -> str:
    """A rejection's code as text."""
    return str(rejection.code)


def told(
    result: Result[Any, Any], key: str, view: Callable[[Any], Any] = lambda value: value
) -> Facts:
    """`{key: value}` of a success, `{code}` of a failure."""
    if isinstance(result, Failure):
        return Facts(code=code_of(result.failure()))
    return Facts({key: view(result.unwrap())})


def true_or_code(result: Result[Any, Any]) -> bool | str:
    """True for a success, else the code."""
    return code_of(result.failure()) if isinstance(result, Failure) else True


def frozen(value: Any) -> Any:
    """A plain value as one of the library's own."""
    return must(dsh_fp.snapshot(value))


def events_of(wires: Sequence[Any]) -> list[Any]:
    """Wire events as the library's."""
    return [must(dsh_fp.decode_event(wire)) for wire in wires]


def session_of(events: Sequence[Any]) -> Any:
    """A new session seeded with wire events or the library's own."""
    return must(dsh_fp.Session.create(seed=tuple(events)))


def prefix_of(session: Any, length: int) -> Any:
    """The session through its first `length` events."""
    return must(session.at(length - 1)) if length else session_of(())


def text_sha256(value: Any) -> str:
    """The digest of a value's JSON text."""
    return hashlib.sha256(dsh_fp.to_text(value).encode("utf-8")).hexdigest()
