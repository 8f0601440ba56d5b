"""Provider bodies, captured requests, exports."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from property_specs.core import Core, Log
from property_specs.generators.logs import Move, build_turned, turn_moves
from property_specs.generators.released_wire import messages_cases, released_requests
from property_specs.generators.wire import contents, leaves, wire_requests, with_change
from property_specs.models import released_wire, wire
from property_specs.profiles import often

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "thinking": st.sampled_from(["enabled", "disabled"]),
        "reasoning_effort": st.sampled_from(["high", "max"]),
    },
)
TOOLS = [{"name": "run", "parameters": {"type": "object", "properties": {"b": {}, "a": {}}}}]
HEADER = {"config": {"model": "tern-1", "temperature": 0.5}, "system": "Be brief.", "tools": TOOLS}
# Nothing of it stands in any log that is generated.
STRANGER = {"model": "x", "messages": [{"role": "user", "content": "\u65e5\u672c: name this?"}]}


@st.composite
def talks(draw: st.DrawFn) -> Log:
    """Sound logs with a header and several steps, each with something said before it."""
    moves = [Move("say", {"content": [{"type": "text", "text": "Begin."}]})]
    for number in range(draw(st.integers(1, 4))):
        moves += draw(st.lists(turn_moves(), max_size=3))
        told = [{"type": "text", "text": f"Number {number}."}]
        moves += [Move("say", {"content": told}), Move("step")]
    moves = [move for move in moves if move.kind not in ("header", "delta", "odd delta")]
    log = build_turned(moves)
    # The header stands right behind the first turn's start, where every step finds it.
    first = {"type": "request/header", "seq": 1, "time": 0}
    data = {"header": HEADER, "reason": "initial"}
    return [log[0], {**first, "data": data}, *map(_moved, log[1:])]


def _moved(event: dict[str, Any]) -> dict[str, Any]:
    """An event one place further on."""
    made = copy.deepcopy(event)
    made["seq"] += 1
    if "sourceEventSeqs" in made:
        made["sourceEventSeqs"] = [seq + (seq > 0) for seq in made["sourceEventSeqs"]]
    if isinstance(made.get("surfaceOp"), dict):
        for end in ("start", "end"):
            made["surfaceOp"][end] += made["surfaceOp"][end] > 0
    return made


@given(request=wire_requests(), options=OPTIONS)
@often(3)
def test_chat_bodies_match_model(core: Core, request: Any, options: dict[str, str]) -> None:
    """The chat-completions body of a request is that of the model, key order included.

    Generator: wire_requests: every kind of block, odd blocks, missing parts; options or none.
    Oracle:    the model of bodies, by recursion on plain dicts and lists.
    Catches:   keys in another order, joined texts, results before text, null for empty.
    Broken:    an answer without text sends an empty one, not null.
    """
    assert core.chat_body(request, options) == core.text(wire.chat_body(request, options))


@given(request=wire_requests())
def test_every_part_of_a_body_leads_to_its_part_of_the_request(core: Core, request: Any) -> None:
    """What a path into a body leads to makes, by itself, what stands at that path.

    Generator: wire_requests.
    Oracle:    the model of bodies, given the one message, tool or option alone.
    Catches:   owners that slip where a message makes two or none.
    Broken:    each message of a request is taken to make one message.
    """
    body = wire.chat_body(request, {})
    for steps in leaves(body):
        key, place, found = (
            steps[0],
            steps[1] if steps[1:] else None,
            core.chat_owner(request, steps),
        )
        if key in ("stream", "stream_options"):
            assert found is None
            continue
        assert found is not None
        if found == ["system"]:
            assert body["messages"][place] == {"role": "system", "content": request["system"]}
        elif key == "messages":
            alone = wire.chat_messages(request["messages"][found[1]])
            assert (found[0], body["messages"][place] in alone) == ("messages", True)
        elif key == "tools":
            assert found == ["tools", place]
        else:
            assert request[found[0]] == body[str(key)]


@given(request=released_requests(), every=st.booleans())
@often(2)
def test_released_chat_bodies_match_model(core: Core, request: Any, every: bool) -> None:
    """The chat-completions body of a released generation's request is that of the model.

    Generator: released_requests: every role and block, efforts, tools; both rules of reasoning.
    Oracle:    the model of released bodies, on plain dicts and lists.
    Catches:   reasoning kept back or told too often, results without output, an odd effort.
    Broken:    reasoning goes along with calls alone, whatever the rule.
    """
    made = core.released_chat_body(request, every_reasoning=every)

    assert made == core.text(released_wire.chat_body(request, every_reasoning=every))


@given(case=messages_cases())
@often(3)
def test_messages_bodies_match_model(core: Core, case: Any) -> None:
    """The Messages-API body of a request is that of the model, key order included.

    Generator: messages_cases: every role and block, systems in history or not, changes of
               tools that mostly make the tools in force; every way a route may be told.
    Oracle:    the model of released bodies, message by message.
    Catches:   roles in a row, results behind texts, signatures for another model, tools that
               came back, changes out of force.
    Broken:    a message of a user keeps its blocks in their order.
    """
    assert core.messages_body(case) == core.text(released_wire.messages_body(case))


@given(content=contents())
@often(2)
def test_transcripts_match_model(core: Core, content: Any) -> None:
    """What a compaction says of a message is what the model says, line by line.

    Generator: contents: every kind of block, results with blocks inside, odd ones.
    Oracle:    the model of transcripts, by plain recursion.
    Catches:   blank lines, results whose blocks say nothing, lost nesting.
    Broken:    a result without text ends in a colon.
    """
    shown = content if isinstance(content, list) else []

    assert core.transcript_text(shown) == wire.transcript(shown)


@given(request=wire_requests())
@often(2)
def test_exports_have_the_documented_shapes(core: Core, request: Any) -> None:
    """An export is sound by the provider's documents, and names each block it left out.

    Generator: wire_requests.
    Oracle:    the documented shapes of both providers, checked key by key.
    Catches:   empty texts, roles in a row, inputs that are no objects, silent losses.
    Broken:    empty texts go along.
    """
    for provider, faults in (("openai", wire.openai_faults), ("anthropic", wire.anthropic_faults)):
        made = core.exported(request, provider)

        assert faults(made["body"]) == []
        for place, message in enumerate(request["messages"]):
            for at, block in enumerate(_blocks(message)):
                if isinstance(block, dict) and block.get("type") == "reasoning":
                    path = f"$.messages[{place}].content[{at}]: "
                    assert any(note.startswith(path) for note in made["left_out"])


def _blocks(message: Any) -> list[Any]:
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


@given(log=talks(), data=st.data())
def test_a_faithful_capture_is_equal_throughout(core: Core, log: Log, data: st.DataObject) -> None:
    """Bodies as they were sent are equal, whatever was lost, sent again or put between them.

    Generator: talks; some of the bodies, some twice, with strangers anywhere.
    Oracle:    how the capture was made.
    Catches:   a stranger that takes a step's place, a retry that shifts the rest.
    Broken:    a body is compared with the next request that is due, whatever is in it.
    """
    session = core.accept(log)
    sent = [each["body"] for each in core.sent_bodies(session)]
    captured: list[Any] = []
    for body in sent:
        captured += [body] * data.draw(st.sampled_from([0, 1, 1, 2]))
        captured += [STRANGER] * data.draw(st.sampled_from([0, 0, 1]))

    verdicts = core.check_wire(session, captured)

    expected = ["unexpected" if body is STRANGER else "equal" for body in captured]
    assert [each["verdict"] for each in verdicts] == expected


@given(log=talks(), data=st.data())
@often(2)
def test_a_planted_change_is_found_where_it_is(core: Core, log: Log, data: st.DataObject) -> None:
    """One changed scalar in one captured body is found at its path; all others are equal.

    Generator: talks; any scalar of any body, model and schema to tool call.
    Oracle:    where the change was planted.
    Catches:   a difference told at a later place, a body compared with a neighbour's.
    Broken:    what may stand between two anchors is one request less.
    """
    session = core.accept(log)
    each = core.sent_bodies(session)
    sent = [one["body"] for one in each]
    place = data.draw(st.integers(0, len(sent) - 1))
    steps = data.draw(st.sampled_from(leaves(sent[place])))
    captured = [*sent[:place], with_change(sent[place], steps), *sent[place + 1 :]]

    verdicts = core.check_wire(session, captured)

    expected = ["equal"] * len(sent)
    expected[place] = "differs"
    assert [one["verdict"] for one in verdicts] == expected
    assert not any(one["repeat"] for one in verdicts)
    verdict = verdicts[place]
    assert (verdict["steps"], verdict["kind"]) == (list(steps), "value")
    due = next(one["body"] for one in each if one["seq"] == verdict["seq"])
    assert wire.dumped(due) == wire.dumped(sent[place])
