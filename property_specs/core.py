"""What the laws ask of an implementation, and how this library answers.

Cases and answers are plain JSON values: dicts, lists and scalars. A session and a state are
handles that only the implementation looks into. Whatever is refused comes back as `Refused`.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import attrs
from returns.result import Failure, Result

import dsh_fp
from dsh_fp import Event, Rejection, SessionHeader, thaw
from dsh_fp.core.bisecting import Search, Verdict, bisect
from dsh_fp.core.caching import prompt_caching
from dsh_fp.core.changes import MessageRun
from dsh_fp.core.differences import diff_requests
from dsh_fp.core.digests import event_digest
from dsh_fp.core.json_paths import differences
from dsh_fp.core.origins import PARTS, Origins, SessionOrigins
from dsh_fp.core.redaction.redacting import Values as SecretValues
from dsh_fp.core.redaction.redacting import redact
from dsh_fp.core.replay import Replay, divergence
from dsh_fp.core.runs import Run, diff_runs
from dsh_fp.core.script import script_of
from dsh_fp.core.session_differences import diff_sessions
from dsh_fp.core.what_if import Drop, Edit, Insert, Replace, RequestChange, what_if
from property_specs.wire import DshFpWires, Wires

Wire: TypeAlias = Any
"""A plain JSON value."""
Log: TypeAlias = list[dict[str, Any]]
State: TypeAlias = Any
Session: TypeAlias = Any


@dataclass(frozen=True)
class Refused:
    """Why something was not done; `data` are the offending values by name."""

    code: str
    seq: int | None = None
    index: int | None = None
    path: str | None = None
    data: tuple[tuple[str, Any], ...] = ()


class Values(Protocol):
    """JSON values, text and single events."""

    def snapshot(self, value: object) -> Wire | Refused:
        """The checked copy of a Python value."""
        ...

    def parse(self, text: str | bytes) -> Wire | Refused:
        """The value of a JSON text."""
        ...

    def text(self, value: Wire) -> str:
        """The JSON text of a value."""
        ...

    def event(self, text: str) -> Wire | Refused:
        """The event that a JSON text stands for."""
        ...

    def event_text(self, event: Wire) -> str:
        """The text a writer makes of an event."""
        ...

    def session_header(self, fields: Wire) -> Wire | Refused:
        """The known fields of a session header."""
        ...


class Folds(Protocol):
    """States, and folds over bare events."""

    def step(self, state: State | None, event: Wire) -> State | Refused:
        """The state after one event; None is the state before any."""
        ...

    def fold(self, events: list[Wire], state: State | None = None) -> State | Refused:
        """The state after many events."""
        ...

    def look(self, state: State) -> Wire:
        """A state as `next_seq`, `nodes`, `generation`, `header` (or the fault's code)."""
        ...

    def fold_surface(self, events: list[Wire]) -> Wire | Refused:
        """`nodes` and `replacements` of events whose seqs may have gaps."""
        ...

    def violations(self, events: list[Wire]) -> list[Refused]:
        """Every breach of the rules of turns and steps."""
        ...

    def trace(self, events: list[Wire]) -> Wire | Refused:
        """Where events end up in their turns and steps, or the first breach."""
        ...

    def closers(self, log: Log) -> Log:
        """The events that close an interrupted turn."""
        ...

    def assemble(self, chunks: list[Wire]) -> Wire | Refused:
        """`blocks`, `usage`, `finish`, `content` of a stream."""
        ...

    def emitted(self, chunks: list[Wire]) -> list[Wire | None]:
        """The finished block that each chunk of a stream hands back, up to a refused chunk."""
        ...


class Headers(Protocol):
    """Request headers."""

    def canonical(self, header: Wire) -> Wire | Refused:
        """The canonical form."""
        ...

    def equal(self, one: Wire, other: Wire) -> bool:
        """Whether two headers ask for the same."""
        ...

    def diff(self, prev: Wire, next: Wire) -> Wire | Refused | None:
        """The delta between two headers, None when they are equal."""
        ...

    def apply(self, prev: Wire, delta: Wire) -> Wire | Refused:
        """The header after a delta."""
        ...

    def fold_header(self, events: list[Wire], start: Wire | None = None) -> Wire | Refused | None:
        """The header in force after events, or the first fault."""
        ...

    def next_header_event(
        self, prev: Wire | None, next: Wire, *, first: bool
    ) -> Wire | Refused | None:
        """`type` and `data` of what a writer logs so that `next` is in force."""
        ...


class Sessions(Protocol):
    """Sessions."""

    def accept(self, log: list[Wire], header: Wire | None = None) -> Session | Refused:
        """The session a log amounts to."""
        ...

    def strictly(self, log: list[Wire]) -> Session | Refused:
        """The same for a writer that wants to be refused unsound payloads, headers and turns."""
        ...

    def append(self, session: Session, event: Wire) -> Session | Refused:
        """The session with one event appended; its seq is the session's business."""
        ...

    def extend(self, session: Session, events: list[Wire]) -> Session | Refused:
        """The session with many events appended as they are."""
        ...

    def at(self, session: Session, seq: object) -> Session | Refused:
        """The session as it was right after an event."""
        ...

    def fork(self, session: Session, *boundary: object) -> Session | Refused:
        """A child through a boundary, or through the last event."""
        ...

    def header_of(self, session: Session) -> Wire:
        """The session header."""
        ...

    def events(self, session: Session) -> Log:
        """The log."""
        ...

    def surface(self, session: Session) -> Wire:
        """`nodes` and `generation`."""
        ...

    def messages(self, session: Session) -> Wire | Refused:
        """The messages in force."""
        ...

    def request_header(self, session: Session) -> Wire | Refused | None:
        """The request header in force."""
        ...

    def todos(self, session: Session) -> Wire | Refused | None:
        """The last list of todos."""
        ...

    def usage(self, session: Session) -> Wire:
        """Tokens and calls, `own` and `inherited`."""
        ...

    def requests(self, session: Session) -> list[Wire]:
        """Of every step its `seq`, and `request` with its `text`, or the `fault`'s code."""
        ...

    def balanced(self, session: Session, before: int | None) -> bool | Refused:
        """Whether no call waits for its result before a cut."""
        ...

    def collapsible(self, session: Session, start: int, end: int) -> bool | Refused:
        """Whether a run of nodes may be replaced without parting a call from its result."""
        ...


class Files(Protocol):
    """Log files and their names."""

    def read(self, content: bytes) -> Wire | Refused:
        """`header`, `events`, `good_bytes`, `size` and `findings` of a file's bytes."""
        ...

    def scan(self, content: bytes) -> Wire | Refused:
        """`count` and `good_bytes` by lines and seqs alone."""
        ...

    def encode_log(self, header: Wire, log: Log) -> bytes:
        """The bytes of a file."""
        ...

    def encode_segment(self, session_id: str) -> str | Refused:
        """An id as a file name."""
        ...

    def decode_segment(self, segment: str) -> str | Refused:
        """The id of a file name."""
        ...

    def bucket(self, cwd: str | None) -> str:
        """The folder of a working directory."""
        ...

    def log_path(self, root: str, cwd: str | None, session_id: str) -> str | Refused:
        """The path of a log below a root."""
        ...


class Digests(Protocol):
    """Digests, as lower-case hex digits."""

    def event_digest(self, text: str) -> str:
        """The digest of the event a JSON text stands for."""
        ...

    def request_digests(self, session: Session) -> list[dict[str, str] | None]:
        """Of every step `header`, `messages` and `request`, or None when it is not known."""
        ...

    def content_digests(self, session: Session) -> dict[str, str]:
        """`content` and `events` of a session."""
        ...


class Replays(Protocol):
    """Recorded calls, given again."""

    def script(self, session: Session) -> list[Wire]:
        """Of every step's call its `seq`, `chunks`, whether they are `recorded`, `message`."""
        ...

    def replayed(self, session: Session, times: int) -> list[Wire | Refused]:
        """What a loop hears that asks for so many answers, one after another."""
        ...

    def diverged(self, session: Session, place: int, request: Wire) -> Refused | None:
        """How a live request differs from that of the step with this number, from 0."""
        ...


class Comparisons(Protocol):
    """Differences, where parts come from, and what caches can keep."""

    def differences(self, one: Wire, other: Wire) -> list[Wire]:
        """The steps of each path at which two values part, and how."""
        ...

    def runs(self, old: list[int], new: list[int]) -> list[list[int]]:
        """The runs by which two lists part: old start and stop, new start and stop."""
        ...

    def diff_requests(self, session: Session, old: int, new: int) -> Wire | Refused:
        """`first`, `common`, `runs` of two requests, by their numbers from 0."""
        ...

    def diff_sessions(self, old: Session, new: Session, *, ignore_call_ids: bool) -> Wire:
        """`content`, and whether the requests at each place are equal."""
        ...

    def origins(self, session: Session) -> list[Wire]:
        """The events behind `messages`, `parts` and `tools` of each request."""
        ...

    def caching(self, session: Session) -> list[Wire]:
        """Of each request its `bytes` and `messages`, and those it has in common."""
        ...


class Edits(Protocol):
    """Edited logs, and searches along a log."""

    def what_if(self, session: Session, edits: list[Wire]) -> Wire | Refused:
        """`session` (None when refused), `refusal`, `blamed`, `new`, `old`, and what changes.

        That is `requests` and `breaches`.
        """
        ...

    def bisect(
        self, session: Session, holds: Callable[[int], bool], at: list[int] | None = None
    ) -> int | None:
        """The first length for which something holds, told of each length that is asked."""
        ...

    def search(self, lengths: list[int], judge: Callable[[int], str]) -> list[int]:
        """The lengths left when nothing is left to try; the last is bad, `judge` says of others."""
        ...


class Redactions(Protocol):
    """Copies without their secrets."""

    def redacted(self, session: Session, secrets: list[str]) -> Wire | Refused:
        """`session`, and what was done to it.

        `counts` of each place that was changed; the seqs of events where a secret is `left`,
        and of the `requests` that are others now.
        """
        ...


class Core(
    Values,
    Folds,
    Headers,
    Sessions,
    Files,
    Digests,
    Replays,
    Comparisons,
    Edits,
    Redactions,
    Wires,
    Protocol,
):
    """All that the laws ask."""


def seen(core: Core, session: Session) -> Wire:
    """Everything a session shows of itself, but its own header; as much of it as is offered."""
    shown = ("events", "surface", "messages", "request_header", "requests", "todos")
    offers = getattr(core, "offers", None)
    return {name: getattr(core, name)(session) for name in shown if offers is None or offers(name)}


def code_of(answer: object) -> str | None:
    """The code of a refusal, None of anything else."""
    return answer.code if isinstance(answer, Refused) else None


# ---- this library ------------------------------------------------------------------------------


def _refused(fault: Rejection) -> Refused:
    return Refused(fault.code.value, fault.seq, fault.index, fault.path, fault.facts)


def _plain(answer: Result[Any, Rejection]) -> Any:
    return _refused(answer.failure()) if isinstance(answer, Failure) else thaw(answer.unwrap())


def _handle(answer: Result[Any, Rejection]) -> Any:
    return _refused(answer.failure()) if isinstance(answer, Failure) else answer.unwrap()


def _nodes(nodes: tuple[dsh_fp.Node, ...]) -> list[dict[str, Any]]:
    return [{"seq": node.seq, "prev": node.prev, "next": node.next} for node in nodes]


def _events(log: list[Wire]) -> list[Event]:
    return [dsh_fp.unwrap(dsh_fp.decode_event(event)) for event in log]


def _tokens(tokens: dsh_fp.Tokens) -> dict[str, int]:
    return {
        "inputTokens": tokens.input_tokens,
        "outputTokens": tokens.output_tokens,
        "cacheReadTokens": tokens.cache_read_tokens,
        "cacheWriteTokens": tokens.cache_write_tokens,
        "reasoningTokens": tokens.reasoning_tokens,
        "calls": tokens.calls,
    }


class DshFp(DshFpWires):
    """This library behind the protocol."""

    def snapshot(self, value: object) -> Wire | Refused:
        return _plain(dsh_fp.snapshot(value))

    def parse(self, text: str | bytes) -> Wire | Refused:
        return _plain(dsh_fp.parse(text))

    def text(self, value: Wire) -> str:
        return dsh_fp.to_text(dsh_fp.unwrap(dsh_fp.snapshot(value)))

    def event(self, text: str) -> Wire | Refused:
        return _plain(dsh_fp.decode_event_text(text).map(Event.to_wire))

    def event_text(self, event: Wire) -> str:
        return dsh_fp.unwrap(dsh_fp.decode_event(event)).to_text()

    def session_header(self, fields: Wire) -> Wire | Refused:
        return _plain(dsh_fp.session_header(fields).map(SessionHeader.to_wire))

    def step(self, state: State | None, event: Wire) -> State | Refused:
        return _handle(dsh_fp.reduce(dsh_fp.State() if state is None else state, event))

    def fold(self, events: list[Wire], state: State | None = None) -> State | Refused:
        return _handle(dsh_fp.fold(events, state))

    def look(self, state: State) -> Wire:
        header = state.header
        return {
            "next_seq": state.next_seq,
            "nodes": _nodes(state.surface.nodes),
            "generation": state.surface.generation,
            "header": header.code.value if isinstance(header, Rejection) else thaw(header),
        }

    def fold_surface(self, events: list[Wire]) -> Wire | Refused:
        folded = dsh_fp.fold_surface(events)
        if isinstance(folded, Failure):
            return _refused(folded.failure())
        surface = folded.unwrap()
        replacements = [
            {"seq": r.seq, "start": r.start, "end": r.end, "shadowedSeqs": list(r.shadowed_seqs)}
            for r in surface.replacements
        ]
        return {"nodes": _nodes(surface.nodes), "replacements": replacements}

    def violations(self, events: list[Wire]) -> list[Refused]:
        return list(map(_refused, dsh_fp.trace_violations(events)))

    def trace(self, events: list[Wire]) -> Wire | Refused:
        folded = dsh_fp.fold_trace(events)
        if isinstance(folded, Failure):
            return _refused(folded.failure())
        state = folded.unwrap()
        return {
            "open_turn": state.open_turn,
            "open_step": state.open_step,
            "next_turn": state.next_turn,
            "next_step": state.next_step,
            "pending_calls": state.pending_calls,
        }

    def closers(self, log: Log) -> Log:
        return [thaw(event.to_wire()) for event in dsh_fp.interrupted_turn_closers(_events(log))]

    def assemble(self, chunks: list[Wire]) -> Wire | Refused:
        assembled = dsh_fp.assemble(chunks)
        if isinstance(assembled, Failure):
            return _refused(assembled.failure())
        made = assembled.unwrap()
        return {
            "blocks": thaw(made.blocks),
            "usage": thaw(made.usage),
            "finish": thaw(made.finish),
            "content": thaw(made.message_content()),
        }

    def emitted(self, chunks: list[Wire]) -> list[Wire | None]:
        state, emitted = dsh_fp.EMPTY_ASSEMBLY, []
        for chunk in chunks:
            pushed = state.push(chunk)
            if isinstance(pushed, Failure):
                break
            state, block = pushed.unwrap()
            emitted.append(thaw(block))
        return emitted

    def canonical(self, header: Wire) -> Wire | Refused:
        return _plain(dsh_fp.canonical_header(header))

    def equal(self, one: Wire, other: Wire) -> bool:
        return dsh_fp.headers_equal(one, other)

    def diff(self, prev: Wire, next: Wire) -> Wire | Refused | None:
        return _plain(dsh_fp.diff_headers(prev, next))

    def apply(self, prev: Wire, delta: Wire) -> Wire | Refused:
        return _plain(dsh_fp.apply_delta(prev, delta))

    def fold_header(self, events: list[Wire], start: Wire | None = None) -> Wire | Refused | None:
        return _plain(dsh_fp.fold_header(events, start))

    def next_header_event(
        self, prev: Wire | None, next: Wire, *, first: bool
    ) -> Wire | Refused | None:
        answer = dsh_fp.next_header_event(prev, next, first=first)
        if isinstance(answer, Failure):
            return _refused(answer.failure())
        event = answer.unwrap()
        return None if event is None else {"type": event.type, "data": thaw(event.data)}

    def accept(self, log: list[Wire], header: Wire | None = None) -> Session | Refused:
        return _handle(dsh_fp.Session.replay(log, header))

    def strictly(self, log: list[Wire]) -> Session | Refused:
        return _handle(dsh_fp.Session.create(seed=log, guard=dsh_fp.strict()))

    def append(self, session: Session, event: Wire) -> Session | Refused:
        return _handle(
            session.append(
                event["type"],
                event["data"],
                time=event["time"],
                surface_op=event.get("surfaceOp"),
                source_event_seqs=event.get("sourceEventSeqs"),
            )
        )

    def extend(self, session: Session, events: list[Wire]) -> Session | Refused:
        return _handle(session.extend(events))

    def at(self, session: Session, seq: object) -> Session | Refused:
        return _handle(session.at(seq))

    def fork(self, session: Session, *boundary: object) -> Session | Refused:
        return _handle(session.fork(*boundary))

    def header_of(self, session: Session) -> Wire:
        return thaw(session.header.to_wire())

    def events(self, session: Session) -> Log:
        return [thaw(event.to_wire()) for event in session]

    def surface(self, session: Session) -> Wire:
        surface = session.surface
        return {"nodes": _nodes(surface.nodes), "generation": surface.generation}

    def messages(self, session: Session) -> Wire | Refused:
        return _plain(session.messages())

    def request_header(self, session: Session) -> Wire | Refused | None:
        return _plain(session.request_header())

    def todos(self, session: Session) -> Wire | Refused | None:
        return _plain(session.todos())

    def usage(self, session: Session) -> Wire:
        usage = session.usage()
        return {"own": _tokens(usage.own), "inherited": _tokens(usage.inherited)}

    def requests(self, session: Session) -> list[Wire]:
        return list(map(self._request, dsh_fp.past_requests(session)))

    def _request(self, past: dsh_fp.PastRequest) -> Wire:
        if past.fault is not None:
            return {"seq": past.seq, "fault": past.fault.code.value}
        request = thaw(dsh_fp.unwrap(past.request))
        return {"seq": past.seq, "request": request, "text": past.to_json()}

    def event_digest(self, text: str) -> str:
        return event_digest(dsh_fp.unwrap(dsh_fp.decode_event_text(text.encode()))).hex()

    def request_digests(self, session: Session) -> list[dict[str, str] | None]:
        return [
            None if past.digests is None else attrs.asdict(past.digests)
            for past in dsh_fp.past_requests(session)
        ]

    def content_digests(self, session: Session) -> dict[str, str]:
        return attrs.asdict(dsh_fp.content_digests(session))

    def balanced(self, session: Session, before: int | None) -> bool | Refused:
        answer: bool | Refused = _handle(dsh_fp.is_balanced_cut(session.nodes(), before))
        return answer

    def collapsible(self, session: Session, start: int, end: int) -> bool | Refused:
        answer: bool | Refused = _handle(dsh_fp.can_collapse(session.nodes(), start, end))
        return answer

    def script(self, session: Session) -> list[Wire]:
        return [
            {
                "seq": call.seq,
                "chunks": thaw(call.chunks),
                "recorded": call.chunks_recorded,
                "message": thaw(call.message),
            }
            for call in script_of(session).steps
        ]

    def replayed(self, session: Session, times: int) -> list[Wire | Refused]:
        heard: list[Wire | Refused] = []
        replay = Replay.of([script_of(session)])
        for _ in range(times):
            step = replay.next()
            if isinstance(step, Failure):
                heard.append(_refused(step.failure()))
                continue
            replay, call = step.unwrap()
            heard.append(_plain(call.answer.map(lambda said: said.content)))
        return heard

    def diverged(self, session: Session, place: int, request: Wire) -> Refused | None:
        found = dsh_fp.unwrap(divergence(script_of(session).steps[place], request))
        return None if found is None else _refused(found.rejection)

    def differences(self, one: Wire, other: Wire) -> list[Wire]:
        return [[list(found.steps), found.kind] for found in differences(one, other)]

    def runs(self, old: list[int], new: list[int]) -> list[list[int]]:
        return [_run(run) for run in diff_runs(old, new)]

    def diff_requests(self, session: Session, old: int, new: int) -> Wire | Refused:
        origins, pasts = SessionOrigins(session), dsh_fp.past_requests(session)
        answer = _handle(diff_requests(origins.of(pasts[old]), origins.of(pasts[new])))
        if isinstance(answer, Refused):
            return answer
        return {
            "first": None if answer.first is None else [*answer.first.steps],
            "common": answer.common_messages,
            "runs": list(map(_run, answer.runs)),
        }

    def diff_sessions(self, old: Session, new: Session, *, ignore_call_ids: bool) -> Wire:
        found = diff_sessions(old, new, ignore_call_ids=ignore_call_ids)
        pairs = [pair.equal for pair in found.pairs]
        return {"content": found.content_equal, "pairs": pairs}

    def origins(self, session: Session) -> list[Wire]:
        origins = SessionOrigins(session)
        return [_origins(origins.of(past)) for past in dsh_fp.past_requests(session)]

    def caching(self, session: Session) -> list[Wire]:
        return [
            None
            if row.fault is not None
            else {
                "bytes": row.size,
                "messages": row.messages,
                "common": row.common_size,
                "common messages": row.common_messages,
                "kept": row.kept_all,
            }
            for row in prompt_caching(session)
        ]

    def read(self, content: bytes) -> Wire | Refused:
        answer = dsh_fp.read(io.BytesIO(content))
        if isinstance(answer, Failure):
            return _refused(answer.failure())
        log = answer.unwrap()
        return {
            "header": thaw(log.header.to_wire()),
            "events": self.events(log.session),
            "good_bytes": log.good_bytes,
            "size": log.size,
            "findings": [finding.to_wire() for finding in log.findings],
        }

    def scan(self, content: bytes) -> Wire | Refused:
        answer = dsh_fp.scan_log(content)
        if isinstance(answer, Failure):
            return _refused(answer.failure())
        scan = answer.unwrap()
        return {"count": scan.count, "good_bytes": scan.good_bytes}

    def encode_log(self, header: Wire, log: Log) -> bytes:
        session_header = dsh_fp.unwrap(dsh_fp.session_header(header))
        return dsh_fp.encode_log(session_header, _events(log))

    def encode_segment(self, session_id: str) -> str | Refused:
        answer: str | Refused = _handle(dsh_fp.encode_segment(session_id))
        return answer

    def decode_segment(self, segment: str) -> str | Refused:
        answer: str | Refused = _handle(dsh_fp.decode_segment(segment))
        return answer

    def bucket(self, cwd: str | None) -> str:
        return dsh_fp.bucket_name(cwd)

    def log_path(self, root: str, cwd: str | None, session_id: str) -> str | Refused:
        answer: str | Refused = _handle(dsh_fp.log_path(root, cwd, session_id))
        return answer

    def what_if(self, session: Session, edits: list[Wire]) -> Wire | Refused:
        answer = _handle(what_if(session, list(map(_edit, edits))))
        if isinstance(answer, Refused):
            return answer
        after = answer.session
        return {
            "session": after,
            "refusal": None if answer.refusal is None else answer.refusal.code.value,
            "blamed": list(answer.blamed),
            "new": [answer.new_seq(seq) for seq in range(len(session))],
            "old": [answer.old_seq(seq) for seq in range(len(after or ()))],
            "requests": [_change(change) for change in answer.requests],
            "breaches": [_refused(breach) for breach in answer.breaches],
        }

    def bisect(
        self, session: Session, holds: Callable[[int], bool], at: list[int] | None = None
    ) -> int | None:
        return bisect(session, lambda prefix: holds(len(prefix)), at=at)

    def search(self, lengths: list[int], judge: Callable[[int], str]) -> list[int]:
        search = Search.among(lengths)
        while (length := search.next) is not None:
            search = search.told(length, Verdict(judge(length)))
        return list(search.candidates)

    def redacted(self, session: Session, secrets: list[str]) -> Wire | Refused:
        answer = _handle(redact(session, [SecretValues(secrets)]))
        if isinstance(answer, Refused):
            return answer
        return {
            "session": answer.session,
            "counts": [one.count for one in answer.replaced],
            "left": [one.seq for one in answer.left],
            "requests": [one.seq for one in answer.requests],
        }


def _run(run: Run | MessageRun) -> list[int]:
    return [run.old_start, run.old_stop, run.new_start, run.new_stop]


def _origins(origins: Origins) -> Wire:
    if origins.past.fault is not None:
        return {"seq": origins.past.seq}
    return {
        "seq": origins.past.seq,
        "messages": list(origins.messages),
        "parts": dict(origins.parts),
        "tools": dict(origins.tools),
        "each tool": [
            origins.event_at(f"$.tools[{place}].name") for place in range(_tools_in(origins.past))
        ],
        "changed": {part: origins.changed_by(part) for part in PARTS},
        "changed tools": {name: origins.tool_changed_by(name) for name in origins.tools},
    }


def _tools_in(past: dsh_fp.PastRequest) -> int:
    return 0 if past.header is None else len(past.header.get("tools", ()))


def _edit(edit: Wire) -> Edit:
    if edit["edit"] == "drop":
        return Drop(edit["seq"])
    if edit["edit"] == "replace":
        return Replace(edit["seq"], edit["data"], edit.get("type"), edit.get("time"))
    joins = edit.get("surfaceOp"), edit.get("sourceEventSeqs")
    return Insert(edit["before"], edit["type"], edit["data"], edit.get("time"), *joins)


def _change(change: RequestChange) -> Wire:
    return {
        "kind": change.kind,
        "old_seq": change.old_seq,
        "new_seq": change.new_seq,
        "header_changed": change.header_changed,
        "counts": [change.added, change.removed, change.changed],
        "messages": [change.messages_before, change.messages_after],
        "bytes": [change.bytes_before, change.bytes_after],
        "faults": [
            None if fault is None else fault.code.value
            for fault in (change.fault_before, change.fault_after)
        ],
    }


DSH_FP: Core = DshFp()
