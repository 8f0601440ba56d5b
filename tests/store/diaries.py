"""Who listens to a store in examples: a diary, and strangers that fail on purpose."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from dsh_fp import Code, Event, Rejected
from dsh_fp.store.lifecycle import Notice
from dsh_fp.store.notices import Contained
from dsh_fp.store.sessions import LiveSession, SessionStore

NOTICES: Final[tuple[Notice, ...]] = ("created", "event", "disposed", "flush")


class TroubleError(Exception):
    """What strangers raise."""


class Diary:
    """A store of its own with a listener of every notice, and all that was heard there."""

    def __init__(self) -> None:
        ticks = itertools.count(1000)
        self.lines: list[str] = []
        self.contained: list[Contained] = []
        self.store = SessionStore(clock=lambda: next(ticks), report=self.contained.append)
        for notice in NOTICES:
            self.listen(notice)

    def listen(self, notice: Notice, name: str = "", **options: Any) -> None:
        """Write down what one more listener hears, under a name where there are several."""
        prefix = f"{name}: " if name else ""

        def heard(live: LiveSession, event: Event | None = None) -> None:
            what = "" if event is None else f" {event.seq} of {len(live)}"
            self.lines.append(f"{prefix}{notice} {live.id}{what}")

        self.store.on(notice, heard, **options)

    def page(self) -> list[str]:
        """What was heard since the last page."""
        page, self.lines[:] = list(self.lines), []
        return page


def raising(*_: object) -> None:
    """A listener or gate that fails at once."""
    raise TroubleError("at once")


async def failing_later(*_: object) -> None:
    """A listener whose awaitable fails."""
    raise TroubleError("later")


@contextmanager
def refused(code: Code) -> Generator[None, None, None]:
    """Expects the block to be refused with this code."""
    try:
        yield
    except Rejected as error:
        assert error.rejection.code is code  # noqa: PT017  # the code is the point
    else:
        raise AssertionError(f"nothing was refused, {code} was expected")
