"""The jobs that are timed, and what a log must be before one is.

The yardstick Y is the time of json.loads over the lines of the same file, one by one, each
result dropped at once.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import dsh_fp


class UnfitLogError(Exception):
    """A generated log is not what the benchmarks take it for."""


def str_lines(path: Path) -> tuple[str, ...]:
    """All lines, decoded."""
    return tuple(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"))


def bytes_lines(path: Path) -> tuple[bytes, ...]:
    """All lines as they stand."""
    return tuple(path.read_bytes().removesuffix(b"\n").split(b"\n"))


def loads_each(lines: Sequence[str] | Sequence[bytes]) -> None:
    """The yardstick."""
    for line in lines:
        json.loads(line)


def read_final(path: Path) -> object:
    """Read, accept every event, final messages and header in force."""
    session = dsh_fp.read(path).unwrap().session
    return session, session.messages().unwrap(), session.request_header().unwrap()


def read_requests(path: Path) -> object:
    """The same, and the messages of every past request."""
    session = dsh_fp.read(path).unwrap().session
    final = session.messages().unwrap(), session.request_header().unwrap()
    messages = [request.messages for request in dsh_fp.past_requests(session)]
    if not all(messages):
        raise UnfitLogError(f"{path.name}: a past request without messages")
    return session, final, messages


def read_only(path: Path) -> object:
    """Read and accept every event."""
    return dsh_fp.read(path).unwrap().session


def read_digests(path: Path) -> object:
    """The same, and the digests of every past request."""
    session = dsh_fp.read(path).unwrap().session
    digests = [request.digests for request in dsh_fp.past_requests(session)]
    if not all(digests):
        raise UnfitLogError(f"{path.name}: a past request without digests")
    return session, digests


def read_findings(path: Path) -> object:
    """Read, and compute every finding."""
    log_file = dsh_fp.read(path).unwrap()
    return log_file, log_file.findings


def check_log(path: Path, events: int) -> None:
    """Raise UnfitLogError unless a log reads without a finding, with the surface it must have."""
    log_file = dsh_fp.read(path).unwrap()
    grave = [finding for finding in log_file.findings if finding.severity != "note"]
    if grave:
        raise UnfitLogError(f"{path.name}: {grave[0]}")
    session = log_file.session
    if len(session) != events or log_file.good_bytes != path.stat().st_size:
        raise UnfitLogError(f"{path.name}: {len(session)} events, {log_file.good_bytes} bytes")
    expected = surface_by_list(str_lines(path)[1:])
    if list(session.surface.seqs) != expected:
        raise UnfitLogError(f"{path.name}: another surface than list surgery gives")
    if len(session.messages().unwrap()) != len(expected):
        raise UnfitLogError(f"{path.name}: not one message a node")


def surface_by_list(lines: Sequence[str]) -> list[int]:
    """The seqs in force, the slow and obvious way."""
    nodes: list[int] = []
    for line in lines:
        event = json.loads(line)
        surface_op = event.get("surfaceOp")
        if surface_op == "append":
            nodes.append(event["seq"])
        elif surface_op is not None:
            start, end = nodes.index(surface_op["start"]), nodes.index(surface_op["end"])
            nodes[start : end + 1] = [event["seq"]]
    return nodes
