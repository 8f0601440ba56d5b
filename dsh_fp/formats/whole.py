"""A whole log as the bytes of a file of its generation, as one write would leave it."""

from __future__ import annotations

from collections.abc import Iterable

from dsh_fp.core.events import Event, SessionHeader
from dsh_fp.core.lossless import text_of
from dsh_fp.core.packed import packed_rows
from dsh_fp.core.session import Session
from dsh_fp.formats.frames import compressed


def encode_session(session: Session, *, compress: bool = False) -> bytes:
    """The bytes of a file that holds a session of a released generation.

    Runs of chunks are packed where the generation packs them. A compressed file has a frame
    for the header line and one for all events.

    Law:     migration_keeps_every_request, which reads what was written.
    """
    header = _lines((header_text(session.header),))
    rows = _lines(_texts(session))
    if not compress:
        return header + rows
    return compressed(header) + (compressed(rows) if rows else b"")


def header_text(header: SessionHeader) -> str:
    """The text of a header line."""
    return text_of({"type": "session", **header.to_wire()})


def _texts(session: Session) -> Iterable[str]:
    if not session.vocabulary.form.packed:
        return (event.to_text() for event in session.events)
    rows = packed_rows(session.events)
    return (row.to_text() if isinstance(row, Event) else text_of(row) for row in rows)


def _lines(texts: Iterable[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()
