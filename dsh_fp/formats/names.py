"""Where the released runtimes keep a session: folders and file names, both ways.

Text from a log never becomes a path without being encoded here or in `storage.paths`.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from returns.result import Failure, Result, Success

from dsh_fp.core.rejection import Rejection
from dsh_fp.storage.paths import NO_CWD, encode_segment

_NAME: Final = re.compile(r"session(?:\.v([1-9][0-9]{0,8}))?\.jsonl(\.zstd)?")
_SEPARATORS: Final = re.compile(r"[/\\:]+")
_KEPT: Final = re.compile(r"[A-Za-z0-9._-]")
_PROJECT: Final = re.compile(r"--.+--", re.DOTALL)
_LONGEST: Final = 251
ZSTD: Final = ".zstd"


class FileName(NamedTuple):
    """What the name of a session's file says."""

    version: int
    compressed: bool


def file_name(version: int, *, compressed: bool) -> str:
    """The name of a session's file of a generation."""
    middle = f".v{version}" if version else ""
    return f"session{middle}.jsonl{ZSTD if compressed else ''}"


def parse_file_name(name: str) -> FileName | None:
    """What a file name says, or None when it is no name of a session's file."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    return FileName(int(found[1] or 0), found[2] is not None)


def project_segment(cwd: str | None) -> str:
    """The folder for the sessions of a working directory; several may share one.

    Law:     project_segments_match_the_slow_walk.
    Source:  docs/reference/formats.md, "Where they are".
    """
    if cwd is None:
        return NO_CWD
    units = "".join(map(_encoded, _SEPARATORS.sub("-", cwd)))
    return f"--{(units.lstrip('-') or 'root')[:_LONGEST]}--"


def is_project_segment(name: str) -> bool:
    """Whether a folder is named as runtimes name a project's."""
    return name == NO_CWD or _PROJECT.fullmatch(name) is not None


def session_path(
    root: str, cwd: str | None, session_id: str, version: int, *, compressed: bool
) -> Result[str, Rejection]:
    """The path of a session's log of a released generation below a root.

    Errors:  SEGMENT_EMPTY.
    """
    segment = encode_segment(session_id)
    if isinstance(segment, Failure):
        return segment
    name = file_name(version, compressed=compressed)
    parts = (root.rstrip("/") or root, project_segment(cwd), segment.unwrap(), name)
    return Success("/".join(part for part in parts if part))


def _encoded(character: str) -> str:
    if _KEPT.fullmatch(character):
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(
        f"~{int.from_bytes(units[place : place + 2], 'big'):04X}"
        for place in range(0, len(units), 2)
    )
