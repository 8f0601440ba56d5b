"""Family `store`: scenes played against stores of live sessions, and all that can be noticed.

Each scene runs in an event loop of its own, one step after the other; after each step the loop
turns until nothing is pending.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import dsh_fp
from dsh_fp.store import sessions
from tests.conformance.asking import Answer, Case, Family, code_of, must
from tests.conformance.comparing import Facts
from tests.conformance.loading import json_of_text

Step: TypeAlias = Mapping[str, Any]
Live: TypeAlias = Any  # a session object of the library

MAIN: Final = "main"
LATER: Final = frozenset({"wait", "reject"})  # what makes a listener an asynchronous one

# In a call, None says that an argument is not given. A null that counts as given is said by
# values that are just as wrong in its place.
NO_SEQ: Final = -1
NO_SURFACE: Final = False


class ScriptedError(Exception):
    """A failure that the script asks for."""

    def __init__(self, tag: str) -> None:
        super().__init__(tag)
        self.tag = tag


class UnboundError(Exception):
    """A step names a handle that was never bound."""


class Scene:
    """One scene on its stage: the stores, the handles of its script, and the trace so far."""

    def __init__(self, case: Case) -> None:
        ticks = itertools.count(1)
        self.script: Sequence[Step] = case["script"]
        self.trace: list[Facts] = []
        self.stores: dict[str, Any] = {
            name: sessions.SessionStore(clock=lambda: next(ticks), report=self.warn)
            for name in (MAIN, *case.get("stores", ()))
        }
        self.owners = {name: self.stores[MAIN].owner() for name in case.get("owners", ())}
        self.closing: list[Any] = []  # owners that end when the script's step is over
        self.bound: dict[str, Live] = {}
        self.first_names: dict[Live, str] = {}
        self.timed: set[Live] = set()  # whose createdAt was given
        self.detaches: dict[str, Callable[[], None]] = {}
        self.calls: Counter[str] = Counter()
        for listener in case["listeners"]:
            self.stores[listener.get("store", MAIN)].on(
                listener["on"],
                self.listening(listener),
                scope=listener.get("scope"),
                gate=listener.get("gate", False),
            )

    async def play(self) -> list[Facts]:
        """The trace of the whole script."""
        for place, step in enumerate(self.script):
            try:
                result = OPS[step["op"]](self, step)
                if step["op"] == "flush":
                    await result
                    result = None
            except EXPECTED as error:
                self.note(str(place), **outcome(error))
            else:
                self.note(str(place), ok=result)
            self.close_owners()
            await settled()
            self.close_owners()
            await settled()
        return self.trace

    def close_owners(self) -> None:
        """End the owners whose end was asked for by listeners, in that order."""
        while self.closing:
            self.closing.pop(0).close()

    def note(self, at: str, **facts: Any) -> None:
        """Write that a step is over."""
        self.trace.append(Facts(at=at, **facts))

    def warn(self, failure: Any) -> None:
        """Write a contained failure."""
        facts = Facts(warn=failure.notice, how=failure.how, session=failure.session_id)
        self.trace.append(facts)

    # ---- listeners -----------------------------------------------------------------------

    def listening(self, listener: Step) -> Callable[..., Any]:
        """The listener of a description."""
        name, notice, steps = listener["id"], listener["on"], listener.get("do", ())
        where = self.stores[listener.get("store", MAIN)]
        goes_on = any(step["op"] in LATER for step in steps)

        def called(live: Live, event: Any = None) -> Awaitable[None] | None:
            self.calls[name] += 1
            number = self.calls[name]
            on = f"gate:{notice}" if listener.get("gate") else notice
            entry = Facts(call=name, on=on, session=live.id, live=where.get(live.id) is live)
            if event is not None:
                entry |= {"seq": event.seq, "type": event.type, "log": len(live)}
            self.trace.append(entry)
            if number > listener.get("times", number) or not fits(listener, live, event):
                return None
            left = iter(enumerate(steps))
            if not goes_on:
                self.at_once(f"{name}#{number}", left)
                return None
            failure, waiting = None, None
            try:
                waiting = self.at_once(f"{name}#{number}", left)
            except EXPECTED as error:
                failure = error
            return self.later(listener, f"{name}#{number}", waiting, left, failure)

        return called

    def at_once(self, call: str, left: Iterator[tuple[int, Step]]) -> Step | None:
        """Carry out a listener's steps up to one that has to wait, which is answered."""
        for place, step in left:
            at = f"{call}.{place}"
            if step["op"] in LATER:
                return step
            if step["op"] == "throw":
                self.note(at, throws=step["tag"])
                raise ScriptedError(step["tag"])
            if step["op"] == "close_owner":
                self.closing.append(self.owners[step["owner"]])
                self.note(at, ok=None)
                continue
            try:
                result = OPS[step["op"]](self, step)
            except EXPECTED as error:
                self.note(at, **outcome(error))
                if step.get("rethrow") and not isinstance(error, UnboundError):
                    raise
            else:
                self.note(at, ok=result)
        return None

    async def later(
        self,
        listener: Step,
        call: str,
        waiting: Step | None,
        left: Iterator[tuple[int, Step]],
        failure: Exception | None,
    ) -> None:
        """The rest of an asynchronous listener."""
        try:
            if failure is not None:
                raise failure
            while waiting is not None:
                if waiting["op"] == "reject":
                    raise ScriptedError(waiting["tag"])
                for _ in range(waiting["ticks"]):
                    await asyncio.sleep(0)
                waiting = self.at_once(call, left)
        except EXPECTED as error:
            if listener["on"] == "flush":
                tag = Facts(tag=error.tag) if isinstance(error, ScriptedError) else Facts()
                self.trace.append(Facts(settled=listener["id"], ok=False, **tag))
            raise
        if listener["on"] == "flush":
            self.trace.append(Facts(settled=listener["id"], ok=True))

    # ---- what steps name -----------------------------------------------------------------

    def store(self, step: Step) -> Any:
        """The store a step is about."""
        return self.stores[step.get("store", MAIN)]

    def session(self, step: Step, key: str = "session") -> Live:
        """The session object that a step names."""
        return self.named(self.bound, step[key])

    def named(self, handles: Mapping[str, Any], name: str) -> Any:
        """What a handle stands for."""
        if name not in handles:
            raise UnboundError(name)
        return handles[name]

    def seed(self, step: Step) -> Any:
        """The events that a new session starts with."""
        if "seed_of" in step:
            return tuple(self.session(step, "seed_of").session)
        return said(step, "seed", ())

    def bind(self, step: Step, live: Live) -> Facts:
        """Give a session object its handle; what a step that made one answers."""
        self.bound[step["as"]] = live
        self.first_names.setdefault(live, step["as"])
        return Facts(id=live.id, seq=len(live))

    # ---- steps ---------------------------------------------------------------------------

    def create(self, step: Step) -> Facts:
        owner = self.owners[step["owner"]] if "owner" in step else self.store(step)
        live = owner.create(scope=step.get("scope"), **self.made_of(step))
        return self.born(step, live)

    def prepare(self, step: Step) -> Facts:
        return self.born(step, self.store(step).prepare(**self.made_of(step)))

    def made_of(self, step: Step) -> dict[str, Any]:
        return {"id": step.get("id"), "seed": self.seed(step), "meta": said(step, "meta")}

    def born(self, step: Step, live: Live) -> Facts:
        meta = said(step, "meta")
        if meta is not None and meta.get("createdAt") is not None:
            self.timed.add(live)
        return self.bind(step, live)

    def new(self, step: Step) -> Facts:
        session = must(dsh_fp.Session.create(step["id"], seed=self.seed(step)))
        return self.bind(step, sessions.LiveSession(session))

    def enter(self, step: Step) -> None:
        live = self.session(step)
        self.detaches[step["as"]] = self.store(step).enter(live, scope=step.get("scope"))

    def announce(self, step: Step) -> None:
        self.store(step).announce(self.session(step))

    def detach(self, step: Step) -> None:
        self.named(self.detaches, step["handle"])()

    def append(self, step: Step) -> Facts:
        surface = step.get("surface") or {}
        parts = {"surfaceOp": "surface_op", "sourceEventSeqs": "source_event_seqs"}
        given = {
            parts[key]: NO_SURFACE if value is None else value
            for key, value in surface.items()
            if key in parts
        }
        event = self.session(step).append(step["type"], said(step, "data"), **given)
        return Facts(seq=event.seq)

    def fork(self, step: Step) -> Facts:
        source = self.session(step, "source") if "source" in step else step["source_id"]
        more: dict[str, Any] = {}
        if "boundary" in step:
            more["boundary"] = NO_SEQ if step["boundary"] is None else step["boundary"]
        scope, child_id = step.get("scope"), step.get("child_id")
        return self.bind(
            step, self.store(step).fork(source, child_id=child_id, scope=scope, **more)
        )

    def flush(self, step: Step) -> Awaitable[None]:
        flushing: Awaitable[None] = self.store(step).flush(self.session(step))
        return flushing

    def get(self, step: Step) -> str | None:
        live = self.store(step).get(step["id"])
        return None if live is None else self.first_names.get(live, "?")

    def list(self, step: Step) -> list[str]:
        return [live.id for live in self.store(step).list()]

    def inspect(self, step: Step) -> Facts:
        live = self.session(step)
        header = Facts(live.header.to_wire())
        if live not in self.timed:
            del header["createdAt"]
        return Facts(
            id=live.id,
            seq=len(live),
            types=[event.type for event in live.session],
            messages=len(must(live.session.messages())),
            header=header,
        )

    def close_owner(self, step: Step) -> None:
        self.owners[step["owner"]].close()


def said(step: Step, key: str, default: Any = None) -> Any:
    """A value that a step holds as JSON text or as it is; the text comes first."""
    text = step.get(f"{key}_text")
    return step.get(key, default) if text is None else json_of_text(text)


def fits(listener: Step, live: Live, event: Any) -> bool:
    """Whether a call is one that the listener acts on."""
    when = listener.get("when", {})
    if live.id != when.get("session", live.id):
        return False
    return "type" not in when or (event is not None and event.type == when["type"])


def outcome(error: Exception) -> Facts:
    """What the trace says of a step that did not come to its end."""
    match error:
        case UnboundError():
            return Facts(skipped=True)
        case ScriptedError():
            return Facts(error="LISTENER_FAILED", tag=error.tag)
        case dsh_fp.Rejected():
            return Facts(error=code_of(error.rejection))
        case _:
            raise error


async def settled() -> None:
    """Let the loop turn until nothing else is pending in it."""
    while len(asyncio.all_tasks()) > 1:
        await asyncio.sleep(0)
    await asyncio.sleep(0)  # what was to be called when the last one ended


def ask_store(case: Case) -> Iterator[Answer]:
    """The trace of the scene."""
    yield "asyncio", Facts(trace=asyncio.run(Scene(case).play()))


EXPECTED: Final = (dsh_fp.Rejected, ScriptedError, UnboundError)
OPS: Final[Mapping[str, Callable[[Scene, Step], Any]]] = MappingProxyType(
    {
        "create": Scene.create,
        "prepare": Scene.prepare,
        "new": Scene.new,
        "enter": Scene.enter,
        "announce": Scene.announce,
        "detach": Scene.detach,
        "append": Scene.append,
        "fork": Scene.fork,
        "flush": Scene.flush,
        "get": Scene.get,
        "list": Scene.list,
        "inspect": Scene.inspect,
        "close_owner": Scene.close_owner,
    }
)
STORE: Final = Family(
    name="store",
    needs=lambda case: ("listeners", "script", "trace"),
    answers=frozenset({"trace"}),
    ask=ask_store,
)
