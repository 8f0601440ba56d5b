"""Who may listen, and what happens when the reporting of failures fails itself."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from dsh_fp.store.notices import Contained
from dsh_fp.store.sessions import SessionStore


def test_a_misspelt_notice_is_refused() -> None:
    """A gate that would never be asked is worse than none."""
    notice: Any = "events"

    with pytest.raises(TypeError, match="created, event, disposed, flush"):
        SessionStore().on(notice, print, gate=True)


def test_a_report_that_fails_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """The event stays, later listeners are told, and both failures are in the log."""

    def failing_report(failure: Contained) -> None:
        raise RuntimeError("the report is broken")

    def failing_listener(live: object, event: object) -> None:
        raise ValueError("the listener is broken")

    heard: list[int] = []
    store = SessionStore(report=failing_report)
    store.on("event", failing_listener)
    store.on("event", lambda live, event: heard.append(event.seq))
    live = store.create("a")

    with caplog.at_level(logging.WARNING, logger="dsh_fp.store"):
        live.append("plugin/note", {})

    assert heard == [0]
    assert len(live.session) == 1
    assert "the listener is broken" in caplog.text
    assert "the report is broken" in caplog.text
