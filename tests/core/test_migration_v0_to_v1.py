"""From v0 to v1: older spellings, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import Code
from tests.core.migrating import after, carried, refused
from tests.formats.making import TIME, Writer, conversation


def test_a_log_without_older_spellings_only_changes_its_version() -> None:
    events = conversation(0)

    made = carried(0, events, seedLength=3, parentSession="s-0")

    events[-3]["sourceEventSeqs"] = [[13, 16]]  # a run, written as one
    assert after(0, conversation(0)) == events
    assert made.session.header.version == 1
    assert made.session.header.seed_length == 3


def test_compact_events_become_compaction_events_with_one_id() -> None:
    log = Writer(0)
    for kind in ("compact/start", "compact/summary", "compact/end", "compact/start"):
        log.add(kind, {"turn": None})
    log.add("compact/prune", {})

    *made, pruned = after(0, log.events)

    assert pruned["type"] == "compaction/prune"
    named = [(event["type"], event["data"]["compactionId"]) for event in made]
    assert named == [
        ("compaction/start", "legacy-compaction:s-1:0"),
        ("compaction/summary", "legacy-compaction:s-1:0"),
        ("compaction/end", "legacy-compaction:s-1:0"),
        ("compaction/start", "legacy-compaction:s-1:3"),
    ]


def test_a_retry_without_an_id_is_named_for_the_first_of_its_chain() -> None:
    log = Writer(0)
    for retry in (1, 2, 1):
        log.add("llm/retry", {"retry": retry})
        log.add("llm/retry-started", {"retry": retry})

    made = after(0, log.events)

    ids = [event["data"]["retryId"] for event in made]
    assert ids == ["legacy-retry:s-1:0"] * 4 + ["legacy-retry:s-1:4"] * 2


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ({"kind": "aborted"}, {"kind": "aborted", "reason": {"kind": "legacy"}}),
        ({"kind": "disposed"}, {"kind": "aborted", "reason": {"kind": "disposed"}}),
        (
            {"kind": "error", "step": 1, "message": "m", "code": "C"},
            {"kind": "error", "error": {"message": "m", "code": "C"}},
        ),
        ({"kind": "completed"}, {"kind": "completed"}),
        ({"kind": "aborted", "reason": {"kind": "user"}}, None),
    ],
)
def test_the_reason_of_an_end_gets_its_later_spelling(was: Any, now: Any) -> None:
    log = Writer(0)
    log.add("turn/start", {"turn": 1, "trigger": {"kind": "message"}})
    log.add("turn/end", {"turn": 1, "reason": was})

    started, ended = after(0, log.events)

    assert started["data"] == {"turn": 1}
    assert ended["data"]["reason"] == (now or was)


def test_a_message_without_an_id_is_named_for_its_seq() -> None:
    log = Writer(0)
    log.say("hello")
    del log.events[0]["data"]["id"]

    (said,) = after(0, log.events)

    assert said["data"]["id"] == "legacy-message:s-1:0"


def test_steering_becomes_a_message_of_the_user() -> None:
    log = Writer(0)
    data = {"turn": 1, "content": [{"type": "text", "text": "x"}], "source": {"kind": "user"}}
    log.add("steering/message", data, surfaceOp="append")

    (said,) = after(0, log.events)

    assert said["type"] == "user/message"
    assert said["data"]["role"] == "user"
    assert "turn" not in said["data"]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("mode/set", {}),
        ("request/header-delta", {}),
        ("request/header", {"header": {"config": {}}, "reason": "fallback"}),
    ],
)
def test_what_v1_has_no_word_for_is_refused_with_its_seq(kind: str, data: Any) -> None:
    log = Writer(0)
    log.add("todo/write", {"todos": []})
    log.add(kind, data)

    fault = refused(0, log.events)

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, 1)
    assert fault.message.startswith("v1 has no")


def test_a_queued_message_without_an_id_is_refused() -> None:
    log = Writer(0)
    message = {"role": "user", "content": [], "source": {"kind": "user"}}
    log.add("agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": [message]})

    fault = refused(0, log.events)

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, 0)


def test_an_unknown_type_is_refused_though_it_may_be_ignored() -> None:
    event = {"type": "tide/rise", "seq": 0, "time": TIME, "data": {}, "ignorable": True}

    fault = refused(0, [event])

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, 0)
