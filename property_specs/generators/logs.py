"""Valid logs, built on the list model: what is drawn is a list of moves, each made to fit.

A move says what should happen with numbers taken modulo what there is, so every list of moves
is a valid log and shrinks to a short one.

`turned_logs` keep the rules of turns and steps; `loose_logs` keep only acceptance's.
Leaves out: long logs; a few dozen events show every rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.generators import headers, payloads
from property_specs.models.acceptance import Book
from property_specs.models.headers import diff, fold

Log = list[dict[str, Any]]


@dataclass(frozen=True)
class Move:
    """One thing to happen; `at` and `span` choose among what there is when it does."""

    kind: str
    data: Any = None
    at: int = 0
    span: int = 0
    time: int = 0


# ---- loose logs --------------------------------------------------------------------------------


@cache
def loose_moves() -> st.SearchStrategy[Move]:
    """Moves of logs that only acceptance judges: any order, odd payloads, broken headers."""
    surface_type = st.sampled_from(payloads.SURFACE_TYPES)
    sound = st.tuples(surface_type, payloads.surface_payloads())
    odd = st.tuples(surface_type, payloads.odd_payloads())
    off_surface = st.tuples(st.sampled_from(payloads.LOG_TYPES), payloads.values())
    return st.one_of(
        _moves_of("append", sound),
        _moves_of("replace", sound),
        _moves_of("replace", sound),
        _moves_of("append", odd),
        _moves_of("replace", odd),
        _moves_of("log", off_surface),
        _moves_of("log", headers.header_event_fields()),
    )


def _moves_of(kind: str, data: st.SearchStrategy[Any]) -> st.SearchStrategy[Move]:
    """Moves of one kind; one number says when it happens and what it chooses."""

    def made(given: Any, number: int) -> Move:
        return Move(kind, given, number % 10, number // 10 % 10, number // 100)

    return st.builds(made, data, st.integers(0, 599))


def loose_event(book: Book, move: Move) -> dict[str, Any]:
    """The event that a move makes of a log as it stands."""
    kind, data = move.data
    event = {"type": kind, "seq": len(book.events), "time": move.time, "data": data}
    if move.kind == "log":
        return event
    if move.kind == "replace" and book.surface:
        gone = chosen(book, move)
        return event | replacing(book, gone, move)
    return event | appending(book, move)


def chosen(book: Book, move: Move) -> list[int]:
    """The nodes that a replacement takes away: any run, or one from an earlier replacement on.

    The latter makes replacements whose start is a larger number than their end.
    """
    replaced = [place for place, seq in enumerate(book.surface) if _replaces(book.events[seq])]
    places = replaced if replaced and move.at % 2 else list(range(len(book.surface)))
    first = places[move.at % len(places)]
    return book.surface[first : first + 1 + move.span % 4]


def _replaces(event: dict[str, Any]) -> bool:
    return isinstance(event["surfaceOp"], dict)


def replacing(book: Book, gone: list[int], move: Move) -> dict[str, Any]:
    """Marker and provenance of a replacement of these nodes, cited in one order or another."""
    extra = [event["seq"] for event in book.events[: move.span % 3] if event["seq"] not in gone]
    cited = [*extra, *reversed(gone)] if move.at % 2 else [*gone, *extra]
    op = {"op": "replace", "start": gone[0], "end": gone[-1]}
    return {"sourceEventSeqs": cited, "surfaceOp": op}


def appending(book: Book, move: Move) -> dict[str, Any]:
    """Marker and provenance of an append: most cite nothing, some any earlier events."""
    cited = [event["seq"] for event in book.events[move.at % 5 :][: move.span % 3]]
    if cited and move.span > 4:
        return {"sourceEventSeqs": cited, "surfaceOp": "append"}
    return {"surfaceOp": "append"}


def build_loose(moves: list[Move]) -> Log:
    """The log that loose moves make."""
    book = Book()
    for move in moves:
        book.take(loose_event(book, move))
    return book.events


@cache
def loose_logs(max_moves: int = 14) -> st.SearchStrategy[Log]:
    """Logs that acceptance takes, whatever else is wrong with them."""
    return _moves(loose_moves(), max_moves).map(build_loose)


# ---- logs with sound turns and steps -----------------------------------------------------------

TURN_MOVES = (
    "say",
    "think",
    "ask",
    "ask",
    "step",
    "result",
    "call",
    "chunk",
    "replace",
    "replace",
    "context",
    "steer",
    "header",
    "delta",
    "odd delta",
    "todo",
    "note",
    "end step",
    "end turn",
)


class Writer:
    """Writes a log as an agent loop does, opening and closing turns and steps where needed."""

    def __init__(self) -> None:
        self.book = Book()
        self.turn = 0
        self.step = 0
        self.in_turn = False
        self.in_step = False
        self.called: list[str] = []
        self.time = 0

    def write(self, move: Move) -> None:
        """Do what a move says, and what has to come before it."""
        self.time = 1000 + move.time
        getattr(self, "_" + move.kind.replace(" ", "_"))(move)

    def add(self, kind: str, data: Any, marker: dict[str, Any] | None = None) -> None:
        """Append one event."""
        seq = len(self.book.events)
        event = {"type": kind, "seq": seq, "time": self.time, "data": data}
        self.book.take(event | (marker or {}))

    def _where(self) -> dict[str, Any]:
        return {"turn": self.turn, "step": self.step}

    def _need_turn(self) -> None:
        if not self.in_turn:
            self.turn, self.step, self.in_turn = self.turn + 1, 0, True
            trigger = {"kind": "message", "source": {"kind": "user"}}
            self.add("turn/start", {"turn": self.turn, "trigger": trigger})

    def _need_step(self) -> None:
        self._need_turn()
        if not self.in_step:
            self.step, self.in_step, self.called = self.step + 1, True, []
            self.add("step/start", self._where())

    def _say(self, move: Move) -> None:
        self._need_turn()
        data = {"content": move.data["content"], "source": {"kind": "user"}}
        self.add("user/message", data, appending(self.book, move))

    def _context(self, move: Move) -> None:
        self._need_turn()
        source = {"kind": "plugin", "plugin": "memo"}
        data = {"content": move.data["content"], "source": source}
        self.add("context/message", data, appending(self.book, move))

    def _steer(self, move: Move) -> None:
        self._need_turn()
        data = {"turn": self.turn, "content": move.data["content"], "source": {"kind": "user"}}
        self.add("steering/message", data, appending(self.book, move))

    def _step(self, move: Move) -> None:
        if self.in_step:
            self._end_step(move)
        self._need_step()

    def _think(self, move: Move) -> None:
        self._need_step()
        calls = [
            {"type": "tool-call", "id": call, "name": "run", "arguments": "{}"}
            for call in payloads.CALL_IDS[: move.span % 4]
        ]
        data = self._where() | {"content": [*move.data["content"], *calls]}
        if "usage" in move.data:
            data["usage"] = move.data["usage"]
        self.add("assistant/message", data, appending(self.book, move))

    def _ask(self, move: Move) -> None:
        """Think of one to three calls, and log the first few of them."""
        self._think(move)
        for call in payloads.CALL_IDS[: move.at % 4]:
            if call not in self.called:
                self.called.append(call)
            data = self._where() | {"callId": call, "name": "run", "arguments": "{}"}
            self.add("tool/call", data)

    def _call(self, move: Move) -> None:
        self._need_step()
        call = payloads.CALL_IDS[move.at % 3]
        if call not in self.called:
            self.called.append(call)
        data = self._where() | {"callId": call, "name": "run", "arguments": "{}"}
        self.add("tool/call", data)

    def _result(self, move: Move) -> None:
        if not self.in_step or not self.called:
            self._call(move)
        call = self.called.pop(move.at % len(self.called))
        data = self._where() | {
            "callId": call,
            "content": move.data["content"],
            "isError": move.at % 2 == 1,
        }
        self.add("tool/result", data, appending(self.book, move))

    def _chunk(self, move: Move) -> None:
        self._need_step()
        chunk = {"type": "text-delta", "index": 0, "text": "hm"}
        self.add("assistant/chunk", self._where() | {"chunk": chunk})

    def _replace(self, move: Move) -> None:
        if not self.book.surface:
            self._say(move)
            return
        self._need_turn()
        gone = chosen(self.book, move)
        data = {"content": move.data["content"], "source": {"kind": "plugin", "plugin": "compact"}}
        self.add("user/message", data, replacing(self.book, gone, move))

    def _header(self, move: Move) -> None:
        self._need_turn()
        self.add("request/header", {"header": move.data["header"], "reason": "initial"})

    def _delta(self, move: Move) -> None:
        force = fold(self.book.events)
        delta = diff(force, move.data["header"]) if isinstance(force, dict) else None
        if delta is None:
            self._header(move)
            return
        self._need_turn()
        self.add("request/header-delta", delta)

    def _odd_delta(self, move: Move) -> None:
        if fold(self.book.events) is None:
            self._header(move)
            return
        self._need_turn()
        self.add("request/header-delta", move.data["delta"])

    def _todo(self, move: Move) -> None:
        self._need_turn()
        self.add("todo/write", {"todos": move.data["todos"]})

    def _note(self, move: Move) -> None:
        self._need_turn()
        self.add("plugin/note", move.data["note"])

    def _end_step(self, move: Move) -> None:
        self._need_step()
        self.in_step, self.called = False, []
        self.add("step/end", self._where())

    def _end_turn(self, move: Move) -> None:
        self._need_turn()
        if self.in_step:
            self._end_step(move)
        self.in_turn = False
        self.add("turn/end", {"turn": self.turn, "reason": {"kind": "completed"}})


@cache
def turn_moves(kinds: tuple[str, ...] = TURN_MOVES) -> st.SearchStrategy[Move]:
    """Moves of logs that keep the rules of turns and steps: of all kinds, or of these."""
    content = st.fixed_dictionaries({"content": payloads.contents()})
    needs: dict[str, st.SearchStrategy[Any]] = {
        "think": st.fixed_dictionaries(
            {"content": payloads.contents()},
            optional={"usage": payloads.usages()},
        ),
        "header": st.fixed_dictionaries({"header": headers.headers()}),
        "delta": st.fixed_dictionaries({"header": headers.headers()}),
        "odd delta": st.fixed_dictionaries(
            {"header": headers.headers(), "delta": headers.odd_deltas()}
        ),
        "todo": st.fixed_dictionaries({"todos": payloads.todo_lists()}),
        "note": st.fixed_dictionaries({"note": payloads.values()}),
    }
    return st.one_of(*(_moves_of(kind, needs.get(kind, content)) for kind in kinds))


def _moves(kind: st.SearchStrategy[Move], most: int) -> st.SearchStrategy[list[Move]]:
    """Lists of moves, most of them long; a long one shrinks to a short one."""
    long = st.lists(kind, min_size=most // 2, max_size=most)
    return st.one_of(st.lists(kind, max_size=most // 2), long, long)


def build_turned(moves: list[Move]) -> Log:
    """The log that turn moves make."""
    writer = Writer()
    for move in moves:
        writer.write(move)
    return writer.book.events


@cache
def turned_logs(max_moves: int = 14) -> st.SearchStrategy[Log]:
    """Logs as a sound writer leaves them, perhaps in the middle of a turn."""
    return _moves(turn_moves(), max_moves).map(build_turned)


@cache
def streamed_logs(max_moves: int = 14) -> st.SearchStrategy[Log]:
    """Logs of a sound writer that consist mostly of chunks, as real ones do."""
    chunk = st.just(Move("chunk"))
    return _moves(st.one_of(chunk, chunk, chunk, turn_moves()), max_moves).map(build_turned)


@cache
def closed_logs(max_moves: int = 10) -> st.SearchStrategy[Log]:
    """Logs of a sound writer whose last turn is closed."""
    end = Move("end turn")
    return _moves(turn_moves(), max_moves).map(lambda ms: build_turned([*ms, end]))


@cache
def many_turned_logs() -> st.SearchStrategy[Log]:
    """Logs of a sound writer with a few short, closed turns that replace what former ones said."""
    kinds = ("say", "replace", "replace", "think", "header", "delta")
    turn = st.lists(turn_moves(kinds), max_size=4).map(lambda moves: [*moves, Move("end turn")])
    return st.lists(turn, min_size=1, max_size=3).map(
        lambda turns: build_turned([move for moves in turns for move in moves])
    )


@cache
def valid_logs(max_moves: int = 14) -> st.SearchStrategy[Log]:
    """Logs that acceptance takes, of both kinds."""
    return turned_logs(max_moves) | loose_logs(max_moves)
