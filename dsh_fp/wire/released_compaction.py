"""The compaction calls of the released generations, rebuilt from their events.

Such a call sends the nodes that its summary will replace, as any request would, and behind
them an instruction that no log holds. Of a call that failed the log has only that it was made:
how many nodes it sent has to be told by the body.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from dsh_fp.core.events import Event, is_seq
from dsh_fp.core.header import request_parts
from dsh_fp.core.lossless import AnyJson, JsonObject, json_array, json_object
from dsh_fp.core.projection import message_of
from dsh_fp.core.rejection import Rejection, no_request_header, payload_invalid
from dsh_fp.core.session import Session
from dsh_fp.core.surface import Surface

SYSTEM_EVENT: Final = "system/message"
MAX_NODES: Final = 2**16
"""How many nodes a summary may name: more may only name one many times."""


@attrs.frozen(eq=False)
class ReleasedCompaction:
    """One call of a compaction, as far as the log tells.

    `fault` says why nothing of its body is known. With `is_open` the call failed, and `nodes`
    are all that it may have sent.

    Units:   seq is that of the compaction/start, or of a summary that stands without one; cut
             the first seq that came too late for it.
    Source:  docs/reference/wire.md, "A compaction's call".
    """

    turn: AnyJson
    seq: int
    cut: int
    header_count: int
    summary_seq: int | None
    head: tuple[int, ...]
    nodes: tuple[int, ...]
    is_open: bool
    fault: Rejection | None
    _header: JsonObject | None = attrs.field(repr=False, alias="header")
    _session: Session = attrs.field(repr=False, alias="session")

    def request(self, given: Mapping[str, AnyJson]) -> tuple[JsonObject, tuple[int | None, ...]]:
        """The request that was sent, and the event behind each of its messages.

        `given` has `instruction` and, for an open one, `nodes`: how many of them were sent.
        """
        session = self._session
        assert self._header is not None  # or there would be a fault
        parts: dict[str, AnyJson] = dict(request_parts(self._header, session.vocabulary.form))
        parts.pop("maxTokens", None)
        if self.summary_seq is not None:
            summary = session.events[self.summary_seq].data
            parts |= {key: summary[key] for key in ("model", "maxTokens") if key in summary}
        messages: list[AnyJson] = []
        makers: list[int | None] = []
        for seq in (*self.head, *self.nodes[: given.get("nodes", len(self.nodes))]):
            rule = session.vocabulary.rule(session.events[seq].type).message
            message = None if rule is None else message_of(session.events[seq], rule)
            if isinstance(message, JsonObject):
                messages.append(message)
                makers.append(seq)
        text = json_object({"type": "text", "text": given.get("instruction", "")})
        asked = {"role": "user", "content": json_array((text,))}
        parts["messages"] = json_array((*messages, json_object(asked)))
        return json_object(parts), (*makers, None)

    @property
    def model(self) -> AnyJson:
        """The model that was asked, as far as the log holds it."""
        return self.request({})[0].get("model")

    @property
    def names_max_tokens(self) -> bool:
        """Whether the log holds how long the summary may be."""
        if self.summary_seq is None:
            return False
        return "maxTokens" in self._session.events[self.summary_seq].data


def released_compactions(session: Session) -> tuple[ReleasedCompaction, ...]:
    """The calls of compactions of a released generation, in order of the log."""
    found: list[ReleasedCompaction] = []
    begun: Event | None = None
    if not session.vocabulary.knows("compaction/start"):
        return ()
    for event in session.events:
        match event.type:
            case "compaction/start":
                if begun is not None:
                    found.append(_failed(session, begun))
                begun = event
            case "compaction/summary":
                found.append(_summarized(session, begun or event, event))
                begun = None
            case "compaction/end":
                if begun is not None and _has_error(event):
                    found.append(_failed(session, begun))
                begun = None
            case _:
                pass
    if begun is not None:
        found.append(_failed(session, begun))
    return tuple(found)


def _has_error(event: Event) -> bool:
    """Whether a compaction/end says that it failed; one that did not had nothing to send."""
    data = event.peek_data()
    return isinstance(data, JsonObject) and data.get("error") is not None


def _failed(session: Session, begun: Event) -> ReleasedCompaction:
    surface = session.epoch_at(begun.seq).surface.before(begun.seq)
    head = _head_of(session, surface)
    return _made(session, begun, None, head, surface.seqs[len(head) :], None)


def _summarized(session: Session, begun: Event, summary: Event) -> ReleasedCompaction:
    data = summary.data
    seqs = data.get("shadowedSeqs") if isinstance(data, JsonObject) else None
    path = "$.data.shadowedSeqs"
    fault: Rejection | None = None
    if not isinstance(data, JsonObject):
        fault = payload_invalid(summary.seq, "$.data", "object of fields")
    elif not isinstance(seqs, tuple) or not all(is_seq(seq) and seq < summary.seq for seq in seqs):
        fault = payload_invalid(summary.seq, path, "list of earlier seqs")
    elif len(seqs) > MAX_NODES:
        fault = payload_invalid(summary.seq, path, f"list of at most {MAX_NODES} seqs")
    nodes = seqs if fault is None and isinstance(seqs, tuple) else ()
    head = _head_of(session, session.epoch_at(summary.seq).surface.before(summary.seq))
    return _made(session, begun, summary.seq, head, nodes, fault)


def _head_of(session: Session, surface: Surface) -> tuple[int, ...]:
    """The system's node, where a surface begins with it."""
    is_headed = len(surface) and session.events[surface[0]].type == SYSTEM_EVENT
    return (surface[0],) if is_headed else ()


def _made(  # noqa: PLR0917  # the parts of one record
    session: Session,
    begun: Event,
    summary_seq: int | None,
    head: tuple[int, ...],
    nodes: tuple[int, ...],
    fault: Rejection | None,
) -> ReleasedCompaction:
    cut = begun.seq if summary_seq is None else summary_seq
    count = session.history.header_seqs.bisect(cut)
    header = session.history.header_after(count, session.events, session.vocabulary.form)
    if fault is None and not isinstance(header, JsonObject):
        fault = header if isinstance(header, Rejection) else no_request_header(begun.seq)
    for seq in () if fault is not None else (*head, *nodes):
        rule = session.vocabulary.rule(session.events[seq].type).message
        message = None if rule is None else message_of(session.events[seq], rule)
        if isinstance(message, Rejection):
            fault = message
            break
    data = begun.peek_data()
    return ReleasedCompaction(
        turn=data.get("turn") if isinstance(data, JsonObject) else None,
        seq=begun.seq,
        cut=cut,
        header_count=count,
        summary_seq=summary_seq,
        head=head,
        nodes=nodes,
        is_open=summary_seq is None,
        fault=fault,
        header=header if isinstance(header, JsonObject) else None,
        session=session,
    )
