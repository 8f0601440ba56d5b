"""Recorded calls given again, and the first live request that is not the recorded one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from returns.result import Success

from dsh_fp import Code, Rejection, Session, parse, past_requests, read, thaw, to_text, unwrap
from dsh_fp.core.replay import Divergence, Replay, divergence
from dsh_fp.core.script import ModelCall, Outcome, Script, script_of
from tests.core.making import assistant, event, header, step_start, text, user
from tests.shared import REPOSITORY, shared_or_skip

GARDEN = REPOSITORY / "examples" / "garden.jsonl"
SAMPLES = ("july-compact", "july-delta", "july-inject", "july-tools")


def garden() -> Session:
    return unwrap(read(GARDEN)).session


def recorded(name: str, *words: str, **meta: Any) -> Script:
    """A session whose model said these words, a step each."""
    events: list[dict[str, Any]] = [header(0)]
    for number, said in enumerate(words, start=1):
        seq = len(events)
        events += [step_start(seq, step=number), assistant(seq + 1, text(said), step=number)]
    fields = {"id": name, "createdAt": 0, **meta}
    return script_of(unwrap(Session.replay(events, fields)))


def said(call: ModelCall) -> str:
    words: str = unwrap(call.answer).content[0]["text"]
    return words


def asked(replay: Replay, *keys: Any) -> tuple[Replay, list[str]]:
    """The replay after a call under each key, and what was said."""
    words = []
    for key in keys:
        replay, call = unwrap(replay.next(key))
        words.append(said(call))
    return replay, words


def appended_messages(session: Session) -> list[str]:
    """The content of each assistant message, as its JSON text, naively."""
    return [
        to_text(each.data["content"])
        for each in session
        if each.type == "assistant/message" and each.surface_op == "append"
    ]


def replayed_messages(session: Session) -> list[str]:
    """What a loop hears that asks until the record is at its end."""
    heard = []
    replay = Replay.of([script_of(session)])
    while isinstance(step := replay.next(), Success):
        replay, call = step.unwrap()
        if call.outcome is Outcome.ANSWERED:
            heard.append(to_text(unwrap(call.answer).content))
    return heard


def test_a_loop_hears_every_message_of_the_garden_again() -> None:
    """The assistant's messages, byte for byte, in order."""
    session = garden()

    assert replayed_messages(session) == appended_messages(session)
    assert len(appended_messages(session)) == 6


@pytest.mark.parametrize("name", SAMPLES)
def test_a_loop_hears_every_message_of_a_recorded_run_again(name: str) -> None:
    """The same for logs that another implementation wrote."""
    (path,) = (shared_or_skip("formats") / "samples" / name).glob("sessions/**/*.jsonl")
    session = unwrap(read(path)).session

    assert replayed_messages(session) == appended_messages(session)


def test_asking_beyond_the_end_is_a_typed_miss() -> None:
    """The last answer is not given again, however often it is asked for."""
    replay, words = asked(Replay.of([recorded("a", "One.", "Two.")]), None, None)

    for _ in range(2):
        missed = replay.next().failure()
        assert missed.code is Code.REPLAY_EXHAUSTED
        assert missed.data == {"session_id": "a", "purpose": "step", "calls": 2}
    assert words == ["One.", "Two."]
    assert replay.left() == ()


def test_a_replay_is_a_value() -> None:
    """Whoever keeps an earlier one goes on from there."""
    start = Replay.of([recorded("a", "One.", "Two.")])
    later, _ = asked(start, None)

    assert asked(start, None)[1] == ["One."]
    assert asked(later, None)[1] == ["Two."]
    assert unwrap(start.peek()) is unwrap(start.peek())
    assert [said(call) for call in later.left()] == ["Two."]


def test_compactions_are_given_apart_from_steps() -> None:
    """A loop that asks only for steps never hears of them, and the other way round."""
    replay = Replay.of([script_of(garden())])
    after, call = unwrap(replay.next(purpose="compaction"))

    assert call.purpose == "compaction"
    assert unwrap(after.next())[1].seq == 2
    assert after.next(purpose="compaction").failure().data["purpose"] == "compaction"
    assert len(after.left()) == 6


def test_a_purpose_is_one_of_two() -> None:
    """Another one is a slip of the program."""
    with pytest.raises(TypeError, match="'step' or 'compaction'"):
        Replay.of([recorded("a", "One.")]).next(purpose="title")


# ---- several sessions --------------------------------------------------------------------------


def test_the_first_call_under_a_key_binds_it_parents_first() -> None:
    """A parent calls before its children, older children before younger, then by id."""
    scripts = [
        recorded("child-b", "B.", "B2.", parentSession="root", createdAt=5),
        recorded("child-a", "A.", parentSession="root", createdAt=5),
        recorded("grandchild", "G.", parentSession="child-a", createdAt=1),
        recorded("root", "R.", "R2.", createdAt=9),
    ]

    replay, words = asked(Replay.of(scripts), "k0", "k1", "k0", "k2", "k3", "k3")

    assert words == ["R.", "A.", "R2.", "G.", "B.", "B2."]
    assert replay.script_of_key("k1") is scripts[1]
    assert replay.script_of_key("k4") is None
    assert replay.next("k4").failure().code is Code.REPLAY_NO_SESSION
    assert replay.next("k0").failure().code is Code.REPLAY_EXHAUSTED


def test_the_order_of_the_sessions_given_does_not_matter() -> None:
    """Only who is whose parent, when they began, and their ids."""
    scripts = [recorded(name, name, createdAt=3) for name in "cab"]

    for given in (scripts, scripts[::-1]):
        assert [script.header.id for script in Replay.of(given).scripts] == ["a", "b", "c"]


def test_a_key_that_is_a_recorded_id_binds_to_that_session() -> None:
    """So a run that names its sessions as the recorded one did cannot mix them up."""
    scripts = [recorded("a", "A."), recorded("b", "B.")]

    assert asked(Replay.of(scripts), "b", "a")[1] == ["B.", "A."]
    assert asked(Replay.of(scripts), "x", "a")[1] == ["A.", "B."]


def test_sessions_that_never_called_are_passed_over() -> None:
    """Nobody calls the model in their place; alone, such a session is at its end at once."""
    replay = Replay.of([recorded("a"), recorded("b", "B.")])

    assert asked(replay, "x")[1] == ["B."]
    assert Replay.of([recorded("a")]).next().failure().code is Code.REPLAY_EXHAUSTED
    assert Replay.of([]).next().failure().code is Code.REPLAY_NO_SESSION


def test_parents_in_a_ring_are_taken_by_age() -> None:
    """A stranger's log may say anything; each session still has its place."""
    scripts = [
        recorded("a", "A.", parentSession="b", createdAt=2),
        recorded("b", "B.", parentSession="a", createdAt=1),
        recorded("c", "C.", parentSession="c", createdAt=3),
        recorded("d", "D.", parentSession="gone", createdAt=9),
        recorded("d", "E.", parentSession="gone", createdAt=9),
    ]

    assert asked(Replay.of(scripts), *range(5))[1] == ["D.", "E.", "B.", "A.", "C."]


# ---- the check ---------------------------------------------------------------------------------


def requests() -> list[Any]:
    return [thaw(unwrap(past.request)) for past in past_requests(garden())]


def parted(place: int, change: Callable[[Any], object]) -> Divergence | None:
    """The divergence of the garden's request with this number, changed."""
    live = requests()[place]
    change(live)
    return unwrap(divergence(script_of(garden()).steps[place], live))


def test_the_recorded_requests_diverge_nowhere() -> None:
    """Each request is its own record, given as plain JSON."""
    assert [parted(place, lambda _: None) for place in range(6)] == [None] * 6


def test_one_character_is_found_with_its_request_message_and_event() -> None:
    """The path leads to the text, the event is the tool result that put it there."""

    def change(live: Any) -> None:
        block = live["messages"][2]["content"][0]["content"][0]
        block["text"] = block["text"].replace("17.5", "18.5")

    found = parted(3, change)

    assert found is not None
    fault = found.rejection
    assert fault.code is Code.REPLAY_DIVERGED
    assert (found.call.turn, found.call.step, fault.seq) == (3, 2, 52)
    assert fault.path == "$.messages[2].content[0].content[0].text"
    assert (found.message, found.event_seq) == (2, 17)
    assert fault.data == {"message": 2, "event": 17}
    assert found.first.offset == 12
    assert found.report.splitlines() == [
        "the request of turn 3, step 2 (seq 52) differs from what seq 17, tool/result, put there",
        "  at        $.messages[2].content[0].content[0].text",
        "  message   number 3 (10 recorded, 10 live)",
        "  recorded  'north bed: 17.5 °C, moisture 31 %' (differs at character 12)",
        "  live      'north bed: 18.5 °C, moisture 31 %' (differs at character 12)",
    ]


def test_a_change_of_the_system_text_leads_to_the_header_event() -> None:
    """It is no message's."""
    found = parted(0, lambda live: live.update(system=live["system"].replace("four", "five")))

    assert found is not None
    assert (found.first.path, found.message, found.event_seq) == ("$.system", None, 3)
    assert "beds" in found.report


def test_something_more_has_no_event_behind_it() -> None:
    """The log put nothing there."""
    found = parted(0, lambda live: live["messages"].append({"role": "user", "content": []}))

    assert found is not None
    assert (found.message, found.event_seq) == (1, None)
    assert (
        found.rejection.message == "the request of turn 1, step 1 (seq 2) is not the recorded one"
    )
    assert "  recorded  nothing" in found.report


def test_key_order_and_missing_keys_diverge() -> None:
    """What reaches the model in another order is another request."""

    def reordered(live: Any) -> None:
        live["messages"][0] = dict(reversed(live["messages"][0].items()))

    found, lacking = parted(0, reordered), parted(0, lambda live: live.pop("tools"))

    assert found is not None
    assert lacking is not None
    assert "  the keys stand in another order" in found.report
    assert "  live      nothing" in lacking.report
    assert lacking.event_seq == 3


def test_renamed_calls_are_said_to_be_all() -> None:
    """Ids of calls are made by providers."""

    def rename(live: Any) -> None:
        text_of_it = to_text(live["messages"]).replace("call_soil_1", "call_soil_9")
        live["messages"] = thaw(unwrap(parse(text_of_it)))

    found = parted(1, rename)

    assert found is not None
    assert found.report.endswith("only the ids of tool calls differ")


def test_a_report_is_bounded_and_safe_to_print() -> None:
    """Texts of strangers are escaped and cut around the place where they part."""
    long = "x" * 5000
    found = parted(
        0, lambda live: live["messages"][0]["content"][0].update(text=long + "\x1b[31m\n")
    )

    assert found is not None
    assert len(found.report) < 700
    assert "\x1b" not in found.report
    assert len(found.report.splitlines()) == 5


def refusal(call: ModelCall, request: object) -> Rejection:
    return divergence(call, request).failure()


def test_what_cannot_be_compared_is_said() -> None:
    """No JSON object; or a recorded request that the log does not tell."""
    known = script_of(garden()).steps[0]
    unknown = script_of(unwrap(Session.replay([user(0), step_start(1)]))).steps[0]

    assert refusal(known, {"messages": {1}}).code is Code.NOT_JSON
    assert refusal(known, []).code is Code.NOT_JSON
    assert refusal(unknown, {"messages": []}).code is Code.NO_REQUEST_HEADER


def test_the_request_of_a_compaction_is_not_compared() -> None:
    """No log holds it."""
    call = script_of(unwrap(Session.replay([event("compact/start", 0, {"turn": 1})]))).calls[0]

    assert unwrap(divergence(call, {"messages": []})) is None
