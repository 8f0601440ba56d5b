"""Damaged logs of the released generations: what is left out, what is refused, and where."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from dsh_fp import Code, thaw
from dsh_fp.formats.frames import compressed, walk
from tests.formats.making import (
    FORMS,
    GENERATIONS,
    Wire,
    Writer,
    asks,
    contained,
    conversation,
    header,
    lines,
    opened,
    packed,
    plain,
    refusal,
    zstd,
)
from tests.storage.logs import line


def open_turn(version: int) -> list[Wire]:
    """The events of a log whose last turn is open."""
    return conversation(version, closed=False)


# ---- the header ---------------------------------------------------------------------------------


@pytest.mark.parametrize("container", ["plain", "zstd"])
@pytest.mark.parametrize(
    ("version", "field", "value"),
    [
        (0, "delegationDepth", -1),
        (0, "delegationDepth", True),
        (0, "sandboxMode", "off"),
        (0, "approvalPolicy", "never"),
        (0, "origin", "elsewhere"),
        (0, "seedLength", "3"),
        (1, "delegationDepth", ...),
        (2, "isSeeded", ...),
        (2, "seedLength", 0),
        (2, "color", "red"),
        (3, "color", "red"),
        (4, "color", "red"),
        (4, "isSeeded", 1),
        (4, "cwd", 5),
        (4, "agentPreset", None),
    ],
)
def test_a_header_field_of_the_wrong_kind_is_named(
    version: int, field: str, value: Any, container: str
) -> None:
    """META_INVALID names the field, at line 1."""
    fault = refusal(contained(container, version, conversation(version), **{field: value}))

    assert (fault.code, fault.data) == (Code.META_INVALID, {"field": field})
    assert (fault.line_number, fault.byte_offset) == (1, 0)


@pytest.mark.parametrize("version", [0, 1])
def test_early_generations_leave_unknown_header_fields_out(version: int) -> None:
    """A note names them."""
    log = opened(plain(version, conversation(version), color="red"))

    assert [(one.code, one.data) for one in log.findings] == [
        (Code.HEADER_KEYS_DROPPED, {"keys": ("color",)})
    ]


@pytest.mark.parametrize("version", [5, 0.5, -1, 400])
@pytest.mark.parametrize("container", ["plain", "zstd"])
def test_a_newer_version_is_not_read(version: float, container: str) -> None:
    """VERSION_UNSUPPORTED comes before anything else about the header."""
    wire = line({**header(4), "version": version, "color": "red"})

    fault = refusal(wire if container == "plain" else compressed(wire))

    assert (fault.code, fault.data) == (Code.VERSION_UNSUPPORTED, {"version": version})


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty-log"),
        (line(header(4))[:-1], "no-complete-line"),
        (b"\xef\xbb\xbf" + line(header(4)), "bom"),
        (compressed(line(header(4)))[:9], "empty-log"),
        (compressed(lines(header(4), *conversation(4))), "header-frame"),
        (compressed(line(header(4))[:-1]), "header-frame"),
        (compressed(b""), "header-frame"),
        (compressed(b"\xef\xbb\xbf" + line(header(4))), "bom"),
        (compressed(b"{}\n"), "not-a-header"),
    ],
)
def test_a_file_without_a_whole_header_is_refused(content: bytes, reason: str) -> None:
    """LOG_HEADER_INVALID says why; of one whole frame for all, how to go on."""
    fault = refusal(content)

    assert (fault.code, fault.data) == (Code.LOG_HEADER_INVALID, {"reason": reason})
    assert ("decompress" in fault.message) is (reason == "header-frame")


# ---- rows ---------------------------------------------------------------------------------------

BAD_ROWS: Final[dict[str, bytes]] = {
    "unparsable-line": b"{oops\n",
    "blank-line": b"\n",
    "nul-run": b"\x00\x00\n",
    "not-an-object": b"[]\n",
}


def with_bad_row(version: int, kind: str, at: int, *, closed: bool) -> list[Any]:
    """A log with one bad row put in, left out or said twice."""
    rows: list[Any] = conversation(version, closed=closed)
    if kind == "seq-gap":
        del rows[at]
    elif kind == "seq-duplicate":
        rows.insert(at, rows[at - 1])
    else:
        rows.insert(at, BAD_ROWS[kind])
    return rows


@pytest.mark.parametrize("kind", [*BAD_ROWS, "seq-gap", "seq-duplicate"])
@pytest.mark.parametrize("version", GENERATIONS)
def test_a_bad_row_before_a_turns_end_is_fatal_in_a_plain_log(version: int, kind: str) -> None:
    """What was committed is not cut off: the refusal names line, byte and seq."""
    rows = with_bad_row(version, kind, 4, closed=True)

    fault = refusal(plain(version, rows))

    assert (fault.code, fault.data["reason"]) == (Code.LOG_CORRUPT, kind)
    assert (fault.seq, fault.line_number) == (4, 6)
    assert fault.byte_offset == len(lines(header(version), *rows[:4]))


@pytest.mark.parametrize("kind", [*BAD_ROWS, "seq-gap", "seq-duplicate"])
@pytest.mark.parametrize("version", GENERATIONS)
def test_a_bad_row_in_an_open_turn_ends_a_plain_log(version: int, kind: str) -> None:
    """The row and all behind it are left out, sound ones too; a finding says so."""
    whole = open_turn(version)
    at = len(whole) - 2
    rows = with_bad_row(version, kind, at, closed=False)

    log = opened(plain(version, rows))

    assert [thaw(event.to_wire()) for event in log.session] == whole[:at]
    assert log.good_bytes == len(plain(version, whole[:at]))
    tail = log.findings[-1]
    assert (tail.code, tail.data["reason"], tail.seq) == (Code.TORN_TAIL, kind, at)
    assert tail.data["dropped_bytes"] == log.size - log.good_bytes


@pytest.mark.parametrize("kind", [*BAD_ROWS, "seq-gap", "seq-duplicate"])
@pytest.mark.parametrize("version", GENERATIONS)
def test_a_bad_row_inside_whole_frames_is_always_fatal(version: int, kind: str) -> None:
    """No crash leaves that in a frame that was written to its end, open turn or not."""
    at = len(open_turn(version)) - 2
    rows = with_bad_row(version, kind, at, closed=False)

    fault = refusal(zstd(version, rows[: at - 1], rows[at - 1 :]))

    assert (fault.code, fault.data["reason"], fault.data["frame"]) == (Code.LOG_CORRUPT, kind, 2)
    assert (fault.seq, fault.line_number) == (at, at + 2)
    assert fault.byte_offset == len(zstd(version, rows[: at - 1]))


@pytest.mark.parametrize("version", GENERATIONS)
def test_an_unknown_envelope_key_is_refused_by_event_or_by_row(version: int) -> None:
    """v0 and v1 judge events once all rows are read; later generations judge each row."""
    rows = open_turn(version)
    rows[-1] = {**rows[-1], "color": "red"}
    content = plain(version, rows)

    if version < 2:
        fault = refusal(content)
        assert (fault.code, fault.seq) == (Code.BAD_ENVELOPE, len(rows) - 1)
    else:
        log = opened(content)
        assert len(log.session) == len(rows) - 1
        assert log.findings[-1].data["reason"] == "bad-envelope"


@pytest.mark.parametrize(("tail", "reason"), [(b'{"type":', "torn-line"), (b"\x00" * 9, "nul-run")])
@pytest.mark.parametrize("version", GENERATIONS)
def test_what_a_plain_log_has_behind_its_last_line_is_left_out(
    version: int, tail: bytes, reason: str
) -> None:
    """Half a line never counts."""
    log = opened(plain(version, conversation(version)) + tail)

    assert len(log.session) == len(conversation(version))
    assert log.findings[-1].data["reason"] == reason


# ---- packed rows --------------------------------------------------------------------------------


def row() -> Wire:
    """The packed row of `conversation(0)`."""
    return next(one for one in packed(conversation(0)) if one["type"] == "text-chunks")


def bent(**changes: Any) -> Wire:
    """The row with changed fields; those of its data by a name with `data_` before it."""
    made = json.loads(json.dumps(row()))
    for name, value in changes.items():
        fields, key = (made["data"], name[5:]) if name.startswith("data_") else (made, name)
        fields[key] = value
        if value is ...:
            del fields[key]
    return made  # type: ignore[no-any-return]  # it was an object


@pytest.mark.parametrize(
    "broken",
    [
        bent(color="red"),
        bent(time0=...),
        bent(seq0=True),
        bent(seq0=-1),
        bent(time0=1.5),
        bent(time0=2**53),
        bent(data=[]),
        bent(data_color="red"),
        bent(data_dt=...),
        bent(data_dt=[1]),
        bent(data_dt=[1, 1, True]),
        bent(data_dt=[1, 1, 2**53]),
        bent(data_texts=[]),
        bent(data_texts="Sow it."),
        bent(data_texts=["S", "ow", " it", 5]),
        bent(data_turn="1"),
        bent(data_index=None),
        bent(data_id="c"),
        bent(type="tool-call-chunks"),
    ],
)
@pytest.mark.parametrize("spelled_plainly", [True, False])
def test_a_malformed_row_is_never_skipped(broken: Wire, spelled_plainly: bool) -> None:
    """It stands for several events; however it is spelled, the log is refused there."""
    rows: list[Any] = packed(conversation(0))
    at = rows.index(row())
    rows[at] = line(broken) if spelled_plainly else b" " + line(broken)

    fault = refusal(plain(0, rows))

    assert (fault.code, fault.data["reason"]) == (Code.LOG_CORRUPT, "malformed-row")
    assert (fault.line_number, fault.seq) == (at + 2, row()["seq0"])


def test_a_row_out_of_order_is_a_gap() -> None:
    """Its first seq has to follow like that of any event."""
    rows = packed(conversation(0))
    at = rows.index(row())
    rows[at] = bent(seq0=row()["seq0"] + 1)

    fault = refusal(plain(0, rows))

    assert fault.data == {
        "reason": "seq-gap",
        "expected_seq": row()["seq0"],
        "got_seq": row()["seq0"] + 1,
    }


@pytest.mark.parametrize("version", [2, 3, 4])
def test_later_generations_have_no_packed_rows(version: int) -> None:
    """There a row of that type is a row without a seq."""
    rows = [*open_turn(version), row()]

    assert opened(plain(version, rows)).findings[-1].data["reason"] == "seq-gap"


@pytest.mark.parametrize("count", [1, 2])
def test_rows_of_one_or_two_are_read(count: int) -> None:
    """Writers leave such runs unpacked, readers take them."""
    rows = packed(open_turn(0))
    at = rows.index(row())
    gaps = row()["data"]["dt"][: count - 1]
    rows[at] = bent(data_texts=row()["data"]["texts"][:count], data_dt=gaps)

    log = opened(plain(0, rows[: at + 1]))

    assert len(log.session) == row()["seq0"] + count
    assert log.session.events[-1].type == "assistant/chunk"


def test_a_place_behind_a_row_counts_lines_not_events() -> None:
    """Findings and refusals behind a packed row name the file's own line."""
    rows = packed(conversation(0))
    rows[-2]["time"] -= 10_000

    (note,) = opened(plain(0, rows)).findings

    assert note.code is Code.TIME_GOES_BACK
    assert note.seq == len(conversation(0)) - 2
    assert note.line_number == len(rows)
    assert note.byte_offset == len(plain(0, rows[:-2]))


# ---- frames -------------------------------------------------------------------------------------


def framed(version: int = 4) -> tuple[bytes, tuple[int, ...]]:
    """A compressed log, and where its frames begin."""
    content = contained("zstd", version, conversation(version))
    return content, tuple(frame.start for frame in walk(content)[0])


@pytest.mark.parametrize("back", [5, 20, 60])
def test_a_cut_last_frame_is_left_out(back: int) -> None:
    """Of one cut block nothing can be recovered; the file is sound up to where it begins."""
    content, starts = framed()

    log = opened(content[:-back])

    before = opened(content[: starts[-1]])
    assert log.session == before.session
    assert (log.good_bytes, log.recovered) == (starts[-1], 0)
    tail = log.findings[-1]
    assert (tail.code, tail.data["reason"], tail.data["frame"]) == (Code.TORN_TAIL, "torn-frame", 3)
    assert tail.data["dropped_bytes"] == len(content) - back - starts[-1]


@pytest.mark.parametrize("back", [1, 4])
def test_a_frame_that_lacks_its_checksum_only_is_recovered(back: int) -> None:
    """All its blocks are whole, so all its lines count; it is a cut frame all the same."""
    content, starts = framed()

    log = opened(content[:-back])

    assert log.session == opened(content).session
    assert log.good_bytes == starts[-1]
    assert log.findings[-1].code is Code.TORN_TAIL


def noisy_rows(first: int, count: int) -> list[Wire]:
    """Rows of ten kilobytes that hardly compress, of which a frame needs several blocks."""
    state, rows = 1, []
    for seq in range(first, first + count):
        text = ""
        while len(text) < 10_000:
            state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
            text += f"{state:016x}"
        data = {"title": text, "messageSeqs": [], "source": {"kind": "user"}}
        rows.append({"type": "session/title", "seq": seq, "time": first, "data": data})
    return rows


def test_whole_blocks_of_a_cut_frame_are_recovered() -> None:
    """Of what they hold only whole lines count; the file is sound up to the frame."""
    events = conversation(4)
    rows = noisy_rows(len(events), 40)
    whole = zstd(4, events)
    content = zstd(4, events, rows)
    cut = len(whole) + (len(content) - len(whole)) * 3 // 4

    log = opened(content[:cut])

    assert 12 <= log.recovered < 40
    assert len(log.session) == len(events) + log.recovered
    assert log.good_bytes == len(whole)
    assert log.findings[-1].data["recovered_events"] == log.recovered


def test_a_bad_row_in_recovered_blocks_ends_the_log() -> None:
    """There it is as in a plain file; it is fatal only when a turn was closed behind it."""
    events = conversation(4)
    rows: list[Any] = noisy_rows(len(events), 40)
    rows.insert(3, b"oops\n")
    content = zstd(4, events, rows)
    closing = [*rows]
    closing.insert(5, {**events[-1], "seq": 0})

    log = opened(content[:-5])
    fault = refusal(zstd(4, events, closing)[:-5])

    assert log.recovered == 3
    assert (fault.code, fault.data["reason"]) == (Code.LOG_CORRUPT, "unparsable-line")


@pytest.mark.parametrize("damage", ["checksum", "content", "junk", "skippable", "zeros"])
def test_a_damaged_frame_is_named_with_what_is_lost(damage: str) -> None:
    """Frame, byte, and the first seq that cannot be had; going on behind it would lose events."""
    content, starts = framed()
    at = starts[2]
    if damage == "checksum":
        content = (
            content[: starts[3] - 1] + bytes([content[starts[3] - 1] ^ 1]) + content[starts[3] :]
        )
    elif damage == "content":
        content = content[: at + 12] + bytes([content[at + 12] ^ 255]) + content[at + 13 :]
    else:
        junk = {
            "junk": b"junk",
            "zeros": bytes(64),
            "skippable": b"\x50\x2a\x4d\x18\x04\0\0\0abcd",
        }[damage]
        content = content[:at] + junk + content[at:]

    fault = refusal(content)

    lost = len(conversation(4)) // 3
    assert fault.code is Code.LOG_CORRUPT
    assert (fault.data["reason"], fault.data["frame"]) == ("bad-frame", 2)
    assert (fault.byte_offset, fault.seq, fault.data["first_lost_seq"]) == (at, lost, lost)


def test_half_a_line_at_the_end_of_whole_frames_is_fatal() -> None:
    """A torn frame behind it does not excuse it."""
    rows = lines(*conversation(4))
    content = compressed(line(header(4))) + compressed(rows[:-3])

    for fault in (refusal(content), refusal(content + compressed(b"x" * 99)[:20])):
        assert fault.data["reason"] == "torn-line-in-complete-frame"


def test_what_a_compressed_log_may_hold_is_bounded() -> None:
    """A small file can ask for much memory; the refusal names the option."""
    content = compressed(line(header(4))) + compressed(b" " * 10_000_000)

    fault = refusal(content, max_bytes=1_000_000)

    assert (fault.code, fault.data) == (Code.LOG_TOO_LARGE, {"limit": 1_000_000})
    assert "max_bytes" in fault.message
    assert opened(zstd(4, conversation(4)), max_bytes=1_000_000).container == "zstd"


def test_bytes_that_are_no_utf8_are_a_finding_in_their_frame() -> None:
    """They read as U+FFFD in every container."""
    rows: list[Any] = conversation(4)
    rows[-1] = line(rows[-1]).replace(b"completed", b"complete\xff")

    (finding,) = opened(zstd(4, rows[:-1], rows[-1:])).findings

    assert (finding.code, finding.data["frame"]) == (Code.INVALID_UTF8, 2)
    assert finding.byte_offset == len(zstd(4, rows[:-1]))


# ---- nesting ------------------------------------------------------------------------------------


def renumbered(events: list[Wire]) -> list[Wire]:
    """The events with seqs from 0."""
    return [{**event, "seq": seq} for seq, event in enumerate(events)]


def without(version: int, place: int) -> list[Wire]:
    """The sound log with one log-only event left out and all others renumbered."""
    events = conversation(version)
    kept = [event for at, event in enumerate(events) if at != place]
    moved = {event["seq"]: seq for seq, event in enumerate(kept)}
    made = renumbered(kept)
    for event in made:
        if "sourceEventSeqs" in event:
            event["sourceEventSeqs"] = [moved[seq] for seq in event["sourceEventSeqs"]]
    return made


@pytest.mark.parametrize(("version", "container"), FORMS)
def test_a_turn_without_its_end_is_refused_by_v4_alone(version: int, container: str) -> None:
    """Earlier generations read the log, so there it is a finding."""
    end = next(at for at, one in enumerate(conversation(version)) if one["type"] == "turn/end")
    content = contained(container, version, without(version, end))

    if version == 4:
        fault = refusal(content)
        assert (fault.code, fault.data["rule"]) == (Code.LOG_RULE_BROKEN, "TURN_ALREADY_OPEN")
        assert fault.seq == end
        assert fault.line_number == end + 2
    else:
        codes = [one.code for one in opened(content).findings]
        assert codes[0] is Code.TURN_ALREADY_OPEN


def v4_log(*events: tuple[str, Any]) -> list[Wire]:
    """A v4 log of one open step that begins as one does, with these log-only events behind."""
    log = Writer(4)
    log.add("turn/start", {"turn": 1})
    log.add("step/start", {"turn": 1, "step": 1})
    log.system(1, 1, "")
    log.say("Dig.")
    log.answer(1, 1, [asks("c-1"), asks("c-2", '{"deep":true}')])
    for kind, data in events:
        log.add(kind, data)
    return log.events


PLACE: Final = {"turn": 1, "step": 1}
CALL: Final = {**PLACE, "callId": "c-1", "name": "dig", "arguments": "{}"}


@pytest.mark.parametrize(
    ("events", "rule"),
    [
        ([("turn/start", {"turn": 2})], "TURN_ALREADY_OPEN"),
        ([("turn/end", {"turn": 2})], "TURN_MISMATCH"),
        ([("turn/end", {"turn": 1})], "STEP_OPEN_AT_TURN_END"),
        ([("step/start", {"turn": 2, "step": 1})], "STEP_TURN_MISMATCH"),
        ([("step/start", {"turn": 1, "step": 2})], "STEP_ALREADY_OPEN"),
        ([("step/end", {"turn": 1, "step": 2})], "NOT_IN_OPEN_STEP"),
        ([("step/end", {"turn": 1})], "NOT_IN_OPEN_STEP"),
        ([("step/end", None)], "NOT_IN_OPEN_STEP"),
        ([("step/end", PLACE)], "CALL_UNANSWERED"),
        ([("assistant/attempt", {**PLACE, "turn": 3, "stream": []})], "NOT_IN_OPEN_STEP"),
        ([("tool/call", {**CALL, "name": "sow"})], "CALL_NOT_ASKED"),
        ([("tool/call", {**CALL, "arguments": "{ }"})], "CALL_NOT_ASKED"),
        ([("tool/call", CALL), ("tool/call", CALL)], "CALL_NOT_ASKED"),
        ([("tool/call", CALL), ("step/end", PLACE)], "CALL_UNANSWERED"),
    ],
)
def test_v4_refuses_what_no_sound_writer_writes(events: list[tuple[str, Any]], rule: str) -> None:
    """Turns, steps and calls are checked on every load, at the last event here."""
    log = v4_log(*events)

    fault = refusal(plain(4, log))

    assert (fault.code, fault.data["rule"]) == (Code.LOG_RULE_BROKEN, rule)
    assert fault.seq == len(log) - 1


@pytest.mark.parametrize(
    ("turns", "rule"),
    [
        ([("turn/start", {"turn": 2})], "TURN_NUMBER"),
        ([("turn/start", {"turn": 1}), ("step/start", {"turn": 1, "step": 2})], "STEP_NUMBER"),
        ([("request/context", {"provider": "p"})], "OUTSIDE_TURN"),
        ([("step/start", {"turn": 1, "step": 1})], "STEP_TURN_MISMATCH"),
    ],
)
def test_v4_counts_turns_and_steps_from_one(turns: list[tuple[str, Any]], rule: str) -> None:
    """The first turn is 1 and so is the first step of each; requests belong into turns."""
    log = Writer(4)
    for kind, data in turns:
        log.add(kind, data)

    assert refusal(plain(4, log.events)).data["rule"] == rule


def answered(call_id: str, *, started: bool, code: str | None = None) -> list[Wire]:
    """A v4 log with one result at its end."""
    log = Writer(4)
    log.events = v4_log(*([("tool/call", CALL)] if started else []))
    error = {} if code is None else {"error": {"name": "E", "code": code}}
    log.result(1, 1, call_id, len(log.events) - 1 if started else None, **error)
    return log.events


def test_a_result_needs_a_started_call_or_the_repair_of_one() -> None:
    """A call that never started may only get the result that says so."""
    assert opened(plain(4, answered("c-1", started=True))).findings[-1].code is Code.TURN_NOT_CLOSED
    assert opened(plain(4, answered("c-2", started=False, code="TOOL_NOT_STARTED"))).session
    for events in (
        answered("c-2", started=False),
        answered("c-2", started=False, code="OTHER"),
        answered("c-9", started=True),
    ):
        assert refusal(plain(4, events)).data["rule"] == "RESULT_WITHOUT_CALL"


def test_a_pruned_result_may_stand_anywhere() -> None:
    """It takes the place of an old one and names its turn and step."""
    events = conversation(4)
    old = next(event for event in events if event["type"] == "tool/result")
    message = Writer(4).result_message("c-1", "cut")
    op = {"op": "replace", "startSeq": old["seq"], "endSeq": old["seq"]}
    pruned = {
        **old,
        "seq": len(events),
        "time": events[-1]["time"],
        "data": {**old["data"], "message": message},
        "surfaceOp": op,
        "sourceEventSeqs": [old["seq"]],
    }
    other = {**pruned, "data": {**pruned["data"], "step": 2}}

    assert opened(plain(4, [*events, pruned])).findings == ()
    assert refusal(plain(4, [*events, other])).code is Code.NODE_RULE_BROKEN


def test_a_strangers_text_in_a_refusal_is_made_safe() -> None:
    """Whatever a log says, the refusal stays one printable line."""
    log = v4_log(("tool/call", {**CALL, "callId": "\x1b[31m\n" + "x" * 9999}))

    fault = refusal(plain(4, log))

    assert str(fault).isprintable()
    assert len(fault.message) < 400
