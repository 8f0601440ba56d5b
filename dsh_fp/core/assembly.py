"""Stream chunks to content blocks, as a fold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs
from pyrsistent import PMap, PVector, pmap, pvector
from returns.result import Failure, Result, Success

from dsh_fp.core.lossless import (
    AnyJson,
    JsonArray,
    JsonObject,
    freeze,
    join_halves,
    json_array,
    json_object,
    to_text,
)
from dsh_fp.core.rejection import Rejection, block_incomplete, chunk_unknown, not_json

STOP: Final = json_object({"kind": "stop"})
_KIND_OF_DELTA: Final = {
    "text-delta": "text",
    "reasoning-delta": "reasoning",
    "tool-call-delta": "tool-call",
}


@attrs.frozen
class Block:
    """One block on its way: what its deltas gave so far, or the finished block."""

    kind: AnyJson
    index: AnyJson
    text: PVector[str] = pvector()
    arguments: PVector[str] = pvector()
    id: AnyJson = None
    name: str = ""
    done: AnyJson = None

    def assembled(self) -> AnyJson:
        """The block as content, or the Rejection for one that deltas cannot complete."""
        if self.done is not None:
            return self.done
        match self.kind:
            case "text" | "reasoning":
                return json_object({"type": self.kind, "text": join_halves("".join(self.text))})
            case "tool-call":
                return json_object(
                    {
                        "type": "tool-call",
                        "id": f"call-{_index_text(self.index)}" if self.id is None else self.id,
                        "name": self.name,
                        "arguments": join_halves("".join(self.arguments)),
                    }
                )
            case _:
                kind = self.kind if isinstance(self.kind, str) else to_text(self.kind)
                return block_incomplete(_index_text(self.index), kind)


@attrs.frozen
class Assembly:
    """The fold's state: blocks in order of first sight, the last usage and finish seen."""

    _blocks: PMap[str, Block] = pmap()
    _order: PVector[str] = pvector()
    usage: AnyJson = None
    finish: AnyJson = STOP

    def blocks(self) -> Result[JsonArray, Rejection]:
        """The content blocks so far, open ones made of their deltas.

        Errors:  BLOCK_INCOMPLETE for an open block of a type that deltas cannot complete.
        """
        made: list[AnyJson] = []
        for key in self._order:
            block = self._blocks[key].assembled()
            if isinstance(block, Rejection):
                return Failure(block)
            made.append(block)
        return Success(json_array(made))

    def push(self, chunk: object) -> Result[tuple[Assembly, JsonObject | None], Rejection]:
        """The state after one chunk, and the block it finished, if any.

        Errors:  NOT_JSON; CHUNK_UNKNOWN for a type that is none of the format's.
        Source:  docs/reference/assembly.md.
        """
        frozen = freeze(chunk)
        if isinstance(frozen, Rejection):
            return Failure(frozen)
        if not isinstance(frozen, JsonObject):
            return Failure(not_json("$", "a chunk that is no object"))
        kind = frozen.get("type")
        match kind:
            case "usage":
                return Success((attrs.evolve(self, usage=frozen.get("usage")), None))
            case "finish":
                return Success((attrs.evolve(self, finish=frozen.get("reason")), None))
            case "block-start":
                return Success((self._with(self._seen(frozen, frozen.get("blockType"))), None))
            case "text-delta" | "reasoning-delta" | "tool-call-delta":
                return Success((self._with(self._grown(frozen, kind)), None))
            case "block-end":
                return Success(self._closed(frozen))
            case _:
                name = kind if isinstance(kind, str) else to_text(kind)
                return Failure(chunk_unknown(name))

    def _seen(self, chunk: JsonObject, kind: AnyJson) -> Block:
        index = chunk.get("index")
        return self._blocks.get(to_text(index), Block(kind, index))

    def _with(self, block: Block) -> Assembly:
        key = to_text(block.index)
        known = self._blocks.get(key)
        if known is block:
            return self
        order = self._order if known is not None else self._order.append(key)
        return Assembly(self._blocks.set(key, block), order, self.usage, self.finish)

    def _grown(self, chunk: JsonObject, kind: str) -> Block:
        block = self._seen(chunk, _KIND_OF_DELTA[kind])
        if block.done is not None:
            return block
        if kind != "tool-call-delta":
            return attrs.evolve(block, text=block.text.append(_text(chunk.get("text"))))
        return attrs.evolve(
            block,
            id=chunk.get("id"),
            name=_text(chunk.get("name")) or block.name,
            arguments=block.arguments.append(_text(chunk.get("argumentsDelta"))),
        )

    def _closed(self, chunk: JsonObject) -> tuple[Assembly, JsonObject | None]:
        finished = chunk.get("block")
        kind = finished.get("type") if isinstance(finished, JsonObject) else None
        block = self._seen(chunk, kind)
        if block.done is not None:
            return self, None
        return self._with(attrs.evolve(block, done=finished)), finished


EMPTY_ASSEMBLY: Final = Assembly()


@attrs.frozen
class Assembled:
    """What a finished stream amounts to."""

    blocks: JsonArray
    usage: AnyJson
    finish: AnyJson

    def message_content(self) -> JsonArray:
        """The content the agent loop logs: without tool calls when cut at max-tokens."""
        if not isinstance(self.finish, JsonObject) or self.finish.get("kind") != "max-tokens":
            return self.blocks
        return json_array(block for block in self.blocks if not _is_call(block))


def _is_call(block: object) -> bool:
    return isinstance(block, JsonObject) and block.get("type") == "tool-call"


def assemble(chunks: Iterable[object]) -> Result[Assembled, Rejection]:
    """The blocks, usage and finish of a stream of chunks.

    Errors:  CHUNK_UNKNOWN with the index of the chunk; BLOCK_INCOMPLETE.
    """
    state = EMPTY_ASSEMBLY
    for index, chunk in enumerate(chunks):
        pushed = state.push(chunk)
        if isinstance(pushed, Failure):
            return Failure(pushed.failure().at(index=index))
        state, _ = pushed.unwrap()
    end = state
    return state.blocks().map(lambda blocks: Assembled(blocks, end.usage, end.finish))


def _text(value: AnyJson) -> str:
    return value if isinstance(value, str) else ""


def _index_text(index: AnyJson) -> str:
    return "undefined" if index is None else to_text(index)
