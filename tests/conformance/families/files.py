"""Families `scanlog` and `paths`: the lines of a log file, and where the file stands."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping
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
    told,
)
from tests.conformance.comparing import Facts
from tests.conformance.deep import deep_json
from tests.conformance.loading import number_of


def ask_scanlog(case: Case) -> Iterator[Answer]:
    """What the scan of the bytes, or of each of their variants, says; or the bytes written."""
    match case["kind"]:
        case "scan":
            yield "scan", _scanned(_bytes(case))
        case "truncate":
            data = _bytes(case)
            yield "cut", Facts(at=[_counted(data[:length]) for length in range(len(data) + 1)])
        case "poke":
            data, byte = _bytes(case), bytes([case["byte"]])
            variants = (data[:at] + byte + data[at + 1 :] for at in range(len(data)))
            yield "poked", Facts(at=[_counted(variant) for variant in variants])
        case "write":
            header = must(dsh_fp.session_header(case["header"]))
            written = dsh_fp.encode_log(header, events_of(case["events"]))
            yield "written", Facts(text=written.decode("utf-8"), size=len(written))
        case other:
            raise ValueError(f"unknown scanlog kind {other!r}")


def _bytes(case: Case) -> bytes:
    return base64.b64decode(case["bytes_b64"], validate=True)


def _scanned(data: bytes) -> Facts:
    result = dsh_fp.scan_log(data)
    if isinstance(result, Failure):
        return Facts(code=code_of(result.failure()))
    scan = result.unwrap()
    answer = Facts(header=scan.header, count=scan.count, committed_bytes=scan.good_bytes)
    kept = data[data.index(b"\n") + 1 : scan.good_bytes].split(b"\n")[:-1]
    texts = [_event_text(event) for event in kept]
    if None in texts:
        return Facts(answer, events_not_finite=True)
    return Facts(answer, events_text=f"[{','.join(str(text) for text in texts)}]")


def _event_text(event: Any) -> str | None:
    """A kept line's value as text; None where the value holds an infinity.

    A scan judges no values, so a negative zero is still there; the text of it is 0.
    """
    parsed = dsh_fp.parse(event)
    if not isinstance(parsed, Failure):
        return str(dsh_fp.to_text(parsed.unwrap()))
    text = event if isinstance(event, str) else bytes(event).decode("utf-8", "replace")
    try:
        value = deep_json(text, parse_int=_finite, parse_float=_finite)
    except OverflowError:
        return None
    return str(dsh_fp.to_text(frozen(value)))


def _finite(literal: str) -> float:
    number = number_of(literal)
    if math.isinf(number):
        raise OverflowError(literal[:20])
    return number or 0


def _counted(data: bytes) -> Facts:
    result = dsh_fp.scan_log(data)
    if isinstance(result, Failure):
        return Facts(code=code_of(result.failure()))
    scan = result.unwrap()
    return Facts(count=scan.count, committed_bytes=scan.good_bytes)


def expect_scanlog(case: Case) -> Mapping[str, Any]:
    """The expectation, runs of like answers spelled out one by one."""
    match case["kind"]:
        case "write":
            return Facts(text=_bytes(case).decode("utf-8"), size=case["size"])
        case "scan":
            return _in_real_bytes(case, _bytes(case), case, SCANLOG.answers)
        case _:
            answers: list[Any] = [None] * (case["size"] + (case["kind"] == "truncate"))
            data = _bytes(case)
            for run in case["runs"]:
                for at in range(run["from"], run["to"] + 1):
                    answers[at] = _in_real_bytes(case, data, run, SCANLOG.answers)
            return Facts(at=answers)


def _in_real_bytes(
    case: Case, data: bytes, answer: Mapping[str, Any], keys: frozenset[str]
) -> Facts:
    """An answer whose byte offset counts the file's own bytes.

    In files that are no UTF-8 the expected offset drifts; the end of the last kept line is known
    from their count all the same.
    """
    facts = Facts({key: value for key, value in answer.items() if key in keys})
    if case.get("invalid_utf8") is True and "committed_bytes" in facts:
        lines = data.split(b"\n")[: facts["count"] + 1]
        facts["committed_bytes"] = sum(len(line) + 1 for line in lines)
    return facts


def ask_paths(case: Case) -> Iterator[Answer]:
    """The segment, folder name or whole path."""
    match case["op"]:
        case "segment":
            segment = dsh_fp.encode_segment(case["raw"])
            yield "encoded", told(segment, "out")
        case "bucket":
            yield "bucket", Facts(out=dsh_fp.bucket_name(case["cwd"]))
        case "log":
            path = dsh_fp.log_path(case["root"], case["cwd"], case["session_id"])
            yield "path", told(path, "out", str)
        case other:
            raise ValueError(f"unknown paths op {other!r}")


def scanlog_needs(case: Case) -> tuple[str, ...]:
    """The fields of a scanlog case, by its kind."""
    match case.get("kind"):
        case "scan" if "code" in case:
            return ("bytes_b64", "size")
        case "scan":
            text = "events_not_finite" if "events_not_finite" in case else "events_text"
            return ("bytes_b64", "size", "header", "count", "committed_bytes", text)
        case "truncate":
            return ("bytes_b64", "size", "runs")
        case "poke":
            return ("bytes_b64", "size", "runs", "byte")
        case "write":
            return ("bytes_b64", "size", "header", "events")
        case _:
            return ("kind",)


def paths_needs(case: Case) -> tuple[str, ...]:
    """The fields of a paths case, by its operation."""
    inputs = {"segment": ("raw",), "bucket": ("cwd",), "log": ("root", "cwd", "session_id")}
    asked = inputs.get(str(case.get("op")), ("op",))
    return (*asked, "code" if "code" in case else "out")


SCANLOG: Final = Family(
    name="scanlog",
    needs=scanlog_needs,
    answers=frozenset(
        {"header", "count", "committed_bytes", "events_text", "events_not_finite", "code"}
    ),
    ask=ask_scanlog,
    expect=expect_scanlog,
)
PATHS: Final = Family(
    name="paths",
    needs=paths_needs,
    answers=frozenset({"out", "code"}),
    ask=ask_paths,
)
