"""What logs of the released generations say was sent, and captures of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from dsh_fp import Session
from dsh_fp.core.requests import past_requests
from dsh_fp.core.vocabulary import Vocabulary
from dsh_fp.wire.captures import Capture, Place
from dsh_fp.wire.chat_completions import ChatBodies, ChatRules
from dsh_fp.wire.expected import Expected, expected_requests
from dsh_fp.wire.exports import export_anthropic, export_openai
from dsh_fp.wire.matching import Matched, match_captures
from tests.wire.making import frozen, words
from tests.wire.released import (
    CONFIG,
    SWELL,
    TIDE,
    V0,
    V2,
    V3,
    V4,
    Released,
    call,
    reasoning,
    text,
)

Body = dict[str, Any]
EVERY_GENERATION = pytest.mark.parametrize("vocabulary", [V0, V2, V3, V4])


def sent(session: Session, route: str | None = None, **way: Any) -> list[Body]:
    """The bodies that a session says it sent, on the first way that fits."""
    return [body_of(one, route, **way) for one in expected_requests(session) if not one.fault]


def body_of(one: Expected, route: str | None = None, **way: Any) -> Body:
    """The body of one request."""
    assert one.encoding is not None
    given: dict[str, Any] = {
        key: way.pop(key) for key in ("instruction", "images", "nodes") if key in way
    }
    fitting = (
        each
        for each in (one.encoding, *one.others)
        if route in (None, each.way.route)
        and all(getattr(each.way, key) == value for key, value in way.items())
    )
    plain: Body = json.loads(json.dumps(next(fitting).body({"instruction": "Sum up.", **given})))
    return plain


def judged(
    session: Session | list[Session],
    bodies: list[Body],
    *,
    named: str | None = None,
    purposes: dict[int, str] | None = None,
    **given: Any,
) -> Matched:
    """The verdicts on bodies."""
    sessions = session if isinstance(session, list) else [session]
    captures = [
        Capture(Place("x", line=at), frozen(body), None, named, (purposes or {}).get(at))
        for at, body in enumerate(bodies)
    ]
    expected = [expected_requests(each, place=at) for at, each in enumerate(sessions)]
    return match_captures(expected, captures, given)


def changed(body: Body, change: Callable[[Body], object]) -> Body:
    """A copy of a body with something else in it."""
    made = copy.deepcopy(body)
    change(made)
    return made


def talk(vocabulary: Vocabulary = V4, **header: Any) -> Released:
    """Two turns: a question, reasoning and a call, its result, an answer; then another."""
    log = Released(vocabulary, **header).begin()
    log.say("Tides?")
    log.answer(reasoning("Look it up."), *text("A moment."), call("c1"))
    log.result("c1", text("At noon."), isError=False)
    log.more().answer(reasoning("I have it."), *text("Noon."))
    log.end().begin().say("And then?")
    log.answer(*text("Midnight."))
    return log.end()


# ---- chat completions ---------------------------------------------------------------------------


@pytest.mark.parametrize("vocabulary", [V0, V2, V3])
def test_chat_bodies_have_thinking_and_effort_from_the_request(vocabulary: Vocabulary) -> None:
    """The system text first, then one wire message for each message."""
    first, second, third = sent(talk(vocabulary).session)

    assert list(first) == [
        "model",
        "messages",
        "stream",
        "stream_options",
        "thinking",
        "reasoning_effort",
        "tools",
        "max_tokens",
    ]
    assert (first["thinking"], first["reasoning_effort"]) == ({"type": "enabled"}, "high")
    assert [each["role"] for each in second["messages"]] == ["system", "user", "assistant", "tool"]
    assert second["messages"][2]["reasoning_content"] == "Look it up."
    assert second["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "At noon."}
    assert third["messages"][4]["reasoning_content"] == "I have it."


def test_reasoning_goes_along_with_calls_alone_where_the_writer_did_so() -> None:
    """The rule of the first releases."""
    *_, third = sent(talk(V0).session, reasoning="with-calls")

    assert "reasoning_content" in third["messages"][2]
    assert "reasoning_content" not in third["messages"][4]


def test_an_answer_without_text_or_call_has_an_empty_text() -> None:
    """Not null, as in July."""
    made = ChatBodies(ChatRules(released=True)).encode(
        frozen({"messages": [{"role": "assistant", "content": [reasoning("Hm.")]}]}), {}
    )

    assert made.body["messages"][0]["content"] == ""


@pytest.mark.parametrize("vocabulary", [V0, V3])
def test_a_system_that_says_nothing_is_not_sent(vocabulary: Vocabulary) -> None:
    """Nor is there a message for it."""
    log = Released(vocabulary).begin(system=None)
    log.say("Tides?")

    (body,) = sent(log.session)

    assert [each["role"] for each in body["messages"]] == ["user"]


@pytest.mark.parametrize(
    ("effort", "thinking"), [("off", {"type": "disabled"}), ("low", {"type": "enabled"})]
)
def test_off_turns_thinking_off(effort: str, thinking: Any) -> None:
    """And sends no effort."""
    log = Released(V3).begin(header={"config": {**CONFIG, "reasoningEffort": effort}})
    log.say("Tides?")

    (body,) = sent(log.session)

    assert body["thinking"] == thinking
    assert body.get("reasoning_effort") == (None if effort == "off" else effort)


def test_without_an_effort_the_options_are_taken_from_the_body() -> None:
    """They are named."""
    config = {key: CONFIG[key] for key in ("provider", "model")}
    log = Released(V3).begin(header={"config": config})
    log.say("Tides?")
    (body,) = sent(log.session)
    asked = frozen({**body, "thinking": {"type": "enabled"}, "reasoning_effort": "max"})
    order = ("model", "messages", "stream", "stream_options", "thinking", "reasoning_effort")

    found = judged(log.session, [{key: asked[key] for key in order}])

    assert words(found) == ["equal"]
    assert found.verdicts[0].taken_from_body == ("thinking", "reasoning_effort")


# ---- which way it went ---------------------------------------------------------------------------


@EVERY_GENERATION
def test_a_faithful_capture_is_equal_in_every_generation(vocabulary: Vocabulary) -> None:
    """Nothing is missed."""
    session = talk(vocabulary).session

    found = judged(session, sent(session))

    assert (words(found), found.not_captured) == (["equal"] * 3, ())


@pytest.mark.parametrize("vocabulary", [V0, V3, V4])
@pytest.mark.parametrize("rule", ["always", "with-calls"])
def test_the_rule_of_reasoning_is_taken_from_the_bodies(vocabulary: Vocabulary, rule: str) -> None:
    """And named where it makes a difference."""
    session = talk(vocabulary).session
    bodies = sent(session, "chat", reasoning=rule)

    found = judged(session, bodies)

    route = ("route",) if vocabulary is V4 else ()
    assert words(found) == ["equal"] * 3
    assert [one.taken_from_body for one in found.verdicts] == [
        route,
        route,
        (*route, "reasoning_content"),
    ]


def test_a_rule_that_is_given_is_not_taken() -> None:
    """A body of the other rule differs."""
    session = talk(V0).session
    bodies = sent(session, reasoning="with-calls")

    assert words(judged(session, bodies, reasoning_content="with-calls")) == ["equal"] * 3
    found = judged(session, bodies, reasoning_content="always")

    assert words(found) == ["equal", "equal", "differs"]
    assert found.verdicts[2].taken_from_body == ()


def test_a_rule_holds_for_a_run_and_may_change_with_the_next() -> None:
    """A body that breaks the rule of its run differs."""
    log = talk(V0)
    log.add("session/end-seed", {})
    log.begin().say("Waves?")
    log.answer(*text("Low."))
    log.end().begin().say("Wind?")
    session = log.session
    old, new = sent(session, reasoning="with-calls"), sent(session, reasoning="always")

    assert words(judged(session, [*old[:3], *new[3:]])) == ["equal"] * 5
    assert words(judged(session, [*new[:4], old[4]])) == ["equal"] * 4 + ["differs"]


def test_a_migrated_log_may_have_gone_both_routes() -> None:
    """Chat completions before a resumption, the Messages API behind it."""
    log = talk(V4)
    log.add("session/end-seed", {})
    log.begin().say("Waves?")
    chat, messages = sent(log.session, "chat"), sent(log.session, "messages")

    found = judged(log.session, [*chat[:3], messages[3]])

    assert words(found) == ["equal"] * 4
    assert ["route" in one.taken_from_body for one in found.verdicts] == [True] * 3 + [False]
    typo = changed(messages[3], lambda made: made["messages"][-1]["content"][0].update(text="W"))
    assert words(judged(log.session, [*chat[:3], typo]))[3] == "differs"


# ---- the event behind a difference ---------------------------------------------------------------


@EVERY_GENERATION
def test_a_changed_system_leads_to_what_holds_it(vocabulary: Vocabulary) -> None:
    """The header, or the system's own message."""
    session = talk(vocabulary).session

    def change(made: Body) -> None:
        if "system" in made:
            made["system"] += "!"
        else:
            made["messages"][0]["content"] += "!"

    found = judged(session, [changed(sent(session)[0], change)])

    event = found.verdicts[0].event
    assert event is not None
    headed = vocabulary in (V3, V4)
    assert event.type == ("system/message" if headed else "request/header")


@EVERY_GENERATION
def test_a_changed_result_leads_to_the_result(vocabulary: Vocabulary) -> None:
    """Whatever role its message has."""
    session = talk(vocabulary).session
    bodies = sent(session)

    def change(made: Body) -> None:
        last = made["messages"][-1]
        if isinstance(last["content"], str):
            last["content"] += "!"
        else:
            last["content"][0]["content"][0]["text"] += "!"

    found = judged(session, [bodies[0], changed(bodies[1], change)])

    event = found.verdicts[1].event
    assert event is not None
    assert event.type == "tool/result"


@EVERY_GENERATION
@pytest.mark.parametrize("key", ["model", "max_tokens", "thinking"])
def test_a_changed_option_leads_to_the_header(vocabulary: Vocabulary, key: str) -> None:
    """Also where the generation has options of its own."""
    session = talk(vocabulary).session
    other = {"model": "tern-2", "max_tokens": 1, "thinking": {"type": "x"}}[key]

    found = judged(session, [changed(sent(session)[0], lambda made: made.update({key: other}))])

    event = found.verdicts[0].event
    assert event is not None
    assert event.type == "request/header"


# ---- compactions ---------------------------------------------------------------------------------


def compacted(vocabulary: Vocabulary, **compaction: Any) -> Released:
    """A talk, compacted but for its last answer, and a turn behind it."""
    log = talk(vocabulary)
    log.compact(keep=1, **compaction)
    log.begin().say("Waves?")
    return log


@EVERY_GENERATION
def test_a_compaction_sends_its_nodes_and_an_instruction(vocabulary: Vocabulary) -> None:
    """With the system and the tools of any request; the instruction is taken from the body."""
    session = compacted(vocabulary).session
    *steps, asked, last = sent(session, instruction="Now sum up.")

    found = judged(session, [*steps, asked, last], purposes={3: "compaction"})

    assert words(found) == ["equal"] * 5
    assert "instruction" in found.verdicts[3].taken_from_body
    assert (asked["max_tokens"], asked["tools"]) == (64, steps[0]["tools"])
    final = asked["messages"][-1]["content"]
    if vocabulary is V4:
        assert final == [*text("And then?"), *text("Now sum up.")]
    else:
        assert final == "Now sum up."


@EVERY_GENERATION
def test_a_compaction_is_known_without_a_hint(vocabulary: Vocabulary) -> None:
    """By what it sends before its instruction."""
    session = compacted(vocabulary).session

    found = judged(session, sent(session, instruction="Whatever."))

    assert words(found) == ["equal"] * 5
    assert found.verdicts[3].expected is not None
    assert found.verdicts[3].expected.purpose == "compaction"


def test_an_instruction_that_is_given_is_compared() -> None:
    """Another one differs, and no event stands behind it."""
    session = compacted(V4).session
    asked = sent(session, instruction="Now sum up.")[3]

    found = judged(session, [asked], purposes={0: "compaction"}, instruction="Sum up.")

    (verdict,) = found.verdicts
    assert (verdict.verdict, verdict.taken_from_body, verdict.event) == ("differs", (), None)


def test_a_summary_without_a_length_takes_it_from_the_body() -> None:
    """It is named."""
    session = compacted(V3, maxTokens=None).session
    asked = {**sent(session)[3], "max_tokens": 7}

    found = judged(session, [asked], purposes={0: "compaction"})

    assert words(found) == ["equal"]
    assert found.verdicts[0].taken_from_body == (
        "instruction",
        "max_tokens",
        "reasoning_content",
    )


@EVERY_GENERATION
@pytest.mark.parametrize("count", [1, 3, 5])
def test_how_much_a_failed_compaction_sent_is_taken_from_the_body(
    vocabulary: Vocabulary, count: int
) -> None:
    """The log has only that it failed; a changed node is found all the same."""
    log = talk(vocabulary)
    log.compact(error="overloaded")
    (failed,) = (one for one in expected_requests(log.session) if one.purpose)
    body = body_of(failed, nodes=count)
    body = {**body, "max_tokens": 64} if "max_tokens" in body else body
    if "max_tokens" not in body:
        keys = list(sent(log.session)[0])
        body = {key: body.get(key, 64) for key in keys if key in body or key == "max_tokens"}

    found = judged(log.session, [body], purposes={0: "compaction"})

    assert words(found) == ["equal"]
    assert found.verdicts[0].taken_from_body[:3] == ("nodes", "instruction", "max_tokens")

    def change(made: Body) -> None:
        place = 0 if vocabulary is V4 else 1
        said = made["messages"][place]
        if isinstance(said["content"], str):
            said["content"] += "!"
        else:
            said["content"][0]["text"] += "!"

    found = judged(log.session, [changed(body, change)], purposes={0: "compaction"})
    assert words(found) == ["differs"]
    assert found.verdicts[0].event is not None
    assert found.verdicts[0].event.type == "user/message"


def test_a_summary_that_names_no_nodes_is_unknown() -> None:
    """The fault says why."""
    log = talk(V4)
    log.add("compaction/start", {"compactionId": "k", "turn": None})
    log.add("compaction/summary", {"compactionId": "k", "shadowedSeqs": "all"})
    (one,) = (one for one in expected_requests(log.session) if one.purpose)

    assert one.fault is not None
    assert one.fault.path == "$.data.shadowedSeqs"


# ---- images --------------------------------------------------------------------------------------

PICTURE = {"type": "image", "attachment": {"attachmentId": "sha256:ab"}}
BYTES = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
HANDLE = {"type": "text", "text": "Image ab."}


def pictured() -> Released:
    """A talk about a picture."""
    log = Released(V4).begin()
    log.say([*text("What is it?"), PICTURE, *text("Say it.")])
    log.answer(call("c1"))
    log.result("c1", [*text("Look:"), PICTURE])
    return log.more()


@pytest.mark.parametrize("shown", [[HANDLE, BYTES], [BYTES], [HANDLE]])
def test_what_stands_for_an_image_is_taken_from_the_body(shown: list[Any]) -> None:
    """A text, an image, or both; it is named."""
    session = pictured().session
    bodies = sent(session, images=[shown, shown])

    found = judged(session, bodies)

    assert words(found) == ["equal"] * 2
    assert [one.taken_from_body for one in found.verdicts] == [("images",)] * 2
    assert [one.repeat or one.out_of_order for one in found.verdicts] == [False] * 2


def test_what_stands_beside_an_image_is_compared() -> None:
    """A changed text is found where it is."""
    session = pictured().session
    bodies = sent(session, images=[[HANDLE, BYTES]] * 2)

    def change(made: Body) -> None:
        made["messages"][0]["content"][3]["text"] = "Say!"

    found = judged(session, [bodies[0], changed(bodies[1], change)])

    difference = found.verdicts[1].difference
    assert difference is not None
    assert difference.steps == ("messages", 0, "content", 3, "text")
    assert found.verdicts[1].event is not None
    assert found.verdicts[1].event.type == "user/message"


def test_an_image_that_was_not_sent_is_missed() -> None:
    """The body then lacks what the log has."""
    session = pictured().session
    (body, _) = sent(session, images=[[]] * 2)
    body["messages"][0]["content"] = text("What is it?")

    assert words(judged(session, [body])) == ["differs"]


# ---- changes of tools ----------------------------------------------------------------------------


def retooled(*, series: bool = False) -> Released:
    """A talk that gets another tool in its second turn."""
    log = Released(V4).begin()
    log.say("Tides?")
    log.answer(*text("Noon."))
    log.end()
    log.add("session/end-seed", {})
    log.begin().say("Waves?")
    more: dict[str, Any] = {"startsSeries": True} if series else {}
    seq = log.header({"tools": [SWELL, TIDE]}, **more)
    log.developer({"type": "tool-addition", "toolName": "swell"}, header_seq=seq)
    log.answer(*text("Low."))
    return log.end().begin()


@pytest.mark.parametrize("updates", ["none", "additions"])
def test_what_a_route_is_told_of_tools_is_taken_from_the_bodies(updates: str) -> None:
    """And named where it makes a difference."""
    session = retooled().session
    bodies = sent(session, "messages", updates=updates)

    found = judged(session, bodies)

    assert words(found) == ["equal"] * 3
    assert [one.taken_from_body for one in found.verdicts] == [(), *[("tool_updates",)] * 2]
    assert ("defer_loading" in json.dumps(bodies)) == (updates == "additions")


def test_most_bodies_for_a_model_decide() -> None:
    """What most of them fit holds for the model; an option goes before all."""
    log = retooled()
    log.say("Wind?")
    log.answer(*text("None."))
    log.end().begin().say("Fog?")
    plain = sent(log.session, "messages", updates="none")
    told = sent(log.session, "messages", updates="additions")

    found = judged(log.session, [*told[:3], plain[3]])
    assert words(found) == ["equal"] * 3 + ["differs"]
    assert words(judged(log.session, told, tool_updates="none"))[:2] == ["equal", "differs"]


def test_a_changed_body_alone_shows_what_its_route_is_told() -> None:
    """The difference is the one that was put in."""
    session = retooled().session
    told = sent(session, "messages", updates="additions")[1]
    typo = changed(told, lambda made: made.update(max_tokens=1))

    (verdict,) = judged(session, [typo]).verdicts

    assert verdict.difference is not None
    assert verdict.difference.steps == ("max_tokens",)


def test_a_new_series_begins_with_its_own_tools() -> None:
    """Nothing is deferred then."""
    bodies = sent(retooled(series=True).session, "messages", updates="additions")

    assert [tool["name"] for tool in bodies[1]["tools"]] == ["swell", "tide"]
    assert "defer_loading" not in json.dumps(bodies)


# ---- in history ----------------------------------------------------------------------------------


def test_a_route_that_takes_systems_in_history_is_told_by_the_log() -> None:
    """By the last request/context before the request."""
    log = Released(V4).begin()
    log.add("request/context", {"model": "tern-1", "systemPromptUpdate": "in-history"})
    log.say("Tides?")
    log.answer(*text("Noon."))
    log.end().begin()
    log.system("Be long.")
    log.say("Waves?")
    log.answer(*text("Low."))
    log.end().begin().say("Wind?")
    log.add("request/context", {"model": "tern-1"})

    _, second, third = sent(log.session)

    assert second["system"] == "Be brief."
    assert second["messages"][-1] == {"role": "system", "content": text("Be long.")}
    assert third["system"] == "Be long."
    assert [each["role"] for each in third["messages"]] == ["user", "assistant"] * 2 + ["user"]


# ---- exports -------------------------------------------------------------------------------------


def test_a_message_of_a_tool_is_exported_as_a_result() -> None:
    """Other providers take it as they take a block of July's."""
    session = talk(V4).session
    request = past_requests(session)[1].request.unwrap()

    openai, anthropic = export_openai(request).body, export_anthropic(request).body

    assert openai["messages"][-1] == frozen(
        {"role": "tool", "tool_call_id": "c1", "content": "At noon."}
    )
    assert anthropic["messages"][-1]["content"][0]["type"] == "tool_result"


# ---- retries, forks ------------------------------------------------------------------------------


@EVERY_GENERATION
def test_a_retry_repeats_the_body(vocabulary: Vocabulary) -> None:
    """It is the same request, sent again."""
    log = Released(vocabulary).begin()
    log.say("Tides?")
    failure = {"message": "busy"}
    log.add("llm/retry", {"turn": 1, "step": 1, "retry": 1, "failure": failure})
    log.add("llm/retry-started", {"turn": 1, "step": 1, "retry": 1})
    log.answer(*text("Noon."))
    (body,) = sent(log.session)

    found = judged(log.session, [body, body])

    assert [(one.verdict, one.repeat) for one in found.verdicts] == [
        ("equal", False),
        ("equal", True),
    ]


def test_what_a_fork_inherited_its_parent_sent() -> None:
    """From v2 on the log marks where that ends."""
    log = talk(V4, id="child", parentSession="quay", isSeeded=True)
    log.add("session/end-seed", {"inherited": True})
    log.begin().say("Waves?")

    expected = expected_requests(log.session)

    assert [one.inherited for one in expected] == [True] * 3 + [False]
    assert len(expected_requests(log.session, inherited=False)) == 1
