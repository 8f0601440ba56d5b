"""Watching a law ask: which questions were put, and about which log."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final

from property_specs.conforming.protocol import NotOffered
from property_specs.core import Core, Refused

_KEPT: Final = 12
_HANDLES: Final = 4096


class Watched:
    """A core that keeps the last questions put to it, and the log each was about.

    Sessions and states are handles that only the core looks into, so which log a handle
    stands for is kept beside it.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._logs: dict[int, tuple[Any, list[Any]]] = {}
        self.calls: deque[tuple[str, tuple[Any, ...], Any]] = deque(maxlen=_KEPT)
        self.log: list[Any] | None = None

    def forget(self) -> None:
        """Begin anew, for another case."""
        self._logs.clear()
        self.calls.clear()
        self.log = None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name != "offers" and not hasattr(Core, name):  # hypothesis looks for some names
            raise AttributeError(name)
        try:
            method = getattr(self._core, name)
        except AttributeError:
            if name == "offers":
                raise
            raise NotOffered(name) from None
        if name == "offers":
            return method  # type: ignore[no-any-return]

        def watched(*given: Any, **named: Any) -> Any:
            log = self._log_of(name, given)
            if log is not None:
                self.log = log
            self.calls.append((name, given, _PENDING))
            answer = method(*given, **named)
            self.calls[-1] = (name, given, answer)
            if log is not None and name in _MAKE and not isinstance(answer, Refused):
                if len(self._logs) >= _HANDLES:
                    del self._logs[next(iter(self._logs))]
                self._logs[id(answer)] = (answer, log)
            return answer

        setattr(self, name, watched)
        return watched

    def _known(self, handle: Any) -> list[Any]:
        return self._logs.get(id(handle), (None, []))[1]

    def _log_of(self, name: str, given: tuple[Any, ...]) -> list[Any] | None:
        """The log that a question is about; None when it is about none."""
        if not given:
            return None
        first, more = given[0], given[1:]
        match name:
            case "fold":
                before = self._known(more[0]) if more else []
                return [*before, *first]
            case "step":
                return [*self._known(first), *more]
            case "append":
                return [*self._known(first), {**more[0], "seq": len(self._known(first))}]
            case "extend":
                return [*self._known(first), *more[0]]
            case "at":
                known = self._known(first)
                return known[: more[0] + 1] if _is_in(more[0], known) else known
            case "fork":
                known = self._known(first)
                return known[: more[0] + 1] if more and _is_in(more[0], known) else known
        if isinstance(first, list):
            return first
        return self._logs[id(first)][1] if id(first) in self._logs else None


_MAKE: Final = frozenset({"accept", "strictly", "fold", "step", "append", "extend", "at", "fork"})
_PENDING: Final = "(no answer)"


def _is_in(seq: Any, log: list[Any]) -> bool:
    return type(seq) is int and 0 <= seq < len(log)
