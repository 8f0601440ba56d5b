"""Where a session's log is kept: ids and working directories as file names.

Text from a log never becomes a path without being encoded here.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from typing import Final

from returns.result import Failure, Result, Success

from dsh_fp.core.lossless import join_halves
from dsh_fp.core.rejection import Rejection, segment_empty, segment_invalid

_KEPT: Final = re.compile(r"[A-Za-z0-9._-]")
_ENCODED: Final = re.compile(r"(?:[A-Za-z0-9._-]|~[0-9A-F]{4})+")
_UNIT: Final = re.compile(r"~([0-9A-F]{4})")
NO_CWD: Final = "_no-cwd"
SUFFIX: Final = ".jsonl"


def encode_segment(session_id: str) -> Result[str, Rejection]:
    """A session id as one path segment: UTF-16 units outside `A-Za-z0-9._-` become `~XXXX`.

    Errors:  SEGMENT_EMPTY.
    Law:     decode_inverts_encode.
    """
    if not session_id:
        return Failure(segment_empty())
    if session_id in (".", ".."):
        return Success("~002E" * len(session_id))
    return Success("".join(map(_encode_character, session_id)))


def decode_segment(segment: str) -> Result[str, Rejection]:
    """The id a path segment was made from.

    Errors:  SEGMENT_INVALID for a segment that no id is encoded as.
    """
    if not _ENCODED.fullmatch(segment):
        return Failure(segment_invalid(segment))
    session_id = join_halves(_UNIT.sub(lambda unit: chr(int(unit[1], 16)), segment))
    if encode_segment(session_id) != Success(segment):
        return Failure(segment_invalid(segment))
    return Success(session_id)


def bucket_name(cwd: str | None) -> str:
    """The folder for the sessions of a working directory."""
    if cwd is None:
        return NO_CWD
    # Lone surrogate halves have no UTF-8; the reference writes U+FFFD for each.
    whole = join_halves(cwd).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return f"cwd-{hashlib.sha256(whole.encode()).hexdigest()[:12]}"


def log_path(root: str, cwd: str | None, session_id: str) -> Result[str, Rejection]:
    """The path of a session's JSONL log below a root, tidied as text.

    Errors:  SEGMENT_EMPTY.
    """
    return encode_segment(session_id).map(
        lambda segment: _joined(root, bucket_name(cwd), segment + SUFFIX)
    )


def _joined(*parts: str) -> str:
    joined = posixpath.normpath("/".join(part for part in parts if part))
    # POSIX lets two leading slashes mean something else; joining paths does not.
    return joined[1:] if joined.startswith("//") else joined


def _encode_character(character: str) -> str:
    if _KEPT.fullmatch(character):
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(
        f"~{int.from_bytes(units[place : place + 2], 'big'):04X}"
        for place in range(0, len(units), 2)
    )
