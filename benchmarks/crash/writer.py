"""What a writer process does until it is killed: it talks, flushes, and says what it flushed.

Each promise names a run of events and a digest of their text. It is sent when the events are
said to be on disk and not before, so whoever reads the pipe may hold the log to it.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import attrs

from dsh_fp import Code, Event, Rejected, Session, to_text
from dsh_fp.core.lossless import json_object
from dsh_fp.storage.backend import Backend
from dsh_fp.storage.recorder import Batches, Durability, EachEvent, Recorder
from dsh_fp.store.sessions import LiveSession, SessionStore

SESSION_ID: Final = "session"
RETRY_S: Final = 0.001
PAUSE_S: Final = 0.02
"""How long a writer leaves the session to others when it has had it."""
LARGEST_BATCH: Final = 40
LARGEST_PAYLOAD: Final = 3000
TAKEN: Final = (Code.WRITER_CONFLICT, Code.SESSION_ALREADY_EXISTS)
"""Somebody else has the session: to be tried again."""

Step = tuple[str, dict[str, Any], dict[str, Any]]


@attrs.frozen
class Promise:
    """These events are on disk."""

    start: int
    stop: int
    digest: str

    @classmethod
    def of(cls, told: Sequence[bytes], start: int, stop: int) -> Promise:
        """The promise of a run of a log's events."""
        return cls(start, stop, hashlib.sha256(b"".join(told[start:stop])).hexdigest())

    def is_kept_by(self, told: Sequence[bytes]) -> bool:
        """Whether a log with these events holds the promised ones."""
        return Promise.of(told, self.start, self.stop) == self


def digests(events: Iterable[Event]) -> list[bytes]:
    """What tells each event from any other."""
    told: list[bytes] = []
    for event in events:
        wire = event.to_wire()  # keys sorted: no column of a database keeps their order
        text = to_text(json_object(dict(sorted(wire.items()))))
        told.append(hashlib.sha256(text.encode()).digest())
    return told


def turns(session: Session, rng: random.Random) -> Iterator[Step]:
    """The events of sound turns without end, each with a payload of its own."""
    turn = sum(event.type == "turn/start" for event in session)
    user = {"kind": "user"}
    while True:
        turn += 1
        at = {"turn": turn, "step": 1}
        yield "turn/start", {"turn": turn, "trigger": {"kind": "message", "source": user}}, {}
        yield "user/message", {"content": _text(rng), "source": user}, {"surface_op": "append"}
        yield "step/start", at, {}
        calls = [f"{turn}-{number}" for number in range(rng.randrange(3))]
        blocks = [
            {"type": "tool-call", "id": call, "name": "run", "arguments": "{}"} for call in calls
        ]
        message = {**at, "content": [*_text(rng), *blocks]}
        yield "assistant/message", message, {"surface_op": "append"}
        for call in calls:
            yield "tool/call", {**at, "callId": call, "name": "run", "arguments": "{}"}, {}
            result = {**at, "callId": call, "content": _text(rng), "isError": False}
            yield "tool/result", result, {"surface_op": "append"}
        yield "step/end", at, {}
        yield "turn/end", {"turn": turn, "reason": {"kind": "completed"}}, {}


def _text(rng: random.Random) -> list[dict[str, str]]:
    size = rng.choice((3, 30, rng.randrange(LARGEST_PAYLOAD)))
    return [{"type": "text", "text": "".join(rng.choices("aé\n😀", k=size))}]


class WriterProcess:
    """One writer of the session; `run` comes back when `is_over` answers True."""

    def __init__(self, backend: Backend, rng: random.Random, pipe: int) -> None:
        self._backend = backend
        self._rng = rng
        self._pipe = pipe
        self._promised = 0
        self._told: list[bytes] = []  # the digests of the session's events
        self._promises_appends = False

    def run(self, *, shares: bool, is_over: Callable[[], bool]) -> None:
        """Write to the end; with `shares` leave the session now and then."""
        while not is_over():
            store = SessionStore(report=self._reported)
            durability = self._durability()
            recorder = Recorder(store, self._backend, durability=durability)
            # Only then may be promised what was not flushed.
            self._promises_appends = isinstance(durability, EachEvent)
            try:
                live = self._entered(store, recorder)
                flushes = self._rng.randrange(1, 12) if shares else None
                self._write(store, recorder, live, flushes, is_over)
                store.detach(live)
                if not recorder.unsaved():
                    self._promise(live)
                pause_s = PAUSE_S
            except Rejected as refused:
                if refused.rejection.code not in TAKEN:
                    raise
                pause_s = RETRY_S
            recorder.close()
            time.sleep(pause_s * self._rng.random())

    def _durability(self) -> Durability:
        count = self._rng.randrange(2, 30)
        kinds: list[Durability] = [EachEvent(), Batches(count), Batches(10**9, 10**9)]
        return self._rng.choice(kinds)

    def _entered(self, store: SessionStore, recorder: Recorder) -> LiveSession:
        """The session, live: what is stored of it is promised already."""
        try:
            live, _ = recorder.resume(SESSION_ID)
        except Rejected as refused:
            if refused.rejection.code is not Code.SESSION_NOT_FOUND:
                raise
            live = store.create(SESSION_ID)
        self._promised, self._told = 0, []
        if len(live):
            self._promise(live)
        return live

    def _write(
        self,
        store: SessionStore,
        recorder: Recorder,
        live: LiveSession,
        flushes: int | None,
        is_over: Callable[[], bool],
    ) -> None:
        script = turns(live.session, self._rng)
        while not is_over() and (flushes is None or flushes > 0):
            for _ in range(self._rng.randrange(1, LARGEST_BATCH)):
                kind, data, marker = next(script)
                live.append(kind, data, **marker)
                if self._promises_appends and not recorder.pending(live):
                    self._promise(live)
            store.flush_sync(live)
            self._promise(live)
            flushes = None if flushes is None else flushes - 1

    def _promise(self, live: LiveSession) -> None:
        stop = len(live.session)
        self._told += digests(live.session.events[len(self._told) : stop])
        promise = Promise.of(self._told, self._promised, stop)
        self._promised = stop
        os.write(self._pipe, json.dumps(attrs.asdict(promise)).encode() + b"\n")

    def _reported(self, failure: object) -> None:
        """What a listener failed with comes again at the next flush."""
