"""An example server for `dsh-fp conform`: this library behind the protocol, one line at a time.

dsh-fp conform -- python examples/conform-server.py
"""

import json
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

from returns.result import Failure, Result

import dsh_fp

Json: TypeAlias = Any
Ask: TypeAlias = dict[str, Json]


class Refused(Exception):
    """The answer is a refusal; holds the rejection."""

    def __init__(self, why: dsh_fp.Rejection) -> None:
        super().__init__(why.message)
        self.why = why


def held(answer: Result[Any, dsh_fp.Rejection]) -> Json:
    """What a result holds; a failure becomes the refusal."""
    if isinstance(answer, Failure):
        raise Refused(answer.failure())
    return answer.unwrap()


def session(ask: Ask) -> dsh_fp.Session:
    """The session that a request hands over."""
    made: dsh_fp.Session = held(dsh_fp.Session.replay(ask["log"], ask.get("header")))
    return made


def surface(ask: Ask) -> Json:
    """The nodes in force."""
    found = session(ask).surface
    return {"seqs": list(found.seqs), "generation": found.generation}


def requests(ask: Ask) -> Json:
    """What each step sent."""
    return [
        {"seq": past.seq, "fault": past.fault.code.value}
        if past.fault is not None
        else {"seq": past.seq, "request": held(past.request), "text": past.to_json()}
        for past in dsh_fp.past_requests(session(ask))
    ]


def closers(ask: Ask) -> Json:
    """What closes an interrupted turn."""
    events = [held(dsh_fp.decode_event(each)) for each in ask["log"]]
    return [event.to_wire() for event in dsh_fp.interrupted_turn_closers(events)]


def fork(ask: Ask) -> Json:
    """A child: its header, and how many events it inherited."""
    child = held(session(ask).fork(*([ask["boundary"]] if "boundary" in ask else [])))
    return {"header": child.header.to_wire(), "length": len(child)}


def fold_surface(ask: Ask) -> Json:
    """Nodes and replacements of bare events."""
    folded = held(dsh_fp.fold_surface(ask["events"]))
    return {
        "nodes": [{"seq": n.seq, "prev": n.prev, "next": n.next} for n in folded.nodes],
        "replacements": [
            {"seq": r.seq, "start": r.start, "end": r.end, "shadowedSeqs": list(r.shadowed_seqs)}
            for r in folded.replacements
        ],
    }


def trace(ask: Ask) -> Json:
    """Where events end up in their turns and steps."""
    state = held(dsh_fp.fold_trace(ask["events"]))
    names = ("open_turn", "open_step", "next_turn", "next_step", "pending_calls")
    return {name: getattr(state, name) for name in names}


ANSWERS: dict[str, Callable[[Ask], Any]] = {
    # the small protocol
    "accept": lambda ask: {"length": len(session(ask))},
    "surface": surface,
    "messages": lambda ask: held(session(ask).messages()),
    "header": lambda ask: held(session(ask).request_header()),
    "requests": requests,
    "closers": closers,
    "fork": fork,
    # and some of the rest
    "events": lambda ask: [event.to_wire() for event in session(ask)],
    "todos": lambda ask: held(session(ask).todos()),
    "fold_surface": fold_surface,
    "trace": trace,
    "violations": lambda ask: [refusal(b) for b in dsh_fp.trace_violations(ask["events"])],
    "balanced": lambda ask: held(dsh_fp.is_balanced_cut(session(ask).nodes(), ask["before"])),
    "canonical": lambda ask: held(dsh_fp.canonical_header(ask["header"])),
    "equal": lambda ask: dsh_fp.headers_equal(ask["one"], ask["other"]),
    "diff": lambda ask: held(dsh_fp.diff_headers(ask["prev"], ask["next"])),
    "apply": lambda ask: held(dsh_fp.apply_delta(ask["prev"], ask["delta"])),
    "text": lambda ask: dsh_fp.to_text(ask["value"]),
}


def refusal(why: dsh_fp.Rejection) -> Json:
    """A rejection as the protocol writes it."""
    place = {"seq": why.seq, "index": why.index, "path": why.path, "data": dict(why.facts)}
    return {"code": why.code.value, **{key: place[key] for key in place if place[key] is not None}}


def answer(ask: Ask) -> Json:
    """The answer to one request, without its id."""
    if ask["op"] == "hello":
        capabilities = [*ANSWERS, "request_texts", "refusal_data"]
        hello = {"protocol": "dsh_fp conform", "version": 1, "name": "dsh_fp"}
        return {"answer": {**hello, "capabilities": capabilities}}
    try:
        return {"answer": ANSWERS[ask["op"]](ask)}
    except Refused as refused:
        return {"refused": refusal(refused.why)}
    except Exception as fault:  # noqa: BLE001  # the server goes on, and says what it was
        return {"error": f"{type(fault).__name__}: {fault}"}


def main() -> None:
    """Answer each line until there are no more."""
    for line in sys.stdin:
        ask = json.loads(line)
        print(json.dumps({"id": ask["id"], **answer(ask)}), flush=True)


if __name__ == "__main__":
    main()
