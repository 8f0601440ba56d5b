"""Captured bodies matched to what logs say was sent."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest

from dsh_fp import Session, unwrap
from dsh_fp.wire.captures import Capture, Place, Skipped
from dsh_fp.wire.expected import COMPACTION, expected_requests
from dsh_fp.wire.matching import (
    LEFT_OUT,
    OF_MANY,
    OTHER_SESSION,
    PUT_IN,
    REPEATED_KEY,
    SENT_NOTHING,
    Matched,
    match_captures,
)
from tests.cli.logs import Log
from tests.wire.making import (
    HEADER,
    SUMMARIZER,
    TOOL,
    compacted,
    frozen,
    matched,
    sent,
    steps,
    talk,
    words,
)

ALL = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]
STRANGER = {"model": "x", "messages": [{"role": "user", "content": "Name this talk."}]}

Body = dict[str, Any]


def changed(body: Body, change: Callable[[Body], object]) -> Body:
    """A copy of a body with something else in it."""
    made = copy.deepcopy(body)
    change(made)
    return made


def typo(body: Body, place: int = -1) -> Body:
    """A copy with one character more in one message."""

    def change(made: Body) -> None:
        made["messages"][place]["content"] += "!"

    return changed(body, change)


def purposed(
    session: Session, bodies: list[Body], purposes: list[str | None], named: str | None = None
) -> Matched:
    """The verdicts on captures that say of which purpose they are, and perhaps which session."""
    captures = [
        Capture(Place("c", line=number + 1), frozen(body), session=named, purpose=purpose)
        for number, (body, purpose) in enumerate(zip(bodies, purposes, strict=True))
    ]
    return match_captures([expected_requests(session)], captures)


# ---- which request a capture belongs to ----------------------------------------------------


def test_a_whole_capture_is_equal_throughout() -> None:
    """Each capture is the request of its step; nothing is missed."""
    session = talk().session

    found = matched([session], sent(session))

    assert words(found) == ["equal"] * 6
    assert steps(found) == ALL
    assert (found.equal, found.not_captured) == (6, ())


def test_a_capture_may_start_late_and_stop_early() -> None:
    """What was not captured is listed."""
    session = talk().session

    found = matched([session], sent(session)[2:5])

    assert (words(found), steps(found)) == (["equal"] * 3, ALL[2:5])
    assert [(one.turn, one.step) for one in found.not_captured] == [ALL[0], ALL[1], ALL[5]]


def test_a_request_sent_again_is_a_repeat() -> None:
    """Right behind itself or later, equal or not."""
    session = talk(1).session
    first, second = sent(session)

    found = matched([session], [first, first, second, first, second])

    assert words(found) == ["equal"] * 5
    assert [one.repeat for one in found.verdicts] == [False, True, False, True, True]
    found = matched([session], [typo(first), typo(first), second])
    assert words(found) == ["differs", "differs", "equal"]
    assert [one.repeat for one in found.verdicts] == [False, True, False]
    assert found.not_captured == ()


def test_steps_with_equal_requests_are_taken_in_order() -> None:
    """A step that was cancelled and begun again sends the same: two captures, two steps."""
    log = Log()
    log.say("Go.")
    for turn in (1, 2):
        log.open_step(turn=turn)
        log.close(turn)
    (first, second), session = sent(log.session), log.session
    assert first == second

    found = matched([session], [first, second, second])

    assert steps(found) == [(1, 1), (2, 1), (2, 1)]
    assert [one.repeat for one in found.verdicts] == [False, False, True]


def test_a_retry_is_not_taken_for_a_later_step() -> None:
    """The same body stands again only after others: that is a retry of the first."""
    log = Log()
    first = log.say("Go.")
    log.open_step(turn=1)
    log.close(1)
    second = log.replace(first, first, "Stop.", sources=[first])
    log.open_step(turn=2)
    log.close(2)
    log.replace(second, second, "Go.", sources=[second])
    log.open_step(turn=3)
    log.close(3)
    session = log.session
    bodies = sent(session)
    assert bodies[0] == bodies[2] != bodies[1]

    found = matched([session], [bodies[0], bodies[0], bodies[1], bodies[2]])

    assert steps(found) == [(1, 1), (1, 1), (2, 1), (3, 1)]
    assert words(found) == ["equal"] * 4


@pytest.mark.parametrize("place", range(5))
def test_a_changed_body_leaves_its_neighbours_to_later_steps_that_sent_the_same(place: int) -> None:
    """Two compactions with nothing between them: both turns behind them send one body."""
    session = compacted(compacted(talk(1), turn=2), turn=3).session
    bodies = sent(session)
    assert bodies[3] == bodies[5]
    bodies[place] = typo(bodies[place])

    found = matched([session], bodies)

    assert words(found) == ["differs" if at == place else "equal" for at in range(6)]
    assert steps(found) == [(1, 1), (1, 2), COMPACTION, (2, 1), COMPACTION, (3, 1)]
    assert found.not_captured == ()
    assert not any(one.out_of_order or one.repeat for one in found.verdicts)
    again = matched([session], [*bodies, bodies[5], bodies[5]])
    assert steps(again)[6:] == [(3, 1)] * 2
    assert [one.repeat for one in again.verdicts] == [False] * 6 + [True] * 2


def test_a_capture_that_starts_late_goes_on_with_later_steps() -> None:
    """What was sent before it is missed, though a later step sent the same again."""
    session = compacted(compacted(talk(1), turn=2), turn=3).session

    found = matched([session], sent(session)[4:])

    assert steps(found) == [COMPACTION, (3, 1)]
    assert not any(one.out_of_order for one in found.verdicts)


@pytest.mark.parametrize("place", [0, 2, -1])
def test_a_changed_body_that_is_sent_again_whole_is_compared_with_its_request(place: int) -> None:
    """Whichever of the two comes first: the other one is equal."""
    session = talk(1).session
    first, second = sent(session)
    wrong = typo(first, min(place, len(first["messages"]) - 1))

    for bodies in ([wrong, first, second], [first, wrong, second]):
        found = matched([session], bodies)

        expected = ["differs" if body is wrong else "equal" for body in bodies]
        assert (words(found), steps(found)) == (expected, [(1, 1), (1, 1), (1, 2)])
        assert next(one.repeat for one in found.verdicts if one.verdict == "differs")


@pytest.mark.parametrize("content", [None, [], "Other."])
def test_a_request_sent_again_with_another_last_message_is_compared_with_it(content: Any) -> None:
    """A step has the same tools, a compaction is said to be one; nothing else need be alike."""
    session = compacted(talk(1), turn=2).session
    first, second, summing, last = sent(session)
    odd, odd_summing = (
        changed(body, lambda made: made["messages"][-1].update(content=content))
        for body in (first, summing)
    )
    bodies = [odd, first, second, odd_summing, summing, odd_summing, last]

    found = purposed(session, bodies, [None] * 3 + [COMPACTION] * 3 + [None])

    assert [one.verdict == "differs" for one in found.verdicts] == [
        body in (odd, odd_summing) for body in bodies
    ]
    assert (steps(found)[0], steps(found)[3:6]) == ((1, 1), [COMPACTION] * 3)
    assert [one.repeat for one in found.verdicts] == [body in (odd, odd_summing) for body in bodies]


def test_a_changed_body_takes_the_place_of_its_twin() -> None:
    """Where two steps sent the same, the first capture is that of the first step."""
    log = Log()
    log.say("Go.")
    for turn in (1, 2, 3):
        log.open_step(turn=turn)
        log.close(turn)
    bodies = sent(log.session)

    found = matched([log.session], [typo(bodies[0]), *bodies[1:]])
    again = matched([log.session], [typo(bodies[0]), *bodies[1:], STRANGER, bodies[0]])

    assert words(found) == ["differs", "equal", "equal"]
    assert steps(found) == [(1, 1), (2, 1), (3, 1)]
    assert found.not_captured == ()
    assert words(again) == ["differs", "equal", "equal", "unexpected", "equal"]


def test_an_unrelated_request_is_unexpected() -> None:
    """It takes no step's place, wherever it stands."""
    session = talk().session
    bodies = sent(session)

    found = matched([session], [STRANGER, *bodies[:3], STRANGER, *bodies[3:5], STRANGER])

    assert words(found) == [
        "unexpected",
        *["equal"] * 3,
        "unexpected",
        *["equal"] * 2,
        "unexpected",
    ]
    assert [one.step for one in found.not_captured] == [2]


def test_sessions_may_be_mixed_without_hints() -> None:
    """Parent and children, some with the same first request."""
    header = {**HEADER, "system": "Be a child."}
    sessions = [
        talk(3).session,
        talk(2, id="one", header=header).session,
        talk(2, id="two", header=header).session,
    ]
    queues = [sent(one) for one in sessions]
    dice = random.Random(3)
    order = [place for place, queue in enumerate(queues) for _ in queue]
    dice.shuffle(order)
    waiting = [iter(queue) for queue in queues]
    bodies = [next(waiting[place]) for place in order]

    found = matched(sessions, bodies)

    assert words(found) == ["equal"] * len(bodies)
    assert found.not_captured == ()
    named = matched(sessions, bodies, named=[sessions[place].header.id for place in order])
    assert words(named) == ["equal"] * len(bodies)
    assert [one.expected.session for one in named.verdicts if one.expected] == order


def test_a_hint_binds_a_capture_to_its_session() -> None:
    """A body that would fit another session better is compared with its own all the same."""
    one, two = talk(1, id="one").session, talk(1, id="two", ask="Tell me").session
    first, second = sent(one)

    found = matched([one, two], [first, first, second], named=["one", "two", "three"])

    assert words(found) == ["equal", "differs", "unexpected"]
    assert found.verdicts[1].expected is not None
    assert found.verdicts[1].expected.session_id == "two"
    assert found.verdicts[2].note == OTHER_SESSION


def test_bodies_out_of_order_are_equal_and_marked() -> None:
    """Order is what anchors the rest, but equal is equal."""
    session = talk().session
    bodies = sent(session)
    bodies[1], bodies[4] = bodies[4], bodies[1]

    found = matched([session], bodies)

    assert words(found) == ["equal"] * 6
    assert [one.out_of_order for one in found.verdicts].count(True) == 2
    assert found.not_captured == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body["messages"][0].update(content="Other."),
        lambda body: body["messages"].pop(0),
        lambda body: body["messages"].pop(1),
        lambda body: body["messages"].pop(),
        lambda body: body["messages"].insert(1, {"role": "user", "content": "new"}),
        lambda body: body["messages"].append({"role": "user", "content": "new"}),
        lambda body: body["messages"][1].update(content="Other."),
        lambda body: body["messages"][-1].update(content="Other."),
        lambda body: body.update(model="other"),
        lambda body: body.pop("tools"),
    ],
)
def test_one_change_in_every_body_leads_none_astray(change: Callable[[Body], object]) -> None:
    """With no equal body as an anchor each is still compared with its own request."""
    session = talk(6).session
    bodies = [changed(body, change) for body in sent(session)]

    found = matched([session], bodies)

    assert words(found) == ["differs"] * 12
    assert steps(found) == [(turn, step) for turn in range(1, 7) for step in (1, 2)]


def test_what_a_child_inherited_is_its_parents() -> None:
    """It is expected of the child only where the parent is not there, and never missed."""
    parent = talk(1).session
    child = unwrap(parent.fork(id="child"))

    assert expected_requests(child, inherited=False) == ()
    found = matched([child], sent(parent)[:1])
    assert (words(found), found.not_captured) == (["equal"], ())


# ---- what no log holds -----------------------------------------------------------------------


def test_options_of_the_adapter_are_taken_from_the_body_and_named() -> None:
    """At their place; elsewhere it is the key order that differs."""
    session = talk(1).session
    first, second = sent(session, thinking={"type": "enabled"}, reasoning_effort="max")

    found = matched([session], [first, {**second, "thinking": second["thinking"]}])

    assert words(found) == ["equal", "equal"]
    assert found.verdicts[0].taken_from_body == ("thinking", "reasoning_effort")
    moved = {key: second[key] for key in sorted(second, key=lambda key: key == "thinking")}
    (verdict,) = matched([session], [moved]).verdicts
    assert verdict.difference is not None
    assert (verdict.difference.path, verdict.difference.kind) == ("$", "key order")


def test_options_that_are_given_are_demanded() -> None:
    """A body with another value, or none, differs; nothing is taken from it."""
    session = talk(1).session
    first, second = sent(session, thinking={"type": "enabled"})
    bare = sent(session)[0]

    found = matched([session], [first, bare], thinking=frozen({"type": "disabled"}))

    paths = [one.difference.path for one in found.verdicts if one.difference]
    assert paths == ["$.thinking.type", "$.thinking"]
    assert [one.event for one in found.verdicts] == [None, None]
    assert all(one.taken_from_body == () for one in found.verdicts)
    assert (steps(found), found.verdicts[1].repeat) == ([(1, 1), (1, 1)], True)
    assert words(matched([session], [second], thinking=frozen({"type": "enabled"}))) == ["equal"]


def test_a_compaction_is_known_by_its_shape() -> None:
    """Its system text is taken from the body and named, or given and demanded."""
    session = compacted(talk(1), turn=2).session
    bodies = sent(session, thinking={"type": "enabled"})

    found = matched([session], bodies)

    assert words(found) == ["equal"] * 4
    assert steps(found) == [(1, 1), (1, 2), COMPACTION, (2, 1)]
    assert found.verdicts[2].taken_from_body == ("thinking", "system")
    given = matched([session], bodies, system=SUMMARIZER)
    assert (words(given), given.verdicts[2].taken_from_body) == (["equal"] * 4, ("thinking",))
    other = matched([session], bodies, system="Sum up!")
    assert words(other) == ["equal", "equal", "differs", "equal"]
    assert other.verdicts[2].difference is not None
    assert other.verdicts[2].difference.path == "$.messages[0].content"
    assert other.verdicts[2].event is None


@pytest.mark.parametrize(
    ("change", "path", "event"),
    [
        (lambda body: body.update(model="m"), "$.model", "compact/summary"),
        (lambda body: body.update(max_tokens=9), "$.max_tokens", "compact/summary"),
        (lambda body: body.pop("max_tokens"), "$.max_tokens", "compact/summary"),
        (lambda body: body.update(tools=[]), "$.tools", None),
        (lambda body: body["messages"].pop(0), "$.messages[0].role", None),
        (
            lambda body: body["messages"][1].update(
                content=body["messages"][1]["content"].replace("moment", "while")
            ),
            "$.messages[1].content",
            "assistant/message",
        ),
        (
            lambda body: body["messages"][1].update(
                content="Z" + body["messages"][1]["content"][1:]
            ),
            "$.messages[1].content",
            None,
        ),
    ],
)
def test_a_changed_compaction_is_still_compared(
    change: Callable[[Body], object], path: str, event: str | None
) -> None:
    """Also where the change takes its shape from it."""
    session = compacted(talk(1), turn=2).session
    bodies = sent(session)
    bodies[2] = changed(bodies[2], change)

    verdict = matched([session], bodies).verdicts[2]

    assert verdict.expected is not None
    assert verdict.expected.purpose == COMPACTION
    assert verdict.difference is not None
    assert verdict.difference.path == path
    assert (verdict.event.type if verdict.event else None) == event


def test_of_a_failed_compaction_the_verdict_is_unknown() -> None:
    """The log says that there was a call, not what was in it."""
    log = talk(1)
    log.add("turn/start", {"turn": 2})
    log.add("compact/start", {"turn": 2})
    log.add("compact/end", {"turn": 2, "error": {"message": "busy"}})
    other = compacted(talk(1), turn=2).session
    bodies = sent(log.session)

    found = matched([log.session], [*bodies, sent(other)[2]])

    assert words(found) == ["equal", "equal", "unknown"]
    assert found.verdicts[2].fault is not None
    assert found.verdicts[2].fault.code == "PAYLOAD_INVALID"
    assert found.not_captured == ()


def test_a_purpose_that_is_named_needs_no_shape() -> None:
    """And keeps a capture from being taken for a step."""
    session = compacted(talk(1), turn=2).session
    body = changed(sent(session)[2], lambda made: made.update(tools=[TOOL]))
    expected = [expected_requests(session)]

    captures = [Capture(Place("c"), frozen(body), purpose=COMPACTION)]
    (verdict,) = match_captures(expected, captures).verdicts

    assert verdict.expected is not None
    assert (verdict.verdict, verdict.expected.purpose) == ("differs", COMPACTION)


@pytest.mark.parametrize("is_hinted", [False, True])
@pytest.mark.parametrize(
    ("change", "path", "kind"),
    [
        (lambda asked: asked.update(role="developer"), "$.messages[1].role", "value"),
        (lambda asked: asked.update(content=None), "$.messages[1].content", "value"),
        (lambda asked: asked.update(content=[]), "$.messages[1].content", "value"),
        (lambda asked: asked.pop("content"), "$.messages[1].content", "missing"),
        (lambda asked: asked.clear(), "$.messages[1].role", "missing"),
        (
            lambda asked: asked.update(content=[{"type": "text", "text": asked["content"]}]),
            "$.messages[1].content",
            "value",
        ),
        (
            lambda asked: asked.update(content=asked["content"][:30]),
            "$.messages[1].content",
            "value",
        ),
        (
            lambda asked: asked.update(content=asked["content"].swapcase()),
            "$.messages[1].content",
            "value",
        ),
    ],
)
def test_a_compaction_alone_in_its_gap_is_known_however_changed(
    change: Callable[[Body], object], path: str, kind: str, *, is_hinted: bool
) -> None:
    """Nothing else was sent there, and all but its text is as it was."""
    session = compacted(talk(1), turn=2).session
    bodies = sent(session)
    bodies[2] = changed(bodies[2], lambda body: change(body["messages"][1]))
    purposes = [None, None, COMPACTION if is_hinted else None, None]

    found = purposed(session, bodies, purposes)

    assert words(found) == ["equal", "equal", "differs", "equal"]
    assert (steps(found)[2], found.not_captured) == (COMPACTION, ())
    difference = found.verdicts[2].difference
    assert difference is not None
    assert (difference.path, difference.kind) == (path, kind)
    is_whole = path.endswith("content") and difference.offset is None
    assert found.verdicts[2].note == (OF_MANY if is_whole else None)


def test_a_capture_said_to_be_a_compaction_is_compared_whatever_is_in_it() -> None:
    """Without the hint it is a stranger."""
    session = compacted(talk(1), turn=2).session
    bodies = sent(session)
    bodies[2] = STRANGER

    hinted = purposed(session, bodies, [None, None, COMPACTION, None])
    bare = purposed(session, bodies, [None] * 4)
    more = [*bodies[:3], typo(STRANGER), *bodies[3:]]
    twice = purposed(session, more, [None, None, COMPACTION, COMPACTION, None])

    assert (words(hinted)[2], steps(hinted)[2]) == ("differs", COMPACTION)
    assert words(bare)[2] == "unexpected"
    assert words(twice)[2:4] == ["differs", "unexpected"]


def test_of_several_compactions_a_hinted_capture_is_the_closest_then_the_first() -> None:
    """The model tells; where nothing does, order."""
    log = compacted(talk(1), turn=2, model="tern-2")
    session = compacted(log, turn=3, model="tern-3").session
    bodies = [body for body in sent(session) if body["model"] != "tern-1"]
    second = changed(bodies[1], lambda body: body.update(messages=STRANGER["messages"]))

    (close,) = purposed(session, [second], [COMPACTION]).verdicts
    odd = purposed(session, [STRANGER, typo(STRANGER)], [COMPACTION] * 2)

    assert close.expected is not None
    assert (close.expected.turn, steps(odd)) == (3, [COMPACTION] * 2)
    assert [one.expected.turn for one in odd.verdicts if one.expected] == [2, 3]


def test_a_step_alone_in_its_gap_is_known_by_its_tools() -> None:
    """Another call of the same client asks the same model, and is still a stranger."""
    session = talk().session
    bodies = sent(session)
    naming = {"model": bodies[0]["model"], "messages": STRANGER["messages"]}
    told = changed(bodies[3], lambda body: body.update(messages=STRANGER["messages"], top_p=1))

    for body, word in ((naming, "unexpected"), (told, "differs")):
        found = matched([session], [*bodies[:3], body, *bodies[4:]])

        assert words(found) == ["equal"] * 3 + [word] + ["equal"] * 2
    two = matched([session], [*bodies[:3], told, typo(told), *bodies[4:]])
    assert words(two)[3:5] == ["unexpected"] * 2


def test_a_session_that_is_named_needs_no_more_than_a_request_of_that_kind() -> None:
    """One with tools for one with tools, unless its purpose says that it is none of the steps."""
    session = talk().session
    bodies = sent(session)
    odd = {**STRANGER, "tools": [{"type": "function", "function": {"name": "swell"}}]}

    for body, purpose, word in (
        (odd, None, "differs"),
        (odd, "title", "unexpected"),
        (STRANGER, None, "unexpected"),
    ):
        captures = [*bodies[:3], body, *bodies[4:]]
        purposes = [None, None, None, purpose, None, None]
        found = purposed(session, captures, purposes, named=session.header.id)

        assert words(found)[3] == word
        assert words(purposed(session, captures, purposes))[3] == "unexpected"


def test_a_session_that_sent_nothing_is_not_called_unknown() -> None:
    """Its log is there; what names it belongs to no request all the same."""
    quiet = Log("quiet").session
    session = talk(1).session
    expected = [expected_requests(session), expected_requests(quiet, place=1)]
    captures = [Capture(Place("c"), frozen(STRANGER), session=name) for name in ("quiet", "other")]

    found = match_captures(expected, captures, session_ids=("harbour", "quiet"))

    assert words(found) == ["unexpected"] * 2
    assert [one.note for one in found.verdicts] == [SENT_NOTHING, OTHER_SESSION]


def test_a_step_without_a_header_is_unknown() -> None:
    """What stands in its place cannot be judged; other steps can."""
    log = Log()
    log.open_step(header=None)
    log.say("Lost.")
    log.close(1)
    log.open_step(turn=2)
    log.close(2)
    bodies = sent(log.session)

    found = matched([log.session], [STRANGER, *bodies])

    assert words(found) == ["unknown", "equal"]
    assert found.verdicts[0].fault is not None
    assert found.verdicts[0].fault.code == "NO_REQUEST_HEADER"
    assert [one.turn for one in matched([log.session], bodies).not_captured] == [1]


# ---- where a capture differs -----------------------------------------------------------------


def header_seq(session: Session) -> int:
    return next(event.seq for event in session.events if event.type == "request/header")


@pytest.mark.parametrize(
    ("change", "path", "kind", "event"),
    [
        (lambda b: b.update(model="m"), "$.model", "value", "request/header"),
        (lambda b: b.update(temperature=0.7), "$.temperature", "value", "request/header"),
        (lambda b: b.pop("temperature"), "$.temperature", "missing", "request/header"),
        (lambda b: b.update(top_p=1), "$.top_p", "extra", None),
        (lambda b: b.update(stream=False), "$.stream", "value", None),
        (lambda b: b.update(max_tokens=90.5), "$.max_tokens", "value", "request/header"),
        (lambda b: b["stop"].append("x"), "$.stop[1]", "extra", "request/header"),
        (
            lambda b: b["tools"][0]["function"].update(description="x"),
            "$.tools[0].function.description",
            "value",
            "request/header",
        ),
        (
            lambda b: b["tools"][0]["function"]["parameters"].update(
                properties={"day": {}, "place": {"type": "string"}}
            ),
            "$.tools[0].function.parameters.properties",
            "key order",
            "request/header",
        ),
        (lambda b: b["tools"].append({}), "$.tools[1]", "extra", None),
        (
            lambda b: b["messages"][0].update(content="Be brief!"),
            "$.messages[0].content",
            "value",
            "request/header",
        ),
        (
            lambda b: b["messages"][1].update(content="x"),
            "$.messages[1].content",
            "value",
            "request/header",
        ),
        (
            lambda b: b["messages"][2].update(content="Ask 1!"),
            "$.messages[2].content",
            "value",
            "user/message",
        ),
        (
            lambda b: b["messages"][3]["tool_calls"][0]["function"].update(arguments="{}"),
            "$.messages[3].tool_calls[0].function.arguments",
            "value",
            "assistant/message",
        ),
        (
            lambda b: b["messages"][3].pop("reasoning_content"),
            "$.messages[3].reasoning_content",
            "missing",
            "assistant/message",
        ),
        (
            lambda b: b["messages"][4].update(content="x"),
            "$.messages[4].content",
            "value",
            "tool/result",
        ),
        (lambda b: b["messages"].pop(), "$.messages[6]", "missing", "user/message"),
        (lambda b: b["messages"].append({}), "$.messages[7]", "extra", None),
        (lambda b: b.update(messages=None), "$.messages", "value", None),
        (lambda b: b.pop("messages"), "$.messages", "missing", None),
    ],
)
def test_a_change_is_found_where_it_is(
    change: Callable[[Body], object], path: str, kind: str, event: str | None
) -> None:
    """With its path, its kind, and the event that put there what is expected."""
    session = talk(2).session
    bodies = sent(session)
    bodies[2] = changed(bodies[2], change)

    found = matched([session], bodies)

    verdict = found.verdicts[2]
    assert words(found) == ["equal", "equal", "differs", "equal"]
    assert verdict.difference is not None
    assert (verdict.difference.path, verdict.difference.kind) == (path, kind)
    assert (verdict.event.type if verdict.event else None) == event
    assert steps(found)[2] == (2, 1)


def test_a_message_left_out_or_put_in_is_called_that() -> None:
    """The difference is that of what stands there now; the note says how it came."""
    session = talk(2).session
    body = sent(session)[2]

    for place in range(6):
        less, more = copy.deepcopy(body), copy.deepcopy(body)
        less["messages"].pop(place)
        more["messages"].insert(place, {"role": "user", "content": "new"})

        (left_out,) = matched([session], [less]).verdicts
        (put_in,) = matched([session], [more]).verdicts

        assert (left_out.note, put_in.note) == (LEFT_OUT, PUT_IN)


def test_a_body_with_a_remark_is_not_plainly_equal() -> None:
    """A key that stands twice is not what was sent; of other verdicts it is a note more."""
    session = talk(1).session
    first, second = sent(session)
    remark = "the key 'model' stands twice in one object of it"
    bodies = [first, typo(second), STRANGER]
    captures = [Capture(Place("c"), frozen(body), remarks=(remark,)) for body in bodies]

    found = match_captures([expected_requests(session)], captures)

    assert words(found) == ["differs", "differs", "unexpected"]
    assert found.equal == 0
    assert [one.note for one in found.verdicts] == [remark] * 3
    assert [one.path for one in found.verdicts] == ["$", "$.messages[4].content", None]
    assert [one.kind for one in found.verdicts] == [REPEATED_KEY, "value", None]
    assert (found.verdicts[0].difference, found.verdicts[0].event) == (None, None)
    put_in = changed(second, lambda body: body["messages"].insert(0, {"role": "user"}))
    capture = Capture(Place("c"), frozen(put_in), remarks=(remark, "more"))
    (verdict,) = match_captures([expected_requests(session)], [capture]).verdicts
    assert verdict.note == f"{PUT_IN}; {remark}; more"


# ---- hostile input, and much of it ------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": []},
        {"messages": [None, 5, "x", [], {}]},
        {"messages": {"0": {}}},
        {"messages": [{"role": {}, "content": {}}]},
        {"messages": [{"role": "system", "content": None}, {"role": "user"}]},
        {"model": "tern-1", "messages": [{"role": "user", "content": [[]]}], "tools": None},
    ],
)
def test_odd_bodies_have_a_verdict(body: Body) -> None:
    """None of them is equal, none raises."""
    session = compacted(talk(1), turn=2).session

    found = matched([session], [body, body])

    assert set(words(found)) <= {"differs", "unexpected"}


def test_captures_without_a_body_are_unreadable() -> None:
    """What was passed over is listed apart."""
    session = talk(1).session
    skipped = Skipped(Place("c", entry=0), "no POST")

    found = match_captures([expected_requests(session)], [skipped, Capture(Place("c"), None)])

    assert (words(found), found.skipped) == (["unreadable"], (skipped,))


def test_no_logs_and_no_captures_are_answered() -> None:
    """Nothing is expected, nothing is equal."""
    session = talk(1).session

    assert words(matched([], [STRANGER])) == ["unexpected"]
    assert len(matched([session], []).not_captured) == 2
    assert words(matched([Log().session], [STRANGER])) == ["unexpected"]


def test_many_strangers_beside_many_steps_are_told_apart() -> None:
    """Hundreds of each, in any order."""
    session = talk(60).session
    bodies = sent(session)
    dice = random.Random(11)
    mixed = [dice.choice((None, None, place)) for place in range(len(bodies)) for _ in range(2)]
    kept = sorted({place for place in mixed if place is not None})
    strangers = [
        {"model": "x", "messages": [{"role": "user", "content": f"{n} names, please"}]}
        for n in range(len(mixed))
    ]
    captures = [strangers[n] if place is None else bodies[place] for n, place in enumerate(mixed)]

    found = matched([session], captures)

    expected = ["unexpected" if place is None else "equal" for place in mixed]
    assert words(found) == expected
    assert len(found.not_captured) == len(bodies) - len(kept)
