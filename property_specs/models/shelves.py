"""Stored sessions as plain lists of events, and who may add to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from property_specs.models.closers import closers_of

Log = list[dict[str, Any]]


@dataclass
class Hand:
    """A writer: the log as far as it knows it."""

    session_id: str
    known: Log = field(default_factory=list)
    is_new: bool = True


@dataclass
class Shelf:
    """Logs by id, and the hand that holds each, if any."""

    logs: dict[str, Log] = field(default_factory=dict)
    holders: dict[str, Hand | None] = field(default_factory=dict)

    def create(self, session_id: str) -> Hand | str:
        """A hand for a new session, or the code of a refusal."""
        return "SESSION_ALREADY_EXISTS" if session_id in self.logs else Hand(session_id)

    def resume(self, session_id: str) -> Hand | str:
        """A hand that goes on with a session, its interrupted turn closed."""
        if session_id not in self.logs:
            return "SESSION_NOT_FOUND"
        if self.holders[session_id] is not None:
            return "WRITER_CONFLICT"
        log = self.logs[session_id]
        log += closers_of(log)
        hand = Hand(session_id, list(log), is_new=False)
        self.holders[session_id] = hand
        return hand

    def write(self, hand: Hand, events: Log) -> str | None:
        """Add a batch; the code of a refusal."""
        if not events:
            return None
        if events[0]["seq"] != len(hand.known):
            return "WRITER_CONFLICT"
        log, holder = self.logs.get(hand.session_id), self.holders.get(hand.session_id)
        if hand.is_new:
            if log is not None:
                return "SESSION_ALREADY_EXISTS"
        elif log != hand.known or not (holder is None or holder is hand):
            return "WRITER_CONFLICT"
        hand.known += events
        hand.is_new = False
        self.logs[hand.session_id] = list(hand.known)
        self.holders[hand.session_id] = hand
        return None

    def close(self, hand: Hand) -> None:
        """Let go of a session."""
        if self.holders.get(hand.session_id) is hand:
            self.holders[hand.session_id] = None
