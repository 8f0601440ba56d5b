"""Logs cut short: every cut of a sound log is what a crash may leave."""

from __future__ import annotations

from hypothesis import strategies as st

from property_specs.generators.logs import Log, turned_logs


@st.composite
def crashed_logs(draw: st.DrawFn) -> Log:
    """The first events of a sound log, from none to all of them."""
    log = draw(turned_logs())
    return log[: draw(st.integers(0, len(log)))]
