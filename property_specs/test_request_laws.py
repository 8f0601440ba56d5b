"""Past requests: what each step sent to the model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from property_specs.core import Core, Log
from property_specs.generators.logs import Move, build_turned, loose_logs, turn_moves, turned_logs
from property_specs.models.json_values import exact, write
from property_specs.models.requests import output_of, requests_of
from property_specs.profiles import often


@st.composite
def logs_with_steps(draw: st.DrawFn) -> Log:
    """Sound logs with many steps and headers, each step's header before or behind its start."""
    moves: list[Move] = []
    for _ in range(draw(st.integers(1, 5))):
        moves += draw(st.lists(turn_moves(), max_size=3))
        moves.append(Move("step"))
        moves += draw(st.lists(turn_moves(), max_size=2))
    return build_turned(moves)


@st.composite
def loose_steps(draw: st.DrawFn) -> Log:
    """Loose logs with step/start, step/end and outputs put in anywhere."""
    log = draw(loose_logs(max_moves=10))
    kinds = st.sampled_from(["step/start", "step/end", "assistant/", "tool/x"])
    for _ in range(draw(st.integers(1, 4))):
        data = {"turn": 1, "step": 1}
        log = [*log, {"type": draw(kinds), "seq": len(log), "time": 0, "data": data}]
        more = draw(loose_logs(max_moves=2))
        bare = [event for event in more if "surfaceOp" not in event]
        log += [{**event, "seq": len(log) + place} for place, event in enumerate(bare)]
    return log


@given(log=logs_with_steps() | loose_steps())
@often(3)
def test_requests_match_refolded_prefixes(core: Core, log: Log) -> None:
    """Each step's request is two prefixes folded again: that before it, that before its output.

    Generator: logs_with_steps and loose_steps; headers behind a step's start, faults, none.
    Oracle:    the naive refolding.
    Catches:   the step's own output in its request, a header of the next step, a stale cache.
    Broken:    the header in force is that of the step's start.
    """
    requests = core.requests(core.accept(log))

    told = [{key: each[key] for key in each if key != "text"} for each in requests]
    assert exact(told) == exact(requests_of(log))


@given(log=logs_with_steps())
def test_request_json_is_the_text_of_the_request(core: Core, log: Log) -> None:
    """The JSON of a request is the text of its value, parts in their order.

    Generator: logs_with_steps.
    Oracle:    the recursive writer.
    Catches:   sorted keys, ASCII escapes.
    Broken:    the text is of the messages alone.
    """
    for each in core.requests(core.accept(log)):
        if "request" in each:
            assert each["text"] == write(each["request"])


@given(log=logs_with_steps() | turned_logs())
@often(2)
def test_what_was_sent_stays_sent(core: Core, log: Log) -> None:
    """The request of a step that has its output is the same from every longer prefix.

    Generator: logs_with_steps and turned_logs, every prefix.
    Oracle:    the requests of the whole log.
    Catches:   later replacements and headers reaching back.
    Broken:    messages are those of the surface as it is now.
    """
    session = core.accept(log)
    whole = {each["seq"]: each for each in core.requests(session)}

    for seq in range(len(log)):
        for each in core.requests(core.at(session, seq)):
            if output_of(log, each["seq"]) <= seq:
                assert exact(each) == exact(whole[each["seq"]])
