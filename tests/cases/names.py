"""Operations on names: forks with the ids of their children, and ids as path segments."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from returns.result import Failure, Result

import dsh_fp
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
from tests.conformance.asking import code_of, must
from tests.conformance.loading import json_of_text


def fork(ask: Ask) -> Findings:
    """Each fork of the list, one after the other, from the one source."""
    path = ask.inputs.folder(ask.check) / (ask.check.source or ask.check.file)
    before = path.read_bytes()
    source = must(ask.inputs.log(path)).session
    text = _log_text(source)
    operations = json_of_text(ask.path.read_text(encoding="utf-8"))
    outcomes = [
        None if _needs_store(source, one) else _forked(source, one, f"fork-child-{place}")
        for place, one in enumerate(operations)
    ]
    if isinstance(ask.expect, list):
        yield same("rows", len(ask.expect), len(operations))
        for place, (row, outcome) in enumerate(zip(ask.expect, outcomes, strict=False)):
            if outcome is None:
                yield not_looked_at(f"[{place}]", "it takes a store of live sessions")
                continue
            asked = {key: row[key] for key in row if key not in operations[place]}
            yield from by_key(asked, _child(outcome), f"[{place}]")
        return
    unchanged = _log_text(source) == text and path.read_bytes() == before
    yield from by_key(ask.expect, {"source_unchanged": lambda: unchanged})


def _needs_store(source: Any, operation: Mapping[str, Any]) -> bool:
    """Whether only a store could know: the source is named by id, or the child's id is taken."""
    own = source.header.id
    return bool(operation.get("source", own) != own or operation.get("child") == own)


def _forked(source: Any, operation: Mapping[str, Any], child: str) -> Result[Any, Any]:
    name = operation.get("child", child)
    boundary = operation.get("boundary")
    # A null boundary is none given.
    given = () if boundary is None else (boundary,)
    forked: Result[Any, Any] = source.fork(*given, id=name)
    return forked


def _child(outcome: Result[Any, Any]) -> Known:
    if isinstance(outcome, Failure):
        rejection = outcome.failure()
        return {"ok": lambda: False, "code": lambda: code_of(rejection)}
    child = outcome.unwrap()
    return {
        "ok": lambda: True,
        "code": lambda: None,
        "seed_length": lambda: child.header.seed_length,
        "parent": lambda: child.header.parent_session,
        "cwd": lambda: child.header.cwd,
        "events": lambda: len(child),
        "messages": lambda: len(must(child.messages())),
    }


def _log_text(session: Any) -> bytes:
    return bytes(dsh_fp.encode_log(session.header, session.events))


def fork_empty_source(ask: Ask) -> Findings:
    """The fork of a session without events, no boundary given."""
    source = must(dsh_fp.Session.create("empty-source"))
    yield from by_key(ask.expect, _child(source.fork(id="empty-child")))


def path_segment(ask: Ask) -> Findings:
    """The path segment of each id, or what holds of all of them."""
    if isinstance(ask.expect, list):
        rows: list[Known] = [
            {
                "id": partial(str, row["id"]),
                "segment": partial(_segment, row["id"]),
                "result": partial(_result, row["id"]),
            }
            for row in ask.expect
        ]
        yield from by_row(ask.expect, rows)
        return
    expect = dict(ask.expect)
    if "id" in expect:
        name = expect.pop("id")
        single: Known = {
            "result": partial(_result, name),
            "segment": partial(_segment, name),
        }
        yield from by_key(expect, single)
        return
    ids = json_of_text(ask.path.read_text(encoding="utf-8"))
    segments = [must(dsh_fp.encode_segment(one)) for one in ids]
    known: Known = {
        "all_distinct": lambda: len(set(segments)) == len(set(ids)),
        "reversible": lambda: [must(dsh_fp.decode_segment(one)) for one in segments] == ids,
    }
    yield holds("the file lists ids", bool(ids))
    yield from by_key(expect, known)


def _segment(name: str) -> Any:
    encoded = dsh_fp.encode_segment(name)
    return code_of(encoded.failure()) if isinstance(encoded, Failure) else encoded.unwrap()


def _result(name: str) -> str:
    return "reject" if isinstance(dsh_fp.encode_segment(name), Failure) else "accept"


NAMES: Final = {
    "fork": fork,
    "fork-empty-source": fork_empty_source,
    "path-segment": path_segment,
}
