"""Streams of chunks: deltas with and without a block-start, of the wrong kind, after the end.

Leaves out: indices that are no integers, and deltas that lack a field of their kind.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from property_specs.generators.json_values import half_texts, texts
from property_specs.generators.payloads import call_blocks, text_blocks, usages

Chunk = dict[str, Any]


def _indexed(kind: str, fields: st.SearchStrategy[Chunk]) -> st.SearchStrategy[Chunk]:
    return st.builds(
        lambda index, more: {"type": kind, "index": index, **more}, st.integers(0, 2), fields
    )


@cache
def chunks(*, unknown: bool = False) -> st.SearchStrategy[Chunk]:
    """Single chunks; ones of unknown type only when asked for."""
    block_types = st.sampled_from(["text", "reasoning", "tool-call", "x-chart"])
    pieces = texts() | half_texts()
    call = st.fixed_dictionaries(
        {"id": st.sampled_from(["c1", "c2"]), "argumentsDelta": pieces},
        optional={"name": st.sampled_from(["run", ""])},
    )
    text = st.fixed_dictionaries({"text": pieces})
    finish = st.sampled_from([{"kind": "stop"}, {"kind": "tool-calls"}, {"kind": "max-tokens"}])
    known = st.one_of(
        _indexed("text-delta", text),
        _indexed("reasoning-delta", text),
        _indexed("tool-call-delta", call),
        _indexed("block-start", st.fixed_dictionaries({"blockType": block_types})),
        _indexed("block-end", st.fixed_dictionaries({"block": text_blocks() | call_blocks()})),
        usages().map(lambda usage: {"type": "usage", "usage": usage}),
        finish.map(lambda reason: {"type": "finish", "reason": reason}),
    )
    return known | st.just({"type": "x-chunk", "index": 0}) if unknown else known


@cache
def streams() -> st.SearchStrategy[list[Chunk]]:
    """Streams of known chunks."""
    return st.lists(chunks(), max_size=10)


@cache
def odd_streams() -> st.SearchStrategy[list[Chunk]]:
    """Streams in which a chunk may be of an unknown type."""
    return st.lists(chunks(unknown=True), max_size=8)
