"""A recorded session in place of a model, for agents and tests.

The shell around `core.replay`: it holds the one cursor that moves, hands out streams, and
raises where the core answers a Rejection. Threads may share it: a call is taken under a lock
and belongs to whoever took it. No clock is read and nothing is random.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Hashable, Iterable, Iterator
from itertools import chain
from typing import Final, NoReturn, Self, cast

from returns.result import Result

from dsh_fp.core.changes import RequestDifference
from dsh_fp.core.endings import Ending
from dsh_fp.core.lossless import JsonArray, JsonObject
from dsh_fp.core.rejection import Code, ending_invalid, printable
from dsh_fp.core.replay import Divergence, Replay, divergence
from dsh_fp.core.script import Answer, ModelCall, Outcome, Script, script_of
from dsh_fp.core.session import Session
from dsh_fp.rejected import Rejected, unwrap

_TAKES: Final = (
    "ReplayModel takes a Session or several; of a LogFile .session, of a Result first unwrap"
)


class ModelThrew(Exception):
    """What a recorded call threw: `error` is its JSON, `message` and perhaps `name`, `code`."""

    def __init__(self, error: JsonObject, call: str) -> None:
        super().__init__(error, call)
        self.error = error
        self.call = call

    def __str__(self) -> str:
        name, message = self.error.get("name"), self.error.get("message")
        named = f"{printable(name)}: " if isinstance(name, str) else ""
        told = printable(message, limit=400) if isinstance(message, str) else "no message"
        return f"{named}{told} (recorded in {self.call})"


class NeverEnded(Exception):
    """A recorded call has no end, so that a caller who cannot be cancelled would hang."""

    def __init__(self, call: str) -> None:
        super().__init__(call)
        self.call = call

    def __str__(self) -> str:
        return f"the recorded call of {self.call} never ended; only an async caller can wait for it"


class Diverged(Rejected):
    """The live run asked for something else than the recorded one. `str` is a readable report."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(divergence.rejection)
        self.args = (divergence,)
        self.divergence = divergence

    @property
    def difference(self) -> RequestDifference:
        """How the live request differs from the recorded one."""
        return self.divergence.difference

    def __str__(self) -> str:
        return self.divergence.report


class ReplayModel:
    """A model that says what was recorded, call by call, and nothing else.

    `sessions` is one Session or Script, or several: a parent and the sessions of its
    subagents. Whoever calls names its session by any key of its own (see `Replay`). What a
    fork inherited from its parent was asked by the parent, and is left out unless
    `inherited`. `endings` say how calls ended that the log is silent about.

    With `check`, every request is compared with the recorded one; the first that differs
    raises Diverged, and so does each call after it. With `from_messages`, chunks are made
    from the logged messages where there are any, not those recorded.

    Errors:  Rejected with ENDING_INVALID for an ending that names no call, or a call that
             another names too, or that comes after more chunks than the call gives.
    Source:  docs/reference/replay.md.
    """

    def __init__(
        self,
        sessions: Session | Script | Iterable[Session | Script],
        *,
        check: bool = False,
        endings: Iterable[Ending] = (),
        inherited: bool = False,
        from_messages: bool = False,
    ) -> None:
        given = _given(sessions)
        endings = tuple(endings)
        scripts = [one if isinstance(one, Script) else script_of(one, endings) for one in given]
        for fault in chain.from_iterable(script.faults for script in scripts):
            raise Rejected(fault)
        _demand_all_used(endings, [script for script in scripts if script not in given])
        self._replay = Replay.of(script if inherited else script.own for script in scripts)
        self._check = check
        self._from_messages = from_messages
        self._stopped: Divergence | None = None
        self._lock = threading.Lock()

    # ---- answers in pieces ---------------------------------------------------------------

    def stream(
        self, request: object = None, *, session: Hashable = None, purpose: str = "step"
    ) -> Iterator[JsonObject]:
        """The next call's chunks, in order. The call is taken now, not when iteration begins.

        Errors:  Rejected with REPLAY_EXHAUSTED or REPLAY_NO_SESSION; Diverged. After the
                 chunks: ModelThrew, or NeverEnded where the recorded call hung.
        """
        return self._told(self._take(request, session, purpose))

    def astream(
        self, request: object = None, *, session: Hashable = None, purpose: str = "step"
    ) -> AsyncIterator[JsonObject]:
        """The same for asyncio; a call that never ended waits after its chunks, cancellable."""
        return self._atold(self._take(request, session, purpose))

    # ---- whole answers -------------------------------------------------------------------

    def complete(
        self, request: object = None, *, session: Hashable = None, purpose: str = "step"
    ) -> Answer:
        """The next call's answer: content, usage and finish, as they were logged.

        Errors:  those of `stream`; Rejected for an answer that cannot be told from the log.
        """
        call = self._take(request, session, purpose)
        if call.outcome is Outcome.ANSWERED:
            return unwrap(call.answer)
        return _without_answer(call)

    async def acomplete(
        self, request: object = None, *, session: Hashable = None, purpose: str = "step"
    ) -> Answer:
        """The same for asyncio; a call that never ended waits until it is cancelled."""
        call = self._take(request, session, purpose)
        await asyncio.sleep(0)
        if call.outcome is Outcome.ANSWERED:
            return unwrap(call.answer)
        if call.outcome is Outcome.NEVER_ENDED:
            await _for_ever()
        return _without_answer(call)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Answer:
        """The answers of the steps in order, to the end of the record."""
        try:
            return self.complete()
        except Rejected as ended:
            if ended.rejection.code is Code.REPLAY_EXHAUSTED:
                raise StopIteration from None
            raise

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Answer:
        """The same for asyncio."""
        try:
            return await self.acomplete()
        except Rejected as ended:
            if ended.rejection.code is Code.REPLAY_EXHAUSTED:
                raise StopAsyncIteration from None
            raise

    # ---- the calls themselves ------------------------------------------------------------

    def call(
        self, request: object = None, *, session: Hashable = None, purpose: str = "step"
    ) -> ModelCall:
        """The next recorded call itself, taken; what it threw is in it and not raised.

        Errors:  Rejected with REPLAY_EXHAUSTED or REPLAY_NO_SESSION; Diverged.
        """
        return self._take(request, session, purpose)

    def left(self) -> tuple[ModelCall, ...]:
        """The recorded calls that were not asked for yet: none after a whole replay."""
        return self._replay.left()

    @property
    def replay(self) -> Replay:
        """How far it has come, as a value."""
        return self._replay

    def _take(self, request: object, session: Hashable, purpose: str) -> ModelCall:
        if self._check and request is None:
            raise TypeError("with check=True each call takes the request that would be sent")
        with self._lock:
            if self._stopped is not None:
                raise Diverged(self._stopped)
            after, call = unwrap(self._replay.next(session, purpose))
            if self._check:
                parted = unwrap(divergence(call, request))
                if parted is not None:
                    self._stopped = parted
                    raise Diverged(parted)
            self._replay = after
            return call

    def _chunks(self, call: ModelCall) -> JsonArray:
        made = self._from_messages and call.outcome is Outcome.ANSWERED
        return (call.message_chunks if made else None) or call.chunks

    def _told(self, call: ModelCall) -> Iterator[JsonObject]:
        yield from self._chunks(call)
        if call.outcome is not Outcome.ANSWERED:
            _without_answer(call)

    async def _atold(self, call: ModelCall) -> AsyncIterator[JsonObject]:
        for chunk in self._chunks(call):
            await asyncio.sleep(0)  # a stream lets others run, and can be cancelled, in between
            yield chunk
        if call.outcome is Outcome.NEVER_ENDED:
            await _for_ever()
        if call.outcome is Outcome.THREW:
            _without_answer(call)

    def __repr__(self) -> str:
        return f"ReplayModel({self._replay!r})"


def _without_answer(call: ModelCall) -> NoReturn:
    if call.error is not None:
        raise ModelThrew(call.error, call.name)
    raise NeverEnded(call.name)


async def _for_ever() -> None:
    await asyncio.get_running_loop().create_future()


def _given(sessions: object) -> list[Session | Script]:
    """One session or several as a list; TypeError for what a reader gives around a session."""
    several: Iterable[object] = ()
    if isinstance(sessions, Session | Script):
        several = (sessions,)
    # A Result can be iterated, so that its value would be taken for a list's one entry.
    elif isinstance(sessions, Iterable) and not isinstance(sessions, Result):
        several = cast("Iterable[object]", sessions)
    else:
        raise TypeError(_TAKES)
    given: list[Session | Script] = []
    for one in several:
        if not isinstance(one, Session | Script):
            raise TypeError(_TAKES)
        given.append(one)
    return given


def _demand_all_used(endings: tuple[Ending, ...], scripts: list[Script]) -> None:
    """Raise for an ending that no script used: a slip in the side file."""
    for ending in endings:
        if all(ending in script.unused or not _is_for(ending, script) for script in scripts):
            what = f"no recorded call is {ending.name}"
            raise Rejected(ending_invalid(what, ending.line_number))


def _is_for(ending: Ending, script: Script) -> bool:
    return ending.session is None or ending.session == script.header.id
