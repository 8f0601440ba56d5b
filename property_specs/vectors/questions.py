"""The questions: small logs written by hand, one or a few for each rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

Wire = Any
Log = list[dict[str, Any]]
Question = tuple[str, str, str, dict[str, Any]]
"""Name, rule, operation, arguments."""

USER: Final = {"kind": "user"}
PLUGIN: Final = {"kind": "plugin", "plugin": "memo"}


def log(*events: dict[str, Any]) -> Log:
    """Events with the seqs of their places; a field given already stays."""
    made = []
    for seq, event in enumerate(events):
        whole = {"type": event["type"], "seq": seq, "time": 1000 + seq, "data": event["data"]}
        made.append(whole | {key: event[key] for key in event if key not in ("type", "data")})
    return made


def text(words: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": words}


def call(name: str) -> dict[str, Any]:
    """A block that asks for a tool."""
    return {"type": "tool-call", "id": name, "name": "run", "arguments": "{}"}


def said(words: str, **more: Wire) -> dict[str, Any]:
    """A message of the user."""
    data = {"content": [text(words)], "source": USER}
    return {"type": "user/message", "data": data, "surfaceOp": "append", **more}


def placed(start: int, end: int, cited: list[int], words: str = "both") -> dict[str, Any]:
    """A message in the place of others."""
    op = {"op": "replace", "start": start, "end": end}
    return said(words, sourceEventSeqs=cited, surfaceOp=op)


def on_surface(kind: str, data: Wire, **more: Wire) -> dict[str, Any]:
    """Any event appended to the surface."""
    return {"type": kind, "data": data, "surfaceOp": "append", **more}


def note(data: Wire = None, **more: Wire) -> dict[str, Any]:
    """An event of a type that nobody knows."""
    return {"type": "plugin/note", "data": data, **more}


def turn(number: int = 1) -> dict[str, Any]:
    """The start of a turn."""
    trigger = {"kind": "message", "source": USER}
    return {"type": "turn/start", "data": {"turn": number, "trigger": trigger}}


def turn_end(number: int = 1) -> dict[str, Any]:
    """The end of a turn."""
    return {"type": "turn/end", "data": {"turn": number, "reason": {"kind": "completed"}}}


def step(number: int = 1, turn: int = 1) -> dict[str, Any]:
    """The start of a step."""
    return {"type": "step/start", "data": {"turn": turn, "step": number}}


def step_end(number: int = 1, turn: int = 1) -> dict[str, Any]:
    """The end of a step."""
    return {"type": "step/end", "data": {"turn": turn, "step": number}}


def answer(*content: Wire, step: int = 1, **more: Wire) -> dict[str, Any]:
    """A message of the assistant."""
    data = {"turn": 1, "step": step, "content": list(content)}
    return on_surface("assistant/message", data, **more)


def called(name: str, step: int = 1) -> dict[str, Any]:
    """A tool being run."""
    data = {"turn": 1, "step": step, "callId": name, "name": "run", "arguments": "{}"}
    return {"type": "tool/call", "data": data}


def result(name: str, step: int = 1, **more: Wire) -> dict[str, Any]:
    """What a tool gave."""
    data = {"turn": 1, "step": step, "callId": name, "content": [text("ok")], **more}
    return on_surface("tool/result", data)


def header(**parts: Wire) -> dict[str, Any]:
    """A snapshot of the request header."""
    whole = {"config": {"model": "small"}, **parts}
    return {"type": "request/header", "data": {"header": whole, "reason": "initial"}}


def delta(**parts: Wire) -> dict[str, Any]:
    """A change of the request header."""
    return {"type": "request/header-delta", "data": parts}


def tool(name: str, schema: Wire = None) -> dict[str, Any]:
    """A tool as a header lists it."""
    return {"name": name, "inputSchema": {"type": "object"} if schema is None else schema}


def acceptance() -> Iterator[Question]:
    """Which events a log takes, and which fault is the first."""

    def one(name: str, rule: str, *events: Wire) -> Question:
        whole = log(*(event for event in events if isinstance(event, dict) and "type" in event))
        whole += [event for event in events if not isinstance(event, dict) or "type" not in event]
        return name, rule, "accept", {"log": whole}

    def last(name: str, rule: str, before: list[Wire], change: Wire) -> Question:
        whole = log(*before)
        whole[-1] |= change
        return name, rule, "accept", {"log": whole}

    two = [said("a"), said("b")]
    yield one("nothing", "an empty log is a log")
    yield one("any-data", "a payload is not looked into", on_surface("user/message", None))
    yield one("unknown-type", "an event of unknown type is kept", note({"b": 1, "a": [True]}))
    yield one("time-goes-back", "times need no order", note(time=9), note(time=3))
    yield one("no-object", "an event is an object", said("a"), [1])
    yield one("null", "an event is an object", None)
    yield last("more-keys", "an envelope has no other keys", [note()], {"more": 1})
    yield ("no-time", "an envelope has its four keys", "accept", {"log": [without(note(), "time")]})
    yield ("no-data", "an envelope has its four keys", "accept", {"log": [without(note(), "data")]})
    yield last("type-is-no-string", "a type is a string", [note()], {"type": 1})
    yield last("true-is-no-seq", "true is not 1", [note(), note()], {"seq": True})
    yield last("fraction-is-no-seq", "a seq is an integer", [note()], {"seq": 0.5})
    yield last("negative-time", "a time is not negative", [note()], {"time": -1})
    yield last("largest-time", "a time is at most 2^53-1", [note()], {"time": 2**53 - 1})
    yield last("too-large-a-time", "a time is at most 2^53-1", [note()], {"time": 2**53})
    yield last("gap", "seqs have no gaps", [said("a"), note()], {"seq": 2})
    yield last("seq-again", "seqs do not repeat", [said("a"), note()], {"seq": 0})
    yield one("op-off-surface", "an event off the surface has no surfaceOp", note(surfaceOp=None))
    yield one(
        "sources-off-surface",
        "an event off the surface cites nothing",
        note(),
        note(sourceEventSeqs=[0]),
    )
    yield one(
        "op-before-sources",
        "of both the surfaceOp is refused first",
        note(sourceEventSeqs=None, surfaceOp="append"),
    )
    yield (
        "no-op",
        "a surface event has a surfaceOp",
        "accept",
        {"log": [without(said("a"), "surfaceOp")]},
    )
    for name, op in {
        "null-op": None,
        "unknown-op": "prepend",
        "op-with-true": {"op": "replace", "start": 0, "end": True},
        "op-with-more": {"op": "replace", "start": 0, "end": 0, "more": 1},
        "op-without-end": {"op": "replace", "start": 0},
    }.items():
        yield one(
            name, "a surfaceOp is 'append' or a replacement", said("a"), said("b", surfaceOp=op)
        )
    for name, sources in {
        "null-sources": None,
        "sources-no-list": {"0": 0},
        "true-as-source": [True],
        "fraction-as-source": [0.5],
        "negative-source": [-1],
    }.items():
        yield one(name, "sources are seqs", said("a"), said("b", sourceEventSeqs=sources))
    yield one(
        "op-before-bad-sources",
        "the surfaceOp is judged before the sources",
        said("a", surfaceOp=1, sourceEventSeqs=1),
    )
    yield one("start-unknown", "a replacement starts at a node", *two, placed(2, 1, [0, 1]))
    yield one("end-unknown", "a replacement ends at a node", *two, placed(0, 5, [0, 1]))
    yield one("start-before-end", "the start is looked up first", *two, placed(8, 9, [0, 1]))
    yield one("reversed", "the start stands before the end", *two, placed(1, 0, [0, 1]))
    yield one(
        "off-surface-end",
        "a node taken away is no node",
        *two,
        placed(0, 0, [0]),
        placed(0, 1, [0, 1]),
    )
    yield one(
        "log-only-end",
        "an event off the surface is no node",
        said("a"),
        note(),
        placed(0, 1, [0, 1]),
    )
    yield one("sources-empty", "an empty list of sources is refused", said("a", sourceEventSeqs=[]))
    yield one(
        "sources-twice", "a source is cited once", said("a"), said("b", sourceEventSeqs=[0, 0])
    )
    yield one("source-itself", "a source is earlier", said("a"), said("b", sourceEventSeqs=[1]))
    yield one(
        "twice-before-later", "duplicates are looked for first", said("a", sourceEventSeqs=[5, 5])
    )
    yield one("range-before-sources", "the range is judged first", *two, placed(9, 9, []))
    yield one(
        "uncited", "a replacement cites every node it takes", *two, said("c"), placed(0, 2, [0, 2])
    )
    yield one(
        "cites-nothing",
        "a replacement has sources",
        said("a"),
        said("b", surfaceOp={"op": "replace", "start": 0, "end": 0}),
    )
    yield one(
        "cites-more", "other earlier events may be cited", note(), *two, placed(1, 2, [2, 0, 1])
    )
    yield one(
        "start-is-larger",
        "start and end are places, not numbers",
        *two,
        placed(0, 0, [0]),
        placed(2, 1, [2, 1]),
    )
    yield one(
        "first-of-two-faults",
        "the first fault is the answer",
        said("a"),
        said("b", sourceEventSeqs=[]),
        note(surfaceOp="append"),
    )
    yield one(
        "broken-header-is-accepted",
        "a header that cannot be folded is accepted",
        delta(),
        header(system=1),
    )


def without(event: dict[str, Any], key: str) -> dict[str, Any]:
    """An event that lacks a key."""
    whole = log(event)[0]
    return {name: whole[name] for name in whole if name != key}


def surface() -> Iterator[Question]:
    """Nodes in force, after replacements."""
    three = [said("a"), said("b"), said("c")]
    logs = {
        "nothing": ("no events, no nodes", []),
        "appended": ("appends stand in order", three),
        "off-surface": ("other events are no nodes", [said("a"), note(), turn(), said("b")]),
        "first": ("a node may be replaced alone", [*three, placed(0, 0, [0])]),
        "middle": ("a run in the middle is replaced", [*three, said("d"), placed(1, 2, [1, 2])]),
        "last": ("both ends of a range go", [*three, placed(1, 2, [1, 2])]),
        "all": ("all nodes may be replaced", [*three, placed(0, 2, [0, 1, 2])]),
        "nested": (
            "a replacement is a node as any other",
            [*three, placed(0, 1, [0, 1]), placed(3, 2, [3, 2])],
        ),
        "then-appended": ("appends go behind the tail", [*three, placed(0, 1, [0, 1]), said("d")]),
        "twice": (
            "every replacement counts",
            [*three, placed(0, 0, [0]), placed(1, 1, [1]), placed(3, 2, [3, 4, 2])],
        ),
        "empty-answer": (
            "a node without a message is a node",
            [said("a"), answer(), placed(1, 1, [1])],
        ),
    }
    for name, (rule, events) in logs.items():
        yield name, rule, "surface", {"log": log(*events)}
    for name, (rule, events) in logs.items():
        yield f"bare-{name}", rule, "fold_surface", {"events": log(*events)}
    gapped = log(*three, note(), said("d", sourceEventSeqs=[1, 3]))
    yield (
        "bare-gap",
        "a bare fold takes gaps; a source has to be there",
        "fold_surface",
        {"events": [gapped[0], gapped[2], gapped[4]]},
    )
    yield (
        "bare-gap-uncited",
        "a bare fold takes gaps",
        "fold_surface",
        {"events": [gapped[0], gapped[2]]},
    )


def messages() -> Iterator[Question]:
    """What the model sees."""
    image = {"type": "x-image", "ref": "p.png"}
    odd = {"kind": {"b": 1, "a": 2}}
    logs = {
        "nothing": ("no events, no messages", []),
        "user": (
            "a user message keeps its content",
            [said("a"), on_surface("user/message", {"content": []})],
        ),
        "assistant": (
            "an assistant message keeps its content",
            [answer(text("hi"), call("c1"), image)],
        ),
        "empty-assistant": ("an assistant message without content is none", [said("a"), answer()]),
        "empty-block": ("a block with empty text stays", [answer(text(""))]),
        "result": ("a result is a user message with one block", [result("c1", isError=False)]),
        "result-without-flag": ("an absent isError stays absent", [result("c1")]),
        "result-odd-flag": ("isError is taken as it is", [result("c1", isError=None)]),
        "context": (
            "context is wrapped in two blocks of text",
            [on_surface("context/message", {"content": [text("<b>&")], "source": PLUGIN})],
        ),
        "steering": (
            "steering is wrapped likewise",
            [on_surface("steering/message", {"turn": 1, "content": [], "source": USER})],
        ),
        "quoted-kind": (
            "a kind is its JSON text",
            [on_surface("context/message", {"content": [], "source": {"kind": 'a"b'}})],
        ),
        "odd-kind": (
            "a kind may be any value",
            [on_surface("context/message", {"content": [], "source": odd})],
        ),
        "no-kind": (
            "a source without a kind is undefined",
            [on_surface("context/message", {"content": [], "source": {}})],
        ),
        "chunks": (
            "events off the surface make no message",
            [
                said("a"),
                {"type": "assistant/chunk", "data": {"content": [text("b")]}},
                note({"content": []}),
            ],
        ),
        "replaced": (
            "messages come in the order of the surface",
            [said("a"), said("b"), said("c"), placed(0, 1, [0, 1], "ab"), said("d")],
        ),
        "replaced-by-nothing": (
            "a message may be replaced by none",
            [
                said("a"),
                answer(surfaceOp={"op": "replace", "start": 0, "end": 0}, sourceEventSeqs=[0]),
            ],
        ),
        "no-content": ("a payload needs its content", [said("a"), on_surface("user/message", {})]),
        "content-no-list": (
            "content is a list",
            [on_surface("assistant/message", {"content": "hi"})],
        ),
        "no-call-id": ("a result needs its call id", [on_surface("tool/result", {"content": []})]),
        "no-source": ("context needs its source", [on_surface("context/message", {"content": []})]),
        "two-faults": (
            "the first node at fault is named",
            [on_surface("user/message", 1), on_surface("user/message", 2)],
        ),
        "fault-replaced": (
            "a fault that is replaced is gone",
            [on_surface("user/message", None), placed(0, 0, [0], "better")],
        ),
        "key-order": (
            "keys keep their order",
            [
                on_surface(
                    "user/message", {"content": [{"z": 1, "type": "x", "a": {"y": 1, "b": 2}}]}
                )
            ],
        ),
        "index-keys": (
            "index keys come first, as in JavaScript",
            [on_surface("user/message", {"content": [{"0": 1, "2": 2, "10": 3, "a": 4, "01": 5}]})],
        ),
    }
    for name, (rule, events) in logs.items():
        yield name, rule, "messages", {"log": log(*events)}


def headers() -> Iterator[Question]:
    """The request header in force."""
    three = header(
        system="a\nb\nc", tools=[tool("read"), tool("write")], messagePrefix=[{"role": "user"}]
    )

    def lines(start: Wire, end: Wire, *insert: Wire) -> dict[str, Any]:
        return delta(system={"keepStart": start, "keepEnd": end, "insert": list(insert)})

    def tools(**change: Wire) -> dict[str, Any]:
        return delta(tools={"added": [], "removed": [], "changed": [], **change})

    logs = {
        "none": ("no header event, no header", [said("a")]),
        "snapshot": ("a snapshot is in force", [three]),
        "canonical": (
            "parts in order, empty and unknown ones left out",
            [
                {
                    "type": "request/header",
                    "data": {
                        "header": {
                            "tools": [],
                            "x": 1,
                            "messagePrefix": [],
                            "system": "",
                            "config": {"z": 1, "model": "m"},
                        }
                    },
                }
            ],
        ),
        "second-snapshot": ("a snapshot replaces all", [three, header(system="x")]),
        "empty-delta": ("a delta without parts changes nothing", [three, delta()]),
        "middle-line": (
            "lines between the kept ends are replaced",
            [three, lines(1, 1, "B", "b2")],
        ),
        "append-line": ("lines may be added at the end", [three, lines(3, 0, "d")]),
        "no-system": ("no line left is no system", [three, lines(0, 0)]),
        "empty-line": ("one empty line is no system", [header(), lines(0, 0, "")]),
        "lines-twice": ("kept ends that overlap repeat lines", [three, lines(2, 2)]),
        "negative-start": ("a negative position counts from the end", [three, lines(-1, 0)]),
        "negative-end": ("a negative keepEnd keeps nothing", [three, lines(0, -2, "x")]),
        "end-beyond": (
            "keepEnd of one more than all keeps the last line",
            [three, lines(0, 4, "x")],
        ),
        "fraction": ("fractions are cut off", [three, lines(1.9, 1.5)]),
        "tool-removed": ("a tool is removed by name", [three, tools(removed=["read"])]),
        "tool-added": ("a tool is added at the end", [three, tools(added=[tool("run")])]),
        "tool-changed": (
            "a tool is changed in its place",
            [three, tools(changed=[tool("read", {"b": 1, "a": 2})])],
        ),
        "tool-again": (
            "removal comes before addition",
            [three, tools(removed=["read"], added=[tool("read")])],
        ),
        "tool-unknown": (
            "unknown names are ignored",
            [three, tools(removed=["x", 1], changed=[tool("y")])],
        ),
        "all-tools-removed": (
            "no tool left is no tools",
            [three, tools(removed=["read", "write"])],
        ),
        "config": ("config is replaced whole", [three, delta(config={"temperature": 0})]),
        "null-config": (
            "null keeps what there is",
            [three, delta(config=None, messagePrefix=None)],
        ),
        "no-prefix": ("an empty prefix is none", [three, delta(messagePrefix=[])]),
        "delta-first": ("a delta before any snapshot is a fault", [delta(), three, delta()]),
        "only-delta": ("a delta before any snapshot is a fault", [delta(config={})]),
        "bad-snapshot": ("a header that cannot be folded is a fault", [three, header(system=1)]),
        "bad-delta": (
            "a delta that cannot be folded is a fault",
            [three, delta(system={"keepStart": 0})],
        ),
        "fault-stays": ("a fault outlives deltas", [three, delta(config=[]), delta(config={})]),
        "fault-ends": ("the next snapshot ends a fault", [delta(), header(system="x")]),
        "first-code-stays": ("the first fault is the one in force", [delta(), delta(config=1)]),
        "nothing-inside": (
            "a header event without a header is a fault",
            [{"type": "request/header", "data": None}],
        ),
    }
    for name, (rule, events) in logs.items():
        yield name, rule, "header", {"log": log(*events)}
    full = {"config": {"model": "m"}, "system": "a\nb\nb", "tools": [tool("read"), tool("run")]}
    for name, rule, other in [
        ("diff-equal", "equal headers have no difference", dict(full)),
        (
            "diff-lines",
            "the longest ends are kept, the start first",
            {**full, "system": "a\nb\nb\nb"},
        ),
        ("diff-gone", "no system is no lines", {"config": {"model": "m"}}),
        (
            "diff-tools",
            "tools are compared by their text",
            {**full, "tools": [tool("run"), tool("read", {"b": 1}), tool("z")]},
        ),
        (
            "diff-config",
            "four fields of a config count",
            {**full, "config": {"model": "m", "x": 1}},
        ),
    ]:
        yield name, rule, "diff", {"prev": full, "next": other}


def requests() -> Iterator[Question]:
    """What each step sent to the model."""
    logs = {
        "no-step": ("no step, no request", [turn(), said("a")]),
        "first": (
            "the step's own header is in force",
            [turn(), said("a"), step(), header(system="s")],
        ),
        "carried": (
            "without one the former is",
            [turn(), header(), said("a"), step(), answer(text("b"))],
        ),
        "no-header": (
            "a step without a header has no request",
            [turn(), said("a"), step(), answer(text("b")), header()],
        ),
        "later-header": (
            "a header behind the output is the next step's",
            [
                turn(),
                header(system="1"),
                step(),
                answer(text("a")),
                header(system="2"),
                step_end(),
                step(2),
            ],
        ),
        "after-start": (
            "messages behind the start are the next step's",
            [turn(), header(), step(), said("late"), answer(text("a")), step_end(), step(2)],
        ),
        "injection": (
            "a message before the step's header is not in it",
            [turn(), step(), said("late"), header(system="s")],
        ),
        "replaced-later": (
            "what was sent stays sent",
            [
                turn(),
                header(),
                said("a"),
                said("b"),
                step(),
                step_end(),
                placed(2, 3, [2, 3], "ab"),
                step(2),
            ],
        ),
        "prefix": (
            "the prefix stands first",
            [turn(), header(messagePrefix=[{"role": "system", "content": []}]), said("a"), step()],
        ),
        "delta-in-step": (
            "a delta in the step counts",
            [
                turn(),
                header(system="a"),
                step(),
                delta(system={"keepStart": 0, "keepEnd": 0, "insert": ["b"]}),
                answer(text("c")),
            ],
        ),
        "tool-ends-search": (
            "a tool event ends the search too",
            [turn(), header(system="a"), step(), called("c1"), header(system="b")],
        ),
        "end-ends-search": (
            "so does the step's end",
            [turn(), header(system="a"), step(), step_end(), header(system="b")],
        ),
        "config": (
            "only four fields of a config are sent",
            [
                turn(),
                {
                    "type": "request/header",
                    "data": {
                        "header": {
                            "config": {"stop": ["x"], "x": 1, "temperature": 0, "model": "m"},
                            "tools": [tool("t")],
                        }
                    },
                },
                step(),
            ],
        ),
        "bad-header": ("a header at fault is the fault", [turn(), delta(), step()]),
        "bad-payload": (
            "a payload at fault is the fault",
            [turn(), header(), on_surface("user/message", 1), step()],
        ),
        "two-steps": (
            "every step has its own",
            [
                turn(),
                header(),
                said("a"),
                step(),
                answer(call("c1")),
                called("c1"),
                result("c1"),
                step_end(),
                step(2),
            ],
        ),
        "empty-prefix": ("an empty answer is not sent", [turn(), header(), answer(), step()]),
    }
    for name, (rule, events) in logs.items():
        yield name, rule, "requests", {"log": log(*events)}


def closers() -> Iterator[Question]:
    """What closes an interrupted turn."""
    begun = [turn(), said("a"), step()]
    logs = {
        "nothing": ("nothing to close", []),
        "no-turn": ("no turn, nothing to close", [note()]),
        "closed": ("a closed turn needs nothing", [turn(), turn_end()]),
        "turn": ("an open turn is ended", [turn(), said("a", time=77)]),
        "step": ("an open step is ended first", begun),
        "between-steps": ("an ended step is not ended again", [*begun, step_end()]),
        "waiting": ("a call that waits gets a result", [*begun, answer(call("c1"))]),
        "running": ("its call is cited", [*begun, answer(call("c1")), called("c1")]),
        "two": (
            "results come in the order of asking",
            [*begun, answer(call("c2"), call("c1")), called("c1"), called("c2")],
        ),
        "one-of-two": (
            "an answered call gets none",
            [*begun, answer(call("c1"), call("c2")), called("c1"), called("c2"), result("c1")],
        ),
        "call-alone": ("a call that was not asked for gets none", [*begun, called("c1")]),
        "same-id-twice": ("an id gets one result", [*begun, answer(call("c1"), call("c1"))]),
        "asked-again": (
            "asking again forgets the call",
            [*begun, answer(call("c1"), call("c2")), called("c1"), answer(call("c1"))],
        ),
        "answered-again": (
            "answered and asked again it goes last",
            [*begun, answer(call("c1"), call("c2")), result("c1"), answer(call("c1"))],
        ),
        "called-twice": (
            "the last call is cited",
            [*begun, answer(call("c1")), called("c1"), called("c1")],
        ),
        "earlier-step": (
            "the end of a step forgets its calls",
            [*begun, answer(call("c1")), step_end(), step(2)],
        ),
        "second-turn": (
            "only the last turn is closed",
            [*begun, answer(call("c1")), step_end(), turn_end(), turn(2)],
        ),
        "step-start-forgets-nothing": (
            "the start of a step forgets nothing",
            [*begun, answer(call("c1")), step(2), answer(step=2)],
        ),
    }
    for name, (rule, events) in logs.items():
        yield name, rule, "closers", {"log": log(*events)}


def forks() -> Iterator[Question]:
    """Children from a prefix."""
    two = log(turn(), said("a"), turn_end(), turn(2), turn_end(2))
    open_turn = two[:4]
    full = {
        "version": 0,
        "id": "p",
        "createdAt": 5,
        "cwd": "/home",
        "parentSession": "q",
        "seedLength": 1,
    }
    yield "last", "the boundary is the last event", "fork", {"log": two}
    yield "boundary", "the boundary is included", "fork", {"log": two, "boundary": 2}
    yield "header", "a child takes the cwd alone", "fork", {"log": two, "header": full}
    yield "nothing", "an empty log forks an empty child", "fork", {"log": []}
    yield "open-turn", "no silent step back", "fork", {"log": open_turn}
    yield "inside", "a boundary is the end of a turn", "fork", {"log": two, "boundary": 1}
    yield "closed-inside-open", "an earlier end will do", "fork", {"log": open_turn, "boundary": 2}
    for name, boundary in {
        "beyond": 5,
        "negative": -1,
        "true": True,
        "text": "2",
        "fraction": 0.5,
    }.items():
        yield name, "a boundary is a seq of the log", "fork", {"log": two, "boundary": boundary}
    yield "empty-zero", "an empty log has no boundary", "fork", {"log": [], "boundary": 0}


def traces() -> Iterator[Question]:
    """Turns and steps."""
    begun = [turn(), step()]
    logs = {
        "nothing": ("nothing is sound", []),
        "sound": (
            "a sound turn",
            [*begun, answer(call("c1")), called("c1"), result("c1"), step_end(), turn_end()],
        ),
        "outside": ("every event lies in a turn", [note()]),
        "second-start": ("one turn is open at most", [turn(), turn(2)]),
        "turn-number": ("turns count from 1", [turn(2)]),
        "turn-true": (
            "true is not turn 1",
            [{"type": "turn/start", "data": {"turn": True, "trigger": {}}}],
        ),
        "other-end": ("a turn ends under its number", [turn(), turn_end(2)]),
        "open-step": ("no step is open at the end", [*begun, turn_end()]),
        "step-number": ("steps count from 1", [turn(), step(2)]),
        "step-of-other-turn": ("a step names its turn", [turn(), step(1, 2)]),
        "second-step": ("one step is open at most", [*begun, step(2)]),
        "no-step": ("an answer lies in a step", [turn(), answer()]),
        "result-alone": ("a result has its call", [*begun, result("c1")]),
        "result-twice": ("a call is used up", [*begun, called("c1"), result("c1"), result("c1")]),
        "call-of-earlier-step": (
            "a step's end forgets its calls",
            [*begun, called("c1"), step_end(), step(2), result("c1", 2)],
        ),
        "repair": (
            "the repair's own result needs none",
            [*begun, result("c1", isError=True, error={"name": "x", "code": "interrupted"})],
        ),
        "steps-begin-anew": (
            "each turn counts its own steps",
            [*begun, step_end(), turn_end(), turn(2), step(1, 2)],
        ),
    }
    for name, (rule, events) in logs.items():
        yield name, rule, "trace", {"events": log(*events)}


def pairing() -> Iterator[Question]:
    """Where a surface may be cut."""
    whole = log(said("a"), answer(call("c1"), call("c2")), result("c1"), result("c2"), said("b"))
    for name, before in {
        "head": 0,
        "calls": 1,
        "between": 2,
        "half": 3,
        "after": 4,
        "tail": None,
    }.items():
        yield (
            name,
            "a cut is balanced when no call waits",
            "balanced",
            {"log": whole, "before": before},
        )
    corrupt = log(result("c1"), said("a"))
    yield "corrupt", "more results than calls are damage", "balanced", {"log": corrupt, "before": 1}
    yield (
        "before-damage",
        "damage behind a cut does not matter",
        "balanced",
        {"log": corrupt, "before": 0},
    )


def texts() -> Iterator[Question]:
    """JSON text, to the byte."""
    values: dict[str, Wire] = {
        "numbers": [0, -1, 100, 0.1, 1e21, 1e-7, 1e-6, 123456789012345680000.0, 5e-324, 1.5e300],
        "strings": ["", '"\\/', "\b\t\n\f\r\x00\x1f\x7f", "é\u2028😀"],
        "half": "\ud800",
        "words": [None, True, False, [], {}],
        "key-order": {"b": 1, "a": 2, "": 3, "__proto__": 4},
        "index-keys": {"0": 1, "7": 2, "4294967294": 3, "b": 4, "4294967295": 5, "00": 6},
    }
    for name, value in values.items():
        yield name, "text is what JSON.stringify writes", "text", {"value": value}


TOPICS: Final = {
    "acceptance": acceptance,
    "surface": surface,
    "messages": messages,
    "headers": headers,
    "requests": requests,
    "closers": closers,
    "forks": forks,
    "traces": traces,
    "pairing": pairing,
    "texts": texts,
}
