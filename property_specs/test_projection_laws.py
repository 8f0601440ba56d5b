"""Messages: what the model sees of a log, and what is shared on the way there."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import dsh_fp
from property_specs.core import Core, Log, Refused
from property_specs.generators.logs import closed_logs, turned_logs, valid_logs
from property_specs.models.acceptance import accepted
from property_specs.models.json_values import exact
from property_specs.models.projection import messages_of
from property_specs.profiles import often


@given(log=valid_logs())
@often(2)
def test_messages_match_model(core: Core, log: Log) -> None:
    """After every event the messages are those the table gives for the nodes in force.

    Generator: valid_logs: empty contents, sources of every kind, payloads of no use.
    Oracle:    the projection model over the list model's surface.
    Catches:   empty messages kept, markup escaped, a payload fault that hides other nodes.
    Broken:    an assistant message without content is kept.
    """
    session = core.accept(log)

    for seq in range(len(log)):
        answer = core.messages(core.at(session, seq))
        expected = messages_of(accepted(log[: seq + 1]))
        if isinstance(expected, int):
            assert isinstance(answer, Refused)
            assert (answer.code, answer.seq) == ("PAYLOAD_INVALID", expected)
        else:
            assert exact(answer) == exact(expected)


@given(log=valid_logs())
def test_message_content_is_shared(log: Log) -> None:
    """A message holds the very content of its event, not a copy.

    Generator: valid_logs; this library's own objects.
    Oracle:    identity.
    Catches:   copies of what may be megabytes.
    Broken:    content is copied into the message.
    """
    session = dsh_fp.Session.replay(log).unwrap()

    for event in session.nodes():
        message = dsh_fp.project(event).value_or(None)
        if message is not None:
            found, content = message["content"], event.data["content"]
            if event.type in ("context/message", "steering/message"):
                assert all(a is b for a, b in zip(found[1:-1], content, strict=True))
            elif event.type == "tool/result":
                assert found[0]["content"] is content
            else:
                assert found is content


@given(log=closed_logs(), data=st.data())
def test_each_node_is_projected_once(log: Log, data: st.DataObject) -> None:
    """Prefixes, forks and requests hand out the same message object for the same node.

    Generator: closed_logs; any prefix; this library's own objects.
    Oracle:    identity.
    Catches:   projections made anew for every view.
    Broken:    a projection is not remembered.
    """
    session = dsh_fp.Session.replay(log).unwrap()
    cut = data.draw(st.integers(0, len(log) - 1))
    views = [session, session.at(cut).unwrap(), session.fork().unwrap()]
    made: dict[int, Any] = {}

    for view in views:
        nodes = [event for event in view.nodes() if dsh_fp.project(event).unwrap() is not None]
        for event, message in zip(nodes, view.messages().unwrap(), strict=True):
            assert made.setdefault(event.seq, message) is message
    for request in dsh_fp.past_requests(session):
        known = {id(message) for message in made.values()}
        prefix = request.header.get("messagePrefix", ()) if request.header else ()
        for message in (request.messages or ())[len(prefix) :]:
            at_step = session.at(request.seq).unwrap()
            known |= {id(made) for made in at_step.messages().unwrap()}
            assert id(message) in known


@given(log=turned_logs(), extra=st.lists(st.sampled_from(["a", "b"]), max_size=3))
def test_log_only_events_make_no_message(core: Core, log: Log, extra: list[str]) -> None:
    """Events off the surface, chunks and unknown types among them, change no message.

    Generator: turned_logs, then events of unknown types.
    Oracle:    the messages before.
    Catches:   chunks projected; unknown types taken for messages.
    Broken:    an event off the surface takes the node just appended with it.
    """
    before = core.messages(core.accept(log))
    more = [
        {"type": f"plugin/{name}", "seq": len(log) + place, "time": 0, "data": {"content": []}}
        for place, name in enumerate(extra)
    ]

    after = core.accept([*log, *more])

    assert not isinstance(after, Refused), after
    assert exact(core.messages(after)) == exact(before)
