"""Every past request of a session, rebuilt from the log alone."""

from __future__ import annotations

from bisect import bisect_left

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.chains import Chains, RequestDigests
from dsh_fp.core.header import HeaderInForce, request_parts
from dsh_fp.core.history import Epoch
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, json_object, to_text
from dsh_fp.core.nesting import inherited_length as marked_length
from dsh_fp.core.projection import Projected, message_of
from dsh_fp.core.rejection import Rejection, no_request_header
from dsh_fp.core.session import Session
from dsh_fp.core.surface import EMPTY_SURFACE
from dsh_fp.core.vocabulary import Form


class _Past:
    """What past requests of a session were made of, each part made once for those that share it.

    Between two replacements the surface only grows, so every request between them takes a
    prefix of one list. Only what was asked for last is kept: requests are asked in order.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._made: dict[int, Projected] = {}
        self._epoch = Epoch(EMPTY_SURFACE, since=0, until=0)  # right for no length
        self._seqs: tuple[int, ...] = ()
        self._messages: list[JsonObject] = []
        self._upto: list[int] = []  # how many messages the first k + 1 nodes make
        self._fault: tuple[int, Rejection] | None = None  # the first, with its node's index
        self._header: tuple[int, HeaderInForce] = (0, None)

    @property
    def form(self) -> Form:
        """The form of the session's generation."""
        return self._session.vocabulary.form

    def messages(self, seq: int) -> JsonArray | Rejection:
        """The messages of the surface just before an event, or the first fault among them."""
        epoch = self._epoch
        if not (epoch.since < seq and (epoch.until is None or seq <= epoch.until)):
            self._epoch = epoch = self._session.epoch_at(seq)
            self._turn_to(epoch.surface.seqs)
        size = bisect_left(self._seqs, seq, lo=epoch.surface.settled)
        if self._fault is not None and self._fault[0] < size:
            return self._fault[1]
        return json_array(self._messages[: self._upto[size - 1]] if size else ())

    def header(self, count: int) -> HeaderInForce:
        """What was in force after the first `count` header events."""
        if self._header[0] != count:
            session = self._session
            header = session.history.header_after(count, session.events, session.vocabulary.form)
            self._header = (count, header)
        return self._header[1]

    def _turn_to(self, seqs: tuple[int, ...]) -> None:
        session, made = self._session, self._made
        self._seqs, self._messages, self._upto, self._fault = seqs, [], [], None
        for place, seq in enumerate(seqs):
            if seq in made:
                message = made[seq]
            else:
                event = session.events[seq]
                rule = session.vocabulary.rule(event.type).message
                message = made[seq] = None if rule is None else message_of(event, rule)
            if isinstance(message, Rejection):
                self._fault = self._fault or (place, message)
            elif message is not None:
                self._messages.append(message)
            self._upto.append(len(self._messages))


@attrs.frozen(eq=False, repr=False)
class PastRequest:
    """What one step sent to the model.

    When the log cannot tell, `fault` says why and the parts that are not known are None.

    Units:   turn and step as the step/start gives them; seq is that event's.
    Source:  docs/reference/requests.md.
    """

    turn: AnyJson
    step: AnyJson
    seq: int
    cut: int  # what was logged before this seq is what its messages derive from
    header_count: int  # how many header events stood before the step's first output
    _past: _Past
    _chains: Chains

    @property
    def header(self) -> JsonObject | None:
        """The request header in force, canonical; None when there is none to speak of."""
        header = self._past.header(self.header_count)
        return None if isinstance(header, Rejection) else header

    @property
    def messages(self) -> JsonArray | None:
        """The header's message prefix, then what the model saw just before the step began."""
        sent = self._sent()
        return None if isinstance(sent, Rejection) else sent

    @property
    def fault(self) -> Rejection | None:
        """Why this step's request is not known; None when it is."""
        sent = self._sent()
        return sent if isinstance(sent, Rejection) else None

    @property
    def request(self) -> Result[JsonObject, Rejection]:
        """The request as one JSON object: model and options, system, tools, messages.

        Errors:  NO_REQUEST_HEADER, a header fault, or PAYLOAD_INVALID.
        """
        sent = self._sent()
        if isinstance(sent, Rejection):
            return Failure(sent)
        header = self.header
        assert header is not None  # or there would be a fault
        parts = request_parts(header, self._past.form)
        return Success(json_object({**parts, "messages": sent}))

    def to_json(self) -> str | None:
        """The request's JSON text, or None when it is not known."""
        request = self.request
        return None if isinstance(request, Failure) else to_text(request.unwrap())

    @property
    def digests(self) -> RequestDigests | None:
        """The request's digests, or None when it is not known. The request is not expanded.

        Asked for in order of the log, those of all requests cost one pass.

        Law:     equal_digests_mean_equal_texts.
        """
        return self._chains.digests(self.cut, self.header_count)

    def _sent(self) -> JsonArray | Rejection:
        header = self._past.header(self.header_count)
        if header is None:
            return no_request_header(self.seq)
        if isinstance(header, Rejection):
            return header
        derived = self._past.messages(self.cut)
        if isinstance(derived, Rejection) or "messagePrefix" not in header:
            return derived
        return json_array((*header["messagePrefix"], *derived))

    def __repr__(self) -> str:
        return f"PastRequest(turn={self.turn!r}, step={self.step!r}, seq={self.seq})"


def past_requests(session: Session) -> tuple[PastRequest, ...]:
    """The request of every step/start, in order of the log.

    Its messages are the surface just before that event; its header is what was in force
    when the step's first output was logged, or is now if there is none.

    Law:     requests_match_refolded_prefixes.
    Source:  docs/reference/requests.md.
    """
    if not isinstance(session, Session):
        raise TypeError("past_requests takes a Session; a LogFile has one as .session")
    of = session, _Past(session), Chains(session)
    header_seqs = list(session.history.header_seqs)
    form = session.vocabulary.form
    outputs = form.outputs
    waiting: list[int] = []
    requests: list[PastRequest] = []
    for seq, event in enumerate(session.events):
        kind = event.type
        if kind == "step/start":
            waiting.append(seq)
        elif (
            waiting
            and (kind in outputs or kind.startswith(("assistant/", "tool/")))
            and not (form.sent_at_output and kind == "tool/result" and not event.appends)
        ):  # a result that replaces another was shortened; nothing came out of the step yet
            headers = bisect_left(header_seqs, seq)
            requests += [_request(of, start, seq, headers) for start in waiting]
            waiting = []
    end = len(session.events)
    requests += [_request(of, start, end, len(header_seqs)) for start in waiting]
    return tuple(requests)


def _request(
    of: tuple[Session, _Past, Chains], start: int, output: int, headers: int
) -> PastRequest:
    session, past, chains = of
    data = session.events[start].peek_data()
    fields = data if isinstance(data, JsonObject) else {}
    cut = output if session.vocabulary.form.sent_at_output else start
    turn, step = fields.get("turn"), fields.get("step")
    return PastRequest(turn, step, start, cut, headers, past, chains)


def inherited_length(session: Session) -> int:
    """How many events a session inherited from the one it was forked from.

    The header says so or, in later generations, the last event that marks their end.
    """
    if session.vocabulary.form.inherited_by == "seedLength":
        return session.header.seed_length or 0
    return marked_length(session.events.parts()) or 0
