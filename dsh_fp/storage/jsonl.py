"""Reading and writing a session log as JSONL: a header line, then one event a line.

Reading never writes and never repairs. `scan_log` judges lines and seqs only; `read` puts
what it kept through the same acceptance as every other way into a session.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from typing import IO, Any, Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.events import Event, SessionHeader, is_number, known_header_fields, session_header
from dsh_fp.core.lossless import decode_plain, freeze, json_object, to_text
from dsh_fp.core.rejection import (
    Rejection,
    file_unreadable,
    log_corrupt,
    log_header_invalid,
    torn_tail,
    version_unsupported,
)
from dsh_fp.core.repair import interrupted_turn_closers
from dsh_fp.core.session import Session
from dsh_fp.core.vocabulary import STANDARD, Vocabulary
from dsh_fp.storage.backend import Stored
from dsh_fp.storage.lines import (
    JULY_LINES,
    PIECE_BYTES,
    LineFault,
    LineForm,
    Lines,
    Scan,
    in_pieces,
    scan_lines,
)

BOM: Final = b"\xef\xbb\xbf"
_COMPRESSED: Final = "compressed"
_OTHER_KINDS: Final = (
    (b"\x28\xb5\x2f\xfd", _COMPRESSED, "the file is zstd-compressed: decompress it first"),
    (b"\x1f\x8b", _COMPRESSED, "the file is gzip-compressed: decompress it first"),
    (b"SQLite format 3\0", "database", "the file is a database: read it with SqliteBackend"),
)

_HOPELESS_PIECES: Final = 512

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]


@attrs.frozen(eq=False)
class LogFile:
    """A session log as it stands in a file.

    Units:   good_bytes and size count bytes; the file is sound up to good_bytes.
    """

    header: SessionHeader
    session: Session
    good_bytes: int
    size: int
    file: str | None
    scan: Scan = attrs.field(repr=False)

    @property
    def generation(self) -> str:
        """The generation the file is written in, by its short name."""
        return self.session.vocabulary.form.generation

    @property
    def container(self) -> str:
        """How the lines are kept: `plain` or `zstd`."""
        return "plain"

    def placed(self, fault: Rejection) -> Rejection:
        """A fault with the place of its event in the file."""
        if fault.seq is None or fault.seq >= self.scan.count:
            return fault
        lines = self.scan.lines
        place = lines.place_of(fault.seq)
        return self.placed_bytes(fault.at(line_number=place + 2, byte_offset=lines.starts[place]))

    def placed_bytes(self, fault: Rejection) -> Rejection:
        """A fault whose byte offset counts the text of the lines, with that of the file."""
        return fault

    def header_findings(self) -> Iterator[Rejection]:
        """What the header and the name of the file leave to say."""
        from dsh_fp.storage.findings import july_header_findings  # noqa: PLC0415

        return july_header_findings(self)

    @cached_property
    def findings(self) -> tuple[Rejection, ...]:
        """What is worth knowing about the file, in file order; computed when asked for.

        Each has code, severity, file line, seq and byte offset where there is one.
        """
        # Imported when asked for: most readers never are, and the command starts faster.
        from dsh_fp.storage.findings import find_all  # noqa: PLC0415

        found = find_all(self)
        return tuple(finding.at(file=self.file) for finding in found)

    @cached_property
    def unknown_types(self) -> dict[str, int]:
        """The event types that the vocabulary does not list, with how often each occurs."""
        counts = Counter(event.type for event in self.session.events)
        knows = self.session.vocabulary.knows
        return {name: count for name, count in sorted(counts.items()) if not knows(name)}


def read(source: Source, *, vocabulary: Vocabulary = STANDARD) -> Result[LogFile, Rejection]:
    """The log in a file, bytes or a binary stream. Never writes, never repairs.

    A torn tail is left out and is a finding; payloads stay undecoded until looked at.

    Errors:  FILE_UNREADABLE; LOG_HEADER_INVALID, VERSION_UNSUPPORTED, LOG_CORRUPT; the first
             refused event's acceptance code; META_INVALID. Each names file, line and seq.
    Law:     good_prefix_survives_any_cut.
    Source:  docs/reference/files.md.
    """
    file = name_of(source)
    try:
        with opened(source) as pieces:
            top = first_line(pieces)
            if isinstance(top, Rejection):
                return Failure(top.at(file=file))
            return read_july(top, file, vocabulary)
    except OSError as fault:
        return Failure(file_unreadable(file, fault.strerror or str(fault)))


def read_july(
    top: FirstLine, file: str | None, vocabulary: Vocabulary
) -> Result[LogFile, Rejection]:
    """The log behind a header line, as `read` answers it."""
    version = top.fields["version"]
    # What another version's lines mean is not for us to judge, so this comes first.
    if version != 0:
        return Failure(version_unsupported(version).at(file=file))
    scanned = scan_below(top)
    if isinstance(scanned, Rejection):
        return Failure(scanned.at(file=file))
    accepted = _accept(scanned, vocabulary)
    if isinstance(accepted, Rejection):
        return Failure(accepted.at(file=file))
    size = scanned.lines.size
    return Success(LogFile(accepted.header, accepted, scanned.good_bytes, size, file, scanned))


def stored_log(log: LogFile, where: str) -> Stored:
    """What a log file holds, and what resuming it would take."""
    closers = interrupted_turn_closers(log.session.events)
    return Stored(log.session, where, log.size - log.good_bytes, closers)


def scan_log(content: bytes) -> Result[Scan, Rejection]:
    """A log file by its line structure and seqs, before versions and events are judged.

    Errors:  LOG_HEADER_INVALID, LOG_CORRUPT.
    """
    top = first_line(in_pieces(content))
    scanned = top if isinstance(top, Rejection) else scan_below(top)
    return Failure(scanned) if isinstance(scanned, Rejection) else Success(scanned)


def encode_log(header: SessionHeader, events: Iterable[Event]) -> bytes:
    """The bytes of a log file: the header line, then each event's text, each ended by LF."""
    lines = [encode_header(header), *(event.to_text() for event in events)]
    return "".join(f"{line}\n" for line in lines).encode()


def event_line(event: Event) -> bytes:
    """An event's text as the bytes of its line, without the LF."""
    return event.to_text().encode()


def read_header(path: str | os.PathLike[str]) -> Result[SessionHeader, Rejection]:
    """The session header of a log file, from its first line alone.

    Errors:  FILE_UNREADABLE, LOG_HEADER_INVALID, VERSION_UNSUPPORTED, META_INVALID.
    """
    file = os.fspath(path)
    try:
        with open(path, "rb") as opened:
            line = opened.readline()
    except OSError as fault:
        return Failure(file_unreadable(file, fault.strerror or type(fault).__name__))
    fields = header_line_fields(line.removesuffix(b"\n"), ended=line.endswith(b"\n"))
    if isinstance(fields, Rejection):
        return Failure(fields.at(file=file))
    if fields["version"] != 0:
        return Failure(version_unsupported(fields["version"]).at(file=file))
    return header_of(fields).alt(lambda fault: fault.at(file=file, line_number=1, byte_offset=0))


def header_of(fields: Mapping[str, object]) -> Result[SessionHeader, Rejection]:
    """The session header of fields as they were read, numbers as in JSON text.

    Errors:  NOT_JSON, META_INVALID.
    """
    known = freeze(known_header_fields(fields), from_text=True)
    return Failure(known) if isinstance(known, Rejection) else session_header(known)


def encode_header(header: SessionHeader) -> str:
    """The header line of a log file, without its LF."""
    return encode_fields(header.to_wire())


def encode_fields(fields: Mapping[str, object]) -> str:
    """The header line of these fields, in their order."""
    return to_text(json_object({"type": "session", **fields}))


@contextmanager
def opened(source: Source) -> Generator[Iterator[bytes]]:
    """The source's bytes in pieces."""
    if isinstance(source, bytes | bytearray | memoryview):
        yield in_pieces(bytes(source))
    elif isinstance(source, str | os.PathLike):
        try:
            opened = open(source, "rb")  # noqa: SIM115  # closed below
        except ValueError as fault:  # a NUL or half a character in the name
            raise OSError(f"no such name: {fault}") from fault
        with opened:
            yield _read_pieces(opened)
    elif callable(getattr(source, "read", None)):
        yield _read_pieces(source)
    else:
        raise TypeError("read() takes a path, bytes or a file opened in binary mode")


def _read_pieces(opened: IO[bytes]) -> Iterator[bytes]:
    while piece := opened.read(PIECE_BYTES):
        if not isinstance(piece, bytes):
            raise TypeError("read() takes a path, bytes or a file opened in binary mode")
        yield piece


def name_of(source: Source) -> str | None:
    """The path of a source that has one."""
    if isinstance(source, str | os.PathLike):
        return os.fsdecode(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else None


@attrs.frozen
class FirstLine:
    """A file's header line and its fields, and the bytes behind it, still to be read."""

    line: bytes
    fields: dict[str, Any]
    pieces: Iterator[bytes]


def first_line(pieces: Iterator[bytes]) -> FirstLine | Rejection:
    """The header line of a file: LOG_HEADER_INVALID when it has none."""
    first: list[bytes] = []
    for piece in pieces:
        first.append(piece)
        if b"\n" in piece:
            break
        if len(first) == _HOPELESS_PIECES:
            del first[1:]  # a first line of that size is no header: its beginning says enough
    header_line, ended, rest = b"".join(first).partition(b"\n")
    fields = header_line_fields(header_line, ended=bool(ended))
    if isinstance(fields, Rejection):
        return fields
    return FirstLine(header_line, fields, chain((rest,), pieces) if rest else pieces)


def scan_below(top: FirstLine, form: LineForm = JULY_LINES) -> Scan | Rejection:
    """What stands below a header line: the lines kept, LOG_CORRUPT, or a torn tail."""
    lines = scan_lines(top.pieces, len(top.line) + 1, form)
    fault = lines.fault
    if fault is None:
        return Scan(top.line, top.fields, lines, None)
    place = (fault.index, len(lines.starts) + 2, fault.byte_offset)
    facts = facts_of(fault)
    if fault.turn_end_follows:
        # A turn was closed at or behind the fault, so what is missing was once committed.
        return log_corrupt(*place, **facts)
    facts |= {"dropped_bytes": fault.dropped_bytes, "dropped_lines": fault.dropped_lines}
    return Scan(top.line, top.fields, lines, torn_tail(*place, **facts))


def facts_of(fault: LineFault) -> dict[str, Any]:
    """What a damaged line is, for the rejection that names it."""
    facts: dict[str, Any] = {"reason": fault.reason}
    if fault.reason.startswith("seq-"):
        got = fault.got_seq if is_number(fault.got_seq) else None
        facts |= {"expected_seq": fault.index, "got_seq": got}
    if fault.what is not None:
        facts |= {"code": fault.what.code.value, "lacks": fault.what.message}
    return facts


def header_line_fields(line: bytes, *, ended: bool) -> dict[str, Any] | Rejection:
    """The header line's fields as JavaScript would read them, infinities included."""
    if not line and not ended:
        return log_header_invalid("empty-log", "the file is empty")
    if line.startswith(BOM):
        what = "the file begins with a byte order mark: remove its first three bytes"
        return log_header_invalid("bom", what)
    for magic, reason, what in _OTHER_KINDS:
        if line.startswith(magic):
            return log_header_invalid(reason, what)
    if not ended:
        return log_header_invalid("no-complete-line", "the first line has no end")
    plain, _ = decode_plain(line.decode(errors="replace"))
    if not isinstance(plain, dict) or plain.get("type") != "session":
        return log_header_invalid("not-a-header", "the first line is no object of type 'session'")
    for key in ("version", "createdAt"):
        if type(plain.get(key)) not in (int, float):
            return log_header_invalid("not-a-header", f"its {key} is no number")
    if not isinstance(plain.get("id"), str):
        return log_header_invalid("not-a-header", "its id is no string")
    return plain


def _accept(scan: Scan, vocabulary: Vocabulary) -> Session | Rejection:
    accepted = accept_lines(scan.lines, vocabulary)
    if isinstance(accepted, Rejection):
        return accepted
    header = header_of(scan.fields)
    if isinstance(header, Failure):
        unfit: Rejection = header.failure()
        return unfit.at(line_number=1, byte_offset=0)
    return accepted.with_header(header.unwrap())


def accept_lines(lines: Lines, vocabulary: Vocabulary) -> Session | Rejection:
    """The session of a file's events, or the first refusal with its line."""
    empty = Session(SessionHeader(id="session"), vocabulary=vocabulary)
    session, fault = empty.accept_run(lines.accepted_events())
    if fault is not None:
        place = lines.place_of(fault.index or 0)
        return fault.at(line_number=place + 2, byte_offset=lines.starts[place])
    return session if lines.refused is None else lines.refused
