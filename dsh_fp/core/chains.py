"""The digests of past requests: one chain over the messages, never N requests of M messages.

Between two replacements the surface only grows, so the requests between them are links of one
chain. Everything is decoded again from the text of the events, so a digest stays true whatever
was done to the values that were handed out.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

import attrs

from dsh_fp.core.digests import (
    EMPTY_CHAIN,
    chained,
    header_digest,
    message_digest,
    request_digest,
)
from dsh_fp.core.header import HeaderInForce, fold_header_event, request_parts
from dsh_fp.core.history import Epoch
from dsh_fp.core.json_paths import first_unequal
from dsh_fp.core.lossless import JsonArray, JsonObject, json_array
from dsh_fp.core.projection import message_from
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.session import Session
from dsh_fp.core.surface import EMPTY_SURFACE

_NO_PREFIX: Final = json_array(())


@attrs.frozen
class RequestDigests:
    """The digests of one request, of its two halves and of the whole: 64 lower-case hex digits.

    Two requests have the same digests exactly when their texts are the same.

    Source:  docs/reference/digests.md.
    """

    header: str
    messages: str
    request: str


class Chains:
    """The digests of a session's requests, each message and each header digested once.

    Only the chain and the header that were asked for last are kept: requests are asked in order.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._made: dict[int, bytes | Rejection | None] = {}  # the digest of a node's message
        self._epoch = Epoch(EMPTY_SURFACE, since=0, until=0)  # right for no length
        self._seqs: tuple[int, ...] = ()
        self._prefix = _NO_PREFIX
        # After the prefix and the first k nodes. A node whose message cannot be made ends it.
        self._chain: list[bytes] = [EMPTY_CHAIN]
        self._header: tuple[int, HeaderInForce, bytes] = (0, None, b"")

    def digests(self, seq: int, headers: int) -> RequestDigests | None:
        """The digests of what was sent at a step/start, given how many header events counted.

        None when the log does not tell what was sent.
        """
        header, parts = self._header_after(headers)
        if header is None or isinstance(header, Rejection):
            return None
        messages = self._messages_before(seq, header.get("messagePrefix", _NO_PREFIX))
        if messages is None:
            return None
        whole = request_digest(parts, messages)
        return RequestDigests(parts.hex(), messages.hex(), whole.hex())

    def _header_after(self, count: int) -> tuple[HeaderInForce, bytes]:
        """The header in force after the first `count` header events, and its digest."""
        folded, header, parts = self._header
        if folded != count:
            if folded > count:
                folded, header = 0, None
            session = self._session
            seqs = session.history.header_seqs
            for place in range(folded, count):
                header = fold_header_event(
                    header, session.events[seqs[place]].anew(), session.vocabulary.form
                )
            parts = (
                header_digest(request_parts(header, self._session.vocabulary.form))
                if isinstance(header, JsonObject)
                else b""
            )
            self._header = (count, header, parts)
        return header, parts

    def _messages_before(self, seq: int, prefix: JsonArray) -> bytes | None:
        """The digest of a prefix and the messages of the surface just before an event."""
        epoch = self._epoch
        if not (epoch.since < seq and (epoch.until is None or seq <= epoch.until)):
            self._epoch = epoch = self._session.epoch_at(seq)
            kept = first_unequal(self._seqs, epoch.surface.seqs)
            self._seqs = epoch.surface.seqs
            del self._chain[kept + 1 :]
        chain, seqs = self._chain, self._seqs
        if prefix is not self._prefix:
            self._prefix = prefix
            start = EMPTY_CHAIN
            for message in prefix:
                start = chained(start, message_digest(message))
            if start != chain[0]:  # a snapshot often repeats the prefix that was in force
                chain[:] = [start]
        size = bisect_left(seqs, seq, lo=epoch.surface.settled)
        for place in range(len(chain) - 1, size):
            own = self._message_of(seqs[place])
            if isinstance(own, Rejection):
                return None
            chain.append(chain[-1] if own is None else chained(chain[-1], own))
        return chain[size]

    def _message_of(self, seq: int) -> bytes | Rejection | None:
        """The digest of the message a node makes, None for none, or why it makes none."""
        made = self._made
        if seq not in made:
            session = self._session
            event = session.events[seq]
            rule = session.vocabulary.rule(event.type).message
            message = None if rule is None else message_from(seq, event.data_anew(), rule)
            if message is None or isinstance(message, Rejection):
                made[seq] = message
            else:
                made[seq] = message_digest(message)
        return made[seq]
