"""Operations that look at a session: messages, surface, headers, requests, rules, forks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from returns.result import Failure

import dsh_fp
from tests.cases.loads import mended_session
from tests.cases.reasons import named
from tests.cases.verdicts import (
    Ask,
    Findings,
    Known,
    by_key,
    by_row,
    holds,
    not_looked_at,
    same,
)
from tests.conformance.asking import code_of, frozen, must, text_sha256
from tests.conformance.loading import json_of_text


def _session(ask: Ask) -> Any:
    return must(ask.inputs.log(ask.path)).session


def messages(ask: Ask) -> Findings:
    """The messages of the log, an interrupted turn closed first."""
    session, made_up = mended_session(must(ask.inputs.log(ask.path)))
    derived = must(session.messages())
    expect = dict(ask.expect)
    texts = [message_text(message) for message in derived]
    for key in ("json_sha256", "texts", "exact"):
        if made_up and key in expect:
            del expect[key]
            yield not_looked_at(key, "the text of made-up tool answers is free")
    if "texts" in expect and None in texts:
        del expect["texts"]
        yield not_looked_at("texts", "a block of a kind nobody wrote down how to show")
    if "text_at" in expect:
        place, text = expect.pop("text_at")
        shown = texts[place] if place < len(texts) else None
        yield same(f"text_at {place}", text, shown)
    known: Known = {
        "count": lambda: len(derived),
        "roles": lambda: [message["role"][0] for message in derived],
        "json_sha256": lambda: text_sha256(derived),
        "texts": lambda: texts,
        "exact": lambda: derived,
    }
    yield from by_key(expect, known)


def message_text(message: Mapping[str, Any]) -> str | None:
    """A message on one line as the cases write it; None with blocks they do not write."""
    parts = [_block_text(block) for block in message["content"]]
    return None if None in parts else " | ".join(str(part) for part in parts)


def _block_text(block: Mapping[str, Any]) -> str | None:
    match block:
        case {"type": "text", "text": text}:
            return str(text)
        case {"type": "tool-call", "id": call, "name": name}:
            return f"CALL {call} {name}"
        case {"type": "tool-result", "toolCallId": call, "content": content}:
            inner = [_block_text(part) for part in content]
            return None if None in inner else f"RESULT {call} {' '.join(map(str, inner))}"
        case _:
            return None


def surface(ask: Ask) -> Findings:
    """The surface, node by node or in short."""
    session = _session(ask)
    seqs = list(session.surface.seqs)
    if isinstance(ask.expect, list):
        yield same("surface", ask.expect, seqs)
        return
    known: Known = {
        "seqs": lambda: seqs,
        "nodes": lambda: len(seqs),
        "first": lambda: seqs[0],
        "second": lambda: seqs[1],
        "last": lambda: seqs[-1],
        "replacements": lambda: session.surface.generation,
        "generation": lambda: session.surface.generation,
    }
    yield from by_key(ask.expect, known)


def replacements(ask: Ask) -> Findings:
    """Every replacement in log order."""
    fold = must(dsh_fp.fold_surface(_session(ask).events))
    rows: list[Known] = [
        {
            "seq": partial(getattr, one, "seq"),
            "start": partial(getattr, one, "start"),
            "end": partial(getattr, one, "end"),
            "shadowed": partial(list, one.shadowed_seqs),
        }
        for one in fold.replacements
    ]
    yield from by_row(ask.expect, rows)


def header(ask: Ask) -> Findings:
    """The request header in force at the end."""
    in_force = must(_session(ask).request_header())
    known: Known = {
        "system_lines": lambda: _kept_lines(in_force),
        "in_force_system_sha256": lambda: _sha256(in_force["system"]),
        "in_force_json_sha256": lambda: text_sha256(in_force),
        "header_json_sha256": lambda: text_sha256(in_force),
        "json_sha256": lambda: text_sha256(in_force),
        "exact": lambda: in_force,
    }
    yield from by_key(ask.expect, known)


def _kept_lines(in_force: Mapping[str, Any]) -> Any:
    """How many lines of the system text a change that only adds to it keeps."""
    longer = frozen({**dsh_fp.thaw(in_force), "system": f"{in_force['system']}\nOne more line."})
    return must(dsh_fp.diff_headers(in_force, longer))["system"]["keepStart"]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def diff_header(ask: Ask) -> Findings:
    """The change between each pair of headers."""
    pairs = json_of_text(ask.path.read_text(encoding="utf-8"))
    rows: list[Known] = []
    for pair in pairs:
        before, after = frozen(pair["prev"]), frozen(pair["next"])
        delta = must(dsh_fp.diff_headers(before, after))
        rows.append(
            {
                "delta": partial(_itself, delta),
                "equal": partial(dsh_fp.headers_equal, before, after),
                "round_trip": partial(_round_trips, before, after, delta),
                "applied": partial(_applied, before, delta),
            }
        )
    yield from by_row(ask.expect, rows)


def _itself(value: Any) -> Any:
    return value


def _applied(before: Any, delta: Any) -> Any:
    return None if delta is None else must(dsh_fp.apply_delta(before, delta))


def _round_trips(before: Any, after: Any, delta: Any) -> Any:
    return None if delta is None else dsh_fp.headers_equal(_applied(before, delta), after)


def requests(ask: Ask) -> Findings:
    """Every past request, or how many there are."""
    past = tuple(dsh_fp.past_requests(_session(ask)))
    if not isinstance(ask.expect, list):
        yield from by_key(ask.expect, {"count": lambda: len(past)})
        return
    yield from by_row(ask.expect, [_request(one) for one in past])


def _request(past: Any) -> Known:
    known: dict[str, Any] = {
        "turn": lambda: past.turn,
        "step": lambda: past.step,
        "step_start_seq": lambda: past.seq,
    }
    if past.fault is not None:
        return {**known, "request": lambda: None, "reason": lambda: code_of(past.fault)}
    request = must(past.request)
    return {
        **known,
        "messages_count": lambda: len(request["messages"]),
        "messages_json_sha256": lambda: text_sha256(request["messages"]),
        "header_json_sha256": lambda: text_sha256(past.header),
        "system_sha256": lambda: _sha256(request["system"]),
        "model": lambda: request["model"],
    }


def safe_cuts(ask: Ask) -> Findings:
    """Whether the cut after the tail is balanced."""
    session = _session(ask)
    known: Known = {"after_tail": lambda: must(dsh_fp.is_balanced_cut(session.nodes(), None))}
    yield from by_key(ask.expect, known)


def strict(ask: Ask) -> Findings:
    """The breaches of the turn and step rules, and that a strict writer refuses them."""
    log = must(ask.inputs.log(ask.path))
    breaches = list(dsh_fp.trace_violations(log.session.events))
    expect = dict(ask.expect)
    wanted = expect.pop("violations", None)
    yield from by_key(expect, {})
    if wanted is None:
        return
    if any(row.get("reason") == "open-turn" for row in wanted):
        breaches += [one for one in log.findings if str(one.code) == "OPEN_TURN"]
    rows: list[Known] = [
        {
            "seq": partial(getattr, breach, "seq"),
            "reason": partial(named, row.get("reason"), breach),
            "code": partial(code_of, breach),
        }
        for row, breach in zip(wanted + [{}] * len(breaches), breaches, strict=False)
    ]
    yield from by_row(wanted, rows)
    if dsh_fp.trace_violations(log.session.events):
        guarded = must(dsh_fp.Session.create(guard=dsh_fp.strict()))
        refused = isinstance(guarded.extend(log.session.events), Failure)
        yield holds("a strict writer refuses the log", refused)


def usage(ask: Ask) -> Findings:
    """The token counts of the session's own events and of those it inherited."""
    if len(tuple(ask.inputs.paths(ask.check))) > 1:
        yield not_looked_at("usage", "sums over a whole store are not there yet")
        return
    counted = _session(ask).usage()
    for part in ("own", "inherited"):
        if part in ask.expect:
            yield from by_key(ask.expect[part], _counts(getattr(counted, part)), part)
    for key in ask.expect:
        if key not in ("own", "inherited"):
            yield not_looked_at(key)


def _counts(sums: Any) -> Known:
    names = {
        "inputTokens": "input_tokens",
        "outputTokens": "output_tokens",
        "cacheReadTokens": "cache_read_tokens",
        "cacheWriteTokens": "cache_write_tokens",
        "reasoningTokens": "reasoning_tokens",
        "calls": "calls",
    }
    return {wire: partial(getattr, sums, name) for wire, name in names.items()}


VIEWS: Final = {
    "messages": messages,
    "surface": surface,
    "replacements": replacements,
    "header": header,
    "diff-header": diff_header,
    "requests": requests,
    "safe-cuts": safe_cuts,
    "strict": strict,
    "usage": usage,
}
