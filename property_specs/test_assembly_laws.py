"""Chunk assembly: what a stream amounts to."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import dsh_fp
from property_specs.core import Core, Refused, code_of
from property_specs.generators.chunks import odd_streams, streams
from property_specs.models import assembly as model
from property_specs.models.json_values import exact
from property_specs.profiles import often

Stream = list[dict[str, Any]]


@given(chunks=odd_streams())
@often(3)
def test_blocks_match_model(core: Core, chunks: Stream) -> None:
    """A stream gives one block per index, in order of first sight, or the right refusal.

    Generator: odd_streams: deltas of the wrong kind, after the end, without a start.
    Oracle:    each index's chunks looked at by themselves.
    Catches:   the last close winning, ids and names of the wrong delta, halves left apart.
    Broken:    a later block-end replaces the block.
    """
    answer: Any = core.assemble(chunks)

    unknown = model.first_unknown(chunks)
    blocks = model.blocks_of(chunks) if unknown is None else None
    if unknown is not None:
        assert isinstance(answer, Refused)
        assert (answer.code, answer.index) == ("CHUNK_UNKNOWN", unknown)
    elif blocks is None:
        assert code_of(answer) == "BLOCK_INCOMPLETE"
    else:
        assert exact(answer["blocks"]) == exact(blocks)


@given(chunks=streams())
def test_the_last_usage_and_finish_count(core: Core, chunks: Stream) -> None:
    """Usage and finish are the last ones seen; a stream that names no finish stopped.

    Generator: streams.
    Oracle:    a search from the end.
    Catches:   sums of usages, the first finish kept.
    Broken:    a stream without a finish has none.
    """
    answer = core.assemble(chunks)

    if not isinstance(answer, Refused):
        assert answer["usage"] == model.last_of(chunks, "usage", "usage", None)
        assert answer["finish"] == model.last_of(chunks, "finish", "reason", {"kind": "stop"})


@given(chunks=streams())
def test_a_finished_block_is_handed_back_once(core: Core, chunks: Stream) -> None:
    """A push hands back a block exactly when it is the first to close its index.

    Generator: streams.
    Oracle:    a look at what came before.
    Catches:   blocks handed back twice, or for deltas.
    Broken:    a repeated block-end hands a block back again.
    """
    expected = [model.emitted_at(chunks, place) for place in range(len(chunks))]

    assert exact(core.emitted(chunks)) == exact(expected)


@given(chunks=streams())
def test_a_message_cut_short_asks_for_no_tools(core: Core, chunks: Stream) -> None:
    """The content a loop logs is the blocks, without tool calls when the finish is max-tokens.

    Generator: streams.
    Oracle:    the assembled blocks, filtered.
    Catches:   half a tool call run.
    Broken:    tool calls stay whatever the finish.
    """
    answer = core.assemble(chunks)

    if not isinstance(answer, Refused):
        cut = answer["finish"] == {"kind": "max-tokens"}
        kept = [b for b in answer["blocks"] if not (cut and b["type"] == "tool-call")]
        assert answer["content"] == kept


@given(chunks=streams(), data=st.data())
def test_an_assembly_is_a_value(chunks: Stream, data: st.DataObject) -> None:
    """Pushing never changes the state pushed to: every state still gives its own blocks.

    Generator: streams; this library's own objects.
    Oracle:    assembling the prefix.
    Catches:   lists of deltas shared between states; chunks changed in place.
    Broken:    a push changes the blocks of the state pushed to.
    """
    before = repr(chunks)
    states = [dsh_fp.EMPTY_ASSEMBLY]
    for chunk in chunks:
        states.append(states[-1].push(chunk).unwrap()[0])

    for length in data.draw(st.permutations(range(len(states)))):
        made = states[length].blocks()
        expected = model.blocks_of(chunks[:length])
        assert exact(dsh_fp.thaw(made.value_or(None))) == exact(expected)
    assert repr(chunks) == before
