"""Origins, differences, caches, scripts and content of logs of the released generations."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from dsh_fp import Session, unwrap
from dsh_fp.core.caching import prompt_caching
from dsh_fp.core.call_spans import Purpose
from dsh_fp.core.content import content_digests
from dsh_fp.core.differences import diff_requests
from dsh_fp.core.events import RELEASED, UNSET, event_of, remade_event
from dsh_fp.core.generations import V0, V2, V3, V4
from dsh_fp.core.lossless import freeze
from dsh_fp.core.origins import SessionOrigins
from dsh_fp.core.references import calls_renamed, payload_renumbered, renumbered
from dsh_fp.core.requests import inherited_length, past_requests
from dsh_fp.core.script import Outcome, script_of
from dsh_fp.core.session_differences import diff_sessions
from dsh_fp.core.vocabulary import Vocabulary
from tests.wire.released import CONFIG, TIDE, Released, call, reasoning, text

EVERY_GENERATION = pytest.mark.parametrize("vocabulary", [V0, V2, V3, V4])


def talk(vocabulary: Vocabulary) -> Released:
    """A turn with a call, and another one with another effort."""
    log = Released(vocabulary).begin()
    log.say("Tides?")
    log.answer(reasoning("Look."), call("c1"))
    log.result("c1", text("At noon."))
    log.more().answer(*text("Noon."))
    log.end().begin()
    config = {**CONFIG, "reasoningEffort": "low"}
    own = {} if log.headed else {"system": "Be brief."}
    log.header({"config": config, "tools": [TIDE], **own})
    log.say("Waves?")
    log.answer(*text("Low."))
    return log.end()


@EVERY_GENERATION
def test_every_part_of_a_request_has_its_event(vocabulary: Vocabulary) -> None:
    """Each key of the config is a part; of messages the node, wherever the surface has it."""
    session = talk(vocabulary).session
    last = past_requests(session)[-1]

    origins = SessionOrigins(session).of(last)

    header = session.history.header_seqs[1]
    assert last.messages is not None
    assert len(origins.messages) == len(last.messages)
    assert origins.event_at("$.reasoningEffort") == origins.event_at("$.provider") == header
    assert list(origins.parts)[:2] == ["provider", "model"]
    assert origins.changed_by("reasoningEffort") == header
    assert origins.changed_by("provider") == session.history.header_seqs[0]
    assert origins.event_at("$.messages") is None
    system = origins.event_at("$.messages[0]" if "system" not in origins.parts else "$.system")
    assert system is not None
    kind = "system/message" if vocabulary in (V3, V4) else "request/header"
    assert session.events[system].type == kind


@EVERY_GENERATION
def test_a_changed_option_is_the_headers_doing(vocabulary: Vocabulary) -> None:
    """Its name is that of the generation."""
    session = talk(vocabulary).session
    _, old, new = map(SessionOrigins(session).of, past_requests(session))

    found = unwrap(diff_requests(old, new))

    assert [part.part for part in found.parts] == ["reasoningEffort"]
    cause = found.parts[0].behind.cause
    assert cause is not None
    assert cause.seq == session.history.header_seqs[1]


@EVERY_GENERATION
def test_a_prompt_that_only_grew_kept_all(vocabulary: Vocabulary) -> None:
    """What was said in a step counts, since it was sent."""
    first, second, third = prompt_caching(talk(vocabulary).session)

    assert (second.kept_all, third.kept_all) == (True, True)
    assert first.messages is not None
    assert second.messages == first.messages + 2


@pytest.mark.parametrize("vocabulary", [V3, V4])
def test_a_replaced_system_breaks_the_prompt_as_a_system(vocabulary: Vocabulary) -> None:
    """With the line in which the two part, and the event that did it."""
    log = Released(vocabulary).begin(system="Be brief.\nBe kind.")
    log.say("Tides?")
    log.answer(*text("Noon."))
    log.end().begin()
    head = log.session.surface[0]
    op = {"op": "replace", "startSeq": head, "endSeq": head}
    seq = log.system("Be brief.\nBe quick.", op=op, sources=[head])
    log.say("Waves?")

    broken = prompt_caching(log.session)[1].broken

    assert broken is not None
    assert broken.event is not None
    assert (broken.how, broken.line, broken.event.seq) == ("system", 2, seq)


# ---- scripts -------------------------------------------------------------------------------------


def chunk(kind: str, **more: Any) -> dict[str, Any]:
    """A record of a stream that holds one chunk."""
    return {"type": "chunk", "time": 1, "chunk": {"type": kind, **more}}


def pieces(*said: str) -> list[dict[str, Any]]:
    """A stream that says something in pieces, and finishes."""
    run = {"type": "text-chunks", "time0": 1, "index": 0, "dt": [1] * (len(said) - 1)}
    whole = {"type": "text", "text": "".join(said)}
    return [
        chunk("block-start", index=0, blockType="text"),
        {**run, "texts": list(said)},
        chunk("block-end", index=0, block=whole),
        chunk("finish", reason={"kind": "stop"}),
    ]


def streamed(*said: str, **more: Any) -> Session:
    """A session of one answer that came in pieces."""
    log = Released(V4).begin()
    log.say("Tides?")
    message = log.record("assistant", text("".join(said)), {"kind": "model"})
    data = {"turn": 1, "step": 1, "message": message, "stream": pieces(*said), **more}
    log.add("assistant/message", data, op="append")
    return log.end().session


def test_a_script_replays_the_stream_that_an_answer_holds() -> None:
    """Piece by piece; both agree."""
    (made,) = script_of(streamed("No", "on.")).calls

    assert [each["type"] for each in made.chunks] == [
        "block-start",
        "text-delta",
        "text-delta",
        "block-end",
        "finish",
    ]
    assert (made.agrees, made.chunks_recorded) == (True, True)
    assert made.message == tuple(freeze(text("Noon.")))


def test_a_cancelled_answer_keeps_what_says_something() -> None:
    """A blank block and a call are left out of the message, not of the stream."""
    log = Released(V4).begin()
    blank = chunk("block-end", index=1, block={"type": "text", "text": " "})
    stream = [*pieces("Noon")[:-1], blank, chunk("block-end", index=2, block=call("c1"))]
    message = log.record("assistant", text("Noon"), {"kind": "model"})
    data = {"turn": 1, "step": 1, "message": message, "interrupted": True, "stream": stream}
    log.add("assistant/message", data, op="append")

    (made,) = script_of(log.session).calls

    assert made.agrees is True


def test_each_retry_is_a_call_of_its_own() -> None:
    """With the same request, and with what the first one threw."""
    log = Released(V4).begin()
    log.say("Tides?")
    failure = {"message": "busy", "code": "SERVER"}
    log.add("llm/retry", {"turn": 1, "step": 1, "retry": 1, "failure": failure})
    started = log.add("llm/retry-started", {"turn": 1, "step": 1, "retry": 1})
    log.answer(*text("Noon."))
    log.end({"kind": "completed"})

    first, second = script_of(log.session).steps

    assert (first.outcome, first.error) == (Outcome.THREW, freeze(failure))
    assert (second.outcome, second.seq) == (Outcome.ANSWERED, started)
    assert first.past is second.past is not None


def test_a_failed_attempt_has_its_stream_and_its_error() -> None:
    """One without a finish threw what the turn ended with."""
    log = Released(V4).begin()
    log.add("assistant/attempt", {"turn": 1, "step": 1, "stream": pieces("No")[:2]})
    log.end({"kind": "error", "error": {"message": "closed", "code": "STREAM_CLOSED"}})

    (made,) = script_of(log.session).calls

    assert made.outcome is Outcome.THREW
    assert made.error == freeze({"message": "closed", "code": "STREAM_CLOSED"})
    assert len(made.chunks) == 2


def test_a_compaction_answers_what_the_model_said() -> None:
    """Not what was made of it."""
    log = talk(V4)
    log.compact(rawOutput=[reasoning("Hm."), *text("Tides.")])

    (made,) = script_of(log.session).of(Purpose.COMPACTION)

    assert made.message == tuple(freeze([reasoning("Hm."), *text("Tides.")]))


# ---- inheritance, references, content ------------------------------------------------------------


def test_what_was_inherited_is_told_by_header_or_marker() -> None:
    """The last marker counts; without one nothing was."""
    assert inherited_length(Released(V0, seedLength=3).session) == 3
    log = talk(V4)
    assert inherited_length(log.session) == 0
    marked = log.add("session/end-seed", {"inherited": True})
    log.add("session/end-seed", {})
    assert inherited_length(log.session) == marked


@pytest.mark.parametrize(
    ("type", "data", "moved"),
    [
        ("session/title", {"messageSeqs": [4, 5]}, {"messageSeqs": [14, 15]}),
        ("command/done", {"sourceEventSeq": 4}, {"sourceEventSeq": 14}),
        ("developer/message", {"headerSeq": 4}, {"headerSeq": 14}),
        ("session-log-deepseek/delivery-accepted", {"throughSeq": 4}, {"throughSeq": 14}),
        ("image/offload", {"targets": [{"seq": 4, "at": 1}]}, {"targets": [{"seq": 14, "at": 1}]}),
        (
            "compaction/summary",
            {"shadowedSeqs": [4], "shadowedRange": {"start": 4, "end": 5}},
            {"shadowedSeqs": [14], "shadowedRange": {"start": 14, "end": 15}},
        ),
    ],
)
def test_seqs_in_payloads_are_renumbered(type: str, data: Any, moved: Any) -> None:
    """In the released generations; in July such a name means nothing."""
    given = freeze(data)

    assert payload_renumbered(type, given, lambda seq: seq + 10, released=True) == freeze(moved)
    assert payload_renumbered(type, given, lambda seq: seq + 10) is given


def test_an_event_moves_with_its_runs_and_its_mark() -> None:
    """Sources are written out; `ignorable` and a time before 1970 stay."""
    wire = {
        "type": "tool/result",
        "seq": 9,
        "time": -5,
        "data": {},
        "sourceEventSeqs": [2, [4, 6]],
        "surfaceOp": {"op": "replace", "startSeq": 4, "endSeq": 4},
        "ignorable": True,
    }
    event: Any = event_of(freeze(wire), RELEASED)

    moved = renumbered(event, 19, lambda seq: seq + 10)

    assert moved.to_wire() == freeze(
        {
            **wire,
            "seq": 19,
            "sourceEventSeqs": [12, 14, 15, 16],
            "surfaceOp": {"op": "replace", "startSeq": 14, "endSeq": 14},
        }
    )
    assert event.anew() == event
    assert event.fixed_text() != remade_event(event, 9, {}).fixed_text()


def test_call_ids_are_found_wherever_a_generation_has_them() -> None:
    """In messages, their sources, streams and jobs, in order of the text."""
    named: list[Any] = []
    log = talk(V4)
    for event in log.session.events:
        calls_renamed(event.type, event.data, named.append, released=True)
    run = {"type": "tool-call-chunks", "id": "c2"}
    piece = {"type": "tool-call-delta", "id": "c3"}
    data = {"stream": [run, {"type": "chunk", "chunk": piece}]}
    calls_renamed("assistant/attempt", freeze(data), named.append, released=True)
    job = {"toolCall": {"callId": "c4", "rootCallId": "c5"}}
    calls_renamed("job/settled", freeze(job), named.append, released=True)

    calls = [name for name in named if name.startswith("c")]
    assert calls == ["c1", "c1", "c1", "c1", "c2", "c3", "c4", "c5"]


def test_content_does_not_depend_on_how_an_answer_came() -> None:
    """Nor on when: `events` counts the pieces and no times."""
    one, other = streamed("Noon."), streamed("No", "on.")

    assert content_digests(one).content == content_digests(other).content
    assert content_digests(one).events != content_digests(other).events


@pytest.mark.parametrize(
    ("type", "data", "names"),
    [
        ("user/message", {"id": "m", "content": [call("c")]}, ["m", "c"]),
        ("developer/message", {"message": {"id": "m"}, "id": "other"}, ["m"]),
        ("agent/inbox/spliced", {"inserted": [{"id": "m"}, {"id": "n"}]}, ["m", "n"]),
        ("compaction/end", {"compactionId": "k", "sourceCommandId": "o"}, ["k", "o"]),
        ("user/message", {"source": {"kind": "x", "compactionId": "k"}}, ["k"]),
        ("user/message", {"source": {"kind": "x", "senderSessionId": "s"}}, ["s"]),
        ("llm/retry", {"retryId": "r"}, ["r"]),
        ("job/settled", {"jobId": "j", "toolCall": {"callId": "c"}}, ["j", "c"]),
        ("command/run", {"commandId": "o"}, ["o"]),
        ("subagent/catalog", {"childId": "s"}, ["s"]),
        ("plugin:x", {"jobId": "j", "callId": "c", "message": {"id": "m"}}, []),
    ],
)
def test_names_made_up_while_recording_are_found(type: str, data: Any, names: list[str]) -> None:
    """In payloads of the types that have them; of any other nothing is known."""
    named: list[Any] = []

    calls_renamed(type, freeze(data), named.append, released=True)

    assert named == names


def test_a_place_that_is_gone_is_null_or_left_out() -> None:
    """As is asked for: content keeps a mark where the seq of no event that counts stood."""
    gone: dict[int, int] = {}
    given = freeze({"shadowedSeqs": [1], "shadowedRange": {"start": 1, "end": 2}, "model": "m"})
    targets = freeze({"targets": [{"seq": 1}, {"at": 2}]})

    kept = payload_renumbered("compact/summary", given, gone.get)
    assert kept == freeze(
        {"shadowedSeqs": [], "shadowedRange": {"start": None, "end": None}, "model": "m"}
    )
    out = payload_renumbered("compact/summary", given, gone.get, gone=UNSET)
    assert out == freeze({"shadowedSeqs": [], "model": "m"})
    out = payload_renumbered("image/offload", targets, gone.get, gone=UNSET, released=True)
    assert out == freeze({"targets": [{"at": 2}]})


@EVERY_GENERATION
def test_another_recording_of_the_same_has_the_same_content(vocabulary: Vocabulary) -> None:
    """Under other names of messages, calls and compactions, its requests are told apart by them."""
    log = talk(vocabulary)
    log.compact()
    renamed = {"m": "n", "c1": "d1", "k": "l"}
    events = [json.loads(event.to_text()) for event in log.session.events]
    again = [_other_names(event, renamed) for event in events]
    other = unwrap(Session.replay(again, log.session.header, vocabulary=vocabulary))

    assert content_digests(log.session) == content_digests(other)
    assert not diff_sessions(log.session, other).equal
    assert diff_sessions(log.session, other, ignore_call_ids=True).equal
    one, two = (SessionOrigins(each).of(past_requests(each)[-1]) for each in (log.session, other))
    assert unwrap(diff_requests(one, two)).only_call_ids


def _other_names(value: Any, renamed: dict[str, str]) -> Any:
    """A value with what stands for a message `m<n>`, a call or a compaction named otherwise."""
    if isinstance(value, list):
        return [_other_names(item, renamed) for item in value]
    if isinstance(value, dict):
        return {key: _other_names(item, renamed) for key, item in value.items()}
    if isinstance(value, str) and re.fullmatch(r"m\d+", value):
        return renamed["m"] + value[1:]
    return renamed.get(value, value) if isinstance(value, str) else value


@EVERY_GENERATION
def test_call_ids_do_not_tell_two_sessions_apart(vocabulary: Vocabulary) -> None:
    """Where they are asked not to."""
    one = talk(vocabulary).session
    log = talk(vocabulary)
    texts = [event.to_text().replace('"c1"', '"d1"') for event in log.session.events]
    events = [json.loads(each) for each in texts]
    other = unwrap(Session.replay(events, log.session.header, vocabulary=vocabulary))

    assert diff_sessions(one, other).content_equal
    assert not diff_sessions(one, other).equal
    assert diff_sessions(one, other, ignore_call_ids=True).equal
