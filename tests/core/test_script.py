"""A recorded session as a script of model calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dsh_fp import Code, Session, assemble, to_text, unwrap
from dsh_fp.core.call_spans import Purpose
from dsh_fp.core.endings import Ending, parse_endings
from dsh_fp.core.script import ModelCall, Outcome, Script, script_of
from tests.core.making import (
    Wire,
    asking,
    assistant,
    event,
    frozen,
    header,
    replacing,
    replayed,
    step_end,
    step_start,
    text,
    turn_end,
    turn_start,
    user,
)

USAGE: Wire = {"inputTokens": 4, "outputTokens": 2}


def chunk(seq: int, kind: str, turn: int = 1, step: int = 1, **fields: Any) -> Wire:
    return event(
        "assistant/chunk", seq, {"turn": turn, "step": step, "chunk": {"type": kind, **fields}}
    )


def delta(seq: int, words: str) -> Wire:
    return chunk(seq, "text-delta", index=0, text=words)


def ended(seq: int, **reason: Any) -> Wire:
    return event("turn/end", seq, {"turn": 1, "reason": reason})


def script(*wires: Wire, told: str = "") -> Script:
    return script_of(replayed(*wires), unwrap(parse_endings(told.split("\n"))))


def only(*wires: Wire, told: str = "") -> ModelCall:
    (call,) = script(*wires, told=told).calls
    return call


BEGUN = (turn_start(0), header(1), user(2), step_start(3))
STREAM = (
    delta(4, "No"),
    delta(5, "on."),
    chunk(6, "usage", usage=USAGE),
    chunk(7, "finish", reason={"kind": "stop"}),
)


def test_a_step_is_one_call() -> None:
    """Its request, its chunks in order, its message, and what they amount to."""
    call = only(
        *BEGUN, *STREAM, assistant(8, text("Noon."), usage=USAGE), step_end(9), turn_end(10)
    )

    assert (call.turn, call.step, call.seq, call.purpose) == (1, 1, 3, "step")
    assert call.outcome is Outcome.ANSWERED
    assert [each["type"] for each in call.chunks] == ["text-delta"] * 2 + ["usage", "finish"]
    assert (call.chunk_seqs, call.message_seq) == ((4, 5, 6, 7), 8)
    assert call.past is not None
    assert unwrap(call.past.request)["messages"][0]["role"] == "user"
    assert call.message == [text("Noon.")]
    assert unwrap(call.assembled).blocks == [text("Noon.")]
    assert (call.agrees, call.usage, call.finish) == (True, USAGE, {"kind": "stop"})
    assert unwrap(call.answer).content == [text("Noon.")]
    assert not call.inherited


def test_the_message_counts_where_a_plugin_changed_it() -> None:
    """The chunks stay as recorded; the answer is the message, and the two do not agree."""
    call = only(*BEGUN, *STREAM, assistant(8, text("Noon, sharp."), usage={"inputTokens": 9}))

    assert call.agrees is False
    assert unwrap(call.answer).content == [text("Noon, sharp.")]
    assert unwrap(call.assembled).blocks == [text("Noon.")]
    assert call.usage == {"inputTokens": 9}


def test_key_order_tells_a_message_from_its_chunks() -> None:
    """Blocks reach the next request in their order of keys."""
    turned = {"text": "Noon.", "type": "text"}

    assert only(*BEGUN, *STREAM, assistant(8, turned)).agrees is False


def test_a_message_without_chunks_gets_some() -> None:
    """They assemble to the message, and are marked as not recorded."""
    call = only(*BEGUN, assistant(4, text("Let me see."), asking("c1"), usage=USAGE))

    assert not call.chunks_recorded
    assert call.agrees is None
    assert [each["type"] for each in call.chunks] == ["block-end", "block-end", "usage", "finish"]
    made = unwrap(assemble(call.chunks))
    assert (made.blocks, made.usage) == (call.message, USAGE)
    assert made.finish == call.finish == {"kind": "tool-calls"}


def test_a_made_finish_follows_blocks_and_turn() -> None:
    """Without calls it is a stop; in a turn that ended so, it is max-tokens."""
    plain = only(*BEGUN, assistant(4), step_end(5), turn_end(6))
    cut = only(*BEGUN, assistant(4), step_end(5), ended(6, kind="max-tokens"))

    assert plain.finish == plain.chunks[-1]["reason"] == {"kind": "stop"}
    assert cut.finish == {"kind": "max-tokens"}


def test_a_replacement_is_not_what_a_step_said() -> None:
    """An assistant/message that takes another's place rewrites history; the call said the next."""
    rewritten = {
        **assistant(11, text("Short.")),
        "surfaceOp": {"op": "replace", "start": 8, "end": 8},
        "sourceEventSeqs": [8],
    }
    first, second = script(
        *BEGUN,
        *STREAM,
        assistant(8, text("Noon.")),
        step_end(9),
        step_start(10, step=2),
        rewritten,
        assistant(12, text("Really."), step=2),
    ).calls

    assert (first.message_seq, second.message_seq) == (8, 12)


def test_output_outside_a_step_is_of_no_call() -> None:
    """A step ends at its step/end, or where the next step or turn begins or the turn ends."""
    late = script(*BEGUN, step_end(4), delta(5, "a"), assistant(6), turn_end(7), delta(8, "b"))
    cut = script(*BEGUN, turn_end(4), delta(5, "a"), turn_start(6), delta(7, "b"))
    anew = script(*BEGUN, turn_start(4, turn=2), delta(5, "a"), assistant(6, turn=2))

    for made in (late, cut, anew):
        assert [call.chunk_seqs for call in made.calls] == [()]
        assert [call.message_seq for call in made.calls] == [None]


def test_a_step_without_any_end_never_ended() -> None:
    """Nothing came, or the stream was cut; what came is still told."""
    silent, cut = only(*BEGUN), only(*BEGUN, *STREAM[:2])

    assert silent.outcome is cut.outcome is Outcome.NEVER_ENDED
    assert len(silent.chunks) == 0
    assert (silent.finish, silent.cut_by) == (None, None)
    assert unwrap(cut.answer).content == [text("Noon.")]
    assert unwrap(cut.answer).finish is None


def test_a_cut_call_says_which_end_of_the_turn_came_instead() -> None:
    """An abort is the caller's: the model had not ended."""
    call = only(*BEGUN, *STREAM[:1], step_end(5), ended(6, kind="aborted", reason="stop"))

    assert call.outcome is Outcome.NEVER_ENDED
    assert call.cut_by == {"kind": "aborted", "reason": "stop"}


def test_a_turn_that_ended_in_an_error_of_the_step_threw() -> None:
    """Message and code are the log's; a name it has not."""
    failed = {"kind": "error", "step": 1, "message": "overloaded", "code": "529"}
    call = only(*BEGUN, *STREAM[:1], step_end(5), ended(6, **failed))
    later = only(*BEGUN, step_end(4), ended(5, **{**failed, "step": 2}))

    assert call.outcome is Outcome.THREW
    assert call.error == {"message": "overloaded", "code": "529"}
    assert later.outcome is Outcome.NEVER_ENDED


def test_a_finish_is_an_end_whatever_came_of_it() -> None:
    """A stream that told its finish has ended, though no message was logged."""
    call = only(*BEGUN, *STREAM, step_end(8), ended(9, kind="error", step=1, message="x"))

    assert call.outcome is Outcome.ANSWERED
    assert unwrap(call.answer).content == [text("Noon.")]


def test_an_error_after_the_answer_is_not_the_models() -> None:
    """A tool may fail a step too."""
    call = only(*BEGUN, assistant(4), step_end(5), ended(6, kind="error", step=1, message="x"))

    assert (call.outcome, call.error, call.cut_by) == (Outcome.ANSWERED, None, None)


def compaction(*parts: tuple[str, Wire], seq: int = 0) -> list[Wire]:
    return [event(f"compact/{kind}", seq + at, data) for at, (kind, data) in enumerate(parts)]


def test_a_compaction_is_a_call_of_its_own_kind() -> None:
    """Its summary is the answer; its request is in no log; steps are not disturbed."""
    summary = {"summary": [text("Short.")], "shadowedSeqs": [2], "model": "m"}
    made = script(
        turn_start(0),
        header(1),
        user(2),
        *compaction(("start", {"turn": 1}), ("summary", summary), seq=3),
        replacing(5, 2, 2, [3, 4, 2], "Short."),
        event("compact/end", 6, {"turn": 1}),
        step_start(7),
        assistant(8),
    )
    first, second = made.calls

    assert made.compactions == (first,)
    assert made.steps == (second,)
    assert (first.turn, first.step, first.seq, first.past) == (1, None, 3, None)
    assert unwrap(first.answer).content == [text("Short.")]
    assert [each["type"] for each in first.chunks] == ["block-end", "finish"]
    assert first.finish == {"kind": "stop"}


def test_a_compaction_may_fail_or_hang_or_ask_for_nothing() -> None:
    """An error is thrown, a missing end is none, and an end without a summary no call."""
    threw = only(*compaction(("start", {"turn": 1}), ("end", {"turn": 1, "error": "full"})))
    coded = only(*compaction(("start", {}), ("end", {"error": {"message": "m", "code": 5}})))
    odd = only(*compaction(("start", {}), ("end", {"error": [1]})))
    hung = only(*compaction(("start", {"turn": 1})))
    idle = script(*compaction(("start", {"turn": 1}), ("end", {"turn": 1})))

    assert (threw.outcome, threw.error) == (Outcome.THREW, {"message": "full"})
    assert coded.error == {"message": "m", "code": 5}
    assert odd.error == {"message": "[1]"}
    assert hung.outcome is Outcome.NEVER_ENDED
    assert idle.calls == ()


def test_a_bare_summary_is_a_call_in_the_open_turn() -> None:
    """Two summaries in one compaction are two calls."""
    summary = {"summary": [text("Short.")]}
    bare = script(turn_start(0, turn=3), *compaction(("summary", summary), seq=1)).calls
    twice = script(*compaction(("start", {"turn": 1}), ("summary", summary), ("summary", summary)))

    assert [(call.turn, call.seq) for call in bare] == [(3, 1)]
    assert [call.seq for call in twice.calls] == [0, 2]


@pytest.mark.parametrize("content", [None, "Noon.", {}])
def test_a_message_of_another_shape_is_a_fault_of_the_answer(content: Any) -> None:
    """It was accepted, so it is there; what it says cannot be told."""
    data = {"turn": 1, "step": 1, "content": content}
    call = only(*BEGUN, event("assistant/message", 4, data, surfaceOp="append"))

    fault = call.answer.failure()
    assert (fault.code, fault.seq, fault.path) == (Code.PAYLOAD_INVALID, 4, "$.data.content")
    assert call.message is None
    assert call.chunks == []


@pytest.mark.parametrize("data", [None, [], {"turn": 1}, {"chunk": "text"}])
def test_a_chunk_of_another_shape_is_kept_and_is_a_fault_of_the_assembly(data: Any) -> None:
    """Nothing of the record is dropped in silence."""
    call = only(*BEGUN, event("assistant/chunk", 4, data))

    assert len(call.chunks) == 1
    assert call.assembled.failure().code is Code.NOT_JSON
    assert call.outcome is Outcome.NEVER_ENDED


def test_the_calls_of_a_parent_are_marked_in_its_fork() -> None:
    """`own` leaves them out: the fork's agent never asks for them again."""
    parent = replayed(*BEGUN, assistant(4), step_end(5), turn_end(6))
    child = unwrap(parent.fork())
    for wire in (turn_start(7, turn=2), step_start(8, turn=2), assistant(9, turn=2)):
        child = unwrap(child.extend([wire]))

    made = script_of(child)

    assert [call.inherited for call in made.calls] == [True, False]
    assert [call.seq for call in made.own.calls] == [8]
    assert script_of(parent).own.calls[0].seq == 3
    clash = [Ending(None, seq=8), Ending(None, turn=2, step=1)]
    forked = script_of(child, clash)
    assert len(forked.faults) == 1
    assert forked.own.faults == forked.faults


def test_odd_numbers_of_turn_and_step_stay_as_they_are() -> None:
    """They are any JSON value; only whole ones can be named by a side file."""
    call = only(step_start(0, turn="a", step=True), told='{"seq":0,"never_ends":true}')
    made = script(step_start(0, turn=1, step=True), told='{"turn":1,"step":1,"never_ends":true}')

    assert (call.turn, call.step) == ("a", True)
    assert len(made.unused) == 1


def test_a_script_takes_a_session() -> None:
    """A log file has one."""
    with pytest.raises(TypeError, match=r"\.session"):
        script_of([])  # type: ignore[arg-type]  # what is wrong


# ---- the side file -----------------------------------------------------------------------------


def test_an_ending_overrules_the_log() -> None:
    """What was thrown, and after how many chunks; or that the call hung."""
    answered = (*BEGUN, *STREAM, assistant(8, text("Noon.")))
    error = {"name": "Overloaded", "message": "later", "code": 529}
    told = to_text({"turn": 1, "step": 1, "error": error, "after_chunks": 1})
    threw = only(*answered, told=told)
    hung = only(*answered, told='{"seq":3,"never_ends":true}')
    at_once = only(*answered, told='{"seq":3,"never_ends":true,"after_chunks":0}')

    assert (threw.outcome, threw.error) == (Outcome.THREW, error)
    assert threw.chunks == [{"type": "text-delta", "index": 0, "text": "No"}]
    assert unwrap(threw.answer).content == [text("No")]
    assert (hung.outcome, hung.error, len(hung.chunks)) == (Outcome.NEVER_ENDED, None, 4)
    assert at_once.chunks == []
    assert threw.message == [text("Noon.")]


def test_made_chunks_come_before_an_ending_only_when_it_counts_them() -> None:
    """Without chunks in the log, a call that threw gave none unless said otherwise."""
    answered = (*BEGUN, assistant(4, text("Noon.")))

    assert only(*answered, told='{"seq":3,"never_ends":true}').chunks == []
    given = only(*answered, told='{"seq":3,"never_ends":true,"after_chunks":1}').chunks
    assert [each["type"] for each in given] == ["block-end"]


def test_endings_are_for_the_session_they_name() -> None:
    """Those that name no call of it are left over."""
    lines = ['{"session":"other","turn":1,"step":1,"never_ends":true}', ""]
    lines += ['{"session":"session","turn":1,"step":2,"never_ends":true}']
    made = script(*BEGUN, *STREAM, assistant(8), told="\n".join(lines))

    assert made.calls[0].outcome is Outcome.ANSWERED
    assert [(each.name, each.line_number) for each in made.unused] == [("turn 1, step 2", 3)]


def test_a_side_file_is_read_line_by_line() -> None:
    """Blank lines and CR line ends do not matter."""
    lines = ['{"turn":2,"step":1,"error":{"name":"E","message":"m"}}\r', "", " "]
    lines += ['{"seq":7,"never_ends":true,"after_chunks":3,"session":"s"}']

    error = frozen({"name": "E", "message": "m"})
    assert unwrap(parse_endings(lines)) == (
        Ending(error, turn=2, step=1, line_number=1),
        Ending(None, seq=7, session="s", after_chunks=3, line_number=4),
    )


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("{", "not JSON"),
        ("[]", "no object"),
        ('{"turn":1,"step":1,"error":{"name":"E","message":"m"},"when":1}', "'when'"),
        ('{"never_ends":true}', "turn and step, or seq"),
        ('{"turn":1,"step":1,"seq":1,"never_ends":true}', "turn and step, or seq"),
        ('{"turn":1,"never_ends":true}', "step is no whole number"),
        ('{"turn":true,"step":1,"never_ends":true}', "turn is no whole number"),
        ('{"seq":-1,"never_ends":true}', "seq is no whole number"),
        ('{"seq":1,"session":1,"never_ends":true}', "session is no text"),
        ('{"seq":1,"after_chunks":0.5,"never_ends":true}', "after_chunks"),
        ('{"seq":1}', "neither or both"),
        ('{"seq":1,"never_ends":true,"error":{}}', "neither or both"),
        ('{"seq":1,"never_ends":false}', "not true"),
        ('{"seq":1,"error":"m"}', "error is no object"),
        ('{"seq":1,"error":{"message":"m"}}', "no text name"),
        ('{"seq":1,"error":{"name":"E","message":1}}', "no text message"),
        ('{"seq":1,"error":{"name":"E","message":"m","stack":""}}', "'stack'"),
        ('{"seq":1,"error":{"name":"E","message":"m","code":null}}', "code is 'null'"),
        ('{"seq":1,"error":{"name":"E","message":"m","code":true}}', "code is 'true'"),
        ('{"seq":1,"error":{"name":"E","message":"m","code":[1.5]}}', "code is '[1.5]'"),
    ],
)
def test_a_line_that_tells_no_ending_is_refused_by_its_number(line: str, what: str) -> None:
    """The first of them is the answer."""
    refused = parse_endings(['{"seq":0,"never_ends":true}', line, "{"]).failure()

    assert (refused.code, refused.line_number) == (Code.ENDING_INVALID, 2)
    assert what in refused.message


def test_a_call_is_named_once() -> None:
    """The second line is refused, and says where the first stands."""
    line = '{"seq":1,"never_ends":true}'

    refused = parse_endings([line, "", line]).failure()

    assert (refused.code, refused.line_number) == (Code.ENDING_INVALID, 3)
    assert "line 1" in refused.message


TWICE = [
    ('{"session":"session","turn":1,"step":1,"never_ends":true}', "turn 1, step 1"),
    ('{"turn":1,"step":1,"never_ends":true}', "turn 1, step 1"),
    ('{"seq":3,"never_ends":true}', "seq 3"),
    ('{"session":"session","seq":3,"never_ends":true}', "seq 3"),
]


@pytest.mark.parametrize("first", TWICE)
@pytest.mark.parametrize("second", TWICE)
def test_a_call_is_named_once_in_whatever_way(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    """What names a call in another way is told from the script; both lines are named."""
    if first == second:
        return
    made = script(*BEGUN, *STREAM, told=f"\n{first[0]}\n{second[0]}")

    (fault,) = made.faults
    assert (fault.code, fault.line_number) == (Code.ENDING_INVALID, 3)
    assert "lines 2 and 3 name the same call: turn 1, step 1 (seq 3)" in fault.message
    assert made.unused == ()


def test_a_third_line_for_a_call_is_a_fault_too() -> None:
    """In order of the lines, whatever the order of the calls."""
    lines = ['{"seq":9,"never_ends":true}', '{"turn":2,"step":1,"never_ends":true}']
    lines += [line for line, _ in TWICE[:3]]
    told = "\n".join(lines)
    made = script(*BEGUN, *STREAM, turn_end(8), step_start(9, turn=2), told=told)

    assert [fault.line_number for fault in made.faults] == [2, 4, 5]
    assert "lines 3 and 5" in made.faults[2].message


def test_a_retry_does_not_take_the_name_of_its_step() -> None:
    """Turn and step name the first call, which the seq named already."""
    lines = '{"seq":3,"never_ends":true}\n{"turn":1,"step":1,"never_ends":true}'
    again = (step_end(8), step_start(9))
    made = script(*BEGUN, *STREAM, *again, told=lines)

    assert [fault.line_number for fault in made.faults] == [2]
    both = '{"seq":9,"never_ends":true}\n{"turn":1,"step":1,"never_ends":true}'
    assert script(*BEGUN, *STREAM, *again, told=both).faults == ()


def test_endings_without_lines_may_clash_too() -> None:
    """Those that were made by hand."""
    clash = [Ending(None, seq=3), Ending(None, turn=1, step=1)]

    (fault,) = script_of(replayed(*BEGUN), clash).faults

    assert fault.line_number is None
    assert "two endings name the same call: turn 1, step 1 (seq 3)" in fault.message


@pytest.mark.parametrize(
    ("wires", "most"),
    [
        ((*BEGUN, *STREAM, assistant(8, text("Noon."))), 4),
        ((*BEGUN, assistant(4, text("Noon."))), 2),
        (BEGUN, 0),
    ],
)
def test_no_more_chunks_come_than_the_call_gives(wires: tuple[Wire, ...], most: int) -> None:
    """Those recorded, or those made from the message; a larger number is a slip."""
    told = '\n{{"seq":3,"never_ends":true,"after_chunks":{}}}'
    right = script(*wires, told=told.format(most))
    wrong = script(*wires, told=told.format(most + 1))

    assert right.faults == ()
    assert len(right.calls[0].chunks) == most
    (fault,) = wrong.faults
    assert (fault.code, fault.line_number) == (Code.ENDING_INVALID, 2)
    assert f"after_chunks is {most + 1}" in fault.message
    assert f"turn 1, step 1 (seq 3) gives {most}" in fault.message


@pytest.mark.parametrize("code", ["529", '"too much"', "1.5", "-2", "1e300", "0.1"])
def test_the_code_of_an_error_is_a_text_or_a_number(code: str) -> None:
    """Any that JSON has, and it is kept as it is."""
    line = f'{{"seq":3,"error":{{"name":"E","message":"m","code":{code}}}}}'

    error = only(*BEGUN, told=line).error

    assert error is not None
    assert error["code"] == json.loads(code)


def test_purposes_are_plain_texts() -> None:
    """So that callers need no import."""
    assert Purpose("compaction") == "compaction"
    assert isinstance(replayed(), Session)
