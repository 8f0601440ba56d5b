"""Reading and writing a session log as JSONL: a header line, then one event a line.

Reading never writes and never repairs. `scan_log` judges lines and seqs only; `read` puts
what it kept through the same acceptance as every other way into a session.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import IO, Any, Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.events import Event, SessionHeader, session_header
from dsh_fp.core.lossless import decode_plain, json_object, to_text
from dsh_fp.core.rejection import (
    Code,
    Rejection,
    file_unreadable,
    log_header_invalid,
    version_unsupported,
)
from dsh_fp.core.session import Session
from dsh_fp.core.vocabulary import STANDARD, Vocabulary
from dsh_fp.storage.findings import find_all
from dsh_fp.storage.lines import Lines, judge_fault, scan_lines

BOM: Final = b"\xef\xbb\xbf"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
# The header line: `type` first, then the fields in this order.
HEADER_LINE_KEYS: Final = ("version", "id", "createdAt", "cwd", "parentSession", "seedLength")

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]


@attrs.frozen
class Scan:
    """A log file by its lines and seqs alone; versions and events are not judged yet."""

    fields: dict[str, Any]
    lines: Lines
    tail: Rejection | None
    buffer: bytes = attrs.field(repr=False)

    @property
    def good_bytes(self) -> int:
        """The offset up to which the file is sound."""
        return self.lines.good_bytes

    @property
    def header(self) -> dict[str, Any]:
        """The header's known fields, each as found."""
        return {key: self.fields[key] for key in HEADER_LINE_KEYS if key in self.fields}

    @property
    def texts(self) -> list[bytes]:
        """The kept event lines as they stand in the file."""
        start = self.buffer.index(b"\n") + 1
        return self.buffer[start : self.good_bytes].split(b"\n")[:-1]

    @property
    def count(self) -> int:
        """How many events the file keeps."""
        return self.lines.count


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

    @cached_property
    def findings(self) -> tuple[Rejection, ...]:
        """What is worth knowing about the file, in file order; computed when asked for.

        Each has code, severity, file line, seq and byte offset where there is one.
        """
        scan = self.scan
        found = find_all(
            self.session, scan.buffer, scan.fields, scan.lines.bad_utf8, scan.tail, self.file
        )
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
    try:
        buffer, file = _bytes_of(source)
    except OSError as fault:
        name = None if isinstance(source, bytes | bytearray | memoryview) else _name_of(source)
        return Failure(file_unreadable(name, fault.strerror or type(fault).__name__))
    scanned = _scan(buffer, judge_version=True)
    if isinstance(scanned, Rejection):
        return Failure(scanned.at(file=file))
    accepted = _accept(scanned, vocabulary)
    if isinstance(accepted, Rejection):
        return Failure(accepted.at(file=file))
    return Success(
        LogFile(accepted.header, accepted, scanned.good_bytes, len(buffer), file, scanned)
    )


def scan_log(buffer: bytes) -> Result[Scan, Rejection]:
    """A log file by its line structure and seqs, before versions and events are judged.

    Errors:  LOG_HEADER_INVALID, LOG_CORRUPT.
    """
    scanned = _scan(buffer, judge_version=False)
    return Failure(scanned) if isinstance(scanned, Rejection) else Success(scanned)


def encode_log(header: SessionHeader, events: Iterable[Event]) -> bytes:
    """The bytes of a log file: the header line, then each event's text, each ended by LF."""
    lines = [encode_header(header), *(event.to_text() for event in events)]
    return "".join(f"{line}\n" for line in lines).encode()


def encode_header(header: SessionHeader) -> str:
    """The header line of a log file, without its LF."""
    wire = header.to_wire()
    fields = {key: wire[key] for key in HEADER_LINE_KEYS if key in wire}
    return to_text(json_object({"type": "session", **fields}))


def _bytes_of(source: Source) -> tuple[bytes, str | None]:
    if isinstance(source, bytes):
        return source, None
    if isinstance(source, bytearray | memoryview):
        return bytes(source), None
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as opened:
            return opened.read(), os.fspath(source)
    content = source.read()
    if not isinstance(content, bytes):
        raise TypeError("read() takes a path, bytes or a file opened in binary mode")
    return content, _name_of(source)


def _name_of(source: str | os.PathLike[str] | IO[bytes]) -> str | None:
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else None


def _scan(buffer: bytes, *, judge_version: bool) -> Scan | Rejection:
    fields = _header_fields(buffer)
    if isinstance(fields, Rejection):
        return fields
    # What another version's lines mean is not for us to judge, so this comes first.
    if judge_version and fields["version"] != 0:
        return version_unsupported(fields["version"])
    lines = scan_lines(buffer, buffer.index(b"\n") + 1)
    judged = judge_fault(buffer, lines)
    if judged is not None and judged.code is Code.LOG_CORRUPT:
        return judged
    return Scan(fields, lines, judged, buffer)


def _header_fields(buffer: bytes) -> dict[str, Any] | Rejection:
    """The header line's fields as JavaScript would read them, infinities included."""
    if not buffer:
        return log_header_invalid("empty-log", "the file is empty")
    if buffer.startswith(BOM):
        return log_header_invalid("bom", "the file begins with a byte order mark")
    if buffer.startswith(ZSTD_MAGIC):
        return log_header_invalid("compressed", "the file is zstd-compressed")
    end = buffer.find(b"\n")
    if end < 0:
        return log_header_invalid("no-complete-line", "the first line has no end")
    plain, _ = decode_plain(buffer[:end].decode(errors="replace"))
    if not isinstance(plain, dict) or plain.get("type") != "session":
        return log_header_invalid("not-a-header", "the first line is no object of type 'session'")
    for key in ("version", "createdAt"):
        if type(plain.get(key)) not in (int, float):
            return log_header_invalid("not-a-header", f"its {key} is no number")
    if not isinstance(plain.get("id"), str):
        return log_header_invalid("not-a-header", "its id is no string")
    return plain


def _accept(scan: Scan, vocabulary: Vocabulary) -> Session | Rejection:
    empty = Session(SessionHeader(id="session"), vocabulary=vocabulary)
    session, fault = empty.accept_run(scan.lines.events)
    if fault is not None:
        return _placed(fault, scan)
    if scan.lines.refused is not None:
        return scan.lines.refused
    header = session_header(scan.fields)
    if isinstance(header, Failure):
        return header.failure().at(line_number=1, byte_offset=0)
    return attrs.evolve(session, header=header.unwrap())


def _placed(fault: Rejection, scan: Scan) -> Rejection:
    """A refused event's fault with its line in the file."""
    index = fault.index or 0
    offset = scan.buffer.index(b"\n") + 1
    for _ in range(index):
        offset = scan.buffer.index(b"\n", offset) + 1
    return fault.at(line_number=index + 2, byte_offset=offset)
