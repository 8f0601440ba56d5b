"""What a log tells of a request beside the request: how its route takes systems and tools."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from dsh_fp.core.events import Event
from dsh_fp.core.header import fold_header_event
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array
from dsh_fp.core.session import Session
from dsh_fp.wire.messages_api import Series, Setting, ToolUpdates

_STARTS = frozenset({"initial", "series"})


class Settings:
    """The settings of a session's requests, over one pass of its events."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._contexts: list[int] = []
        self._in_history: list[bool] = []
        self.has_updates = False
        """Whether any developer message changes tools, so that routes may differ."""
        for event in session.events:
            if event.type == "request/context":
                data = event.peek_data()
                update = data.get("systemPromptUpdate") if isinstance(data, JsonObject) else None
                self._contexts.append(event.seq)
                self._in_history.append(update == "in-history")
            elif event.type == "developer/message":
                self.has_updates = True
        # After so many header events: the one that began the series in force.
        self._started: list[int] = []
        for seq in session.history.header_seqs:
            begins = not self._started or _begins(session.events[seq])
            self._started.append(seq if begins else self._started[-1])
        self._first_tools: dict[int, JsonArray] = {}

    def of(
        self, cut: int, header_count: int, makers: Sequence[int], updates: ToolUpdates
    ) -> Setting:
        """The setting of a request that holds what was logged before `cut`.

        Shapes:  makers has the seq of the event behind each message of the request.
        """
        at = bisect_left(self._contexts, cut)
        in_history = bool(at) and self._in_history[at - 1]
        if updates == "none" or not header_count:
            return Setting(in_history)
        start = self._started[header_count - 1]
        changed: dict[int, Mapping[str, AnyJson]] = {}
        for place, seq in enumerate(makers):
            event = self._session.events[seq]
            if event.type == "developer/message" and seq > start:
                changed[place] = self._added(event)
        series = Series(self._tools_at(start), MappingProxyType(changed))
        return Setting(in_history, updates, series)

    def _tools_at(self, seq: int) -> JsonArray:
        """The tools that a header event put in force."""
        if seq not in self._first_tools:
            form = self._session.vocabulary.form
            header = fold_header_event(None, self._session.events[seq], form)
            listed = header.get("tools") if isinstance(header, JsonObject) else None
            self._first_tools[seq] = listed if isinstance(listed, JsonArray) else json_array(())
        return self._first_tools[seq]

    def _added(self, event: Event) -> Mapping[str, AnyJson]:
        """The definitions that a developer message adds tools by, from the header it names."""
        data = event.data
        seq = data.get("headerSeq") if isinstance(data, JsonObject) else None
        seqs = self._session.history.header_seqs
        if type(seq) is not int or seq >= event.seq:
            return MappingProxyType({})
        at = seqs.bisect(seq)
        if at == len(seqs) or seqs[at] != seq:
            return MappingProxyType({})
        return MappingProxyType({tool["name"]: tool for tool in self._tools_at(seq)})


def _begins(event: Event) -> bool:
    """Whether a header event begins a series of requests."""
    data = event.peek_data()
    if not isinstance(data, JsonObject):
        return False
    return data.get("startsSeries") is True or data.get("reason") in _STARTS
