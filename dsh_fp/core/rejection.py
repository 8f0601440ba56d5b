"""The one record for every fault, its codes, and the one place that writes their sentences.

In here: what can be wrong, how grave it is, and what a person can do about it. Not in here:
deciding whether something is wrong; that is the business of the module that owns the rule.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from typing import Any, Final, Literal

import attrs

Severity = Literal["error", "finding", "note"]
Fact = str | int | float | bool | None | tuple[Any, ...]


class Code(enum.StrEnum):
    """Every fault this library names. Programs match on these, never on a message."""

    # JSON values and text
    JSON_SYNTAX = "JSON_SYNTAX"
    NOT_JSON = "NOT_JSON"
    TOO_DEEP = "TOO_DEEP"
    # acceptance of an event, in the order the checks are made
    BAD_ENVELOPE = "BAD_ENVELOPE"
    SEQ_GAP = "SEQ_GAP"
    SURFACE_OP_FORBIDDEN = "SURFACE_OP_FORBIDDEN"
    SOURCES_FORBIDDEN = "SOURCES_FORBIDDEN"
    SURFACE_OP_MISSING = "SURFACE_OP_MISSING"
    SURFACE_OP_INVALID = "SURFACE_OP_INVALID"
    SOURCES_INVALID = "SOURCES_INVALID"
    REPLACE_START_UNKNOWN = "REPLACE_START_UNKNOWN"
    REPLACE_END_UNKNOWN = "REPLACE_END_UNKNOWN"
    REPLACE_REVERSED = "REPLACE_REVERSED"
    SOURCES_EMPTY = "SOURCES_EMPTY"
    SOURCES_DUPLICATE = "SOURCES_DUPLICATE"
    SOURCES_NOT_EARLIER = "SOURCES_NOT_EARLIER"
    SOURCES_UNKNOWN = "SOURCES_UNKNOWN"
    REPLACE_UNCITED = "REPLACE_UNCITED"
    TYPE_UNKNOWN = "TYPE_UNKNOWN"
    NODE_RULE_BROKEN = "NODE_RULE_BROKEN"
    # request headers and projections
    HEADER_DELTA_WITHOUT_SNAPSHOT = "HEADER_DELTA_WITHOUT_SNAPSHOT"
    HEADER_INVALID = "HEADER_INVALID"
    PAYLOAD_INVALID = "PAYLOAD_INVALID"
    NO_REQUEST_HEADER = "NO_REQUEST_HEADER"
    # sessions
    META_INVALID = "META_INVALID"
    INVALID_BOUNDARY = "INVALID_BOUNDARY"
    OPEN_TURN = "OPEN_TURN"
    # live stores
    SESSION_ALREADY_EXISTS = "SESSION_ALREADY_EXISTS"
    SESSION_ALREADY_ATTACHED = "SESSION_ALREADY_ATTACHED"
    SESSION_NOT_FOUND = "SESSION_NOT_FOUND"
    SESSION_NOT_LIVE = "SESSION_NOT_LIVE"
    ALREADY_ANNOUNCED = "ALREADY_ANNOUNCED"
    APPEND_REENTRANT = "APPEND_REENTRANT"
    # trace rules, in the order they are judged
    SEQ_NOT_INCREASING = "SEQ_NOT_INCREASING"
    TURN_ALREADY_OPEN = "TURN_ALREADY_OPEN"
    TURN_NUMBER = "TURN_NUMBER"
    TURN_MISMATCH = "TURN_MISMATCH"
    STEP_OPEN_AT_TURN_END = "STEP_OPEN_AT_TURN_END"
    STEP_TURN_MISMATCH = "STEP_TURN_MISMATCH"
    STEP_ALREADY_OPEN = "STEP_ALREADY_OPEN"
    STEP_NUMBER = "STEP_NUMBER"
    NOT_IN_OPEN_STEP = "NOT_IN_OPEN_STEP"
    RESULT_WITHOUT_CALL = "RESULT_WITHOUT_CALL"
    OUTSIDE_TURN = "OUTSIDE_TURN"
    CALL_NOT_ASKED = "CALL_NOT_ASKED"
    CALL_UNANSWERED = "CALL_UNANSWERED"
    # tool pairing and chunk assembly
    PAIRING_CORRUPT = "PAIRING_CORRUPT"
    CHUNK_UNKNOWN = "CHUNK_UNKNOWN"
    BLOCK_INCOMPLETE = "BLOCK_INCOMPLETE"
    # edits of a log
    EDIT_INVALID = "EDIT_INVALID"
    NOTHING_LEFT_TO_REPLACE = "NOTHING_LEFT_TO_REPLACE"
    # replay of recorded calls
    ENDING_INVALID = "ENDING_INVALID"
    REPLAY_EXHAUSTED = "REPLAY_EXHAUSTED"
    REPLAY_NO_SESSION = "REPLAY_NO_SESSION"
    REPLAY_DIVERGED = "REPLAY_DIVERGED"
    # redaction
    RULE_INVALID = "RULE_INVALID"
    REDACTION_UNSOUND = "REDACTION_UNSOUND"
    # other generations
    CONVERSION_REFUSED = "CONVERSION_REFUSED"
    # files
    FILE_UNREADABLE = "FILE_UNREADABLE"
    LOG_HEADER_INVALID = "LOG_HEADER_INVALID"
    LOG_CORRUPT = "LOG_CORRUPT"
    VERSION_UNSUPPORTED = "VERSION_UNSUPPORTED"
    FILE_NAME_MISMATCH = "FILE_NAME_MISMATCH"
    LOG_RULE_BROKEN = "LOG_RULE_BROKEN"
    LOG_TOO_LARGE = "LOG_TOO_LARGE"
    LOG_AMBIGUOUS = "LOG_AMBIGUOUS"
    SEGMENT_EMPTY = "SEGMENT_EMPTY"
    SEGMENT_INVALID = "SEGMENT_INVALID"
    # durable writing
    WRITER_CONFLICT = "WRITER_CONFLICT"
    STORAGE_FAILED = "STORAGE_FAILED"
    NOT_STORABLE = "NOT_STORABLE"
    # certificates, proofs and signatures
    CERTIFICATE_INVALID = "CERTIFICATE_INVALID"
    PROOF_INVALID = "PROOF_INVALID"
    OTHER_ROOT = "OTHER_ROOT"
    KEY_UNUSABLE = "KEY_UNUSABLE"
    SIGNATURE_INVALID = "SIGNATURE_INVALID"
    # captured requests
    CAPTURE_INVALID = "CAPTURE_INVALID"
    CAPTURE_TOO_LARGE = "CAPTURE_TOO_LARGE"
    # findings in a file that could be read
    TORN_TAIL = "TORN_TAIL"
    TURN_NOT_CLOSED = "TURN_NOT_CLOSED"
    INVALID_UTF8 = "INVALID_UTF8"
    PRECISION = "PRECISION"
    EMPTY_CALL_ID = "EMPTY_CALL_ID"
    ID_MISMATCH = "ID_MISMATCH"
    TIME_GOES_BACK = "TIME_GOES_BACK"
    HEADER_KEYS_DROPPED = "HEADER_KEYS_DROPPED"
    OLDER_LOG_GREW = "OLDER_LOG_GREW"
    NEWER_LOG_BESIDE = "NEWER_LOG_BESIDE"


# What is worth knowing but breaks no rule; everything else in a readable log is a finding.
NOTES: Final = frozenset({Code.TIME_GOES_BACK, Code.HEADER_KEYS_DROPPED, Code.ID_MISMATCH})
FINDINGS: Final = frozenset(
    {
        Code.TORN_TAIL,
        Code.TURN_NOT_CLOSED,
        Code.INVALID_UTF8,
        Code.PRECISION,
        Code.EMPTY_CALL_ID,
        Code.PAYLOAD_INVALID,
        Code.HEADER_INVALID,
        Code.HEADER_DELTA_WITHOUT_SNAPSHOT,
        Code.SEQ_NOT_INCREASING,
        Code.TURN_ALREADY_OPEN,
        Code.TURN_NUMBER,
        Code.TURN_MISMATCH,
        Code.STEP_OPEN_AT_TURN_END,
        Code.STEP_TURN_MISMATCH,
        Code.STEP_ALREADY_OPEN,
        Code.STEP_NUMBER,
        Code.NOT_IN_OPEN_STEP,
        Code.RESULT_WITHOUT_CALL,
        Code.OUTSIDE_TURN,
        Code.CALL_NOT_ASKED,
        Code.CALL_UNANSWERED,
        Code.OLDER_LOG_GREW,
        Code.NEWER_LOG_BESIDE,
    }
)

_ADVISED_BY_NAME: Final[Mapping[str, str]] = {
    "JSON_SYNTAX": "Write JSON text (RFC 8259): no NaN, no comments, no trailing commas.",
    "NOT_JSON": "Use only null, booleans, finite numbers other than -0, strings, lists and dicts.",
    "TOO_DEEP": "Flatten the value, or store it as a string of JSON text.",
    "BAD_ENVELOPE": "Give type, seq, time, data, and at most sourceEventSeqs and surfaceOp.",
    "SEQ_GAP": "Give each event the number of events before it as its seq.",
    "TYPE_UNKNOWN": "A newer harness wrote this log, or a plugin: read it with one that knows.",
    "SURFACE_OP_FORBIDDEN": "Leave surfaceOp out: this type makes no message.",
    "SOURCES_FORBIDDEN": "Leave sourceEventSeqs out: this type makes no message.",
    "SURFACE_OP_MISSING": "Say how the message joins the surface: 'append', or a replacement.",
    "SURFACE_OP_INVALID": "Use 'append' or exactly {op: 'replace', start, end} with seqs.",
    "SOURCES_INVALID": "Give sourceEventSeqs as a list of seqs, or leave it out.",
    "REPLACE_START_UNKNOWN": "Name a node that is on the surface now.",
    "REPLACE_END_UNKNOWN": "Name a node that is on the surface now.",
    "REPLACE_REVERSED": "Swap start and end: they are places on the surface, not numbers.",
    "SOURCES_EMPTY": "Leave sourceEventSeqs out instead of giving an empty list.",
    "SOURCES_DUPLICATE": "Name each source once.",
    "SOURCES_NOT_EARLIER": "Cite only events that stand before this one.",
    "SOURCES_UNKNOWN": "Cite only events that are in the log.",
    "REPLACE_UNCITED": "Add every replaced node to sourceEventSeqs.",
    "NODE_RULE_BROKEN": "Generations ask more of nodes than July; their page says what.",
    "HEADER_DELTA_WITHOUT_SNAPSHOT": "Log a request/header snapshot before the first delta.",
    "HEADER_INVALID": "The next request/header snapshot puts the header right again.",
    "PAYLOAD_INVALID": "The event stays in the log; its message cannot be derived.",
    "NO_REQUEST_HEADER": "The log holds no header for this step, so its request cannot be known.",
    "META_INVALID": "Correct the session header's field.",
    "INVALID_BOUNDARY": "Use the seq of an event in the log.",
    "OPEN_TURN": "Choose the seq of a turn/end, or close the turn first.",
    "SESSION_ALREADY_EXISTS": "Choose another id, detach the live one, or resume the stored one.",
    "SESSION_ALREADY_ATTACHED": "Detach it from the other store first.",
    "SESSION_NOT_FOUND": "List the sessions to see which there are.",
    "SESSION_NOT_LIVE": "Enter the session into this store first.",
    "ALREADY_ANNOUNCED": "A session is announced once each time it is entered.",
    "APPEND_REENTRANT": "Append after the event at hand has been told to every listener.",
    "PAIRING_CORRUPT": "More tool results than tool calls stand before this place.",
    "CHUNK_UNKNOWN": "Only the stream chunk types of the format can be assembled.",
    "BLOCK_INCOMPLETE": "Such a block needs its block-end before it can be used.",
    "ENDING_INVALID": "Name one call of the log a line, and say what it threw or that it hung.",
    "REPLAY_EXHAUSTED": "The live run asks for more calls than the recorded one made.",
    "REPLAY_NO_SESSION": "Give the replay the log of each session that calls the model.",
    "REPLAY_DIVERGED": "See what the named event put there, and what the live run sends now.",
    "EDIT_INVALID": "Name events by the seqs of the log as it was, each in one edit at most.",
    "NOTHING_LEFT_TO_REPLACE": "Drop the replacement too, or keep one of the nodes it replaces.",
    "RULE_INVALID": "Mend the rule; nothing was redacted or written.",
    "REDACTION_UNSOUND": "Nothing was written: use a narrower rule, and report this log.",
    "CONVERSION_REFUSED": "Nothing was written, and the log stays readable as it is.",
    "FILE_UNREADABLE": "Check the path and its permissions.",
    "LOG_HEADER_INVALID": "The first line must be a session header; is this a session log?",
    "LOG_CORRUPT": "Nothing was changed. The lines before the named one are intact: keep a copy.",
    "VERSION_UNSUPPORTED": "Read it with a release that knows this version.",
    "FILE_NAME_MISMATCH": "Runtimes refuse it too: give the file the name its header asks for.",
    "LOG_RULE_BROKEN": "Nothing was changed. The log up to there can be kept as a prefix.",
    "LOG_TOO_LARGE": "If you trust the file, read it with a larger max_bytes.",
    "LOG_AMBIGUOUS": "Name the one file that is meant.",
    "SEGMENT_EMPTY": "Give the session an id.",
    "SEGMENT_INVALID": "Such a file name was not made from a session id.",
    "WRITER_CONFLICT": "Nothing was written, no event is lost. End the other writer, then resume.",
    "STORAGE_FAILED": "The events are kept in memory; mend the cause and flush again.",
    "NOT_STORABLE": "Nothing was written; store it as JSONL, which holds every session.",
    "CERTIFICATE_INVALID": "It certifies nothing: get a whole one from whoever made it.",
    "PROOF_INVALID": "It proves nothing: have it made again from the log and the root in question.",
    "OTHER_ROOT": "Is it the right root? That of the later log is `root`, the earlier `old_root`.",
    "KEY_UNUSABLE": "Give an ed25519 key without a passphrase, in PEM or OpenSSH form.",
    "SIGNATURE_INVALID": "Trust neither until you have both, and the key, from who signed.",
    "CAPTURE_INVALID": "Give JSON lines, a HAR file, or one body a file, as it was sent.",
    "CAPTURE_TOO_LARGE": "Split the capture, or leave responses out of it.",
    "TORN_TAIL": "What follows was probably left by a crash; resuming would cut it.",
    "TURN_NOT_CLOSED": "The session is still running, or a crash cut it; resuming would close it.",
    "INVALID_UTF8": "The bad bytes read as U+FFFD; the original text is lost.",
    "PRECISION": "Readers keep the nearest double; write such a number as a string.",
    "EMPTY_CALL_ID": "Later formats refuse it; give each tool call an id of its own.",
    "ID_MISMATCH": "Harmless for a copy under another name; else decide which one is right.",
    "TIME_GOES_BACK": "The clock was set back; order comes from seq alone.",
    "HEADER_KEYS_DROPPED": "The extra keys have no meaning in this format and are not kept.",
    "OLDER_LOG_GREW": "An old harness went on in it: what it holds more is in no newer file.",
    "NEWER_LOG_BESIDE": "This file is what migration left behind: read the newer one.",
}
_TRACE_ADVICE: Final = "The log can be read; the writer broke the nesting of turns and steps here."


def advice(code: Code) -> str:
    """What a person can do about a fault of this code, in one sentence."""
    return _ADVISED_BY_NAME.get(code.value, _TRACE_ADVICE)


def severity(code: Code) -> Severity:
    """How grave a fault of this code is in a log that could be read."""
    if code in NOTES:
        return "note"
    return "finding" if code in FINDINGS else "error"


@attrs.frozen
class Rejection:
    """One fault: what is wrong, where, and the offending values as facts.

    Units:   seq is a place in the log; index one in the list that was handed in; path is a
             JSON path (`$.content[2]`); line_number counts from 1; byte_offset from 0.
    """

    code: Code
    message: str
    seq: int | None = None
    index: int | None = None
    path: str | None = None
    facts: tuple[tuple[str, Fact], ...] = ()
    file: str | None = None
    line_number: int | None = None
    byte_offset: int | None = None

    @property
    def data(self) -> dict[str, Fact]:
        """The offending values by name, as a fresh dict."""
        return dict(self.facts)

    @property
    def advice(self) -> str:
        """What a person can do about it."""
        return advice(self.code)

    @property
    def severity(self) -> Severity:
        """`error`: refused; `finding`: read, but a rule is broken; `note`: worth knowing."""
        return severity(self.code)

    @property
    def where(self) -> str:
        """File, line, seq and path, as far as they are known; may be empty."""
        parts = [] if self.file is None else [printable(self.file, limit=4096)]
        for name, value in (("line", self.line_number), ("seq", self.seq)):
            if value is not None:
                parts.append(f"{name} {value}")
        if self.path is not None:
            parts.append(f"at {self.path}")
        return ", ".join(parts)

    def at(
        self,
        *,
        seq: int | None = None,
        index: int | None = None,
        path: str | None = None,
        file: str | None = None,
        line_number: int | None = None,
        byte_offset: int | None = None,
    ) -> Rejection:
        """The same fault with more of its place known; what is not given stays."""
        return Rejection(
            self.code,
            self.message,
            self.seq if seq is None else seq,
            self.index if index is None else index,
            self.path if path is None else path,
            self.facts,
            self.file if file is None else file,
            self.line_number if line_number is None else line_number,
            self.byte_offset if byte_offset is None else byte_offset,
        )

    def to_wire(self) -> dict[str, Any]:
        """The fault as plain JSON, absent parts left out."""
        named = {
            "code": self.code.value,
            "severity": self.severity,
            "message": self.message,
            "advice": self.advice,
            "file": self.file,
            "line": self.line_number,
            "byte_offset": self.byte_offset,
            "seq": self.seq,
            "index": self.index,
            "path": self.path,
            "data": {name: _plain(value) for name, value in self.facts} or None,
        }
        return {name: value for name, value in named.items() if value is not None}

    def __str__(self) -> str:
        where = f" ({self.where})" if self.where else ""
        return f"{self.code.value}: {self.message}{where}. {self.advice}"


def _plain(value: Fact) -> object:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def shown(text: str, limit: int = 60) -> str:
    """A stranger's text made safe for one line of a message: quoted, escaped and cut."""
    quoted = repr(text[:limit])  # escapes what is not printable, and nothing else
    return quoted if len(text) <= limit else f"{quoted}…"


def printable(text: str, limit: int = 60) -> str:
    """A name made safe for one line of a message, without quotes where it needs none."""
    return text if text.isprintable() and len(text) <= limit else shown(text, limit)


# A class's own name: its metaclass may answer `__name__` with code of the caller's.
_own_name: Final = type.__dict__["__name__"].__get__


def class_name(kind: type) -> str:
    """The name of a stranger's class, made safe for one line."""
    return printable(_own_name(kind))


_SHOWN_INTEGER: Final = 10**20


def _listed(seqs: tuple[int, ...], limit: int = 8) -> str:
    head = ", ".join(map(str, seqs[:limit]))
    return head if len(seqs) <= limit else f"{head} and {len(seqs) - limit} more"


# ---- the sentences: one constructor per code -------------------------------------------------


def json_syntax(what: str, position: int) -> Rejection:
    return Rejection(
        Code.JSON_SYNTAX,
        f"not JSON: {what} at character {position}",
        facts=(("position", position),),
    )


def not_json(path: str, what: str) -> Rejection:
    return Rejection(Code.NOT_JSON, f"not lossless JSON: {what}", path=path)


def too_deep(limit: int) -> Rejection:
    return Rejection(Code.TOO_DEEP, f"nested deeper than {limit} levels", facts=(("limit", limit),))


def bad_envelope(what: str, key: str | None = None) -> Rejection:
    facts = () if key is None else (("key", key),)
    return Rejection(Code.BAD_ENVELOPE, f"not an event: {what}", facts=facts)


def seq_gap(*, expected: int, got: int) -> Rejection:
    return Rejection(
        Code.SEQ_GAP,
        f"the next event is seq {expected}, this one says {got}",
        seq=expected,
        facts=(("expected_seq", expected), ("got_seq", got)),
    )


def surface_op_forbidden(seq: int, event_type: str) -> Rejection:
    return Rejection(
        Code.SURFACE_OP_FORBIDDEN,
        f"{shown(event_type)} carries a surfaceOp but makes no message",
        seq=seq,
        path="$.surfaceOp",
        facts=(("type", event_type),),
    )


def sources_forbidden(seq: int, event_type: str) -> Rejection:
    return Rejection(
        Code.SOURCES_FORBIDDEN,
        f"{shown(event_type)} carries sourceEventSeqs but makes no message",
        seq=seq,
        path="$.sourceEventSeqs",
        facts=(("type", event_type),),
    )


def surface_op_missing(seq: int, event_type: str) -> Rejection:
    return Rejection(
        Code.SURFACE_OP_MISSING,
        f"{shown(event_type)} makes a message but has no surfaceOp",
        seq=seq,
        path="$.surfaceOp",
        facts=(("type", event_type),),
    )


def surface_op_invalid(seq: int) -> Rejection:
    return Rejection(
        Code.SURFACE_OP_INVALID,
        "the surfaceOp is neither 'append' nor a replacement",
        seq=seq,
        path="$.surfaceOp",
    )


def sources_invalid(seq: int) -> Rejection:
    return Rejection(
        Code.SOURCES_INVALID,
        "sourceEventSeqs is not a list of seqs",
        seq=seq,
        path="$.sourceEventSeqs",
    )


def replace_start_unknown(seq: int, start: int) -> Rejection:
    return Rejection(
        Code.REPLACE_START_UNKNOWN,
        f"the replacement starts at {start}, which is not on the surface",
        seq=seq,
        path="$.surfaceOp.start",
        facts=(("start", start),),
    )


def replace_end_unknown(seq: int, end: int) -> Rejection:
    return Rejection(
        Code.REPLACE_END_UNKNOWN,
        f"the replacement ends at {end}, which is not on the surface",
        seq=seq,
        path="$.surfaceOp.end",
        facts=(("end", end),),
    )


def replace_reversed(
    seq: int, start: int, end: int, *, start_index: int, end_index: int
) -> Rejection:
    return Rejection(
        Code.REPLACE_REVERSED,
        f"node {start} stands after node {end} on the surface",
        seq=seq,
        path="$.surfaceOp",
        facts=(
            ("start", start),
            ("end", end),
            ("start_index", start_index),
            ("end_index", end_index),
        ),
    )


def sources_empty(seq: int) -> Rejection:
    return Rejection(
        Code.SOURCES_EMPTY, "sourceEventSeqs is empty", seq=seq, path="$.sourceEventSeqs"
    )


def sources_duplicate(seq: int, source: int) -> Rejection:
    return Rejection(
        Code.SOURCES_DUPLICATE,
        f"source {source} is named twice",
        seq=seq,
        path="$.sourceEventSeqs",
        facts=(("source", source),),
    )


def sources_not_earlier(seq: int, source: int) -> Rejection:
    return Rejection(
        Code.SOURCES_NOT_EARLIER,
        f"source {source} does not stand before this event",
        seq=seq,
        path="$.sourceEventSeqs",
        facts=(("source", source),),
    )


def sources_unknown(seq: int, source: int) -> Rejection:
    return Rejection(
        Code.SOURCES_UNKNOWN,
        f"source {source} is not in the log",
        seq=seq,
        path="$.sourceEventSeqs",
        facts=(("source", source),),
    )


def replace_uncited(seq: int, missing: tuple[int, ...]) -> Rejection:
    return Rejection(
        Code.REPLACE_UNCITED,
        f"replaced nodes are not cited: {_listed(missing)}",
        seq=seq,
        path="$.sourceEventSeqs",
        facts=(("missing", missing),),
    )


def header_delta_without_snapshot(seq: int | None) -> Rejection:
    return Rejection(
        Code.HEADER_DELTA_WITHOUT_SNAPSHOT,
        "a request/header-delta stands before any request/header",
        seq=seq,
    )


def header_invalid(path: str, what: str) -> Rejection:
    return Rejection(Code.HEADER_INVALID, f"the request header cannot be folded: {what}", path=path)


def payload_invalid(seq: int, path: str, what: str) -> Rejection:
    return Rejection(Code.PAYLOAD_INVALID, f"the payload has no {what}", seq=seq, path=path)


def no_request_header(seq: int) -> Rejection:
    return Rejection(Code.NO_REQUEST_HEADER, "no request header was logged by this step", seq=seq)


def meta_invalid(field: str, what: str) -> Rejection:
    return Rejection(
        Code.META_INVALID,
        f"the session header's {field} is not {what}",
        path=f"$.{field}",
        facts=(("field", field),),
    )


def invalid_boundary(boundary: object, length: int) -> Rejection:
    # Any Python value may come in here; only a plain small one is shown.
    fact = boundary if type(boundary) is int and abs(boundary) < _SHOWN_INTEGER else None
    named = f"a Python {class_name(type(boundary))}" if fact is None else str(fact)
    return Rejection(
        Code.INVALID_BOUNDARY,
        f"{named} is no seq of this log of {length} events",
        facts=(("boundary", fact), ("length", length)),
    )


def fork_in_open_turn(seq: int, event_type: str) -> Rejection:
    return Rejection(
        Code.OPEN_TURN,
        f"the boundary is a {shown(event_type)}, not a turn/end",
        seq=seq,
        facts=(("type", event_type),),
    )


def type_unknown(seq: int, event_type: str) -> Rejection:
    return Rejection(
        Code.TYPE_UNKNOWN,
        f"an event of type {shown(event_type)}, which this generation does not have and which "
        "does not say that it may be ignored",
        seq=seq,
        facts=(("type", event_type),),
    )


def node_rule_broken(seq: int, what: str) -> Rejection:
    return Rejection(Code.NODE_RULE_BROKEN, what, seq=seq)


def turn_still_open(seq: int, turn: str) -> Rejection:
    return Rejection(Code.TURN_NOT_CLOSED, f"turn {printable(turn)} was never closed", seq=seq)


def session_already_exists(session_id: str) -> Rejection:
    return Rejection(
        Code.SESSION_ALREADY_EXISTS,
        f"there is a session {shown(session_id)} already",
        facts=(("session_id", session_id),),
    )


def session_already_attached(session_id: str) -> Rejection:
    return Rejection(
        Code.SESSION_ALREADY_ATTACHED,
        f"session {shown(session_id)} is live in another store",
        facts=(("session_id", session_id),),
    )


def session_not_found(session_id: str) -> Rejection:
    return Rejection(
        Code.SESSION_NOT_FOUND,
        f"there is no session {shown(session_id)}",
        facts=(("session_id", session_id),),
    )


def session_not_live(session_id: str) -> Rejection:
    return Rejection(
        Code.SESSION_NOT_LIVE,
        f"this session {shown(session_id)} is not live here",
        facts=(("session_id", session_id),),
    )


def already_announced(session_id: str) -> Rejection:
    return Rejection(
        Code.ALREADY_ANNOUNCED,
        f"session {shown(session_id)} was announced already",
        facts=(("session_id", session_id),),
    )


def append_reentrant(session_id: str) -> Rejection:
    return Rejection(
        Code.APPEND_REENTRANT,
        f"an append to session {shown(session_id)} is being told right now",
        facts=(("session_id", session_id),),
    )


def trace_breach(code: Code, seq: int | None, message: str, **facts: Fact) -> Rejection:
    return Rejection(code, message, seq=seq, facts=tuple(facts.items()))


def pairing_corrupt(seq: int) -> Rejection:
    return Rejection(
        Code.PAIRING_CORRUPT, "a tool result stands on the surface without its call", seq=seq
    )


def chunk_unknown(kind: str) -> Rejection:
    return Rejection(
        Code.CHUNK_UNKNOWN, f"unknown stream chunk {shown(kind)}", facts=(("type", kind),)
    )


def block_incomplete(index: str, kind: str) -> Rejection:
    return Rejection(
        Code.BLOCK_INCOMPLETE,
        f"block {shown(index)} of type {shown(kind)} was left open",
        facts=(("block_index", index), ("type", kind)),
    )


def ending_invalid(what: str, line_number: int | None) -> Rejection:
    return Rejection(Code.ENDING_INVALID, f"no ending of a call: {what}", line_number=line_number)


def replay_exhausted(session_id: str, purpose: str, calls: int) -> Rejection:
    told = f"{calls} recorded {printable(purpose)} call{'' if calls == 1 else 's'}"
    return Rejection(
        Code.REPLAY_EXHAUSTED,
        f"session {shown(session_id)} has {told}, and all were given",
        facts=(("session_id", session_id), ("purpose", purpose), ("calls", calls)),
    )


def replay_no_session(sessions: int) -> Rejection:
    told = f"{sessions} recorded session{'' if sessions == 1 else 's'}"
    return Rejection(
        Code.REPLAY_NO_SESSION,
        f"a new session calls the model, but each of {told} is taken",
        facts=(("sessions", sessions),),
    )


def replay_diverged(
    call: str, seq: int, path: str, *, message: int | None, event: int | None, event_type: str
) -> Rejection:
    what = "is not the recorded one"
    if event is not None:
        what = f"differs from what seq {event}, {printable(event_type)}, put there"
    facts = (("message", message), ("event", event))
    return Rejection(
        Code.REPLAY_DIVERGED,
        f"the request of {printable(call)} {what}",
        seq=seq,
        path=path,
        facts=tuple((name, fact) for name, fact in facts if fact is not None),
    )


def edit_invalid(what: str) -> Rejection:
    return Rejection(Code.EDIT_INVALID, printable(what, limit=200))


def rule_invalid(what: str) -> Rejection:
    return Rejection(Code.RULE_INVALID, f"no rule of a redaction: {what}")


def redaction_unsound(what: str) -> Rejection:
    return Rejection(Code.REDACTION_UNSOUND, f"redacted, the log would mean something else: {what}")


def conversion_refused(seq: int | None, what: str) -> Rejection:
    return Rejection(Code.CONVERSION_REFUSED, what, seq=seq)


def nothing_left_to_replace(seq: int, start: int, end: int) -> Rejection:
    return Rejection(
        Code.NOTHING_LEFT_TO_REPLACE,
        f"of what it replaced from {start} to {end} nothing is left",
        seq=seq,
        path="$.surfaceOp",
        facts=(("old_start", start), ("old_end", end)),
    )


def file_unreadable(file: str | None, cause: str) -> Rejection:
    return Rejection(
        Code.FILE_UNREADABLE, f"cannot be read: {printable(cause, limit=200)}", file=file
    )


def log_header_invalid(reason: str, what: str) -> Rejection:
    return Rejection(
        Code.LOG_HEADER_INVALID,
        f"no session header: {what}",
        line_number=1,
        byte_offset=0,
        facts=(("reason", reason),),
    )


def version_unsupported(version: float) -> Rejection:
    fact = version if math.isfinite(version) else None
    named = "beyond all bounds" if fact is None else str(fact)
    return Rejection(
        Code.VERSION_UNSUPPORTED,
        f"log version {named} is not one this release reads",
        line_number=1,
        byte_offset=0,
        facts=(("version", fact),),
    )


_REASONS: Final[Mapping[str, str]] = {
    "torn-line": "a line without its end",
    "no-final-newline": "a whole event without its line end",
    "unparsable-line": "a line that is no JSON",
    "nul-run": "a run of NUL bytes",
    "blank-line": "a blank line",
    "not-an-object": "a line that is no object",
    "seq-gap": "an event out of order",
    "seq-duplicate": "a seq used before",
    "cut-back": "a file that became shorter",
    "malformed-row": "a packed row that is not built as one",
    "bad-envelope": "an object that is no event",
    "torn-frame": "a frame that is cut off",
    "bad-frame": "bytes that are no sound frame",
    "torn-line-in-complete-frame": "half a line at the end of a whole frame",
}


def _reason(facts: Mapping[str, Fact]) -> str:
    said = _REASONS.get(str(facts.get("reason")), "damage")
    expected = facts.get("expected_seq")
    got = facts.get("got_seq")
    if expected is None:
        return said
    return f"{said} (seq {'none' if got is None else got}, {expected} was due)"


def log_corrupt(seq: int, line_number: int, byte_offset: int, **facts: Fact) -> Rejection:
    return Rejection(
        Code.LOG_CORRUPT,
        f"{_reason(facts)}, and a turn was closed there or later: this is no torn tail",
        seq=seq,
        line_number=line_number,
        byte_offset=byte_offset,
        facts=tuple(facts.items()),
    )


def frame_corrupt(frame: int, byte_offset: int, first_lost_seq: int, what: str) -> Rejection:
    return Rejection(
        Code.LOG_CORRUPT,
        f"no sound frame {frame}: {printable(what, limit=200)}; what it held is lost",
        seq=first_lost_seq,
        byte_offset=byte_offset,
        facts=(
            ("reason", "bad-frame"),
            ("frame", frame),
            ("first_lost_seq", first_lost_seq),
            ("valid_until_seq", first_lost_seq - 1 if first_lost_seq else None),
        ),
    )


def line_in_frame_corrupt(
    seq: int, line_number: int, byte_offset: int, frame: int, **facts: Fact
) -> Rejection:
    return Rejection(
        Code.LOG_CORRUPT,
        f"{_reason(facts)}, inside whole frames: no crash leaves that",
        seq=seq,
        line_number=line_number,
        byte_offset=byte_offset,
        facts=(*facts.items(), ("frame", frame)),
    )


def file_name_mismatch(what: str, file_says: Fact, header_says: Fact) -> Rejection:
    return Rejection(
        Code.FILE_NAME_MISMATCH,
        what,
        line_number=1,
        byte_offset=0,
        facts=(("file_says", file_says), ("header_says", header_says)),
    )


def log_rule_broken(generation: str, breach: Rejection) -> Rejection:
    return Rejection(
        Code.LOG_RULE_BROKEN,
        f"{breach.message}; {printable(generation)} does not read such a log",
        seq=breach.seq,
        facts=(("rule", breach.code.value), *breach.facts),
    )


def log_too_large(limit: int) -> Rejection:
    return Rejection(
        Code.LOG_TOO_LARGE,
        f"it holds more than max_bytes={limit} bytes once decompressed",
        facts=(("limit", limit),),
    )


def log_ambiguous(what: str, files: tuple[str, ...]) -> Rejection:
    named = ", ".join(shown(file) for file in files[:4])
    return Rejection(Code.LOG_AMBIGUOUS, f"{what}: {named}", facts=(("files", files),))


def older_log_grew(file: str, time_ms: int) -> Rejection:
    return Rejection(
        Code.OLDER_LOG_GREW,
        f"{shown(file)} ends with an event that this log does not hold",
        facts=(("older", file), ("time", time_ms)),
    )


def newer_log_beside(file: str) -> Rejection:
    return Rejection(
        Code.NEWER_LOG_BESIDE,
        f"{shown(file)} is the log of this session now",
        facts=(("newer", file),),
    )


def torn_tail(seq: int, line_number: int, byte_offset: int, **facts: Fact) -> Rejection:
    return Rejection(
        Code.TORN_TAIL,
        f"the last {facts.get('dropped_bytes')} bytes are left out: {_reason(facts)}",
        seq=seq,
        line_number=line_number,
        byte_offset=byte_offset,
        facts=tuple(facts.items()),
    )


def writer_conflict(session_id: str, path: str, what: str) -> Rejection:
    return Rejection(
        Code.WRITER_CONFLICT,
        f"session {shown(session_id)} has another writer: {what}",
        file=path,
        facts=(("session_id", session_id),),
    )


def not_storable(session_id: str, what: str) -> Rejection:
    return Rejection(
        Code.NOT_STORABLE,
        f"session {shown(session_id)} cannot be stored there: {what}",
        facts=(("session_id", session_id),),
    )


def storage_failed(path: str, cause: str) -> Rejection:
    return Rejection(
        Code.STORAGE_FAILED,
        f"could not be written: {printable(cause, limit=200)}",
        file=path,
        facts=(("cause", cause),),
    )


def segment_empty() -> Rejection:
    return Rejection(Code.SEGMENT_EMPTY, "an empty id has no file name")


def segment_invalid(segment: str) -> Rejection:
    return Rejection(Code.SEGMENT_INVALID, f"{shown(segment)} encodes no id")


def certificate_invalid(what: str, path: str | None = None, *, reason: str) -> Rejection:
    return Rejection(
        Code.CERTIFICATE_INVALID,
        f"no sound certificate: {what}",
        path=path,
        facts=(("reason", reason),),
    )


def proof_invalid(what: str, path: str | None = None, *, reason: str) -> Rejection:
    return Rejection(
        Code.PROOF_INVALID, f"no proof: {what}", path=path, facts=(("reason", reason),)
    )


def other_root(what: str) -> Rejection:
    return Rejection(Code.OTHER_ROOT, f"the proof {what}", facts=(("reason", "other-root"),))


def key_unusable(what: str) -> Rejection:
    return Rejection(Code.KEY_UNUSABLE, f"the key cannot be used: {what}")


def signature_invalid(what: str) -> Rejection:
    return Rejection(Code.SIGNATURE_INVALID, f"the signature does not hold: {what}")


def capture_invalid(reason: str, what: str) -> Rejection:
    return Rejection(
        Code.CAPTURE_INVALID, f"no captured request: {what}", facts=(("reason", reason),)
    )


def capture_too_large(limit: int, what: str) -> Rejection:
    return Rejection(Code.CAPTURE_TOO_LARGE, f"more than {limit} {what}", facts=(("limit", limit),))


def invalid_utf8(seq: int | None, line_number: int, byte_offset: int) -> Rejection:
    return Rejection(
        Code.INVALID_UTF8,
        "bytes that are not UTF-8",
        seq=seq,
        line_number=line_number,
        byte_offset=byte_offset,
    )


def precision(literal: str, written: str) -> Rejection:
    return Rejection(
        Code.PRECISION,
        f"the number {shown(literal)} is kept as {shown(written)}",
        facts=(("literal", literal[:400]), ("written", written)),
    )


def empty_call_id(seq: int, path: str) -> Rejection:
    return Rejection(Code.EMPTY_CALL_ID, "a tool call id is empty", seq=seq, path=path)


def id_mismatch(file_says: str, header_says: str) -> Rejection:
    return Rejection(
        Code.ID_MISMATCH,
        f"the file is named for {shown(file_says)}, its header says {shown(header_says)}",
        line_number=1,
        byte_offset=0,
        facts=(("file_says", file_says), ("header_says", header_says)),
    )


def time_goes_back(seq: int, *, before_ms: int, after_ms: int) -> Rejection:
    return Rejection(
        Code.TIME_GOES_BACK,
        f"the time is {before_ms - after_ms} ms before that of the event before it",
        seq=seq,
        facts=(("before_ms", before_ms), ("after_ms", after_ms)),
    )


def header_keys_dropped(keys: tuple[str, ...]) -> Rejection:
    return Rejection(
        Code.HEADER_KEYS_DROPPED,
        f"unknown session header keys: {', '.join(shown(key) for key in keys[:8])}",
        line_number=1,
        byte_offset=0,
        facts=(("keys", keys),),
    )
