"""What is worth knowing about a log that could be read: each with file line, seq and offset."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import attrs

from dsh_fp.core.events import HEADER_KEYS
from dsh_fp.core.header import HeaderInForce, fold_header_event
from dsh_fp.core.lossless import AnyJson, JsonObject, number_text, to_text
from dsh_fp.core.nesting import NESTINGS, nesting_breaches
from dsh_fp.core.packed import PackedRun
from dsh_fp.core.projection import message_from
from dsh_fp.core.rejection import (
    Rejection,
    empty_call_id,
    header_keys_dropped,
    id_mismatch,
    invalid_utf8,
    precision,
    time_goes_back,
    turn_still_open,
)
from dsh_fp.core.session import Session
from dsh_fp.core.trace import START, Bare, pass_inside, step_trace
from dsh_fp.storage.lines import first_bad_byte
from dsh_fp.storage.paths import SUFFIX, decode_segment

if TYPE_CHECKING:
    from dsh_fp.storage.jsonl import LogFile

# A number with more than the 15 digits that any double keeps, or with a large exponent.
_DOUBTFUL: Final = re.compile(rb"[0-9][0-9.]{15,}|[0-9][eE][+-]?[0-9]{3}")
_STRING_OR_NUMBER: Final = re.compile(
    r'"(?:[^"\\]|\\.)*+"|(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)', re.DOTALL
)


def find_all(log: LogFile) -> list[Rejection]:
    """Every finding of a readable log: those of the header line first, then in file order."""
    session, scan = log.session, log.scan
    of_events = [
        *_of_the_times(session),
        *_of_the_nesting(session),
        *_of_the_messages(session),
        *_of_the_numbers(session),
        *_of_the_header_events(session),
    ]
    found = [log.placed(finding) for finding in of_events]
    for seq, offset in scan.lines.bad_utf8:
        line_number = scan.lines.place_of(seq) + 2
        found.append(log.placed_bytes(invalid_utf8(seq, line_number, offset)))
    found.sort(key=lambda finding: (finding.byte_offset or 0, finding.line_number or 0))
    found[:0] = [*_of_the_header_line(scan.header_line), *log.header_findings()]
    if scan.tail is not None:
        found.append(scan.tail)
    return found


def _of_the_header_line(line: bytes) -> Iterator[Rejection]:
    for literal in numbers_that_change(line.decode(errors="replace")):
        changed = precision(literal, number_text(float(literal)))
        yield changed.at(line_number=1, byte_offset=0)
    bad = first_bad_byte(line)
    if bad is not None:
        yield invalid_utf8(None, 1, bad)


def header_keys_left_out(fields: Iterable[str], known: Iterable[str]) -> Iterator[Rejection]:
    """The finding about header fields that mean nothing, if there are any."""
    means = {*known, "type"}
    extra = tuple(key for key in fields if key not in means)
    if extra:
        yield header_keys_dropped(extra)


def july_header_findings(log: LogFile) -> Iterator[Rejection]:
    """What a July log's header and file name leave to say."""
    yield from header_keys_left_out(log.scan.fields, HEADER_KEYS)
    if log.file is not None and log.file.endswith(SUFFIX):
        stem = os.path.basename(log.file)[: -len(SUFFIX)]
        named = decode_segment(stem).value_or(None)
        if named is not None and named != log.header.id:
            yield id_mismatch(named, log.header.id)


def _of_the_times(session: Session) -> Iterator[Rejection]:
    before: int | None = None
    for event in session.events:
        if before is not None and event.time < before:
            yield time_goes_back(event.seq, before_ms=before, after_ms=event.time)
        before = event.time


def _of_the_messages(session: Session) -> Iterator[Rejection]:
    """What makes no message, has no call id, or was left open at the end."""
    vocabulary = session.vocabulary
    open_turn: AnyJson = None
    for event in session.events.parts():
        if isinstance(event, PackedRun) or event.type == "assistant/chunk":
            continue
        data = event.peek_data()
        if event.type == "turn/start":
            open_turn = (data.get("turn") if isinstance(data, JsonObject) else None,)
        elif event.type == "turn/end":
            open_turn = None
        rule = vocabulary.rule(event.type).message
        if rule is not None:
            message = message_from(event.seq, data, rule)
            if isinstance(message, Rejection):
                yield message
        path = _empty_call_path(event.type, data)
        if path is not None:
            yield empty_call_id(event.seq, path)
    if open_turn is not None:
        yield turn_still_open(len(session.events) - 1, to_text(open_turn[0]))


def _of_the_nesting(session: Session) -> Iterator[Rejection]:
    rules = NESTINGS.get(session.vocabulary.form.generation)
    if rules is not None:
        yield from nesting_breaches(session.events.parts(), rules)
        return
    trace = START
    for event in session.events:
        passed = pass_inside(trace, event)
        if passed is not None:
            trace = passed
            continue
        trace, breach = step_trace(trace, Bare(event.type, event.seq, event.peek_data()))
        if breach is not None:
            yield breach


def _of_the_header_events(session: Session) -> Iterator[Rejection]:
    header: HeaderInForce = None
    for seq in session.history.header_seqs:
        header = fold_header_event(header, session.events[seq], session.vocabulary.form)
        if isinstance(header, Rejection) and header.seq == seq:
            yield header


def _empty_call_path(event_type: str, data: AnyJson) -> str | None:
    if not isinstance(data, JsonObject):
        return None
    if event_type in ("tool/call", "tool/result") and data.get("callId") == "":
        return "$.data.callId"
    message = data.get("message")
    is_record = isinstance(message, JsonObject)
    record, path = (message, "$.data.message") if is_record else (data, "$.data")
    if event_type == "tool/result":
        source = record.get("source")
        is_empty = isinstance(source, JsonObject) and source.get("callId") == ""
        return f"{path}.source.callId" if is_empty else None
    if event_type == "assistant/message" and isinstance(record.get("content"), tuple):
        for place, block in enumerate(record["content"]):
            if isinstance(block, JsonObject) and _is_call_without_id(block):
                return f"{path}.content[{place}].id"
    return None


def _is_call_without_id(block: JsonObject) -> bool:
    return block.get("type") == "tool-call" and block.get("id") == ""


def _of_the_numbers(session: Session) -> Iterator[Rejection]:
    for event in session.events.parts():
        line = event.line
        if line is not None and _DOUBTFUL.search(line):
            for literal in numbers_that_change(line.decode(errors="replace")):
                yield precision(literal, number_text(float(literal))).at(seq=event.seq)


def numbers_that_change(text: str) -> Iterator[str]:
    """The number literals of a JSON text that would be written back as another number."""
    for match in _STRING_OR_NUMBER.finditer(text):
        literal = match[1]
        # An overflow is refused where it counts; here it was a key's earlier value.
        if literal is None or math.isinf(float(literal)):
            continue
        if _Decimal.of(literal) != _Decimal.of(number_text(float(literal))):
            yield literal


# Longer exponents are far beyond any double; they stay text, for int() has limits.
_PLAIN_EXPONENT: Final = 9


@attrs.frozen
class _Decimal:
    """A decimal number exactly: digits without zeros at either end, times ten to a power."""

    sign: str
    digits: str
    power: str | int

    @classmethod
    def of(cls, literal: str) -> _Decimal:
        mantissa, _, exponent = literal.lower().partition("e")
        whole, _, fraction = mantissa.lstrip("-").partition(".")
        digits = (whole + fraction).lstrip("0")
        power = len(whole) - len(whole + fraction)
        stripped = digits.rstrip("0")
        if not stripped:
            return cls("", "", 0)
        sign = "-" if literal.startswith("-") else ""
        shift = exponent.lstrip("+-").lstrip("0")
        if len(shift) > _PLAIN_EXPONENT:
            return cls(sign, stripped, exponent)
        return cls(
            sign,
            stripped,
            power
            + len(digits)
            - len(stripped)
            + (-1 if exponent.startswith("-") else 1) * int(shift or 0),
        )
