"""Sessions as values: prefixes, forks, branches, todos and usage."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from property_specs.core import Core, Log, Refused, code_of, seen
from property_specs.generators.log_files import session_headers
from property_specs.generators.logs import closed_logs, many_turned_logs, turned_logs, valid_logs
from property_specs.generators.payloads import contents
from property_specs.generators.tall_logs import NODES, tall_logs
from property_specs.models.json_values import exact
from property_specs.models.requests import output_of
from property_specs.profiles import often


def said(seq: int, content: Any) -> dict[str, Any]:
    """A user message to append."""
    data = {"content": content, "source": {"kind": "user"}}
    return {"type": "user/message", "seq": seq, "time": 0, "data": data, "surfaceOp": "append"}


@given(log=valid_logs(max_moves=20), data=st.data())
@often(2)
def test_at_equals_replayed_prefix(core: Core, log: Log, data: st.DataObject) -> None:
    """The session at a seq shows what replaying the log through that seq shows.

    Generator: valid_logs, any seq; a prefix of a prefix too.
    Oracle:    replay of the prefix.
    Catches:   a history that misses a change, a surface of another time.
    Broken:    the first header of a log is not looked up.
    """
    session = core.accept(log)
    for seq in range(len(log)):
        prefix = core.at(session, seq)
        assert exact(seen(core, prefix)) == exact(seen(core, core.accept(log[: seq + 1])))
    if log:
        later = data.draw(st.integers(0, len(log) - 1))
        earlier = data.draw(st.integers(0, later))
        twice = core.at(core.at(session, later), earlier)
        assert exact(seen(core, twice)) == exact(seen(core, core.accept(log[: earlier + 1])))


@given(log=tall_logs(), data=st.data())
@often(0.5)
def test_large_histories_answer_alike(core: Core, log: Log, data: st.DataObject) -> None:
    """What a session was is told as truly when its surface and header are large and change often.

    Generator: tall_logs; three seqs among their last events.
    Oracle:    replay of the prefix.
    Catches:   versions that a history did not keep, made again wrongly.
    Broken:    a surface that was not kept is folded again from one event too late.
    """
    session = core.accept(log)
    late = st.integers(NODES, len(log) - 1)

    for seq in data.draw(st.lists(late, min_size=3, max_size=3)):
        prefix = core.at(session, seq)
        assert exact(seen(core, prefix)) == exact(seen(core, core.accept(log[: seq + 1])))
    told = {each["seq"]: each for each in core.requests(session)}
    for seq, each in told.items():
        output = output_of(log, seq)
        if output < len(log):
            known = core.requests(core.accept(log[: output + 1]))
            assert exact(each) == exact(next(r for r in known if r["seq"] == seq))


@given(log=valid_logs(), seq=st.sampled_from([-1, 0.0, True, False, None, "0", 10**6, 2**60]))
def test_what_is_no_seq_is_no_boundary(core: Core, log: Log, seq: Any) -> None:
    """`at` and `fork` refuse what names no event of the log: INVALID_BOUNDARY.

    Generator: valid_logs; True, floats, strings, seqs beyond the end.
    Oracle:    none needed.
    Catches:   True taken for 1, negative seqs counted from the end.
    Broken:    True is taken for 1.
    """
    session = core.accept(log)

    assert code_of(core.at(session, seq)) == "INVALID_BOUNDARY"
    if seq is not None:
        assert code_of(core.fork(session, seq)) == "INVALID_BOUNDARY"
    assert code_of(core.at(session, len(log))) == "INVALID_BOUNDARY"
    assert code_of(core.fork(session, len(log))) == "INVALID_BOUNDARY"


@given(log=valid_logs())
def test_forks_end_at_closed_turns(core: Core, log: Log) -> None:
    """A fork is possible exactly at a turn/end, by default the last event; an empty one always.

    Generator: valid_logs, every boundary.
    Oracle:    the type of the event.
    Catches:   a silent step back to the last closed turn.
    Broken:    a fork may end anywhere.
    """
    session = core.accept(log)

    for event in log:
        expected = None if event["type"] == "turn/end" else "OPEN_TURN"
        assert code_of(core.fork(session, event["seq"])) == expected
    last = log[-1]["type"] if log else "turn/end"
    assert code_of(core.fork(session)) == (None if last == "turn/end" else "OPEN_TURN")


@given(log=closed_logs(), fields=session_headers())
def test_a_fork_knows_its_parent(core: Core, log: Log, fields: dict[str, Any]) -> None:
    """A child names its parent and how many events it inherited; of the rest it takes the cwd.

    Generator: closed_logs under any session header; every boundary.
    Oracle:    counting.
    Catches:   the parent's seedLength or createdAt passed on.
    Broken:    the child's seedLength is its boundary.
    """
    session = core.accept(log, fields)

    for event in log:
        if event["type"] == "turn/end":
            child = core.fork(session, event["seq"])
            expected = {
                "version": 0,
                "id": "fork",
                "createdAt": 0,
                "parentSession": fields["id"],
                "seedLength": event["seq"] + 1,
            }
            if "cwd" in fields:
                expected["cwd"] = fields["cwd"]
            assert core.header_of(child) == expected


@given(log=closed_logs(), content=contents())
def test_fork_leaves_parent_alone(core: Core, log: Log, content: Any) -> None:
    """Whatever is appended to a fork, its parent shows what it showed before.

    Generator: closed_logs, every boundary, a few appends to each child and to the parent.
    Oracle:    the parent before.
    Catches:   a child writing into a shared vector.
    Broken:    a session is given its new header in place.
    """
    session = core.accept(log)
    before = exact([core.header_of(session), seen(core, session)])

    for event in log:
        if event["type"] == "turn/end":
            child = core.fork(session, event["seq"])
            for place in range(1, 4):
                child = core.append(child, said(event["seq"] + place, content))

    assert exact([core.header_of(session), seen(core, session)]) == before


@given(log=closed_logs() | many_turned_logs(), content=contents())
def test_fork_then_append_equals_replay(core: Core, log: Log, content: Any) -> None:
    """A child with events of its own shows what replaying all its events shows.

    Generator: closed_logs and many_turned_logs, every boundary; two appends and a
               replacement by the child.
    Oracle:    replay.
    Catches:   surfaces and histories that leak from the parent's later life.
    Broken:    a prefix keeps the surface of the whole log.
    """
    session = core.accept(log)
    for event in log:
        if event["type"] == "turn/end":
            length = event["seq"] + 1
            own = [said(length, content), said(length + 1, content)]
            both = {"op": "replace", "start": length, "end": length + 1}
            own.append(
                said(length + 2, content)
                | {"sourceEventSeqs": [length, length + 1], "surfaceOp": both}
            )
            child = core.extend(core.fork(session, event["seq"]), own)
            replayed = core.accept([*log[:length], *own])
            assert exact(seen(core, child)) == exact(seen(core, replayed))


@given(log=valid_logs(), data=st.data())
@often(2)
def test_branches_do_not_see_each_other(core: Core, log: Log, data: st.DataObject) -> None:
    """Two continuations of one prefix each show what replaying them shows.

    Generator: valid_logs, any prefix, two different tails, appended in turns.
    Oracle:    replay.
    Catches:   persistent parts that are overwritten in place.
    Broken:    an append to a prefix takes what the longer sequence has there.
    """
    cut = data.draw(st.integers(0, len(log)))
    base = core.accept(log)
    prefix = core.at(base, cut - 1) if cut else core.accept([])
    branches = [prefix, prefix]
    tails = [[said(cut + place, [name, place]) for place in range(3)] for name in (0, 1)]
    for place in range(3):
        for name in (0, 1):
            branches[name] = core.append(branches[name], tails[name][place])

    for name in (0, 1):
        expected = seen(core, core.accept([*log[:cut], *tails[name]]))
        assert exact(seen(core, branches[name])) == exact(expected)
    assert exact(seen(core, base)) == exact(seen(core, core.accept(log)))


@given(log=turned_logs())
@often(4)
def test_todos_are_the_last_written(core: Core, log: Log) -> None:
    """The todos are the list of the last todo/write, none before the first.

    Generator: turned_logs.
    Oracle:    a search from the end.
    Catches:   the first list; lists merged.
    Broken:    the first todo/write is answered.
    """
    written = [event["data"]["todos"] for event in log if event["type"] == "todo/write"]

    assert exact(core.todos(core.accept(log))) == exact(written[-1] if written else None)


@given(log=valid_logs(), seed=st.none() | st.integers(0, 12))
@often(2)
def test_usage_sums_every_call(core: Core, log: Log, seed: int | None) -> None:
    """Usage is the sum over all assistant messages, replaced ones too; the seed's is inherited.

    Generator: valid_logs under a header with and without a seedLength.
    Oracle:    a sum over the plain list.
    Catches:   replaced messages left out, messages without usage counted as calls.
    Broken:    the event right behind the seed counts as inherited.
    """
    header = {"id": "s"} if seed is None else {"id": "s", "seedLength": seed}

    answer = core.usage(core.accept(log, header))

    assert answer == {
        "own": _sum(log[seed or 0 :]),
        "inherited": _sum(log[: seed or 0]),
    }


def _sum(events: Log) -> dict[str, int]:
    keys = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"]
    total = dict.fromkeys([*keys, "calls"], 0)
    for event in events:
        data = event["data"]
        usage = data.get("usage") if isinstance(data, dict) else None
        if event["type"] == "assistant/message" and isinstance(usage, dict):
            total["calls"] += 1
            for key in keys:
                total[key] += usage.get(key, 0)
    return total


@given(fields=session_headers(), content=contents())
def test_a_session_takes_copies(core: Core, fields: dict[str, Any], content: Any) -> None:
    """The dicts and lists a session is made of, and appended, come back unchanged.

    Generator: session_headers and contents.
    Oracle:    their repr, taken before.
    Catches:   a payload kept by reference; fields taken out of the caller's dict.
    Broken:    lists are filled in place instead of copied.
    """
    event = said(0, content)
    before = repr([fields, event])

    session = core.append(core.accept([], fields), event)

    assert repr([fields, event]) == before
    content.append("scribbled")
    assert not isinstance(session, Refused)
    assert exact(core.events(session)[0]["data"]["content"]) == exact(content[:-1])
