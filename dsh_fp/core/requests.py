"""Every past request of a session, rebuilt from the log alone."""

from __future__ import annotations

from typing import Any, Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.header import HeaderInForce
from dsh_fp.core.lossless import JsonArray, JsonObject, json_array, json_object, to_text
from dsh_fp.core.projection import Projected, message_of
from dsh_fp.core.rejection import Rejection, no_request_header
from dsh_fp.core.session import Session
from dsh_fp.core.surface import Surface

_CONFIG_KEYS: Final = ("model", "temperature", "maxTokens", "stop")


class _Messages:
    """Messages of surface prefixes, computed once for all requests between two replacements.

    A cache of the pass that made it: requests asked in order share one list, each takes the
    prefix of it that its step saw.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._made: dict[int, Projected] = {}
        self._generation = -1
        self._messages: list[Any] = []
        self._upto: list[int] = []  # how many messages the first k + 1 nodes make
        self._faults: list[tuple[int, Rejection]] = []  # node counts at which a fault comes in

    def of(self, surface: Surface) -> JsonArray | Rejection:
        """The messages of a surface of the session, or the first fault among its nodes."""
        if surface.generation != self._generation or len(surface) < len(self._upto):
            self._generation = surface.generation
            self._messages, self._upto, self._faults = [], [], []
        size = len(surface)
        if len(self._upto) < size:
            self._grow(surface.seqs[len(self._upto) :])
        if self._faults and self._faults[0][0] < size:
            return self._faults[0][1]
        return json_array(self._messages[: self._upto[size - 1]] if size else ())

    def _grow(self, seqs: tuple[int, ...]) -> None:
        events, vocabulary = self._session.events, self._session.vocabulary
        for seq in seqs:
            if seq in self._made:
                message = self._made[seq]
            else:
                event = events[seq]
                rule = vocabulary.rule(event.type).message
                message = None if rule is None else message_of(event, rule)
                self._made[seq] = message
            if isinstance(message, Rejection):
                self._faults.append((len(self._upto), message))
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

    turn: Any
    step: Any
    seq: int
    _header: HeaderInForce
    _surface: Surface
    _source: _Messages

    @property
    def header(self) -> JsonObject | None:
        """The request header in force, canonical; None when there is none to speak of."""
        return None if isinstance(self._header, Rejection) else self._header

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
        header = self._header
        assert isinstance(header, JsonObject)
        config = header["config"]
        parts = {key: config[key] for key in _CONFIG_KEYS if key in config}
        for key in ("system", "tools"):
            if key in header:
                parts[key] = header[key]
        parts["messages"] = sent
        return Success(json_object(parts))

    def to_json(self) -> str | None:
        """The request's JSON text, or None when it is not known."""
        request = self.request
        return None if isinstance(request, Failure) else to_text(request.unwrap())

    def _sent(self) -> JsonArray | Rejection:
        header = self._header
        if header is None:
            return no_request_header(self.seq)
        if isinstance(header, Rejection):
            return header
        derived = self._source.of(self._surface)
        if isinstance(derived, Rejection) or "messagePrefix" not in header:
            return derived
        return json_array((*header["messagePrefix"], *derived))

    def __repr__(self) -> str:
        return f"PastRequest(turn={self.turn}, step={self.step}, seq={self.seq})"


def past_requests(session: Session) -> tuple[PastRequest, ...]:
    """The request of every step/start, in order of the log.

    Its messages are the surface just before that event; its header is what was in force
    when the step's first output was logged, or is now if there is none.

    Law:     requests_match_refolded_prefixes.
    Source:  docs/reference/requests.md.
    """
    source = _Messages(session)
    waiting: list[int] = []
    requests: list[PastRequest] = []
    for seq, event in enumerate(session.events):
        kind = event.type
        if kind == "step/start":
            waiting.append(seq)
        elif waiting and (kind == "step/end" or kind.startswith(("assistant/", "tool/"))):
            requests += [_request(session, source, start, seq) for start in waiting]
            waiting = []
    requests += [_request(session, source, start, len(session)) for start in waiting]
    return tuple(requests)


def _request(session: Session, source: _Messages, start: int, output: int) -> PastRequest:
    data = session.events[start].peek_data()
    fields = data if isinstance(data, JsonObject) else {}
    history, surface = session.history, session.state.surface
    return PastRequest(
        fields.get("turn"),
        fields.get("step"),
        start,
        session.state_at(output).header if output < len(session) else session.state.header,
        history.surface_at(start, surface),
        source,
    )
