"""Logs with a large surface and a large header, both changed again and again in a row.

What keeps a history may not keep every version of such; small logs never show that.
Leaves out: anything odd; it is the sizes that count here.
"""

from __future__ import annotations

from hypothesis import strategies as st

from property_specs.generators.logs import Log, Move, Writer, turn_moves

NODES = 70
SAID = {"content": [{"type": "text", "text": "hi"}]}
LINES = [f"rule {number}: {'-' * 60}" for number in range(50)]


@st.composite
def tall_logs(draw: st.DrawFn) -> Log:
    """Dozens of messages under a long system text, then single changes one after another."""
    writer = Writer()
    config = {"model": "small"}
    writer.write(Move("header", {"header": {"config": config, "system": "\n".join(LINES)}}))
    for _ in range(NODES):
        writer.write(Move("say", SAID))
    for place in draw(st.lists(st.integers(0, NODES + 20), min_size=2, max_size=12)):
        if place % 5 == 1:
            system = "\n".join(line for line in LINES if line != LINES[place % len(LINES)])
            writer.write(Move("delta", {"header": {"config": config, "system": system}}))
        elif place % 5 == 2:  # one change in five is no change but a step
            writer.write(Move("step"))
        else:
            writer.write(Move("replace", SAID, at=2 * place, span=place % 2))
    for move in draw(st.lists(turn_moves(), max_size=3)):
        writer.write(move)
    return writer.book.events
