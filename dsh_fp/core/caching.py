"""How much of each prompt a provider can have kept from the one before, and what broke it.

A prompt, as it is counted here, is text in lines, each JSON text and a line feed: the system
text, the tools, then a line for each message; absent parts have no line. So a request that
only grew begins with the whole prompt before it. Another model keeps nothing. Where the system
text is a message, it is the first of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, Literal, NamedTuple, TypeVar

import attrs

from dsh_fp.core.changes import EventName
from dsh_fp.core.growing import Growing
from dsh_fp.core.header import request_parts
from dsh_fp.core.history import Epoch
from dsh_fp.core.json_paths import Difference, first_difference, first_unequal
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, text_of
from dsh_fp.core.origins import Origins, SessionOrigins
from dsh_fp.core.projection import message_of
from dsh_fp.core.reducer import State, fold_run
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.requests import PastRequest, past_requests
from dsh_fp.core.session import Session
from dsh_fp.core.surface import EMPTY_SURFACE, Surface
from dsh_fp.core.vocabulary import Form

T = TypeVar("T")

_NO_PREFIX: Final = json_array(())
_HEAD: Final = ("system", "tools")
_SYSTEM_NODE: Final = "system/message"
# A look into a session's past folds up to one event for so many nodes.
_NODES_PER_EVENT: Final = 32

BreakKind = Literal["model", "system", "tools", "key order", "message prefix", "replacement"]
"""What a prompt can break on."""


@attrs.frozen
class CacheBreak:
    """Why a prompt does not begin with all of the one before it.

    `how` says what it was: another model, a header event that changed the system, the tools or
    the message prefix, tools in another key order, or a replacement of messages. `first` is
    where, as a path of the request, and `event` is what did it.

    Units:   line counts lines of the system text, from 1; None for another part.
    """

    how: BreakKind
    event: EventName | None
    first: Difference | None
    line: int | None = None

    def __str__(self) -> str:
        """The break in words: `key order at tools[0].parameters: event 16 request/header-delta`."""
        path = "" if self.first is None else str(attrs.evolve(self.first, kind="value"))
        where = f" at {path}" if path not in ("", self.how) else ""
        line = "" if self.line is None else f" from line {self.line}"
        return f"{self.how}{where}{line}" + ("" if self.event is None else f": {self.event}")


@attrs.frozen
class CacheUsage:
    """What the provider reported for one call; None where it reported no number.

    Units:   tokens; the three counts are disjoint.
    """

    input_tokens: float | None
    cache_read_tokens: float | None
    cache_write_tokens: float | None

    @property
    def total(self) -> float:
        """All tokens of the prompt."""
        counts = (self.input_tokens, self.cache_read_tokens, self.cache_write_tokens)
        return sum(count for count in counts if count is not None)


@attrs.frozen
class PromptCaching:
    """One request, and how much of it the known request before it also began with.

    Of a request that is not known `fault` says why, and there are no counts. The first known
    one has nothing before it: its `common_*` are 0 and `kept_all` is None.

    Units:   bytes of the prompt's lines in UTF-8; messages are whole ones, of the prefix too;
             `unknown_before` counts requests that are not known between this and that one.
    """

    past: PastRequest
    fault: Rejection | None = None
    messages: int | None = None
    size: int | None = None
    common_messages: int | None = None
    common_size: int | None = None
    kept_all: bool | None = None
    broken: CacheBreak | None = None
    unknown_before: int = 0
    usage: CacheUsage | None = None

    @property
    def predicted_read_tokens(self) -> int | None:
        """An estimate of the tokens read from a cache: the share of bytes, in reported tokens.

        None when the call reported no tokens. No tokenizer is asked; whether a provider
        caches at all, in what pieces and for how long, is not known here.
        """
        if self.usage is None or not self.size or self.common_size is None:
            return None
        return round(self.usage.total * self.common_size / self.size)


def prompt_caching(session: Session) -> tuple[PromptCaching, ...]:
    """Of every past request, how much of its prompt the one before it began with as well.

    One pass: each message's text is measured once, and a list of messages is gone through
    again only from where a replacement or another prefix changed it.

    Law:     cache_prefix_is_the_common_bytes.
    Source:  docs/reference/differences.md, "Prompts and caches".
    """
    return tuple(_walk(session))


def _walk(session: Session) -> Iterator[PromptCaching]:
    origins, prompts, usages = SessionOrigins(session), _Prompts(session), _usages(session)
    before: _Prompt | None = None
    unknown = 0
    for past in past_requests(session):
        usage = usages.get(past.seq)
        prompt = prompts.of(origins.of(past))
        if isinstance(prompt, Rejection):
            unknown += 1
            yield PromptCaching(past, prompt, usage=usage)
            continue
        lines = common = 0
        kept, broken = None, None
        if before is not None:
            same_model = before.model == prompt.model
            if same_model:
                lines, common = _common(before, prompt)
            kept = same_model and lines == before.lines
            broken = None if kept else _break(before, prompt, lines if same_model else None)
        yield PromptCaching(
            past,
            messages=prompt.lines - len(prompt.head),
            size=prompt.size_upto(prompt.lines),
            common_messages=max(lines - len(prompt.head), 0),
            common_size=common,
            kept_all=kept,
            broken=broken,
            unknown_before=unknown,
            usage=usage,
        )
        before, unknown = prompt, 0


class _Line(NamedTuple):
    """A message that a node makes, and the bytes of all such lines up to its end."""

    maker: int
    message: JsonObject
    end: int


@attrs.frozen(eq=False)
class _Listed:
    """The messages of a surface while it only grows; versions share what they begin with."""

    lines: Growing[_Line]
    upto: Growing[int]  # how many messages the first k + 1 nodes make
    fault: tuple[int, Rejection] | None = None  # the first, with its node's index


@attrs.frozen(eq=False)
class _Head:
    """What a header puts before the messages of nodes."""

    header: JsonObject
    model: str
    names: tuple[str, ...]
    texts: tuple[str, ...]
    prefix: JsonArray
    # Bytes of the first k lines: of the texts, then of the prefix.
    sizes: tuple[int, ...]


@attrs.frozen(eq=False)
class _Prompt:
    """One request as lines; what several share is shared."""

    origins: Origins
    top: _Head
    listed: _Listed
    count: int  # of messages that nodes make
    alike: int  # so many messages listed are the very ones listed for the known prompt before

    @property
    def model(self) -> str:
        return self.top.model

    @property
    def head(self) -> tuple[str, ...]:
        return self.top.texts

    @property
    def lines(self) -> int:
        return len(self.top.sizes) - 1 + self.count

    def size_upto(self, line: int) -> int:
        """The bytes of the lines before one."""
        sizes = self.top.sizes
        over = line - (len(sizes) - 1)
        return sizes[line] if over <= 0 else sizes[-1] + self.listed.lines[over - 1].end

    def line(self, line: int) -> str | JsonObject:
        """A line: JSON text of the head, or a message."""
        if line < len(self.head):
            return self.head[line]
        place = line - len(self.head)
        prefix = self.top.prefix
        if place < len(prefix):
            message: JsonObject = prefix[place]
            return message
        return self.listed.lines[place - len(prefix)].message


class _Prompts:
    """The prompts of a session's requests, asked for in order."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._made: dict[int, tuple[JsonObject, int] | Rejection | None] = {}
        self._epoch = Epoch(EMPTY_SURFACE, since=0, until=0)  # right for no length
        self._listed = _Listed(Growing.of(), Growing.of())
        self._alike = 0
        self._head: _Head | None = None

    def of(self, origins: Origins) -> _Prompt | Rejection:
        """The prompt of a request, or why it is not known."""
        past = origins.past
        header = past.header
        if header is None:
            fault = past.fault  # of the header: nothing else is looked at
            assert fault is not None
            return fault
        count = self._count(past.cut)
        if isinstance(count, Rejection):
            return count
        head = self._head
        if head is None or head.header is not header:
            self._head = head = _head_of(header, self._session.vocabulary.form)
        alike, self._alike = self._alike, len(self._listed.lines)
        return _Prompt(origins, head, self._listed, count, alike)

    def _count(self, seq: int) -> int | Rejection:
        """How many of the messages now listed stood before an event; the list is turned to."""
        epoch = self._epoch
        if not (epoch.since < seq and (epoch.until is None or seq <= epoch.until)):
            before, self._epoch = epoch, self._epoch_at(seq)
            epoch = self._epoch
            self._turn_to(epoch.surface, self._kept(before, epoch))
        size = len(epoch.surface.before(seq))
        fault = self._listed.fault
        if fault is not None and fault[0] < size:
            return fault[1]
        return self._listed.upto[size - 1] if size else 0

    def _epoch_at(self, seq: int) -> Epoch:
        """The surface around a seq, folded on from the last one where that is near.

        Otherwise as the session tells it, which may fold an event for so many nodes. So all of
        them together cost no more than one fold of the log.
        """
        session, since, surface = self._session, self._epoch.until, self._epoch.surface
        if since is None or not 0 <= seq - since <= len(surface) // _NODES_PER_EVENT:
            return session.epoch_at(seq)
        passed = [session.events[each] for each in range(since, seq)]
        folded, _ = fold_run(State(since, surface), passed, session.vocabulary)
        return Epoch(folded.surface, seq - 1, seq)

    def _kept(self, before: Epoch, epoch: Epoch) -> int:
        """How many nodes two surfaces begin with alike: as far as no replacement reached.

        Where a node is gone, what replaced it stands, or what replaced that. O(log n) for each
        replacement between the two.
        """
        since, until, surface = before.until, epoch.until, epoch.surface
        if since is None or (until is not None and until < since):
            return 0  # a look back
        replaced = self._session.history.replaced
        stop = len(replaced) if until is None else replaced.bisect(until)
        kept = min(len(before.surface), len(surface))
        for place in range(replaced.bisect(since), stop):
            index = surface.index(replaced[place])
            if index is not None:
                kept = min(kept, index)
        return kept

    def _turn_to(self, surface: Surface, kept: int) -> None:
        """List the messages of a surface, which begins with so many of the nodes now listed."""
        upto = self._listed.upto.prefix(kept)
        count = upto[-1] if kept else 0
        lines, fault = self._listed.lines.prefix(count), self._listed.fault
        self._alike = min(self._alike, count)
        if fault is not None and fault[0] >= kept:
            fault = None
        end = lines[-1].end if count else 0
        new_lines: list[_Line] = []
        new_upto: list[int] = []
        for place, seq in enumerate(_from(surface, kept), kept):
            if seq not in self._made:
                self._made[seq] = self._measured(seq)
            made = self._made[seq]
            if isinstance(made, Rejection):
                fault = fault or (place, made)
            elif made is not None:
                message, size = made
                end += size
                new_lines.append(_Line(seq, message, end))
            new_upto.append(count + len(new_lines))
        self._listed = _Listed(_grown(lines, new_lines), _grown(upto, new_upto), fault)

    def _measured(self, seq: int) -> tuple[JsonObject, int] | Rejection | None:
        session = self._session
        event = session.events[seq]
        rule = session.vocabulary.rule(event.type).message
        message = None if rule is None else message_of(event, rule)
        if message is None or isinstance(message, Rejection):
            return message
        return message, _bytes_of(text_of(message))


def _from(surface: Surface, kept: int) -> Iterator[int]:
    """The nodes of a surface behind the first ones. Costs what it gives."""
    if 2 * kept < len(surface):
        return islice(surface, kept, None)
    return (surface[place] for place in range(kept, len(surface)))


def _grown(kept: Growing[T], new: list[T]) -> Growing[T]:
    """A list with more behind it. Costs what is new, and one pass where that is most of it."""
    return Growing.of([*kept, *new]) if len(kept) < len(new) else kept.extend(new)


def _head_of(header: JsonObject, form: Form) -> _Head:
    parts = request_parts(header, form)
    names = tuple(name for name in _HEAD if name in parts)
    texts = tuple(text_of(parts[name]) for name in names)
    prefix = header.get("messagePrefix", _NO_PREFIX)
    sizes = [0]
    for text in (*texts, *map(text_of, prefix)):
        sizes.append(sizes[-1] + _bytes_of(text))
    model = text_of(parts["model"]) if "model" in parts else ""
    return _Head(header, model, names, texts, prefix, tuple(sizes))


def _bytes_of(text: str) -> int:
    """The bytes of a line."""
    return (len(text) if text.isascii() else len(text.encode())) + 1


def _common(old: _Prompt, new: _Prompt) -> tuple[int, int]:
    """How many lines, and bytes, two prompts begin with alike."""
    top = len(old.top.sizes) - 1
    line = top if old.top is new.top else 0
    both = min(old.lines, new.lines)
    while line < both:
        if line == top and new.alike and top == len(new.top.sizes) - 1:
            line = min(top + new.alike, both)  # nothing of these was replaced in between
            continue
        ours, theirs = old.line(line), new.line(line)
        if ours is not theirs:
            one, other = _text(ours), _text(theirs)
            if one != other:
                shared = first_unequal(f"{one}\n".encode(), f"{other}\n".encode())
                return line, old.size_upto(line) + shared
        line += 1
    return line, old.size_upto(line)


def _text(line: str | JsonObject) -> str:
    return line if isinstance(line, str) else text_of(line)


def _break(old: _Prompt, new: _Prompt, line: int | None) -> CacheBreak:
    """Why a prompt does not begin with all of the old one; `line` is the first that parts."""
    if line is None:
        form = new.origins.session.vocabulary.form
        one, other = (request_parts(side.top.header, form) for side in (old, new))
        first = _parted("model", one, other)
        return CacheBreak("model", _changed(new, "model"), first)
    names = {*old.top.names[line : line + 1], *new.top.names[line : line + 1]}
    if "system" in names:
        ours, theirs = _lines(old.top.header), _lines(new.top.header)
        both = min(len(ours), len(theirs))
        at = next((at for at in range(both) if ours[at] != theirs[at]), both)
        first = _parted("system", old.top.header, new.top.header)
        return CacheBreak("system", _changed(new, "system"), first, at + 1)
    if "tools" in names:
        first = _parted("tools", old.top.header, new.top.header)
        event = _changed(new, "tools")
        match () if first is None else first.steps:
            case ("tools", int(place), *_):
                tools = old.top.header["tools"]
                was = tools[place]["name"] if place < len(tools) else None
                event = _event(new, new.origins.place_changed_by(place, was))
            case _:
                pass
        in_order = first is not None and first.kind == "key order"
        return CacheBreak("key order" if in_order else "tools", event, first)
    place = line - len(old.head)
    first = _parted_message(place, old.line(line), new.line(line) if line < new.lines else None)
    if place < max(len(old.top.prefix), len(new.top.prefix)):
        return CacheBreak("message prefix", _changed(new, "messagePrefix"), first)
    maker = old.listed.lines[place - len(old.top.prefix)].maker
    event = _event(new, new.origins.replaced_by(maker))
    if old.origins.session.events[maker].type == _SYSTEM_NODE and event is not None:
        return CacheBreak("system", event, first, _parted_line(first))
    return CacheBreak("replacement", event, first)


def _parted(part: str, old: JsonObject, new: JsonObject) -> Difference | None:
    """Where one part of two requests parts, as a path of the request."""
    pair = [{key: side[key] for key in (part,) if key in side} for side in (old, new)]
    return first_difference(*pair)


def _parted_message(place: int, old: AnyJson, new: AnyJson) -> Difference:
    steps = ("messages", place)
    if new is None:
        return Difference(steps, "missing", expected=old)
    first = first_difference(old, new)
    assert first is not None  # or their texts would be the same
    return attrs.evolve(first, steps=(*steps, *first.steps))


def _parted_line(first: Difference) -> int | None:
    """The line of a system text in which two of them part."""
    if first.offset is None or not isinstance(first.expected, str):
        return None
    return first.expected.count("\n", 0, first.offset) + 1


def _lines(header: JsonObject) -> list[str]:
    return header["system"].split("\n") if "system" in header else []


def _changed(prompt: _Prompt, part: str) -> EventName | None:
    return _event(prompt, prompt.origins.changed_by(part))


def _event(prompt: _Prompt, seq: int | None) -> EventName | None:
    return None if seq is None else EventName.of(prompt.origins.session, seq)


def _usages(session: Session) -> dict[int, CacheUsage]:
    """What the first assistant/message of each step reported, by the seq of its step/start."""
    usages: dict[int, CacheUsage] = {}
    step: int | None = None
    for event in session.events:
        kind = event.type
        if kind == "step/start":
            step = event.seq
        elif kind == "step/end":
            step = None
        elif kind == "assistant/message" and step is not None:
            data = event.peek_data()
            usage = data.get("usage") if isinstance(data, JsonObject) else None
            if isinstance(usage, JsonObject):
                keys = ("inputTokens", "cacheReadTokens", "cacheWriteTokens")
                usages[step] = CacheUsage(*(_number(usage.get(key)) for key in keys))
            step = None
    return usages


def _number(value: AnyJson) -> float | None:
    return value if type(value) in (int, float) else None
