"""A recorded session as a script of model calls: what was asked, what came back, how it ended.

In here: which events make a call, and what a call amounts to. Not in here: who asks for the
next one, and whether what is asked is what was asked then; that is `replay`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.assembly import Assembled, assemble
from dsh_fp.core.call_spans import CallSpan, Purpose, call_spans, field_of
from dsh_fp.core.endings import Ending, named_twice, too_many_chunks
from dsh_fp.core.events import SessionHeader
from dsh_fp.core.lossless import (
    AnyJson,
    JsonArray,
    JsonObject,
    json_array,
    json_equal,
    json_object,
    to_text,
)
from dsh_fp.core.rejection import Rejection, payload_invalid
from dsh_fp.core.requests import PastRequest, inherited_length, past_requests
from dsh_fp.core.session import Session
from dsh_fp.core.streams import stream_of

_STOP: Final = json_object({"kind": "stop"})
_TOOL_CALLS: Final = json_object({"kind": "tool-calls"})


class Outcome(enum.StrEnum):
    """How a call ended. ANSWERED: its stream came to an end, whatever the finish says."""

    ANSWERED = "answered"
    THREW = "threw"
    NEVER_ENDED = "never-ended"


@attrs.frozen
class Answer:
    """What a model said; `finish` is None while the stream had not come to its end."""

    content: JsonArray
    usage: AnyJson = None
    finish: AnyJson = None


@attrs.frozen(eq=False, repr=False)
class ModelCall:
    """One call of the model, as the log has it.

    `past` is the request, None for a compaction: no log holds that one. `error` is what was
    thrown, as far as it is known.

    Units:   turn and step as the log gives them, step None for a compaction.
    Source:  docs/reference/replay.md.
    """

    turn: AnyJson
    step: AnyJson
    outcome: Outcome
    error: JsonObject | None
    past: PastRequest | None
    session: Session
    _span: CallSpan
    _ending: Ending | None
    _inherited: int

    @property
    def purpose(self) -> Purpose:
        """What the model was called for."""
        return self._span.purpose

    @property
    def seq(self) -> int:
        """The seq of the step/start, or of the event that began a retry or the compaction."""
        return self._span.seq

    @property
    def chunk_seqs(self) -> tuple[int, ...]:
        """The seqs of the chunks that were recorded as events of their own."""
        return self._span.chunk_seqs

    @property
    def message_seq(self) -> int | None:
        """The seq of the assistant/message or compact/summary; None when there is none."""
        return self._span.message_seq

    @property
    def cut_by(self) -> AnyJson:
        """The reason of the turn/end that came instead of an answer; None when none did."""
        is_cut = self.outcome is not Outcome.ANSWERED and self._ending is None
        return self._span.reason if is_cut and self.purpose is Purpose.STEP else None

    @property
    def inherited(self) -> bool:
        """Whether the call was made by the parent this session was forked from."""
        return self.seq < self._inherited

    @property
    def chunks_recorded(self) -> bool:
        """Whether the log holds the call's chunks; else they are made from its message."""
        return bool(self._recorded)

    @property
    def _recorded(self) -> Sequence[AnyJson]:
        """The recorded chunks: events of their own, or the stream of the message or attempt."""
        if self.chunk_seqs:
            return [self._chunk(seq) for seq in self.chunk_seqs]
        held_by = self._span.message_seq if self.message_seq is not None else self._span.attempt_seq
        if held_by is None:
            return ()
        stream = stream_of(self.session.events[held_by])
        return () if isinstance(stream, Failure) else [one.chunk for one in stream.unwrap()]

    @property
    def chunks(self) -> JsonArray:
        """The chunks the call gives before it ends. O(chunks): decoded each time.

        They are those recorded, in order; for a message logged without any, `message_chunks`.
        """
        ending = self._ending
        upto = None if ending is None else ending.after_chunks
        recorded = self._recorded
        if recorded:
            return json_array(recorded[:upto])
        if ending is not None and upto is None:
            return json_array(())
        return json_array(self.message_chunks[:upto])

    @property
    def message_chunks(self) -> JsonArray:
        """Chunks made from the message: a block-end for each block, then usage and finish.

        None at all when the call has no message.
        """
        message = self.message
        if message is None:
            return json_array(())
        made = [
            json_object({"type": "block-end", "index": index, "block": block})
            for index, block in enumerate(message)
        ]
        usage = self._message_data().get("usage")
        if isinstance(usage, JsonObject):
            made.append(json_object({"type": "usage", "usage": usage}))
        made.append(json_object({"type": "finish", "reason": self._likely_finish(message)}))
        return json_array(made)

    @property
    def assembled(self) -> Result[Assembled, Rejection]:
        """What the chunks amount to.

        Errors:  CHUNK_UNKNOWN, BLOCK_INCOMPLETE or NOT_JSON with the index of the chunk.
        """
        return assemble(self.chunks)

    @property
    def message(self) -> JsonArray | None:
        """The content that was logged; None when there is none, or it is no list.

        It counts: where a plugin changed the message, this is the changed one.
        """
        held: AnyJson = self._message_data()
        for key in self._content_path[:-1]:
            held = held.get(key)
            if not isinstance(held, JsonObject):
                return None
        content = held.get(self._content_path[-1])
        return content if isinstance(content, JsonArray) else None

    @property
    def agrees(self) -> bool | None:
        """Whether the recorded chunks amount to the message; None unless both are there."""
        message = self.message
        recorded = self._recorded
        if message is None or not recorded:
            return None
        made = assemble(recorded)
        if isinstance(made, Failure):
            return False
        content = made.unwrap().message_content()
        if self._message_data().get("interrupted") is True:
            content = json_array(filter(_says_something, content))
        return to_text(content) == to_text(message)

    @property
    def answer(self) -> Result[Answer, Rejection]:
        """What the model said: the logged message, else what its chunks amount to so far.

        Errors:  PAYLOAD_INVALID for a message whose content is no list; those of `assembled`.
        """
        if self.outcome is not Outcome.ANSWERED or self.message_seq is None:
            finish = self.finish
            return self.assembled.map(
                lambda made: Answer(made.message_content(), made.usage, finish)
            )
        message = self.message
        if message is None:
            path = ".".join(("$.data", *self._content_path))
            return Failure(payload_invalid(self.message_seq, path, "content list"))
        return Success(Answer(message, self.usage, self.finish))

    @property
    def usage(self) -> AnyJson:
        """The token counts: the message's, else the last the stream told; None if neither."""
        if self.outcome is Outcome.ANSWERED:
            usage = self._message_data().get("usage")
            if usage is not None:
                return usage
        return _last(self.chunks, "usage", "usage")

    @property
    def finish(self) -> AnyJson:
        """The finish reason the stream told. An answer without one: what its blocks suggest.

        None for a call that has no answer and told none.
        """
        told = _last(self.chunks, "finish", "reason")
        if told is not None or self.outcome is not Outcome.ANSWERED:
            return told
        return self._likely_finish(self.message or json_array(()))

    def _chunk(self, seq: int) -> AnyJson:
        return field_of(self.session.events[seq], "chunk")

    @property
    def _content_path(self) -> tuple[str, ...]:
        """Where in the payload the answer stands."""
        if self.purpose is Purpose.COMPACTION:
            # Later generations keep what the model said beside what was made of it.
            return ("rawOutput",) if "rawOutput" in self._message_data() else ("summary",)
        rule = self.session.vocabulary.rule("assistant/message").message
        within = None if rule is None else rule.within
        return ("content",) if within is None else (within, "content")

    def _message_data(self) -> JsonObject:
        if self.message_seq is None:
            return json_object(())
        data = self.session.events[self.message_seq].peek_data()
        return data if isinstance(data, JsonObject) else json_object(())

    def _likely_finish(self, message: JsonArray) -> JsonObject:
        if self.purpose is Purpose.STEP and _kind(self._span.reason) == "max-tokens":
            return json_object({"kind": "max-tokens"})
        is_call = any(isinstance(b, JsonObject) and b.get("type") == "tool-call" for b in message)
        return _TOOL_CALLS if is_call else _STOP

    @property
    def name(self) -> str:
        """The call in words, for a person: `turn 1, step 2 (seq 19)`."""
        turn = f"turn {_number(self.turn)}"
        if self.purpose is Purpose.COMPACTION:
            return f"compaction in {turn} (seq {self.seq})"
        return f"{turn}, step {_number(self.step)} (seq {self.seq})"

    def __repr__(self) -> str:
        return f"ModelCall({self.name}: {self.outcome.value})"


@attrs.frozen(eq=False, repr=False)
class Script:
    """The model calls of one session, in order of the log.

    `unused` are the endings that were given but name no call of it. `faults` say, in order of
    the endings, which name a call that another names too, or come after more chunks than the
    call gives: ENDING_INVALID with the line's number. Of several the first counts.
    """

    header: SessionHeader
    calls: tuple[ModelCall, ...]
    unused: tuple[Ending, ...] = ()
    faults: tuple[Rejection, ...] = ()
    steps: tuple[ModelCall, ...] = attrs.field(
        init=False, default=attrs.Factory(lambda self: self._made_for(Purpose.STEP), True)
    )
    compactions: tuple[ModelCall, ...] = attrs.field(
        init=False, default=attrs.Factory(lambda self: self._made_for(Purpose.COMPACTION), True)
    )

    def _made_for(self, purpose: Purpose) -> tuple[ModelCall, ...]:
        return tuple(call for call in self.calls if call.purpose is purpose)

    def of(self, purpose: Purpose) -> tuple[ModelCall, ...]:
        """The calls made for one purpose."""
        return self.steps if purpose is Purpose.STEP else self.compactions

    @property
    def own(self) -> Script:
        """The script without the calls that a fork inherited from its parent."""
        calls = tuple(call for call in self.calls if not call.inherited)
        if len(calls) == len(self.calls):
            return self
        return Script(self.header, calls, self.unused, self.faults)

    def __repr__(self) -> str:
        return f"Script({self.header.id!r}, {len(self.calls)} calls)"


def script_of(session: Session, endings: Iterable[Ending] = ()) -> Script:
    """The script of a recorded session: one entry for each call of the model.

    Of `endings` those count that name this session or none. O(events); payloads of chunks
    are decoded when asked for, and where an ending counts them.

    Law:     scripts_hold_every_call.
    Source:  docs/reference/replay.md.
    """
    if not isinstance(session, Session):
        raise TypeError(
            "script_of takes a Session; of a LogFile .session, of a Result first unwrap"
        )
    ours = [e for e in endings if e.session is None or e.session == session.header.id]
    waiting: dict[tuple[int | None, int | None, int | None], list[int]] = {}
    for place, told in enumerate(ours):
        waiting.setdefault((told.turn, told.step, told.seq), []).append(place)
    faults: dict[int, Rejection] = {}
    requests = {past.seq: past for past in past_requests(session)}
    inherited = inherited_length(session)
    calls: list[ModelCall] = []
    for span in call_spans(session):
        past = None if span.step_seq is None else requests.get(span.step_seq)
        turn, step = (span.turn, None) if past is None else (past.turn, past.step)
        places = waiting.pop((None, None, span.seq), [])
        if type(turn) is int and type(step) is int:
            places = sorted(places + waiting.pop((turn, step, None), []))
        outcome, error = _ended(session, span, step)
        call = ModelCall(turn, step, outcome, error, past, session, span, None, inherited)
        if places:
            ending = ours[places[0]]
            for place in places[1:]:
                faults[place] = named_twice(ending, ours[place], call.name)
            # Counted before the ending is the call's: what it gives then is cut to the number.
            if ending.after_chunks and ending.after_chunks > (most := len(call.chunks)):
                faults[places[0]] = too_many_chunks(ending, call.name, most)
            call = _ended_by(call, ending)
        calls.append(call)
    unused = [ours[place] for place in sorted(chain.from_iterable(waiting.values()))]
    return Script(
        session.header,
        tuple(calls),
        tuple(unused),
        tuple(faults[place] for place in sorted(faults)),
    )


def _ended_by(call: ModelCall, ending: Ending) -> ModelCall:
    """The call as a side file tells its end."""
    outcome = Outcome.NEVER_ENDED if ending.error is None else Outcome.THREW
    return attrs.evolve(call, outcome=outcome, error=ending.error, ending=ending)


def _ended(session: Session, span: CallSpan, step: AnyJson) -> tuple[Outcome, JsonObject | None]:
    """How a call ended, as far as the log tells, and what it threw."""
    if span.message_seq is not None:
        return Outcome.ANSWERED, None
    reason = span.reason
    if span.purpose is Purpose.COMPACTION:
        if reason is None:
            return Outcome.NEVER_ENDED, None
        return Outcome.THREW, _error_of(reason)
    if any(_kind(chunk, "type") == "finish" for chunk in _last_chunks(session, span)):
        return Outcome.ANSWERED, None
    if _kind(reason) == "error":
        if "error" in reason:  # later generations do not name the step: it was the last
            return Outcome.THREW, _error_of(reason["error"])
        if json_equal(reason.get("step"), step):
            return Outcome.THREW, _error_of(reason)
    return Outcome.NEVER_ENDED, None


def _last_chunks(session: Session, span: CallSpan) -> Iterator[AnyJson]:
    """The recorded chunks of a call without a message, the last one first."""
    for seq in reversed(span.chunk_seqs):
        yield field_of(session.events[seq], "chunk")
    if span.attempt_seq is not None:
        stream = stream_of(session.events[span.attempt_seq])
        if not isinstance(stream, Failure):
            yield from (one.chunk for one in reversed(stream.unwrap()))


def _says_something(block: AnyJson) -> bool:
    """Whether a block of a cancelled answer is kept: a text or a reasoning that is not blank."""
    text = block.get("text") if isinstance(block, JsonObject) else None
    said = isinstance(text, str) and text.strip() != ""
    return said and block.get("type") in ("text", "reasoning")


def _error_of(told: AnyJson) -> JsonObject:
    """What was thrown, as far as the log has it: `message` and `code`, never a name."""
    if isinstance(told, JsonObject) and isinstance(told.get("message"), str):
        return json_object({key: told[key] for key in ("message", "code") if key in told})
    return json_object({"message": told if isinstance(told, str) else to_text(told)})


def _kind(value: AnyJson, key: str = "kind") -> AnyJson:
    return value.get(key) if isinstance(value, JsonObject) else None


def _last(chunks: JsonArray, kind: str, key: str) -> AnyJson:
    """The field of the last chunk of a type; None when there is no such chunk."""
    for chunk in reversed(chunks):
        if _kind(chunk, "type") == kind:
            return chunk.get(key)
    return None


def _number(value: AnyJson) -> str:
    return str(value) if type(value) is int else "?"
