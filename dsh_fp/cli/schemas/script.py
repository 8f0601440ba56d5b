"""What `dsh-fp script --json` prints."""

from __future__ import annotations

from dsh_fp.cli.schemas.parts import (
    REFUSED,
    Schema,
    anything,
    constant,
    count,
    document,
    flag,
    form,
    listed,
    maybe,
    one_of,
    record,
    ref,
    text,
)
from dsh_fp.core.call_spans import Purpose
from dsh_fp.core.script import Outcome


def schema() -> Schema:
    """The schema."""
    chunks = listed(anything(), "What the call gives before it ends; only with --chunks.")
    call = {
        "turn": anything("As the log gives it; a number where nesting is sound."),
        "step": anything("As the log gives it; null for a compaction."),
        "seq": ref("seq", "The step/start, or the event that began the compaction."),
        "purpose": one_of(Purpose),
        "inherited": flag("Whether the parent of this session made the call."),
        "outcome": one_of(Outcome),
        "error": maybe(ref("thrown"), "What was thrown, as far as it is known."),
        "cut_by": anything("The reason of the turn/end that came instead of an answer, or null."),
        "message_seq": maybe(ref("seq"), "The message that was logged; null when none was."),
        "chunk_count": count(),
        "chunks_recorded": flag("Whether the log holds the chunks, or they come of the message."),
        "chunks": maybe(chunks),
        "agrees": maybe(flag(), "Whether the chunks amount to the message; null unless both are."),
    }
    told = {
        "content": listed(anything(), "Blocks, as they were said."),
        "usage": anything("Token counts as they were told, or null."),
        "finish": anything("The finish reason as it was told, or null."),
        "fault": constant(None),
    }
    untold = {
        **{key: constant(None) for key in ("content", "usage", "finish")},
        "fault": ref("fault", "Why the answer cannot be told."),
    }
    calls = listed({"anyOf": [ref("call_told"), ref("call_untold")]}, "In order of the log.")
    return document(
        "script",
        "The model calls of a log: what was said, and how each call ended.",
        form("answer", {"session": ref("session"), "calls": calls}),
        form("the endings are refused", {"session": ref("session"), "error": ref("fault")}),
        REFUSED,
        call_told=record({**call, **told}),
        call_untold=record({**call, **untold}),
        thrown=record({"message": text()}, {"name": text(), "code": anything()}),
    )
