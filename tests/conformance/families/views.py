"""Families `surface`, `messages`, `header` and `pairing`: what a prefix of a log says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from returns.result import Failure

import dsh_fp
from tests.conformance.asking import (
    Answer,
    Case,
    Family,
    code_of,
    events_of,
    frozen,
    must,
    prefix_of,
    session_of,
    text_sha256,
    told,
)
from tests.conformance.comparing import Facts


def ask_surface(case: Case) -> Iterator[Answer]:
    """Nodes and replacements of the bare fold; of a session also its surface at each prefix."""
    if case["kind"] == "fold":
        yield "bare fold", _folded(events_of(case["events"]))
        return
    session = session_of(case["events"])
    checkpoints = []
    for point in case["checkpoints"]:
        surface = prefix_of(session, point["length"]).surface
        checkpoints.append(
            Facts(length=point["length"], seqs=list(surface.seqs), generation=surface.generation)
        )
    whole = Facts(generation=session.surface.generation, checkpoints=checkpoints)
    folded = _folded(session.events)
    yield "bare fold", Facts(whole | folded)
    yield "session", Facts(whole | folded | {"nodes": _nodes(session.surface.nodes)})


def _folded(events: Any) -> dict[str, Any]:
    folded = dsh_fp.fold_surface(events)
    if isinstance(folded, Failure):
        rejection = folded.failure()
        return Facts(code=code_of(rejection), index=rejection.index)
    fold = folded.unwrap()
    return Facts(
        nodes=_nodes(fold.nodes),
        replacements=[
            Facts(seq=one.seq, start=one.start, end=one.end, shadowedSeqs=list(one.shadowed_seqs))
            for one in fold.replacements
        ],
    )


def _nodes(nodes: Iterable[Any]) -> list[Facts]:
    return [Facts(seq=node.seq, prev=node.prev, next=node.next) for node in nodes]


def ask_messages(case: Case) -> Iterator[Answer]:
    """The messages at every prefix asked for, through a session and derived from bare events."""
    session = session_of(case["events"])
    lengths = [prefix["length"] for prefix in case["prefixes"]]
    final = text_sha256(must(session.messages()))
    yield (
        "session",
        Facts(
            prefixes=[
                Facts(length=length, messages=must(prefix_of(session, length).messages()))
                for length in lengths
            ],
            final_json_sha256=final,
        ),
    )
    events = tuple(session.events)
    yield (
        "bare events",
        Facts(
            prefixes=[
                Facts(length=length, messages=_derived(events[:length])) for length in lengths
            ],
            final_json_sha256=text_sha256(_derived(events)),
        ),
    )


def _derived(events: Sequence[Any]) -> Any:
    """The messages of the nodes of a bare fold."""
    nodes = must(dsh_fp.fold_surface(events)).nodes
    return must(dsh_fp.derive_messages([events[node.seq] for node in nodes]))


def expect_messages(case: Case) -> Mapping[str, Any]:
    """The expectation with messages in the place of their numbers in the pool."""
    pool = case["pool"]
    return Facts(
        prefixes=[
            {
                "length": prefix["length"],
                "messages": [pool[number] for number in prefix["messages"]],
            }
            for prefix in case["prefixes"]
        ],
        final_json_sha256=case["final_json_sha256"],
    )


def ask_header(case: Case) -> Iterator[Answer]:
    """What the operation of the case answers."""
    match case["op"]:
        case "canonical":
            yield "canonical", told(dsh_fp.canonical_header(frozen(case["header"])), "out")
        case "equals":
            equal = dsh_fp.headers_equal(frozen(case["a"]), frozen(case["b"]))
            yield "equals", Facts(out=equal)
        case "diff":
            yield "diff", _diffed(frozen(case["prev"]), frozen(case["next"]))
        case "apply":
            applied = dsh_fp.apply_delta(frozen(case["prev"]), frozen(case["delta"]))
            yield "apply", told(applied, "out")
        case "fold":
            yield from _header_folds(case)
        case other:
            raise ValueError(f"unknown header op {other!r}")


def _diffed(prev: Any, following: Any) -> Facts:
    delta = must(dsh_fp.diff_headers(prev, following))
    equal = dsh_fp.headers_equal(prev, following)
    if delta is None:
        return Facts(delta=None, applied=None, round_trips=None, equal=equal)
    applied = must(dsh_fp.apply_delta(prev, delta))
    round_trips = dsh_fp.headers_equal(applied, following)
    return Facts(delta=delta, applied=applied, round_trips=round_trips, equal=equal)


def _header_folds(case: Case) -> Iterator[Answer]:
    events = events_of(case["events"])
    start = frozen(case["from"]) if "from" in case else None
    lengths = [point["length"] for point in case["checkpoints"]]
    whole = dsh_fp.fold_header(events, start)
    answer = told(whole, "out")
    if isinstance(whole, Failure) and "error_at" in case:
        answer["error_at"] = whole.failure().index
    points = [
        Facts(length=length, **told(dsh_fp.fold_header(events[:length], start), "out"))
        for length in lengths
    ]
    yield "fold", Facts(answer, checkpoints=points)
    # A session goes on after a fault, as the fold of a list does not: only sound logs agree.
    created = dsh_fp.Session.create(seed=tuple(events))
    if start is not None or isinstance(whole, Failure) or isinstance(created, Failure):
        return
    session = created.unwrap()
    points = [
        Facts(length=length, **told(prefix_of(session, length).request_header(), "out"))
        for length in lengths
    ]
    yield "session", Facts(told(session.request_header(), "out"), checkpoints=points)


def ask_pairing(case: Case) -> Iterator[Answer]:
    """Whether each cut is balanced."""
    session = session_of(case["events"])
    cuts = [
        Facts(
            before=cut["before"],
            **told(dsh_fp.is_balanced_cut(session.nodes(), cut["before"]), "balanced"),
        )
        for cut in case["cuts"]
    ]
    yield "session", Facts(surface=list(session.surface.seqs), cuts=cuts)


def header_needs(case: Case) -> tuple[str, ...]:
    """The fields of a header case, by its operation."""
    match case.get("op"):
        case "canonical":
            return ("header", "out")
        case "equals":
            return ("a", "b", "out")
        case "diff":
            return ("prev", "next", "delta", "applied", "round_trips", "equal")
        case "apply":
            return ("prev", "delta", "out")
        case "fold":
            return ("events", "checkpoints", "code" if "code" in case else "out")
        case _:
            return ("op",)


def surface_needs(case: Case) -> tuple[str, ...]:
    """The fields of a surface case, by its kind."""
    if case.get("kind") != "fold":
        return ("kind", "events", "nodes", "replacements", "generation", "checkpoints")
    return ("events", *(("code", "index") if "code" in case else ("nodes", "replacements")))


SURFACE: Final = Family(
    name="surface",
    needs=surface_needs,
    answers=frozenset({"nodes", "replacements", "generation", "checkpoints", "code", "index"}),
    ask=ask_surface,
)
MESSAGES: Final = Family(
    name="messages",
    needs=lambda case: ("events", "pool", "prefixes", "final_json_sha256"),
    answers=frozenset({"prefixes", "final_json_sha256"}),
    ask=ask_messages,
    expect=expect_messages,
)
HEADER_ANSWERS: Final = frozenset(
    {"out", "code", "error_at", "checkpoints", "applied", "round_trips", "equal"}
)
HEADER: Final = Family(
    name="header",
    needs=header_needs,
    answers=HEADER_ANSWERS,
    ask=ask_header,
    # In an `apply` case the change is what is asked, in a `diff` case it is the answer.
    expect=lambda case: Facts(
        {
            key: value
            for key, value in case.items()
            if key in HEADER_ANSWERS or (key == "delta" and case["op"] == "diff")
        }
    ),
)
PAIRING: Final = Family(
    name="pairing",
    needs=lambda case: ("events", "surface", "cuts"),
    answers=frozenset({"surface", "cuts"}),
    ask=ask_pairing,
)
