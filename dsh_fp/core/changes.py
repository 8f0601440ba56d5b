"""What a difference between two requests is made of: records without any logic of comparison."""

from __future__ import annotations

import attrs

from dsh_fp.core.json_paths import Difference, Kind
from dsh_fp.core.lossless import AnyJson, JsonObject
from dsh_fp.core.runs import RunKind
from dsh_fp.core.session import Session


@attrs.frozen
class EventName:
    """An event behind a change: its seq, its type, and the reason that a snapshot gives."""

    seq: int
    type: str
    reason: str | None = None

    @classmethod
    def of(cls, session: Session, seq: int) -> EventName:
        """The name of an event of a session."""
        event = session.events[seq]
        data = event.data if event.type.startswith("request/") else None
        reason = data.get("reason") if isinstance(data, JsonObject) else None
        return cls(seq, event.type, reason if isinstance(reason, str) else None)

    def __str__(self) -> str:
        """The event in words: `event 16 request/header (resume)`."""
        return f"event {self.seq} {self.type}" + (f" ({self.reason})" if self.reason else "")


@attrs.frozen
class Behind:
    """The events behind one change.

    `old` and `new` put there what the older and the newer request have; `cause` made the change,
    where both are requests of one session. None where a request has no session, or where
    nothing stands.
    """

    old: EventName | None = None
    new: EventName | None = None
    cause: EventName | None = None


@attrs.frozen
class PartChange:
    """A part that is compared whole: model, temperature, maxTokens, stop.

    A part of another shape than requests of a log have is compared whole too.
    """

    part: str
    kind: Kind
    old: AnyJson
    new: AnyJson
    behind: Behind


@attrs.frozen
class Hunk:
    """Lines that stand for others.

    Units:   line numbers from 1; where one side has no lines, the line it would begin at.
    """

    old_line: int
    old_lines: tuple[str, ...]
    new_line: int
    new_lines: tuple[str, ...]


@attrs.frozen
class SystemChange:
    """The change of the system text, line by line; an absent text has no lines.

    Units:   first_changed_line counts from 1 and is the same in both texts.
    """

    first_changed_line: int
    hunks: tuple[Hunk, ...]
    behind: Behind


@attrs.frozen
class ToolChange:
    """One tool that was added, removed or changed; of a doubled name each one counts.

    Units:   places in the lists of tools, from 0; None where the tool is not.
    """

    name: str
    old_place: int | None
    new_place: int | None
    behind: Behind
    # Of a changed tool, from the tool itself: `parameters (key order)`.
    differences: tuple[Difference, ...] = ()
    more: bool = False


@attrs.frozen
class ToolsChange:
    """The change of the tools. `reordered` is about those that both requests have."""

    added: tuple[ToolChange, ...]
    removed: tuple[ToolChange, ...]
    changed: tuple[ToolChange, ...]
    reordered: bool
    behind: Behind


@attrs.frozen
class MessageRun:
    """Messages that stand for others.

    `old_events` and `new_events` are behind the messages of each side, one each; `causes`
    made the change, where both are requests of one session: what took the old messages
    away, what brought the new ones.

    Units:   places in the lists of messages, from 0, half-open. `first` counts its path from
             the first message of both sides; None unless messages were replaced.
    """

    old_start: int
    old_stop: int
    new_start: int
    new_stop: int
    kind: RunKind
    old_events: tuple[EventName | None, ...]
    new_events: tuple[EventName | None, ...]
    causes: tuple[EventName, ...]
    first: Difference | None = None


@attrs.frozen
class RequestDifference:
    """How two requests differ, the older one first.

    `common_messages` counts the messages that both begin with; `first` is the first place
    where they part, in the order of the request.

    Source:  docs/reference/differences.md.
    """

    first: Difference | None
    first_behind: Behind
    parts: tuple[PartChange, ...]
    system: SystemChange | None
    tools: ToolsChange | None
    old_messages: int
    new_messages: int
    common_messages: int
    runs: tuple[MessageRun, ...]
    only_call_ids: bool = False

    @property
    def equal(self) -> bool:
        """Whether both have the same text."""
        return self.first is None

    @property
    def first_message(self) -> int | None:
        """The place of the first message that differs; None when none does."""
        return self.common_messages if self.runs else None

    def __str__(self) -> str:
        """Where the two part first, and the event behind it."""
        if self.first is None:
            return "the requests are equal"
        behind = self.first_behind
        event = behind.cause or behind.new or behind.old
        told = f"the requests differ first at {self.first}"
        return told if event is None else f"{told}: {event}"
