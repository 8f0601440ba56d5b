"""The calls of the compaction plugin, rebuilt from its events and the nodes they name.

Such a call is no step: it sends a transcript of the nodes that the summary will replace, under
a system text of the plugin's own, which no log holds. Of a call that failed the log has only
that it was made.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import attrs

from dsh_fp.core.events import Event, is_seq
from dsh_fp.core.json_paths import Step
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, json_object
from dsh_fp.core.rejection import Rejection, payload_invalid
from dsh_fp.core.session import Session
from dsh_fp.wire.bodies import SYSTEM, WireBody, picked
from dsh_fp.wire.chat_completions import OPTIONS, STREAM
from dsh_fp.wire.javascript import is_truthy, printed

OPENING: Final = "Summarize this conversation history:"
CLOSING: Final = "Summary:"
GAP: Final = "\n\n"
_MOST_MESSAGES: Final = 2

MAX_TRANSCRIPT: Final = 2**26
"""How long a transcript may be, in characters: a summary may name one long node many times."""

_CARRIED: Final = MappingProxyType({"model": "model", "max_tokens": "maxTokens"})


@attrs.frozen(eq=False)
class Compaction:
    """One call of the compaction plugin, as far as the log tells.

    `fault` says why its body is not known: it failed, so that no event names its nodes, or the
    summary's payload has not the shape it needs.

    Units:   seq is that of the compact/start, or of a summary that stands without one.
    Source:  docs/reference/wire.md, "A compaction's call".
    """

    turn: AnyJson
    seq: int
    summary_seq: int | None
    fault: Rejection | None
    _session: Session = attrs.field(repr=False)

    def encode(self, system: str, options: Mapping[str, AnyJson]) -> CompactionBody:
        """The body, given what no log holds: the plugin's system text, the adapter's options.

        Costs the nodes it names; only asked for where there is no fault.
        """
        assert self.summary_seq is not None
        data = self._session.events[self.summary_seq].data
        text, starts, seqs = _transcript(self._session, data)
        messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
        parts: dict[str, AnyJson] = picked(data, {"model": "model"})
        parts["messages"] = json_array(map(json_object, messages))
        parts |= STREAM
        parts |= {key: options[key] for key in OPTIONS if key in options}
        parts |= picked(data, {"max_tokens": "maxTokens"})
        wire = WireBody(json_object(parts), (SYSTEM, 0), _CARRIED)
        return CompactionBody(wire, self.summary_seq, starts, seqs)


@attrs.frozen(eq=False)
class CompactionBody:
    """The body of a compaction's call, and which event each part of it comes from.

    Units:   starts are places in the text of the second message, where the entry of the event
             with the seq beside it begins; None is the plugin's own words.
    """

    wire: WireBody
    summary_seq: int
    starts: tuple[int, ...]
    seqs: tuple[int | None, ...]

    def event_at(self, steps: tuple[Step, ...], offset: int | None) -> int | None:
        """The event behind what stands at a path, and at a character of the transcript."""
        match steps:
            case ("messages", 1, "content") if offset is not None:
                return self.seqs[bisect_right(self.starts, offset) - 1]
            case ("model",) | ("max_tokens",):
                return self.summary_seq
            case _:
                return None


def compactions(session: Session) -> tuple[Compaction, ...]:
    """The calls of the compaction plugin, in order of the log.

    A compact/start that no summary and no end follows was cut; its call may not have been sent.
    """
    if not isinstance(session, Session):
        raise TypeError("compactions are those of a Session; a LogFile has one as .session")
    found: list[Compaction] = []
    begun: Event | None = None
    if not session.vocabulary.knows("compact/start"):
        return ()
    for event in session.events:
        match event.type:
            case "compact/start":
                if begun is not None:
                    found.append(_failed(session, begun, None))
                begun = event
            case "compact/summary":
                found.append(_summarized(session, begun, event))
                begun = None
            case "compact/end":
                if begun is not None:
                    found.append(_failed(session, begun, event))
                begun = None
            case _:
                pass
    if begun is not None:
        found.append(_failed(session, begun, None))
    return tuple(found)


def is_compaction(body: AnyJson) -> bool:
    """Whether a captured body has the shape of a compaction's call.

    That is: no tools, and after a system message at most, one message of a user that begins
    and ends with the plugin's words.
    """
    if not isinstance(body, JsonObject) or "tools" in body:
        return False
    messages = body.get("messages")
    if not isinstance(messages, JsonArray) or len(messages) > _MOST_MESSAGES:
        return False
    asked = messages[1:] if messages and _role(messages[0]) == "system" else messages
    if len(asked) != 1 or _role(asked[0]) != "user":
        return False
    text = asked[0].get("content")
    return isinstance(text, str) and text.startswith(OPENING + GAP) and text.endswith(GAP + CLOSING)


def system_of(body: JsonObject) -> str | None:
    """The system text of a captured body, where it has one."""
    messages = body.get("messages")
    if not isinstance(messages, tuple) or not messages or _role(messages[0]) != "system":
        return None
    text = messages[0].get("content")
    return text if isinstance(text, str) else None


def _role(message: AnyJson) -> AnyJson:
    return message.get("role") if isinstance(message, JsonObject) else None


def _failed(session: Session, begun: Event, end: Event | None) -> Compaction:
    seq = begun.seq if end is None else end.seq
    fault = payload_invalid(seq, "$.data", "nodes: the compaction has no summary, so none is named")
    return Compaction(_turn_of(begun), begun.seq, None, fault, session)


def _summarized(session: Session, begun: Event | None, summary: Event) -> Compaction:
    at = summary if begun is None else begun
    return Compaction(_turn_of(at), at.seq, summary.seq, _fault_of(session, summary), session)


def _turn_of(event: Event) -> AnyJson:
    data = event.peek_data()
    return data.get("turn") if isinstance(data, JsonObject) else None


def _fault_of(session: Session, summary: Event) -> Rejection | None:
    """Why a summary does not tell what was sent."""
    data = summary.data
    if not isinstance(data, JsonObject):
        return payload_invalid(summary.seq, "$.data", "object of fields")
    seqs = data.get("shadowedSeqs")
    path = "$.data.shadowedSeqs"
    if not isinstance(seqs, tuple) or not all(is_seq(seq) and seq < summary.seq for seq in seqs):
        return payload_invalid(summary.seq, path, "list of earlier seqs")
    # Told by the lines of the file, before any text is put together.
    size, sizes = 0, dict[int, int]()
    for seq in seqs:
        if seq not in sizes:
            line = session.events[seq].line
            sizes[seq] = len(session.events[seq].to_text() if line is None else line)
        size += sizes[seq]
        if size > MAX_TRANSCRIPT:
            return payload_invalid(summary.seq, path, f"nodes of at most {MAX_TRANSCRIPT} bytes")
    return None


# ---- the transcript --------------------------------------------------------------------------


def _transcript(
    session: Session, summary: JsonObject
) -> tuple[str, tuple[int, ...], tuple[int | None, ...]]:
    """The text that is sent, where each entry begins in it, and the event of each."""
    pieces: list[str] = []
    starts: list[int] = []
    seqs: list[int | None] = []
    length = 0
    for text, seq in _entries(session, summary["shadowedSeqs"]):
        starts.append(length)
        seqs.append(seq)
        piece = (GAP if pieces else "") + text
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces), tuple(starts), tuple(seqs)


def _entries(session: Session, seqs: Iterable[int]) -> Iterator[tuple[str, int | None]]:
    yield OPENING, None
    for seq in seqs:
        entry = transcript_entry(session.events[seq])
        if entry is not None:
            yield entry, seq
    yield CLOSING, None


def transcript_entry(event: Event) -> str | None:
    """What an event is in a transcript; None where it says nothing."""
    form = _FORMS.get(event.type)
    data = event.data
    if form is None or not isinstance(data, JsonObject):
        return None
    text = content_text(data.get("content"))
    return form(data, text) if text else None


def _tool_result(data: JsonObject, text: str) -> str:
    what = "error" if is_truthy(data.get("isError")) else "result"
    return f"Tool {what} ({printed(data, 'callId')}): {text}"


_FORMS: Final[Mapping[str, Callable[[JsonObject, str], str]]] = MappingProxyType(
    {
        "user/message": lambda data, text: f"User: {text}",
        "assistant/message": lambda data, text: f"Assistant: {text}",
        "tool/result": _tool_result,
        "context/message": lambda data, text: f"[Context: {text}]",
        "steering/message": lambda data, text: f"[Steering: {text}]",
    }
)


def content_text(content: AnyJson) -> str:
    """The text of a content list in a transcript: one line a block, those without text left out.

    Results inside results are written inside one another, without recursion.
    """
    lines: list[str] = []
    # Of each list being written: what is left of it, and where its own opening stands in lines.
    stack: list[tuple[Iterator[AnyJson], int]] = [(_members(content), -1)]
    first = True  # whether nothing of the list at hand was written yet
    while stack:
        members, opened = stack[-1]
        block = next(members, stack)  # the stack itself stands for the end
        if block is stack:
            stack.pop()
            if opened >= 0:
                lines[opened] += "" if first else ": "
                lines.append("]")
                first = False
            continue
        if not isinstance(block, JsonObject):
            continue
        if block.get("type") == "tool-result":
            lines.append(("" if first else "\n") + "[tool-result")
            stack.append((_members(block.get("content")), len(lines) - 1))
            first = True
            continue
        line = _line(block)
        if line:
            lines.append(("" if first else "\n") + line)
            first = False
    return "".join(lines)


def _members(content: AnyJson) -> Iterator[AnyJson]:
    if isinstance(content, str):
        return iter((json_object({"type": "text", "text": content}),))
    return iter(content if isinstance(content, tuple) else ())


def _line(block: JsonObject) -> str:
    match block.get("type"):
        case "text":
            return printed(block, "text") if block.get("text") is not None else ""
        case "reasoning":
            text = printed(block, "text") if block.get("text") is not None else ""
            return f"[reasoning: {text}]" if text else ""
        case "tool-call":
            return f"[tool-call: {printed(block, 'name')}({printed(block, 'arguments')})]"
        case _:
            return f"[{printed(block, 'type')}]"
