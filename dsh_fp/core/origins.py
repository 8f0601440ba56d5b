"""Which event put each part of a past request there, and which event took a node away.

A snapshot puts every part it holds; a delta the parts it carries. A message comes from the
event whose message it is; those of the prefix from the header event that put it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs
from pyrsistent import PMap, pmap

from dsh_fp.core.events import Event
from dsh_fp.core.header import DELTA, HeaderInForce, fold_header_event
from dsh_fp.core.json_paths import Step, leading_steps
from dsh_fp.core.lossless import AnyJson, JsonObject, text_of
from dsh_fp.core.projection import message_of
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.requests import PastRequest
from dsh_fp.core.session import Session
from dsh_fp.core.surface import fold_surface

CONFIG_PARTS: Final = ("model", "temperature", "maxTokens", "stop")
PARTS: Final = (*CONFIG_PARTS, "system", "tools", "messagePrefix")
"""The parts of a July request that a header event puts there, in the request's order.

In the released generations all that a header's config holds is a part of its own.
"""

_LISTED: Final = ("system", "tools", "messagePrefix")
_NOT_OF_HEADERS: Final = ("messages",)
_ABSENT: Final = object()
_NO_SEQS: Final[PMap[str, int]] = pmap()


@attrs.frozen
class _Settled:
    """Which header events settled what is in force after one of them, absent parts too."""

    parts: PMap[str, int]
    others: int  # of a part that is not among them
    tool: PMap[str, int]  # by name
    gone: PMap[str, int] = _NO_SEQS  # by name, of tools that were taken away

    def settled(self, part: str) -> int:
        """The header event that settled a part."""
        return self.parts.get(part, self.others)


@attrs.frozen
class _InForce:
    """Who put what is in force there, and who changed it last: a snapshot may only repeat it."""

    put: _Settled
    changed: _Settled


class Origins:
    """Where the parts of one past request come from, each as the seq of an event.

    Where the header in force is a fault or none, there are no parts, tools and messages;
    where a message cannot be made, there are no messages.

    Source:  docs/reference/differences.md, "Origins".
    """

    def __init__(
        self, session_origins: SessionOrigins, past: PastRequest, in_force: _InForce | None
    ) -> None:
        self._session = session_origins
        self.past = past
        self._in_force = in_force
        self._messages: tuple[int, ...] | None = None
        self._header: JsonObject | None = None if in_force is None else past.header

    @property
    def session(self) -> Session:
        """The session that the request is of."""
        return self._session.session

    @property
    def messages(self) -> tuple[int, ...]:
        """The event behind each message that was sent, the prefix first.

        Made when first asked for, in O(m).
        """
        if self._messages is None:
            nodes = None if self._in_force is None else self._session.nodes_before(self.past.cut)
            prefix = () if nodes is None else (self._put("messagePrefix"),) * self.prefix
            self._messages = prefix + (nodes or ())
        return self._messages

    @property
    def prefix(self) -> int:
        """How many of the messages are the header's prefix."""
        header = self._header
        return 0 if header is None else len(header.get("messagePrefix", ()))

    @property
    def parts(self) -> Mapping[str, int]:
        """The header event behind each part that the request has, in the request's order.

        Shapes:  keys of PARTS: model, temperature, maxTokens, stop, system, tools, messagePrefix;
                 in the released generations those of the header's config, system, tools.
        """
        header = self._header
        if header is None:
            return MappingProxyType({})
        names = self._session.config_parts
        config = header["config"]
        held = [key for key in (config if names is None else names) if key in config]
        held += [key for key in _LISTED if key in header and key not in held]
        return MappingProxyType({key: self._put(key) for key in held})

    @property
    def tools(self) -> Mapping[str, int]:
        """The header event behind each tool, by name, in order; of a doubled name the last."""
        header, in_force = self._header, self._in_force
        if header is None or in_force is None:
            return MappingProxyType({})
        names = (tool["name"] for tool in header.get("tools", ()))
        return MappingProxyType({name: in_force.put.tool[name] for name in names})

    def settled_by(self, part: str) -> int | None:
        """The header event that settled a part, also one that the request lacks."""
        return None if self._in_force is None else self._put(part)

    def is_part(self, name: str) -> bool:
        """Whether a key of a request is a part that header events put there."""
        if self._session.config_parts is None:
            return name not in _NOT_OF_HEADERS
        return name in PARTS

    def changed_by(self, part: str) -> int | None:
        """The header event by which a part of PARTS came to be what it is.

        Not the one that put it there, if that was a snapshot which only repeated it.
        """
        in_force = self._in_force
        return None if in_force is None else in_force.changed.settled(part)

    def tool_changed_by(self, name: str) -> int | None:
        """The header event by which a tool came to be what it is, or was taken away."""
        in_force = self._in_force
        if in_force is None:
            return None
        changed = in_force.changed
        return changed.tool.get(name, changed.gone.get(name, self.changed_by("tools")))

    def place_changed_by(self, place: int, was: str | None) -> int | None:
        """The header event by which a place of the tools holds another than the tool it held.

        `was` is the name of that tool; None when there was none at this place.
        """
        in_force, now = self._in_force, self._tool_name(place)
        if in_force is None:
            return None
        if now is not None and was in (None, now):
            return self.tool_changed_by(now)
        gone = None if was is None else in_force.changed.gone.get(was)
        return self.changed_by("tools") if gone is None else gone

    def event_at(self, path: str | tuple[Step, ...]) -> int | None:
        """The event behind what stands at a JSON path of the request, or None.

        For a part that the request lacks it is the header event that left it out. A path into
        a list past its end, the list of messages itself, and the request itself have none.

        Shapes:  `$.messages[3].content[0].text`, or the same as steps.
        """
        steps = leading_steps(path) if isinstance(path, str) else path
        match steps:
            case ("messages", int(place), *_):
                messages = self.messages
                return messages[place] if 0 <= place < len(messages) else None
            case ("tools", int(place), *_):
                return self._tool_at(place)
            case (str(part), *_) if self.is_part(part):
                return self.settled_by(part)
            case _:
                return None

    def message_changed_by(self, place: int, later: Origins) -> int | None:
        """The event by which a message is in one of two requests of a session and not the other.

        That is the replacement that took it away before `later`, else the event behind it.
        Of a message of the prefix it is the header event that changed the prefix.
        """
        messages = self.messages
        if not 0 <= place < len(messages):
            return None
        if place < self.prefix:
            return later.changed_by("messagePrefix")
        taken = later.replaced_by(messages[place])
        return messages[place] if taken is None else taken

    def replaced_by(self, seq: int) -> int | None:
        """The replacement that had taken a node away when this request was sent; None for none."""
        taken = self._session.replaced.by.get(seq)
        return None if taken is None or taken >= self.past.cut else taken

    def _put(self, part: str) -> int:
        assert self._in_force is not None  # a known header has an event
        return self._in_force.put.settled(part)

    def _tool_name(self, place: int) -> str | None:
        listed = () if self._header is None else self._header.get("tools", ())
        if not 0 <= place < len(listed):
            return None
        name: str = listed[place]["name"]
        return name

    def _tool_at(self, place: int) -> int | None:
        name = self._tool_name(place)
        if name is None or self._header is None or self._in_force is None:
            return None
        if any(tool["name"] == name for tool in self._header["tools"][place + 1 :]):
            # Only the last one of a name is kept track of; the others are seldom asked for.
            return self._session.tool_seqs(self.past)[place]
        return self._in_force.put.tool[name]

    def __repr__(self) -> str:
        return f"Origins({self.past!r})"


class SessionOrigins:
    """The origins of all past requests of one session, over one pass of its header events."""

    def __init__(self, session: Session) -> None:
        if not isinstance(session, Session):
            raise TypeError("origins are those of a Session; a LogFile has one as .session")
        self.session = session
        form = session.vocabulary.form
        self.config_parts: tuple[str, ...] | None = (
            CONFIG_PARTS if form.fold_header is None else None
        )
        """The parts that a header's config holds; None where each of its keys is one."""
        self._after: list[_InForce | None] = [None]  # after so many header events
        before: HeaderInForce = None
        for seq in session.history.header_seqs:
            event = session.events[seq]
            after = fold_header_event(before, event, form)
            self._after.append(_settled(self._after[-1], event, before, after))
            before = after
        self._replaced: Replaced | None = None

    def of(self, past: PastRequest) -> Origins:
        """The origins of one request of this session. O(1)."""
        if not isinstance(past, PastRequest):
            raise TypeError("a PastRequest is asked for; past_requests(session) gives them")
        return Origins(self, past, self._after[past.header_count])

    @property
    def replaced(self) -> Replaced:
        """The replacements of the session; folded when first asked for."""
        if self._replaced is None:
            self._replaced = replaced_in(self.session)
        return self._replaced

    def nodes_before(self, seq: int) -> tuple[int, ...] | None:
        """The nodes that make the messages before an event; None when one of them is at fault."""
        session = self.session
        makers: list[int] = []
        for node in session.epoch_at(seq).surface.before(seq):
            event = session.events[node]
            rule = session.vocabulary.rule(event.type).message
            message = None if rule is None else message_of(event, rule)
            if isinstance(message, Rejection):
                return None
            if message is not None:
                makers.append(node)
        return tuple(makers)

    def tool_seqs(self, past: PastRequest) -> list[int]:
        """The event behind each tool, doubled names told apart: by folding the lists again."""
        session = self.session
        listed: list[tuple[str, int]] = []
        for place in range(past.header_count):
            seq = session.history.header_seqs[place]
            if self._after[place + 1] is not None:
                listed = _tools_after(listed, session.events[seq])
        return [seq for _, seq in listed]


def request_origins(session: Session, past: PastRequest) -> Origins:
    """Which event put each part of one past request there.

    For several requests of a session `SessionOrigins(session).of(past)` costs less: here
    the header events are passed over each time.

    Law:     origins_match_refolded_headers.
    Source:  docs/reference/differences.md, "Origins".
    """
    return SessionOrigins(session).of(past)


def _settled(
    known: _InForce | None, event: Event, before: HeaderInForce, after: HeaderInForce
) -> _InForce | None:
    """Who settled what is in force after a header event; None where that is a fault."""
    if not isinstance(after, JsonObject):
        return None
    if known is None or not isinstance(before, JsonObject):
        whole = _all_settled(after, event.seq)
        return _InForce(whole, whole)
    is_delta = event.type == DELTA
    put = _put_by_delta(known.put, event) if is_delta else _all_settled(after, event.seq)
    return _InForce(put, _changed(known.changed, event.seq, before, after))


def _all_settled(header: JsonObject, seq: int) -> _Settled:
    tool = pmap({tool["name"]: seq for tool in header.get("tools", ())})
    return _Settled(_NO_SEQS, seq, tool)


def _put_by_delta(put: _Settled, event: Event) -> _Settled:
    """Who put what is in force after a delta: it puts what it carries."""
    seq, delta = event.seq, event.data
    carried = {part: part if part not in CONFIG_PARTS else "config" for part in PARTS}
    parts = put.parts.update({part: seq for part in PARTS if delta.get(carried[part]) is not None})
    change = delta.get("tools")
    if change is None:
        return _Settled(parts, put.others, put.tool)
    # Removed first, then changed, then added.
    tool = put.tool.evolver()
    named = {name for name in change["removed"] if isinstance(name, str)}
    removed = {name for name in named if name in put.tool}
    for name in removed:
        tool.remove(name)
    for changed in change["changed"]:
        if changed["name"] in put.tool and changed["name"] not in removed:
            tool[changed["name"]] = seq
    for added in change["added"]:
        tool[added["name"]] = seq
    return _Settled(parts, put.others, tool.persistent())


def _changed(changed: _Settled, seq: int, before: JsonObject, after: JsonObject) -> _Settled:
    """Who changed what is in force last, after an event that turned one header into another."""
    names = dict.fromkeys((*PARTS, *before["config"], *after["config"]))
    parts = changed.parts.update(
        {name: seq for name in names if not _same(_part(before, name), _part(after, name))}
    )
    if parts.get("tools") != seq:
        return _Settled(parts, changed.others, changed.tool, changed.gone)
    ours = {tool["name"]: tool for tool in before.get("tools", ())}
    theirs = {tool["name"]: tool for tool in after.get("tools", ())}
    tool, gone = changed.tool.evolver(), changed.gone.evolver()
    for name in ours:
        if name not in theirs:
            tool.remove(name)
            gone[name] = seq
    for name, its in theirs.items():
        if name not in ours or not _same(ours[name], its):
            tool[name] = seq
        if name in changed.gone:
            gone.remove(name)
    return _Settled(parts, changed.others, tool.persistent(), gone.persistent())


def _part(header: JsonObject, part: str) -> AnyJson:
    held = header if part in _LISTED else header["config"]
    return held.get(part, _ABSENT)


def _same(one: AnyJson, other: AnyJson) -> bool:
    if one is other or one is _ABSENT or other is _ABSENT:
        return one is other
    return text_of(one) == text_of(other)


def _tools_after(listed: list[tuple[str, int]], event: Event) -> list[tuple[str, int]]:
    """The plain definition: the list of tools, each with its event, after a header event."""
    seq, data = event.seq, event.data
    if event.type != DELTA:
        return [(tool["name"], seq) for tool in data["header"].get("tools", ())]
    change: AnyJson = data.get("tools")
    if change is None:
        return listed
    removed = {name for name in change["removed"] if isinstance(name, str)}
    changed = {tool["name"] for tool in change["changed"]}
    kept = [(name, seq if name in changed else was) for name, was in listed if name not in removed]
    return kept + [(tool["name"], seq) for tool in change["added"]]


@attrs.frozen
class Replaced:
    """The replacements of a session: who took each node away, and what each one replaced.

    A replacement event is itself the event behind its message.
    """

    by: Mapping[int, int]
    nodes_of: Mapping[int, tuple[int, ...]]


def replaced_in(session: Session) -> Replaced:
    """Every replacement of a session, by folding its surface once more if it has any."""
    by: dict[int, int] = {}
    nodes_of: dict[int, tuple[int, ...]] = {}
    if session.history.replaced:
        folded = fold_surface(session.events, session.vocabulary).unwrap()  # it was accepted
        for replacement in folded.replacements:
            nodes_of[replacement.seq] = replacement.shadowed_seqs
            by.update(dict.fromkeys(replacement.shadowed_seqs, replacement.seq))
    return Replaced(MappingProxyType(by), MappingProxyType(nodes_of))
