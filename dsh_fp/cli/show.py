"""`dsh-fp show LOG`: a log as a readable transcript, written event by event."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

import attrs
import click
from returns.result import Failure

from dsh_fp.cli.answer import (
    Answer,
    common_options,
    count,
    full_option,
    located,
    log_argument,
    pieces_of_array,
)
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import wire_of
from dsh_fp.cli.output import Output
from dsh_fp.cli.page import (
    SUMMARY_CHARACTERS,
    Page,
    record_of,
    scalar,
    sender_of,
    seqs_of,
    time_of,
)
from dsh_fp.cli.provenance import header_origin
from dsh_fp.cli.safe import clipped, json_safe, one_line
from dsh_fp.cli.telling import HEADINGS, LINES, WITH_CONTENT, header_parts
from dsh_fp.core.events import Event
from dsh_fp.core.lossless import JsonObject, to_text
from dsh_fp.core.origins import Replaced, replaced_in
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.requests import inherited_length
from dsh_fp.core.session import Tokens
from dsh_fp.storage.jsonl import LogFile

# Log-only events of one unknown type in a row, from this many on, are one line.
RUN: Final = 4
_BODY: Final = 8


@click.command("show")
@log_argument
@full_option
@common_options
def command(log: str, full: bool, as_json: bool, color: str) -> int:
    """Print a log as a readable transcript.

    Every event is there, headed by its seq; runs of chunks are one line. Nodes that the model
    no longer sees say which event replaced them. Last comes the state the log amounts to.
    """
    answer = Answer("show", as_json=as_json, color=color)
    opened = answer.open(log)
    if as_json:
        answer.out.exact(map(json_safe, _document(opened)))
        return Exit.HOLDS
    Transcript(Page(answer.out, full=full), opened).print()
    answer.mention_torn_tail(opened)
    return Exit.HOLDS


# ---- for a program ---------------------------------------------------------------------------


def _document(opened: LogFile) -> Iterator[str]:
    """The document in pieces: a log is never one string."""
    head = {"schema_version": 1, "command": "show", "session": opened.header.to_wire()}
    yield to_text(head)[:-1] + ',"events":'
    replaced = replaced_in(opened.session)
    yield from pieces_of_array(_entry(event, replaced) for event in opened.session.events)
    yield f',"state":{to_text(state_of(opened))}}}\n'


def _entry(event: Event, replaced: Replaced) -> str:
    # Nothing is kept decoded, so that a long log takes no more memory for being shown.
    wire: dict[str, Any] = {"type": event.type, "seq": event.seq, "time": event.time}
    wire["data"] = event.peek_data()
    if event.has_sources:
        wire["sourceEventSeqs"] = event.source_event_seqs
    if event.has_surface_op:
        wire["surfaceOp"] = event.surface_op
    entry: dict[str, Any] = {"event": wire}
    if event.seq in replaced.nodes_of:
        entry["replaces"] = replaced.nodes_of[event.seq]
    if event.seq in replaced.by:
        entry["replaced_by"] = replaced.by[event.seq]
    return to_text(entry)


def state_of(opened: LogFile) -> dict[str, Any]:
    """What a log amounts to, as JSON."""
    session = opened.session
    todos, header, usage = session.todos(), session.request_header(), session.usage()
    state: dict[str, Any] = {
        "nodes": session.surface.seqs,
        "request_header": None if isinstance(header, Failure) else header.unwrap(),
        "todos": None if isinstance(todos, Failure) else todos.unwrap(),
        "usage": {"own": attrs.asdict(usage.own), "inherited": attrs.asdict(usage.inherited)},
    }
    faults = [
        wire_of(located(opened, m.failure())) for m in (todos, header) if isinstance(m, Failure)
    ]
    return {**state, "faults": faults}


# ---- for a person ----------------------------------------------------------------------------


class Transcript:
    """A log on a page."""

    def __init__(self, page: Page, opened: LogFile) -> None:
        self.page = page
        self.opened = opened
        self.session = opened.session
        self.replaced = replaced_in(opened.session)
        self.gutter = max(4, len(str(len(opened.session))))

    @property
    def out(self) -> Output:
        """Where the page goes."""
        return self.page.out

    def print(self) -> None:
        """The whole transcript."""
        self._print_head()
        for kind, run in groupby(self.session.events, self._run_key):
            if kind is None:
                for event in run:
                    self._print_event(event)
            else:
                self._print_run(kind, run)
        self._print_state()

    def _run_key(self, event: Event) -> str | None:
        """The type under which like events in a row are folded; None for what is shown."""
        if self.page.full:
            return None
        folds = event.type == "assistant/chunk" or not self.session.vocabulary.knows(event.type)
        return event.type if folds else None

    def _print_head(self) -> None:
        header, page = self.session.header, self.page
        page.line(f'session "{one_line(header.id, 80)}"', "bold")
        named = [("created", time_of(header.created_at))]
        if header.cwd is not None:
            named.append(("folder", one_line(header.cwd, 400)))
        if header.parent_session is not None:
            parent, inherited = one_line(header.parent_session, 80), inherited_length(self.session)
            named.append(("parent", f'"{parent}", {count(inherited, "event")} inherited'))
        named.append(("events", f"{len(self.session):,}"))
        for label, text in named:
            page.wrapped(text, 11, lead=f"  {label}")

    def _print_run(self, kind: str, run: Iterator[Event]) -> None:
        first = next(run)
        last, length = first, 1
        waiting = [first]
        is_chunk = kind == "assistant/chunk"
        for event in run:
            last, length = event, length + 1
            if len(waiting) < RUN:
                waiting.append(event)
        if is_chunk or length >= RUN:
            name = "chunk" if is_chunk else f"{one_line(kind, 60)} event"
            through = f" (to seq {last.seq})" if length > 1 else ""
            self._line(first.seq, f"{count(length, name)}{through}", "dim")
            return
        for event in waiting:
            self._print_event(event)

    def _print_event(self, event: Event) -> None:
        data = event.peek_data()
        if self.session.vocabulary.rule(event.type).message is not None:
            self._print_message(event, data)
        elif event.type in HEADINGS and isinstance(data, JsonObject):
            text, style = HEADINGS[event.type](data)
            if event.type == "turn/start":
                self.page.line()
            self._heading(event.seq, text, style)
        else:
            self._print_log_only(event, data)

    def _print_message(self, event: Event, data: object) -> None:
        out, seq = self.out, event.seq
        rule = self.session.vocabulary.rule(event.type).message
        record, source = record_of(data, rule), sender_of(data, rule)
        head = out.paint(one_line(event.type, 60), "speaker")
        if source:
            head += f" from {source}"
        call, is_error = _answered(data, record)
        if call is not None:
            head += f" of {scalar(call)}"
            if is_error and isinstance(data, JsonObject):
                head += out.paint(" ERROR", "bad") + _error_of(data)
        self._line(seq, head)
        indent = self.gutter + _BODY
        if seq in self.replaced.nodes_of:
            gone = seqs_of(self.replaced.nodes_of[seq])
            self.page.wrapped(f"replaces seq {gone}", indent, "mark")
        if seq in self.replaced.by:
            self.page.wrapped(f"replaced by seq {self.replaced.by[seq]}", indent, "warn")
        if isinstance(record, JsonObject) and isinstance(record.get("content"), tuple):
            self.page.content(record["content"], indent)
        else:
            self.page.line(" " * indent + out.paint("no message can be made of this:", "bad"))
            self.page.value(data, indent)

    def _print_log_only(self, event: Event, data: object) -> None:
        tell = LINES.get(event.type)
        text = tell(data) if tell is not None and isinstance(data, JsonObject) else None
        if text is None:
            text = f"{one_line(event.type, 60)} {scalar(data, SUMMARY_CHARACTERS)}"
        self._line(event.seq, text, "dim")
        if event.type in WITH_CONTENT and isinstance(data, JsonObject):
            self.page.content(data.get(WITH_CONTENT[event.type]), self.gutter + _BODY)
        elif self.page.full and tell is None:
            self.page.value(data, self.gutter + _BODY)

    def _heading(self, seq: int, text: str, style: str | None) -> None:
        self.page.line(f"{seq:>{self.gutter}}  {self.out.paint(text, style)}")

    def _line(self, seq: int, text: str, style: str | None = None) -> None:
        start = f"{seq:>{self.gutter}}      "
        if style is not None and not self.page.full:  # else it is painted in parts already
            text = clipped(text, self.out.width - len(start))
        self.page.line(start + self.out.paint(text, style))

    def _print_state(self) -> None:
        page, session = self.page, self.session
        page.line()
        page.line("state", "bold")
        nodes = session.surface.seqs
        listed = f": seq {seqs_of(nodes)}" if nodes else ""
        page.wrapped(f"{len(nodes):,} in force{listed}", 11, lead="  nodes")
        page.wrapped(self._header_in_force(), 11, lead="  header")
        usage = session.usage()
        page.wrapped(_tokens(usage.own), 11, lead="  usage")
        if usage.inherited.calls:
            page.wrapped(_tokens(usage.inherited), 13, lead="  inherited")
        todos = session.todos()
        if isinstance(todos, Failure):
            page.wrapped(_fault_line(todos.failure()), 11, lead="  todos")
        else:
            found = todos.unwrap()
            page.line("  todos    " + (f"{len(found):,}" if found else "none"))
            for todo in found or ():
                page.wrapped(_todo(todo), 11)

    def _header_in_force(self) -> str:
        found, origin = self.session.request_header(), header_origin(self.session)
        if isinstance(found, Failure):
            return _fault_line(found.failure())
        header = found.unwrap()
        if header is None or origin is None:
            return "none was logged"
        return f"{header_parts(header)}; since seq {origin.set_by.seq}"


def _fault_line(fault: Rejection) -> str:
    return one_line(f"{fault.code.value}: {fault.message} (seq {fault.seq})")


def _todo(todo: object) -> str:
    fields = todo if isinstance(todo, dict) else {}
    marks = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}
    status = fields.get("status")
    mark = marks.get(status) if isinstance(status, str) else None
    if mark is None or "content" not in fields:
        return scalar(todo, SUMMARY_CHARACTERS)
    return f"{mark} {scalar(fields['content'], SUMMARY_CHARACTERS)}"


def _tokens(tokens: Tokens) -> str:
    parts = [
        f"{number:,} {name}"
        for number, name in (
            (tokens.input_tokens, "input"),
            (tokens.cache_read_tokens, "from cache"),
            (tokens.cache_write_tokens, "to cache"),
            (tokens.output_tokens, "output"),
            (tokens.reasoning_tokens, "reasoning"),
        )
        if number
    ]
    told = f": {', '.join(parts)} tokens" if parts else ""
    return f"{count(tokens.calls, 'call')} with usage{told}"


def _answered(data: object, record: object) -> tuple[object, bool]:
    """The id of the call that a tool's result is for, and whether it is an error; None for none."""
    if record is data:
        told = data if isinstance(data, JsonObject) else {}
        return told.get("callId"), told.get("isError") is True
    if not isinstance(record, JsonObject):
        return None, False
    source = record.get("source")
    if not isinstance(source, JsonObject) or source.get("kind") != "tool":
        return None, False
    content = record.get("content")
    blocks = content if isinstance(content, tuple) else ()  # one of them is the result, before v4
    told = [part for part in (record, *blocks) if isinstance(part, JsonObject)]
    return source.get("callId"), any(part.get("isError") is True for part in told)


def _error_of(data: JsonObject) -> str:
    error = data.get("error")
    if not isinstance(error, dict):
        return ""
    return " " + " ".join(scalar(error[key]) for key in ("name", "code") if key in error)
