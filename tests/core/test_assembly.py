"""Stream chunks to content blocks, as a fold."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import EMPTY_ASSEMBLY, Assembly, Code, assemble
from tests.core.making import text

Chunk = dict[str, Any]


def start(index: Any, kind: str) -> Chunk:
    return {"type": "block-start", "index": index, "blockType": kind}


def words(index: Any, delta: Any) -> Chunk:
    return {"type": "text-delta", "index": index, "text": delta}


def thought(index: Any, delta: Any) -> Chunk:
    return {"type": "reasoning-delta", "index": index, "text": delta}


def asked(index: Any, delta: Any, **fields: Any) -> Chunk:
    return {"type": "tool-call-delta", "index": index, "argumentsDelta": delta, **fields}


def end(index: Any, block: Any) -> Chunk:
    return {"type": "block-end", "index": index, "block": block}


def tool_call(call_id: Any, name: str, arguments: str) -> Chunk:
    return {"type": "tool-call", "id": call_id, "name": name, "arguments": arguments}


def blocks(*chunks: Chunk) -> Any:
    return assemble(chunks).unwrap().blocks


def test_no_chunks_are_no_blocks() -> None:
    """An empty stream has no blocks, no usage, and finished by stopping."""
    made = assemble([]).unwrap()

    assert made.blocks == []
    assert (made.usage, made.finish) == (None, {"kind": "stop"})


def test_deltas_join_by_index_in_order_of_first_sight() -> None:
    """Interleaved deltas make one block per index; the number does not order them."""
    assert blocks(
        start(5, "text"), words(5, "a"), thought(2, "x"), words(5, "b"), thought(2, "y")
    ) == [text("ab"), {"type": "reasoning", "text": "xy"}]


def test_a_delta_without_a_start_opens_the_block() -> None:
    """Each kind of delta opens a block of its own kind."""
    assert blocks(words(0, "a"), thought(1, "b"), asked(2, "{}", id="c", name="look")) == [
        text("a"),
        {"type": "reasoning", "text": "b"},
        tool_call("c", "look", "{}"),
    ]


def test_a_started_block_without_deltas_is_empty() -> None:
    """What was opened is there, with what it has."""
    assert blocks(start(0, "text"), start(1, "reasoning"), start(2, "tool-call")) == [
        text(""),
        {"type": "reasoning", "text": ""},
        tool_call("call-2", "", ""),
    ]


def test_the_end_of_a_block_is_authoritative() -> None:
    """What a block-end holds counts, whatever the deltas gave."""
    whole = {"type": "text", "text": "corrected", "extra": [1]}

    assert blocks(words(0, "draft"), end(0, whole)) == [whole]


def test_a_closed_block_stays_closed() -> None:
    """Later deltas, starts and ends of that index are ignored: the first close wins."""
    assert blocks(
        end(0, text("first")), words(0, "more"), start(0, "reasoning"), end(0, text("second"))
    ) == [text("first")]


def test_a_block_may_end_without_ever_starting() -> None:
    """Any type of block can come whole."""
    assert blocks(end(0, {"type": "image", "data": "x"})) == [{"type": "image", "data": "x"}]


def test_a_repeated_start_is_ignored() -> None:
    """The first start says what the block is."""
    assert blocks(start(0, "text"), words(0, "a"), start(0, "reasoning"), words(0, "b")) == [
        text("ab")
    ]


def test_a_tool_call_has_its_last_id_and_last_name() -> None:
    """The last delta's id, even none; the last name that is not empty."""
    by_id = blocks(asked(0, "{", id="a", name="look"), asked(0, "}", id="b", name=""))
    without_id = blocks(asked(3, "{", id="a", name="look"), asked(3, "}"))

    assert by_id == [tool_call("b", "look", "{}")]
    assert without_id == [tool_call("call-3", "look", "{}")]


def test_deltas_of_the_wrong_kind_show_only_what_fits() -> None:
    """Text goes into text, arguments into arguments; the block shows what its kind has."""
    assert blocks(start(0, "text"), thought(0, "a"), asked(0, "hidden", id="x"), words(0, "b")) == [
        text("ab")
    ]
    assert blocks(start(0, "tool-call"), words(0, "hidden"), asked(0, "{}", id="x", name="n")) == [
        tool_call("x", "n", "{}")
    ]


def test_halves_split_over_two_deltas_join() -> None:
    """A surrogate pair cut by the stream is one character again."""
    assert blocks(words(0, "a\ud83c"), words(0, "\udf31b")) == [text("a🌱b")]
    assert blocks(asked(0, '"\ud83c', id="x", name="n"), asked(0, '\udf31"', id="x")) == [
        tool_call("x", "n", '"🌱"')
    ]


def test_a_lone_half_stays() -> None:
    """What never meets its other half is kept."""
    assert blocks(words(0, "a\ud83c")) == [text("a\ud83c")]


def test_usage_and_finish_are_the_last_seen() -> None:
    """Both may come more than once, and anywhere."""
    made = assemble(
        [
            {"type": "finish", "reason": {"kind": "stop"}},
            {"type": "usage", "usage": {"inputTokens": 1}},
            words(0, "a"),
            {"type": "usage", "usage": {"inputTokens": 2}},
            {"type": "finish", "reason": {"kind": "tool-calls"}},
        ]
    ).unwrap()

    assert made.usage == {"inputTokens": 2}
    assert made.finish == {"kind": "tool-calls"}
    assert made.blocks == [text("a")]


def test_a_message_cut_at_max_tokens_has_no_tool_calls() -> None:
    """The content that is logged leaves half calls out; the blocks keep them."""
    cut = {"type": "finish", "reason": {"kind": "max-tokens"}}
    chunks = [words(0, "a"), asked(1, "{", id="x", name="n")]

    whole, short = assemble(chunks).unwrap(), assemble([*chunks, cut]).unwrap()

    assert whole.message_content() == whole.blocks
    assert short.message_content() == [text("a")]
    assert len(short.blocks) == 2


def test_an_unknown_chunk_is_a_fault() -> None:
    """CHUNK_UNKNOWN names the type and the place in the stream."""
    fault = assemble([words(0, "a"), {"type": "image-delta", "index": 1}]).failure()

    assert (fault.code, fault.index) == (Code.CHUNK_UNKNOWN, 1)
    assert fault.data == {"type": "image-delta"}


@pytest.mark.parametrize("given", [{}, {"type": None}, {"type": 5}, {"type": ["text-delta"]}])
def test_a_chunk_without_a_type_is_unknown(given: Chunk) -> None:
    """Whatever stands in the place of the type is shown as JSON text."""
    assert assemble([given]).failure().code is Code.CHUNK_UNKNOWN


@pytest.mark.parametrize("given", [None, 5, [], "text-delta", float("nan"), {"type": {1}}])
def test_a_chunk_that_is_no_json_object_is_refused(given: Any) -> None:
    """NOT_JSON with the index."""
    fault = assemble([words(0, "a"), given]).failure()

    assert (fault.code, fault.index) == (Code.NOT_JSON, 1)


def test_an_open_block_of_unknown_type_is_a_fault() -> None:
    """Only its block-end could say what it is."""
    fault = assemble([start(0, "text"), start("i", "image")]).failure()

    assert fault.code is Code.BLOCK_INCOMPLETE
    assert fault.data == {"block_index": '"i"', "type": "image"}
    assert blocks(start(0, "image"), end(0, {"type": "image"})) == [{"type": "image"}]


def test_an_index_may_be_any_value() -> None:
    """0, "0" and True are three blocks, 1 and 1.0 are one."""
    assert blocks(
        words(0, "a"), words("0", "b"), words(True, "c"), words(1, "d"), words(1.0, "e")
    ) == [
        text("a"),
        text("b"),
        text("c"),
        text("de"),
    ]


def test_pushing_answers_the_block_that_was_finished() -> None:
    """The fold can be stepped: each step answers a new state and, at an end, the block."""
    one, nothing = EMPTY_ASSEMBLY.push(words(0, "a")).unwrap()
    two, finished = one.push(end(0, text("A"))).unwrap()
    three, ignored = two.push(end(0, text("again"))).unwrap()

    assert (nothing, finished, ignored) == (None, text("A"), None)
    assert [state.blocks().unwrap() for state in (one, two, three)] == [
        [text("a")],
        [text("A")],
        [text("A")],
    ]


def test_earlier_states_stay_as_they_were() -> None:
    """A state is a value: two streams may go on from it."""
    base, _ = EMPTY_ASSEMBLY.push(words(0, "a")).unwrap()

    left, _ = base.push(words(0, "L")).unwrap()
    right, _ = base.push(words(0, "R")).unwrap()

    assert [state.blocks().unwrap()[0]["text"] for state in (base, left, right)] == [
        "a",
        "aL",
        "aR",
    ]
    assert Assembly() == EMPTY_ASSEMBLY
    assert EMPTY_ASSEMBLY.blocks().unwrap() == []


def test_chunks_handed_in_come_back_unchanged() -> None:
    """The caller's dicts are not touched, and not kept."""
    block = text("A")
    chunks = [words(0, "a"), end(1, block)]

    made = blocks(*chunks)
    block["text"] = "changed"

    assert made == [text("a"), text("A")]
    assert chunks[0] == words(0, "a")
