"""The events of a log as another process writes them, without locking the writer."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Final

from dsh_fp.core.events import Event
from dsh_fp.core.packed import PackedRun
from dsh_fp.core.rejection import Rejection, file_unreadable, log_corrupt, version_unsupported
from dsh_fp.rejected import Rejected
from dsh_fp.storage.jsonl import header_line_fields
from dsh_fp.storage.lines import PIECE_BYTES, LineFault, read_line

POLL_S: Final = 0.05


def _wait_a_little() -> bool:
    time.sleep(POLL_S)
    return True


def follow(
    path: str | os.PathLike[str], *, wait: Callable[[], bool] = _wait_a_little
) -> Iterator[Event]:
    """The events of a JSONL log, those to come included; a torn last line is awaited.

    `wait` is called when there is nothing new; when it answers False the iteration ends.
    Acceptance is not judged: read the log for that. A batch that its writer cut again after a
    failed write may have been seen.

    Errors:  Rejected: FILE_UNREADABLE, LOG_HEADER_INVALID, VERSION_UNSUPPORTED; LOG_CORRUPT
             for a line that is no event with the next seq, and for a file that became shorter
             than what was read.
    """
    file = os.fspath(path)
    try:
        with open(path, "rb") as opened:
            yield from _followed(opened.fileno(), file, wait)
    except OSError as fault:
        raise Rejected(file_unreadable(file, fault.strerror or str(fault))) from fault


def _followed(descriptor: int, file: str, wait: Callable[[], bool]) -> Iterator[Event]:
    position, rest, index, has_header = 0, b"", 0, False
    while True:
        piece = os.pread(descriptor, PIECE_BYTES, position + len(rest))
        if not piece:
            if os.fstat(descriptor).st_size < position:
                corrupt = log_corrupt(index, index + 2, position, reason="cut-back")
                raise Rejected(corrupt.at(file=file))
            if not wait():
                return
            rest = b""  # a torn line may be another one by now: it is read again
            continue
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if not has_header:
                fields = header_line_fields(line, ended=True)
                if isinstance(fields, Rejection):
                    raise Rejected(fields.at(file=file))
                if fields["version"] != 0:
                    raise Rejected(version_unsupported(fields["version"]).at(file=file))
                has_header = True
            else:
                yield _event(line, index, position, file)
                index += 1
            position += len(line) + 1


def _event(line: bytes, index: int, position: int, file: str) -> Event:
    made = read_line(line, index)
    if isinstance(made, LineFault):
        made = log_corrupt(index, index + 2, position, reason=made.reason)
    assert not isinstance(made, PackedRun)  # July packs nothing
    if isinstance(made, Rejection):
        raise Rejected(made.at(file=file, seq=index, line_number=index + 2, byte_offset=position))
    return made
