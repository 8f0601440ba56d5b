"""Finding sessions: a file, a session's folder, a root of sessions, an id below a root.

Looking never opens more than the beginning of a file, and never follows what a log says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.events import Event, SessionHeader
from dsh_fp.core.packed import PackedRun
from dsh_fp.core.rejection import (
    Rejection,
    file_unreadable,
    log_ambiguous,
    newer_log_beside,
    older_log_grew,
    session_not_found,
)
from dsh_fp.formats.names import FileName, parse_file_name
from dsh_fp.formats.reading import ReleasedLogFile, read, read_session_header
from dsh_fp.storage.paths import SUFFIX, encode_segment

HOME: Final = "DSH_HOME"
_SESSIONS: Final = "sessions"


@attrs.frozen
class FoundLog:
    """Where a session's log is; `older` are the files that migration left beside it."""

    path: str
    name: FileName | None = None  # None for July's, which are named for their session
    older: tuple[str, ...] = ()


@attrs.frozen
class FoundSession:
    """One session below a root: its log, and its header or why that cannot be read."""

    log: FoundLog
    header: Result[SessionHeader, Rejection]


def sessions_root(environ: Mapping[str, str] = os.environ) -> str | None:
    """The root of the sessions of the runtime's home, if the environment names one."""
    home = environ.get(HOME)
    return os.path.join(home, _SESSIONS) if home else None


def find_log(path: str) -> Result[FoundLog, Rejection]:
    """The log that a path names: a file, or a session's folder with its highest generation.

    Errors:  FILE_UNREADABLE for a folder without a log; LOG_AMBIGUOUS for one that holds the
             same generation both compressed and not.
    """
    if not os.path.isdir(path):
        return Success(FoundLog(path, parse_file_name(os.path.basename(path))))
    try:
        names = os.listdir(path)
    except OSError as fault:
        return Failure(file_unreadable(path, fault.strerror or str(fault)))
    found = _log_among(path, names)
    if found is None:
        what = "the folder holds no session log; find_sessions looks through a root of sessions"
        return Failure(file_unreadable(path, what))
    return found


def _log_among(folder: str, names: list[str]) -> Result[FoundLog, Rejection] | None:
    parsed = [(parse_file_name(name), name) for name in sorted(names)]
    files: list[tuple[FileName, str]] = [
        (said, os.path.join(folder, name)) for said, name in parsed if said is not None
    ]
    if not files:
        return None
    highest = max(said.version for said, _ in files)
    newest = [path for said, path in files if said.version == highest]
    if len(newest) > 1:
        what = "the folder holds one generation twice, compressed and not"
        return Failure(log_ambiguous(what, tuple(newest)).at(file=folder))
    older = tuple(path for said, path in files if said.version < highest)
    return Success(FoundLog(newest[0], parse_file_name(os.path.basename(newest[0])), older))


def locate(session_id: str, root: str) -> Result[FoundLog, Rejection]:
    """The log of the session with an id below a root, whatever its working directory was.

    Errors:  SEGMENT_EMPTY; SESSION_NOT_FOUND; LOG_AMBIGUOUS when several folders hold it.
    """
    encoded = encode_segment(session_id)
    if isinstance(encoded, Failure):
        return encoded
    segment = encoded.unwrap()
    found: list[Result[FoundLog, Rejection]] = []
    for project in _folders(root):
        folder = os.path.join(project, segment)
        if os.path.isdir(folder):
            log = _log_among(folder, os.listdir(folder))
            if log is not None:
                found.append(log)
        july = folder + SUFFIX
        if os.path.isfile(july):
            found.append(Success(FoundLog(july)))
    if not found:
        return Failure(session_not_found(session_id).at(file=root))
    if len(found) > 1:
        paths = tuple(one.unwrap().path for one in found if not isinstance(one, Failure))
        return Failure(log_ambiguous("several folders hold the session", paths).at(file=root))
    return found[0]


def find_sessions(root: str | os.PathLike[str]) -> Iterator[Result[FoundSession, Rejection]]:
    """The sessions below a root, in order of their paths; only headers are read.

    A home that holds a folder `sessions` is taken for that folder.

    Errors:  FILE_UNREADABLE for a folder that cannot be listed, LOG_AMBIGUOUS as in find_log.
    """
    top = os.fsdecode(root)
    inner = os.path.join(top, _SESSIONS)
    if os.path.isdir(inner):
        top = inner
    try:
        projects = _folders(top)
    except OSError as fault:
        yield Failure(file_unreadable(top, fault.strerror or str(fault)))
        return
    for project in projects:
        try:
            entries = sorted(os.scandir(project), key=lambda entry: entry.name)
        except OSError as fault:
            yield Failure(file_unreadable(project, fault.strerror or str(fault)))
            continue
        for entry in entries:
            yield from _session_at(entry)


def _session_at(entry: os.DirEntry[str]) -> Iterator[Result[FoundSession, Rejection]]:
    found: Result[FoundLog, Rejection] | None = None
    if entry.is_dir():
        try:
            found = _log_among(entry.path, os.listdir(entry.path))
        except OSError as fault:
            yield Failure(file_unreadable(entry.path, fault.strerror or str(fault)))
            return
    elif entry.name.endswith(SUFFIX):
        found = Success(FoundLog(entry.path))
    if found is None:
        return
    if isinstance(found, Failure):
        yield found
        return
    log = found.unwrap()
    yield Success(FoundSession(log, read_session_header(log.path)))


def _folders(root: str) -> list[str]:
    with os.scandir(root) as entries:
        return sorted(entry.path for entry in entries if entry.is_dir())


def files_beside(file: str) -> tuple[str, ...]:
    """The files of other generations in the folder of a session's file."""
    own = parse_file_name(os.path.basename(file))
    if own is None:
        return ()
    folder = os.path.dirname(file)
    try:
        names = sorted(os.listdir(folder or "."))
    except OSError:
        return ()
    said = [(parse_file_name(name), name) for name in names]
    return tuple(
        os.path.join(folder, name)
        for other, name in said
        if other is not None and other.version != own.version
    )


def generation_findings(log: ReleasedLogFile) -> Iterator[Rejection]:
    """What the files of other generations beside a log have to say about it.

    An older one that ends with an event whose time no event of the log has went on after it
    was migrated: a silent branch.
    """
    own = None if log.file is None else parse_file_name(os.path.basename(log.file))
    if own is None:
        return
    said = {file: parse_file_name(os.path.basename(file)) for file in log.others}
    versions = {file: name.version for file, name in said.items() if name is not None}
    newest = max(versions, key=versions.__getitem__, default=None)
    if newest is not None and versions[newest] > own.version:
        yield newer_log_beside(os.path.basename(newest))
        return
    for older in versions:
        last = _last_event(older)
        if last is not None and last.time not in _times(log):
            yield older_log_grew(os.path.basename(older), last.time)


def _last_event(file: str) -> Event | None:
    older = read(file)
    if isinstance(older, Failure):
        return None
    events = older.unwrap().session.events
    return events[-1] if len(events) else None


def _times(log: ReleasedLogFile) -> Iterator[int]:
    for part in log.session.events.parts():
        yield part.last_time if isinstance(part, PackedRun) else part.time
