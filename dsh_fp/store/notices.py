"""Who is told what happens to live sessions, and what becomes of their failures."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable, Generator, Hashable
from typing import Any, Final, Literal, get_args

import attrs

from dsh_fp.rejected import Rejected
from dsh_fp.store.lifecycle import Notice

logger: Final = logging.getLogger("dsh_fp.store")

Listener = Callable[..., Any]


@attrs.frozen
class Contained:
    """A failure that reached nobody: of a listener, its awaitable, or a disposal's gate."""

    notice: Notice
    how: Literal["threw", "rejected", "gate"]
    session_id: str
    error: BaseException


def log_contained(failure: Contained) -> None:
    """Write a contained failure to the logger `dsh_fp.store`.

    A Rejection says all there is to say in one line; other exceptions bring their traceback.
    """
    logger.warning(
        "%s: a listener of session %r failed (%s): %s",
        failure.notice,
        failure.session_id,
        failure.how,
        failure.error,
        exc_info=None if isinstance(failure.error, Rejected) else failure.error,
    )


@attrs.frozen
class Registration:
    """One listener or gate of a notice, for one scope or for all."""

    listener: Listener
    scope: Hashable


class Listeners:
    """The listeners and gates of a store, by notice, in order of registration."""

    def __init__(self, report: Callable[[Contained], None]) -> None:
        self._report = report
        self._lock = threading.Lock()
        self._listeners: dict[Notice, tuple[Registration, ...]] = {}
        self._gates: dict[Notice, tuple[Registration, ...]] = {}
        self._tasks: set[asyncio.Future[Any]] = set()  # kept, or the loop would lose them

    def add(
        self, notice: Notice, listener: Listener, scope: Hashable, *, gate: bool
    ) -> Callable[[], None]:
        """Register a listener; the answer takes it back."""
        if notice not in get_args(Notice):
            raise TypeError(f"a notice is one of {', '.join(get_args(Notice))}, not {notice!r}")
        registration = Registration(listener, scope)
        registered = self._gates if gate else self._listeners
        with self._lock:
            registered[notice] = (*registered.get(notice, ()), registration)

        def off() -> None:
            with self._lock:
                kept = (one for one in registered[notice] if one is not registration)
                registered[notice] = tuple(kept)

        return off

    def of(self, notice: Notice, scope: Hashable) -> list[Listener]:
        """The listeners that hear a notice in a scope."""
        return _heard(self._listeners.get(notice, ()), scope)

    def ask_gates(self, notice: Notice, scope: Hashable, *arguments: object) -> None:
        """Ask each gate; what one raises stops the notice and comes out."""
        gates = self._gates.get(notice)
        if not gates:
            return
        for gate in _heard(gates, scope):
            answer = gate(*arguments)
            if answer is not None and inspect.isawaitable(answer):  # would let everything pass
                close(answer)
                raise TypeError(f"a {notice} gate answered an awaitable: gates cannot wait")

    def tell(
        self, notice: Notice, session_id: str, told: list[Listener], *arguments: object
    ) -> None:
        """Call each listener; a failure is reported and reaches nobody else."""
        for listener in told:
            try:
                answer = listener(*arguments)
            except Exception as error:  # noqa: BLE001  # strangers' code: contained and reported
                self.contain(Contained(notice, "threw", session_id, error))
            else:
                if answer is not None:
                    self.await_later(notice, session_id, answer)

    def contain(self, failure: Contained) -> None:
        """Report a failure; one of the report itself goes to the log and no further."""
        try:
            self._report(failure)
        except Exception:
            logger.exception("the report of a contained failure failed")
            log_contained(failure)

    def await_later(self, notice: Notice, session_id: str, answer: object) -> None:
        """Let an awaitable that a listener answered run; its failure is only reported."""
        if not inspect.isawaitable(answer):
            return

        def ended(task: asyncio.Future[Any]) -> None:
            self._tasks.discard(task)
            error = None if task.cancelled() else task.exception()
            if error is not None:
                self.contain(Contained(notice, "rejected", session_id, error))

        try:
            asyncio.get_running_loop()
        except RuntimeError as error:
            close(answer)
            self.contain(Contained(notice, "rejected", session_id, error))
            return
        task = asyncio.ensure_future(answer)
        self._tasks.add(task)
        task.add_done_callback(ended)


def _heard(registered: tuple[Registration, ...], scope: Hashable) -> list[Listener]:
    return [one.listener for one in registered if one.scope is None or one.scope == scope]


class _Done(Awaitable[None]):
    """What a listener that answered nothing amounts to: done already."""

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


DONE: Final = _Done()


def start(listener: Listener, *arguments: object) -> BaseException | Awaitable[Any]:
    """What a listener answered: its failure, or something to wait for."""
    try:
        answer = listener(*arguments)
    except Exception as error:  # noqa: BLE001  # raised when all have been started
        return error
    return answer if inspect.isawaitable(answer) else DONE


def close(answer: object) -> None:
    """Keep a coroutine that will never run from warning about it."""
    closing = getattr(answer, "close", None)
    if callable(closing):
        closing()
