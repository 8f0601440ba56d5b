"""The whole way of a session, what is compared, and what has no way at all."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import Code, Session
from dsh_fp.core.generations import RELEASED_GENERATIONS, V1, V4
from dsh_fp.core.migration.equivalence import RequestDifference, request_differences
from dsh_fp.core.migration.migrating import migrated
from tests.core.migrating import Wire, after, carried, session
from tests.formats.making import Writer, conversation


@pytest.mark.parametrize("version", range(4))
def test_every_generation_reaches_the_last_with_its_requests(version: int) -> None:
    made = carried(version, conversation(version), to=4)

    assert made.differences == ()
    assert made.session.vocabulary is V4
    assert made.session.header.version == 4


def test_a_refusal_names_the_event_of_the_session_that_was_given() -> None:
    log = conversation(1)
    at = next(event for event in log if event["type"] == "tool/result")
    at["data"]["message"]["content"] *= 2

    fault = migrated(session(1, log), V4).failure()

    assert (fault.code, fault.seq) == (Code.CONVERSION_REFUSED, at["seq"])


def test_there_is_no_way_back() -> None:
    fault = migrated(session(2, conversation(2)), V1).failure()

    assert fault.code is Code.CONVERSION_REFUSED
    assert "from v2 to v1" in fault.message


def test_a_log_of_july_is_not_carried() -> None:
    july: Any = Session.create().unwrap()

    fault = migrated(july, V4).failure()

    assert fault.code is Code.CONVERSION_REFUSED
    assert "July" in fault.message


def _changed(change: str) -> list[Wire]:
    log = conversation(2)
    header = next(event for event in log if event["type"] == "request/header")["data"]["header"]
    if change == "config":
        header["config"]["model"] = "other"
    elif change == "system":
        header["system"] = "Be long."
    elif change == "tools":
        header["tools"] = [{"name": "t"}]
    elif change == "messages":
        log[3]["data"]["content"][0]["text"] = "Else."
    return log


@pytest.mark.parametrize("change", ["config", "system", "tools", "messages"])
def test_a_request_that_differs_is_told_with_what_of_it(change: str) -> None:
    before, other = session(1, conversation(1)), session(2, _changed(change))

    found = request_differences(before, other)

    assert [(one.turn, one.step, one.what) for one in found] == [(1, 1, change), (2, 1, change)]


def test_a_request_that_only_one_of_two_sessions_has_is_told() -> None:
    whole = session(2, conversation(2))

    found = request_differences(whole, whole.prefix(10))

    (one,) = found
    assert one == RequestDifference(one.seq, 2, 1, "missing")


def test_a_request_of_another_step_is_no_counterpart() -> None:
    log = conversation(2)
    started = [event for event in log if event["type"] == "step/start"]
    started[1]["data"]["step"] = 2

    found = request_differences(session(2, conversation(2)), session(2, log))

    assert [(one.turn, one.step, one.what) for one in found] == [(2, 1, "missing")]


def test_a_request_that_is_not_known_afterwards_is_told() -> None:
    log = conversation(2)
    header = next(event for event in log if event["type"] == "request/header")
    header["data"] = {"header": 5}

    found = request_differences(session(2, conversation(2)), session(2, log))

    assert {one.what for one in found} == {"fault"}


def test_a_system_that_comes_late_is_the_head_all_the_same() -> None:
    log = Writer(2)
    log.add("turn/start", {"turn": 1})
    log.add("step/start", {"turn": 1, "step": 1})
    log.say("first")
    log.header()

    made = after(2, log.events, to=4)

    assert [event["type"] for event in made][-2:] == ["system/message", "request/header"]


def test_every_released_generation_but_the_last_has_a_step() -> None:
    assert [one.form.version for one in RELEASED_GENERATIONS] == [0, 1, 2, 3, 4]


def test_only_a_session_is_carried() -> None:
    wrong: Any = conversation(2)

    with pytest.raises(TypeError, match="takes a Session"):
        migrated(wrong, V4)
