"""The machine goes off before any call: what a flush reported is on the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dsh_fp import Code, encode_log, unwrap
from dsh_fp.storage.jsonl_backend import JsonlBackend
from tests.durable.desks import Desk, end_turn, note, numbers, start_turn
from tests.durable.faults import Disk, PowerCutError
from tests.durable.places import refused

Extra = Callable[[bytes, bytes], bytes]

# What a file may hold that was written to since it was synced.
EXTRAS: dict[str, Extra] = {
    "nothing new": lambda kept, written: kept,
    "all of it": lambda kept, written: written,
    "its size, filled with zeros": lambda kept, written: kept.ljust(len(written), b"\0"),
    "a half of it": lambda kept, written: (
        kept if len(written) < len(kept) else written[: (len(kept) + len(written)) // 2]
    ),
}


def write(root: Path, disk: Disk, flushed: list[int]) -> None:
    """Two sessions of two buckets that are flushed, left and resumed, until the power is cut.

    `flushed` tells how many events of the first one are promised to be on the disk.
    """
    backend = JsonlBackend(root, files=disk)
    desk = Desk(backend)
    try:
        with desk:
            other = desk.create("other", meta={"cwd": "/w"})
            note(other, 0)
            live = desk.create(meta={"createdAt": 7})
            start_turn(live)
            for number in range(3):
                note(live, *range(3 * number, 3 * number + 3))
                desk.flush(live)
                flushed[0] = len(live.session)
                desk.flush(other)
            desk.store.detach(live)
            live, _ = desk.recorder.resume("s")  # closes the turn
            flushed[0] = len(live.session)
            start_turn(live, 2)
            note(live, 9)
            end_turn(live, 2)
            desk.flush(live)
            flushed[0] = len(live.session)
    except PowerCutError:
        pass


def is_cut(error: BaseException) -> bool:
    """Whether this is the power cut."""
    return isinstance(error, PowerCutError)


@pytest.mark.parametrize("extra", EXTRAS.values(), ids=EXTRAS)
def test_what_was_flushed_survives_a_power_cut(tmp_path: Path, extra: Extra) -> None:
    """Cut before any call, the log loads with every flushed event and goes on at its end."""
    cuts = 0
    for last_call in range(200):
        machine, after = tmp_path / f"{last_call}", tmp_path / f"{last_call}-after"
        machine.mkdir()
        disk, flushed = Disk(machine, last_call), [0]
        write(machine / "new" / "logs", disk, flushed)
        disk.after_power_is_back(after, extra)
        backend = JsonlBackend(after / "new" / "logs")
        for row in backend.list():
            assert row.fault is None
        if flushed[0] or backend.find("s"):
            loaded = unwrap(backend.load("s")).session
            assert len(loaded) >= flushed[0]
            kept = numbers(loaded)
            assert kept == list(range(len(kept)))
            stored, writer = backend.resume("s")
            writer.close()
            path = backend.find("s")
            assert path is not None
            whole = Path(path).read_bytes()
            assert whole == encode_log(stored.session.header, stored.session.events)
        else:
            with refused(Code.SESSION_NOT_FOUND):
                backend.resume("s")
        cuts += 1
        if len(disk.calls) <= last_call:
            break

    assert 50 < cuts < 200
