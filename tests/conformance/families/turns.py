"""Families `closers`, `trace`, `assembler` and `requests`: turns, their steps and streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs
from returns.result import Failure

import dsh_fp
from property_specs.models import digests
from tests.conformance.asking import (
    Answer,
    Case,
    Family,
    code_of,
    events_of,
    frozen,
    must,
    session_of,
    text_sha256,
    told,
    true_or_code,
)
from tests.conformance.comparing import Facts


def ask_closers(case: Case) -> Iterator[Answer]:
    """The closers at each cut, and whether log and closers together hold."""
    events = events_of(case["events"])
    cuts = []
    for cut in case["cuts"]:
        kept = events[: cut["length"]]
        closers = list(dsh_fp.interrupted_turn_closers(kept))
        mended = (*kept, *closers)
        cuts.append(
            Facts(
                length=cut["length"],
                closers=[event.to_wire() for event in closers],
                accepted=true_or_code(dsh_fp.Session.create(seed=mended)),
                trace=true_or_code(dsh_fp.fold_trace(mended)),
            )
        )
    yield "events", Facts(cuts=cuts)


def ask_trace(case: Case) -> Iterator[Answer]:
    """The state after the last event or the first breach, and the first of all breaches."""
    events = [frozen(event) for event in case["events"]]
    folded = dsh_fp.fold_trace(events)
    breaches = dsh_fp.trace_violations(events)
    if isinstance(folded, Failure):
        yield "fold", _breach(folded.failure())
    else:
        yield "fold", _trace_state(folded.unwrap())
    if breaches or not case["ok"]:
        yield "violations", _breach(breaches[0]) if breaches else Facts(ok=True)


def _breach(rejection: Any) -> Facts:
    return Facts(ok=False, index=rejection.index, seq=rejection.seq, code=code_of(rejection))


def _trace_state(state: Any) -> Facts:
    return Facts(
        ok=True,
        open_turn=state.open_turn,
        open_step=state.open_step,
        next_turn=state.next_turn,
        next_step=state.next_step,
        pending_calls=sorted(state.pending),
    )


def expect_trace(case: Case) -> Mapping[str, Any]:
    """The expectation with pending ids as a set has them: as JSON text, in no order."""
    facts = Facts({key: value for key, value in case.items() if key in TRACE_ANSWERS})
    if "pending_calls" in facts:
        facts["pending_calls"] = sorted(
            dsh_fp.to_text(frozen(call)) for call in facts["pending_calls"]
        )
    return facts


def ask_assembler(case: Case) -> Iterator[Answer]:
    """The chunks pushed in turn; when all of them go in, also assembled in one go."""
    chunks = [frozen(chunk) for chunk in case["chunks"]]
    state = dsh_fp.EMPTY_ASSEMBLY
    answer = Facts(emitted=[])
    seen = {0: _blocks(state)}
    for index, chunk in enumerate(chunks):
        pushed = state.push(chunk)
        if isinstance(pushed, Failure):
            answer["push_error"] = Facts(index=index, code=code_of(pushed.failure()))
            break
        state, block = pushed.unwrap()
        if block is not None:
            answer["emitted"].append(Facts(at=index, block=block))
        if index + 1 in _midway_points(case):
            seen[index + 1] = _blocks(state)
    if "midway" in case:
        answer["midway"] = [
            Facts(seen.get(after, Facts()), after=after) for after in _midway_points(case)
        ]
    yield "pushed", Facts(answer | _blocks(state), usage=state.usage, finish=state.finish)
    if "push_error" in answer:
        return
    assembled = dsh_fp.assemble(chunks)
    if isinstance(assembled, Failure):
        whole = Facts(code=code_of(assembled.failure()), usage=state.usage, finish=state.finish)
    else:
        done = assembled.unwrap()
        whole = Facts(blocks=done.blocks, usage=done.usage, finish=done.finish)
    yield "in one go", Facts({k: answer[k] for k in ("emitted", "midway") if k in answer} | whole)


def _midway(case: Case) -> list[Any]:
    """The looks at a run not yet over; a single one may stand without a list."""
    looks = case.get("midway", [])
    return looks if isinstance(looks, list) else [looks]


def _midway_points(case: Case) -> list[int]:
    return [look["after"] for look in _midway(case)]


def expect_assembler(case: Case) -> Mapping[str, Any]:
    """The expectation with all looks midway in a list."""
    facts = Facts({key: value for key, value in case.items() if key in ASSEMBLER_ANSWERS})
    return Facts(facts, midway=_midway(case)) if "midway" in facts else facts


def _blocks(state: Any) -> Facts:
    return told(state.blocks(), "blocks")


def ask_requests(case: Case) -> Iterator[Answer]:
    """Every past request as a value, from its JSON text, and with its digests made two ways."""
    past = dsh_fp.past_requests(session_of(case["events"]))
    yield "values", Facts(steps=[_step(one, _request(one)) for one in past])
    yield "texts", Facts(steps=[_step(one, _request_of_text(one)) for one in past])
    yield "digests", Facts(steps=[_digested(one) for one in past])


def _request(past: Any) -> Any:
    return None if past.fault is not None else must(past.request)


def _request_of_text(past: Any) -> Any:
    text = past.to_json()
    return None if text is None else must(dsh_fp.parse(text))


def _digested(past: Any) -> Facts:
    """The step, if the digests made in one pass are those of its request hashed from scratch."""
    made = None if past.digests is None else attrs.asdict(past.digests)
    request = _request(past)
    scratch = None if request is None else digests.request_digests(dsh_fp.thaw(request))
    return _step(past, request) if made == scratch else Facts(made=made, scratch=scratch)


def _step(past: Any, request: Any) -> Facts:
    step = Facts(step_start=past.seq, turn=past.turn, step=past.step, request=request)
    if request is not None:
        step["messages_json_sha256"] = text_sha256(request["messages"])
    return step


def expect_requests(case: Case) -> Mapping[str, Any]:
    """The expectation with whole requests in the place of heads and numbers of messages."""
    steps = []
    for step in case["steps"]:
        request = step["request"]
        if request is not None:
            messages = [case["messages"][number] for number in request["messages"]]
            request = {**case["heads"][request["head"]], "messages": messages}
        steps.append({**step, "request": request})
    return Facts(steps=steps)


TRACE_ANSWERS: Final = frozenset(
    {
        *("ok", "open_turn", "open_step", "next_turn", "next_step", "pending_calls"),
        *("index", "seq", "code"),
    }
)
CLOSERS: Final = Family(
    name="closers",
    needs=lambda case: ("events", "cuts"),
    answers=frozenset({"cuts"}),
    ask=ask_closers,
)
TRACE: Final = Family(
    name="trace",
    needs=lambda case: (
        "events",
        "ok",
        *(
            ("index", "seq", "code")
            if case.get("ok") is False
            else ("open_turn", "open_step", "next_turn", "next_step", "pending_calls")
        ),
    ),
    answers=TRACE_ANSWERS,
    ask=ask_trace,
    expect=expect_trace,
)
ASSEMBLER_ANSWERS: Final = frozenset(
    {"emitted", "push_error", "blocks", "code", "usage", "finish", "midway"}
)
ASSEMBLER: Final = Family(
    name="assembler",
    needs=lambda case: (
        "chunks",
        "emitted",
        "usage",
        "finish",
        "code" if "code" in case else "blocks",
    ),
    answers=ASSEMBLER_ANSWERS,
    ask=ask_assembler,
    expect=expect_assembler,
)
REQUESTS: Final = Family(
    name="requests",
    needs=lambda case: ("events", "heads", "messages", "steps"),
    answers=frozenset({"steps"}),
    ask=ask_requests,
    expect=expect_requests,
)
