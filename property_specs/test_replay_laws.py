"""Replay: a log as a script of model calls, given again in order."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from property_specs.core import Core, Log, Refused
from property_specs.generators.calls import logs_of_calls
from property_specs.generators.logs import streamed_logs, valid_logs
from property_specs.models.json_values import exact, write
from property_specs.models.scripts import steps_of


def any_logs() -> st.SearchStrategy[Log]:
    """Logs in which calls may stand."""
    return st.one_of(logs_of_calls(), streamed_logs(), valid_logs())


@given(log=any_logs())
def test_scripts_hold_every_call(core: Core, log: Log) -> None:
    """A script has an entry for each step, with the step's chunk events in order.

    Generator: logs_of_calls, streamed_logs and valid_logs, compactions left aside.
    Oracle:    each step cut out of the log by looking for its end.
    Catches:   chunks of a step that was not closed in the next one, a replacement as answer.
    Broken:    a step's end does not close it.
    """
    script = core.script(core.accept(log))

    cut = steps_of(log)
    recorded = [(each["seq"], each["chunks"]) for each in cut if each["chunks"]]
    told = [(each["seq"], each["chunks"]) for each in script if each["recorded"]]
    assert exact(told) == exact(recorded)
    assert [each["seq"] for each in script] == [each["seq"] for each in cut]
    assert exact([each["message"] for each in script]) == exact([each["message"] for each in cut])


@given(log=any_logs())
def test_replaying_gives_each_call_once(core: Core, log: Log) -> None:
    """A loop that asks for the next answer hears the logged messages in order, then a miss.

    Generator: logs_of_calls, streamed_logs and valid_logs.
    Oracle:    the messages of the steps as they stand in the log.
    Catches:   an answer given twice or made from chunks where a message was logged.
    Broken:    the last call is given again and again.
    """
    session = core.accept(log)
    steps = steps_of(log)

    heard = core.replayed(session, len(steps) + 2)

    for answer, step in zip(heard, steps, strict=False):
        if step["message"] is not None:
            assert exact(answer) == exact(step["message"])
    missed = [isinstance(each, Refused) and each.code == "REPLAY_EXHAUSTED" for each in heard]
    assert missed == [False] * len(steps) + [True] * 2


@given(log=logs_of_calls())
def test_chunks_made_of_a_message_amount_to_it(core: Core, log: Log) -> None:
    """A message logged without chunks gets chunks that assemble to its content.

    Generator: logs_of_calls; its chunks are taken out.
    Oracle:    the logged content, and assembly.
    Catches:   blocks that share an index, a finish that drops tool calls.
    Broken:    each block has the same index.
    """
    bare = [event for event in log if event["type"] != "assistant/chunk"]
    renumbered = [{**event, "seq": seq} for seq, event in enumerate(bare)]

    for call in core.script(core.accept(renumbered)):
        if call["message"] is not None:
            assert not call["recorded"]
            made: Any = core.assemble(call["chunks"])
            assert exact(made["content"]) == exact(call["message"])


@st.composite
def changed_requests(draw: st.DrawFn) -> tuple[Log, int, Any]:
    """A log, the place of a call, and its request: as it was, or changed somewhere."""
    log = draw(logs_of_calls(min_calls=1))
    place = draw(st.integers(0, sum(event["type"] == "step/start" for event in log) - 1))
    change = draw(
        st.sampled_from(["nothing", "model", "order", "text", "role", "more", "less", "key"])
    )
    return log, place, change


def changed(request: Any, change: str) -> Any:
    """The request after a change; not every one finds something to change."""
    live: Any = request
    last = live["messages"][-1]
    if change == "model":
        live["model"] += "x"
    elif change == "order":
        live = dict(reversed(live.items()))
    elif change == "text":
        for block in last["content"]:
            if "text" in block:
                block["text"] += "."
    elif change == "role":
        last["role"] = "assistant"
    elif change == "more":
        live["messages"].append(last)
    elif change == "less":
        live["messages"].pop()
    elif change == "key":
        live["stop"] = None
    return live


@given(case=changed_requests())
def test_divergence_is_found_iff_texts_differ(core: Core, case: tuple[Log, int, str]) -> None:
    """A live request diverges from the recorded one exactly when its JSON text is another.

    Generator: logs_of_calls; the request as it was, or with one of seven changes.
    Oracle:    the texts of the naive writer.
    Catches:   key order or an added key that does not count.
    Broken:    requests are compared as values.
    """
    log, place, change = case
    session = core.accept(log)
    recorded = core.requests(session)[place]["request"]
    before = write(recorded)
    live = changed(recorded, change)
    given_text = write(live)

    found = core.diverged(session, place, live)

    assert (found is not None) == (given_text != before)
    assert write(live) == given_text
    if found is not None:
        assert found.code == "REPLAY_DIVERGED"
        assert found.path is not None
