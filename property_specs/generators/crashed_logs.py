"""Logs cut short: every cut of a sound log is what a crash may leave."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from property_specs.generators.logs import Log, build_turned, turn_moves, turned_logs

# What a step with tools consists of; in logs of every kind of event it comes about too seldom.
_TOOL_MOVES = ("ask", "result", "call", "think", "step")


@cache
def busy_logs() -> st.SearchStrategy[Log]:
    """Logs of a sound writer that consist of little but calls and their results."""
    return st.lists(turn_moves(_TOOL_MOVES), max_size=6).map(build_turned)


@st.composite
def crashed_logs(draw: st.DrawFn) -> Log:
    """The first events of a sound log, from none to all of them."""
    log = draw(turned_logs() | busy_logs())
    return log[: draw(st.integers(0, len(log)))]
