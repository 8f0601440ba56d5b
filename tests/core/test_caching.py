"""How much of each prompt the one before it began with, and what broke it."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import dsh_fp
from dsh_fp import Code, Session, past_requests
from dsh_fp.core import caching
from dsh_fp.core.caching import CacheUsage, PromptCaching, prompt_caching
from dsh_fp.core.changes import EventName
from tests.core.making import (
    assistant,
    delta,
    event,
    header,
    replacing,
    replayed,
    step_end,
    step_start,
    text,
    turn_start,
    user,
)

LOOK = {"name": "look", "parameters": {"a": 1, "b": 2}}
TURNED = {"name": "look", "parameters": {"b": 2, "a": 1}}


def two_steps(first: Any, *between: Any) -> tuple[PromptCaching, ...]:
    """The caching of two steps under a header, with these events between them."""
    return prompt_caching(
        replayed(
            turn_start(0),
            first,
            user(2, "Rain?"),
            user(3, "Wind?"),
            step_start(4),
            step_end(5),
            *between,
            step_start(6 + len(between)),
        )
    )


def line(value: Any) -> int:
    """The bytes of a value's line."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) + 1


def said(words: str) -> dict[str, Any]:
    return {"role": "user", "content": [text(words)]}


def test_the_first_prompt_has_nothing_before_it() -> None:
    """Its bytes are those of its lines: system, tools, messages."""
    first, _ = two_steps(header(1, system="Be brïef.", tools=[LOOK]))

    assert first.messages == 2
    assert first.size == line("Be brïef.") + line([LOOK]) + line(said("Rain?")) * 2
    assert (first.common_messages, first.common_size, first.kept_all) == (0, 0, None)


def test_a_prompt_that_grew_keeps_all() -> None:
    """All bytes and messages of the one before."""
    first, second = two_steps(header(1, system="s"), user(6))

    assert (second.kept_all, second.broken) == (True, None)
    assert (second.common_messages, second.common_size) == (2, first.size)


def test_a_replacement_breaks_at_what_it_took_away() -> None:
    """It is named, with where its message parts from the old one."""
    first, second = two_steps(header(1), replacing(6, 3, 3, [3]))

    assert second.kept_all is False
    assert second.common_messages == 1
    assert second.broken is not None
    assert (second.broken.how, second.broken.event) == (
        "replacement",
        EventName(6, "context/message"),
    )
    assert str(second.broken.first) == "messages[1].content[0].text"
    assert first.size is not None
    assert second.common_size == line(said("Rain?")) + len(
        '{"role":"user","content":[{"type":"text","text":"'
    )


def test_a_replacement_by_the_same_text_breaks_nothing() -> None:
    """Bytes are compared, not events."""
    op = {"op": "replace", "start": 3, "end": 3}
    again = user(6, "Wind?", surfaceOp=op, sourceEventSeqs=[3])
    first, second = two_steps(header(1), again)

    assert second.kept_all
    assert second.common_size == first.size


def test_a_replacement_without_a_message_of_its_own_is_named_too() -> None:
    """What it took away is missing."""
    op = {"op": "replace", "start": 3, "end": 3}
    empty = event("assistant/message", 6, {"content": []}, sourceEventSeqs=[3], surfaceOp=op)
    _, second = two_steps(header(1), empty)

    assert second.broken is not None
    assert str(second.broken) == "replacement at messages[1]: event 6 assistant/message"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (header(6, system="a\nc", tools=[LOOK]), "system from line 2"),
        (header(6, tools=[LOOK]), "system from line 1"),
        (header(6, system="a\nb", tools=[TURNED]), "key order at tools[0].parameters"),
        (header(6, system="a\nb"), "tools"),
        (
            delta(6, tools={"added": [{"name": "x"}], "removed": [], "changed": []}),
            "tools at tools[1]",
        ),
        (delta(6, messagePrefix=[said("hi")]), "message prefix at messages[0].content[0].text"),
        (delta(6, config={"model": "m-2"}), "model"),
    ],
)
def test_a_header_event_breaks_at_what_it_changed(change: Any, told: str) -> None:
    """The first part that differs, in the order of the prompt; another model keeps nothing."""
    _, second = two_steps(header(1, system="a\nb", tools=[LOOK]), change)

    assert second.broken is not None
    assert str(second.broken) == f"{told}: {second.broken.event}"
    assert second.broken.event is not None
    assert second.broken.event.seq == 6
    assert second.kept_all is False


def test_another_model_keeps_nothing_and_other_options_all() -> None:
    """A cache is a model's own; temperature is no part of the prompt."""
    _, other = two_steps(header(1), delta(6, config={"model": "m-2"}))
    _, warmer = two_steps(header(1), delta(6, config={"model": "m-1", "temperature": 1}))

    assert (other.common_size, other.common_messages) == (0, 0)
    assert warmer.kept_all


def test_an_unknown_request_is_passed_over() -> None:
    """It has its fault and no counts; the next known one is compared with the last known."""
    wrong = event("request/header", 6, {"header": 5})
    first, unknown, third, last = prompt_caching(
        replayed(
            turn_start(0),
            header(1),
            user(2),
            step_start(3),
            step_end(4),
            step_start(5, step=2),
            wrong,
            step_end(7, step=2),
            header(8),
            step_start(9, step=3),
            step_end(10, step=3),
            step_start(11, step=4),
        )
    )

    assert unknown.fault is not None
    assert unknown.fault.code is Code.HEADER_INVALID
    assert (unknown.size, unknown.kept_all, unknown.predicted_read_tokens) == (None, None, None)
    assert (third.unknown_before, third.kept_all, third.common_size) == (1, True, first.size)
    assert last.unknown_before == 0


def test_the_providers_report_stands_beside_the_prediction() -> None:
    """The prediction is the share of bytes in all tokens of the prompt."""
    usage = {"inputTokens": 30, "cacheReadTokens": 60, "cacheWriteTokens": 10, "outputTokens": 9}
    first, second = prompt_caching(
        replayed(
            turn_start(0),
            header(1),
            user(2, "Rain?"),
            step_start(3),
            assistant(4, usage={"inputTokens": "many", "cacheReadTokens": True}),
            step_end(5),
            step_start(6, step=2),
            assistant(7, usage=usage, step=2),
            assistant(8, usage={"inputTokens": 1}, step=2),
        )
    )

    assert first.usage == CacheUsage(None, None, None)
    assert first.predicted_read_tokens == 0
    assert second.usage == CacheUsage(30, 60, 10)
    assert second.size is not None
    assert second.common_size is not None
    assert second.predicted_read_tokens == round(100 * second.common_size / second.size)


def test_without_usage_nothing_is_predicted() -> None:
    """No tokenizer is asked."""
    _, second = two_steps(header(1))

    assert (second.usage, second.predicted_read_tokens) == (None, None)


def test_a_session_without_steps_has_no_prompts() -> None:
    """As it made no requests."""
    assert prompt_caching(replayed(turn_start(0), header(1))) == ()


def replacing_now_and_then(seed: int, size: int) -> Session:
    """A log that replaces nodes between its steps: mostly recent ones, some with their own text."""
    draw = random.Random(seed)
    events: list[Any] = [turn_start(0), header(1, system="s")]
    nodes: list[int] = []
    while len(events) < size:
        seq = len(events)
        match draw.choice(["append", "append", "replace", "step", "step", "header"]):
            case "replace" if nodes:
                recent = max(len(nodes) - 1 - draw.randrange(3), 0)
                first = draw.choice([recent, recent, draw.randrange(len(nodes))])
                last = min(first + draw.randrange(3), len(nodes) - 1)
                taken = nodes[first : last + 1]
                op = {"op": "replace", "start": taken[0], "end": taken[-1]}
                kind = draw.choice(["user/message", "user/message", "assistant/message"])
                words = [text("x")] if kind == "user/message" else []
                data = draw.choice([{"content": words}] * 9 + [5])
                events.append(event(kind, seq, data, sourceEventSeqs=taken, surfaceOp=op))
                nodes[first : last + 1] = [seq]
            case "header" if draw.random() < 0.3:
                prefix = draw.choice([[], [said("x")]])
                events.append(header(seq, system="s", messagePrefix=prefix))
            case "step":
                events += [step_start(seq), step_end(seq + 1)]
            case _:
                events.append(user(seq, draw.choice(["x", "y"])))
                nodes.append(seq)
    return replayed(*events)


def from_the_beginning(session: Session) -> list[tuple[int | None, int | None]]:
    """The plain answer: bytes of each prompt, and those it begins with as the one before did."""
    answers: list[tuple[int | None, int | None]] = []
    before = b""
    for past in past_requests(session):
        header, messages = past.header, past.messages
        if header is None or messages is None:
            answers.append((None, None))
            continue
        values = [header["system"], *messages]
        prompt = "".join(dsh_fp.to_text(value) + "\n" for value in values).encode()
        both = min(len(before), len(prompt))
        parts = next((at for at in range(both) if before[at] != prompt[at]), both)
        answers.append((len(prompt), parts))
        before = prompt
    return answers


@pytest.mark.parametrize("near", [1, 32])
def test_many_replacements_change_no_answer(near: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of the list before is what the surfaces have in common."""
    monkeypatch.setattr(caching, "_NODES_PER_EVENT", near)
    for seed in range(24):
        session = replacing_now_and_then(seed, 40 + 5 * seed)

        answers = [(row.size, row.common_size) for row in prompt_caching(session)]

        assert answers == from_the_beginning(session), seed


def test_a_replaced_recent_node_costs_nothing_of_those_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many replacements: nodes are listed, and lines compared, about once each."""
    events: list[Any] = [turn_start(0), header(1)]
    while len(events) < 1200:
        seq = len(events)
        events += [user(seq), replacing(seq + 1, seq, seq, [seq]), step_start(seq + 2)]
        events += [step_end(seq + 3)]
    session = replayed(*events)
    looks = 0
    inside = vars(caching)
    listed, prompt_type = inside["_from"], inside["_Prompt"]
    line = prompt_type.line

    def counted_nodes(surface: Any, kept: int) -> Any:
        nonlocal looks
        nodes = list(listed(surface, kept))
        looks += len(nodes)
        return iter(nodes)

    def counted_line(prompt: Any, place: int) -> Any:
        nonlocal looks
        looks += 1
        return line(prompt, place)

    monkeypatch.setattr(caching, "_from", counted_nodes)
    monkeypatch.setattr(prompt_type, "line", counted_line)

    assert len(prompt_caching(session)) == 300
    assert looks <= 2 * len(events)
