"""Edited logs, and searches along a log."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from property_specs.core import Core, Log, Refused, Session, Wire, seen
from property_specs.generators.edits import (
    Edited,
    edited_logs,
    edits_of,
    emptied_logs,
    stepped_edits,
)
from property_specs.generators.logs import turned_logs, valid_logs
from property_specs.generators.payloads import contents
from property_specs.models.acceptance import Book
from property_specs.models.json_values import exact, write
from property_specs.models.projection import NoMessage, message_of
from property_specs.models.what_if import edited, numbers, sent
from property_specs.profiles import often


def asked(core: Core, session: Session, edits: list[Wire]) -> Wire:
    """The answer to edits that make sense."""
    answer = core.what_if(session, edits)
    assert not isinstance(answer, Refused)
    return answer


@given(log=valid_logs())
@often(0.5)
def test_no_edits_leave_a_log_alone(core: Core, log: Log) -> None:
    """Without edits the session is the same, every seq stays, no request changes.

    Generator: valid_logs.
    Oracle:    the session itself.
    Catches:   events made anew in another order of keys; equal requests told as changed.
    Broken:    two requests that are not known are a change.
    """
    session = core.accept(log)

    answer = asked(core, session, [])

    assert exact(seen(core, answer["session"])) == exact(seen(core, session))
    assert answer["new"] == answer["old"] == list(range(len(log)))
    assert (answer["requests"], answer["breaches"], answer["blamed"]) == ([], [], [])


@given(case=edited_logs() | emptied_logs() | stepped_edits())
@often(6)
def test_edited_logs_match_list_edits(core: Core, case: Edited) -> None:
    """The edited log is the one that plain lists give, or is refused with the same code.

    Generator: edited_logs: nodes, replacements and the rest dropped, replaced, inserted.
    Oracle:    the list model, which knows events as things and puts their seqs in last.
    Catches:   a replacement that takes too much or too little, a citation lost or left over.
    Broken:    a dropped replacement leaves nothing of what it had taken.
    """
    before = exact([case.log, case.edits])

    answer = asked(core, core.accept(case.log), case.edits)

    expected = edited(case.log, case.edits)
    if isinstance(expected, str):
        assert (answer["session"], answer["refusal"]) == (None, expected)
    else:
        assert answer["refusal"] is None
        assert exact(_settled(core.events(answer["session"]))) == exact(_settled(expected))
        assert [answer["new"], answer["old"]] == list(numbers(case.log, case.edits))
    assert exact([case.log, case.edits]) == before


def _settled(log: Log) -> list[list[Any]]:
    keys = ("type", "seq", "time", "data", "sourceEventSeqs", "surfaceOp")
    return [[(key, event[key]) for key in keys if key in event] for event in log]


@given(log=valid_logs(), content=contents(), data=st.data())
@often(2)
def test_dropping_an_insertion_gives_the_log_back(
    core: Core, log: Log, content: Any, data: st.DataObject
) -> None:
    """An event inserted and then dropped leaves no trace, whatever had come to cite it.

    Generator: valid_logs, an appended message or a log-only event at any place.
    Oracle:    the log before.
    Catches:   citations that stay, ranges that do not shrink back, keys in another order.
    Broken:    an event that only moved keeps its former seq in its text.
    """
    place = data.draw(st.integers(0, len(log)))
    said = {"content": content, "source": {"kind": "user"}}
    insert: Wire = {"edit": "insert", "before": place, "type": "plugin/x", "data": said}
    if data.draw(st.booleans()):
        insert |= {"type": "user/message", "surfaceOp": "append"}
    session = core.accept(log)

    longer = asked(core, session, [insert])["session"]
    back = asked(core, longer, [{"edit": "drop", "seq": place}])["session"]

    assert len(core.events(longer)) == len(log) + 1
    assert exact(seen(core, back)) == exact(seen(core, session))


@given(case=edited_logs())
@often(3)
def test_references_point_at_what_they_pointed_at(core: Core, case: Edited) -> None:
    """What an event cites is what it cited, without what is dropped; more only if it takes it.

    Generator: edited_logs.
    Oracle:    the log before, by the map of seqs.
    Catches:   seqs left as they were, dropped events cited, sources in another order.
    Broken:    citations are left as they were.
    """
    answer = asked(core, core.accept(case.log), case.edits)
    if answer["session"] is None:
        return
    events = core.events(answer["session"])

    book = Book()
    for event in events:
        op = event.get("surfaceOp", "append")
        taken = [] if op == "append" else book.shadowed(op["start"], op["end"])
        book.take(event)
        old = answer["old"][event["seq"]]
        if old is not None:
            cited = [answer["new"][seq] for seq in case.log[old].get("sourceEventSeqs", [])]
            kept = [seq for seq in cited if seq is not None]
            now = event.get("sourceEventSeqs", [])
            assert now[: len(kept)] == kept
            assert set(now[len(kept) :]) <= set(taken)


@given(case=stepped_edits() | edited_logs())
@often(4)
def test_request_changes_match_expanded_requests(core: Core, case: Edited) -> None:
    """The requests told as changed, new and gone are those whose texts are, by as much as told.

    Generator: stepped_edits and edited_logs, steps among what is inserted and dropped.
    Oracle:    both logs' requests refolded one by one, messages compared event by event.
    Catches:   a digest that is not asked for, running counts of another surface, wrong sizes.
    Broken:    a dropped node that made no message counts as one removed.
    """
    answer = asked(core, core.accept(case.log), case.edits)
    if answer["session"] is None:
        assert answer["requests"] == []
        return
    events = core.events(answer["session"])

    before, after = sent(case.log), sent(events)
    told = {(each["old_seq"], each["new_seq"]): each for each in answer["requests"]}
    expected = {}
    for old in before:
        new = answer["new"][old]
        if new not in after:
            expected[old, new] = _alone("vanishes", before[old])
        elif write(_plain(before[old])) != write(_plain(after[new])):
            pair = _pair(case.log, events, answer["old"], before[old], after[new])
            expected[old, new] = pair
    for new in after:
        if answer["old"][new] not in before:
            expected[answer["old"][new], new] = _alone("appears", after[new])
    assert len(told) == len(answer["requests"])
    assert set(told) == set(expected)
    for key, each in expected.items():
        assert {name: told[key][name] for name in each} == each


def _plain(past: Wire) -> Wire:
    return past.get("request")


def _size(past: Wire) -> int | None:
    return len(write(past["request"]).encode()) if "request" in past else None


def _count(past: Wire) -> int | None:
    return len(past["request"]["messages"]) if "request" in past else None


def _alone(kind: str, past: Wire) -> Wire:
    here = [past.get("fault"), _count(past), _size(past)]
    faults, messages, sizes = ([None, each] for each in here)
    if kind == "vanishes":
        faults, messages, sizes = (each[::-1] for each in (faults, messages, sizes))
    return {"kind": kind, "faults": faults, "messages": messages, "bytes": sizes}


def _pair(log: Log, events: Log, olds: list[int | None], old: Wire, new: Wire) -> Wire:
    each = {
        "kind": "changed",
        "faults": [old.get("fault"), new.get("fault")],
        "messages": [_count(old), _count(new)],
        "bytes": [_size(old), _size(new)],
    }
    if "request" not in old or "request" not in new:
        return {**each, "header_changed": None, "counts": [None] * 3}
    mine = _messages(log, old["seq"])
    yours = {
        f"new {seq}" if olds[seq] is None else olds[seq]: text
        for seq, text in _messages(events, new["seq"]).items()
    }
    prefixes = [
        [
            write(message)
            for message in past["request"]["messages"][: (_count(past) or 0) - len(there)]
        ]
        for past, there in ((old, mine), (new, yours))
    ]
    mine |= {f"prefix {at}": text for at, text in enumerate(prefixes[0])}
    yours |= {f"prefix {at}": text for at, text in enumerate(prefixes[1])}
    heads = [
        {key: value for key, value in past["request"].items() if key != "messages"}
        for past in (old, new)
    ]
    return {
        **each,
        "header_changed": write(heads[0]) != write(heads[1]),
        "counts": [
            len(yours.keys() - mine.keys()),
            len(mine.keys() - yours.keys()),
            sum(mine[key] != yours[key] for key in mine.keys() & yours.keys()),
        ],
    }


def _messages(log: Log, start: int) -> dict[Any, str]:
    """The texts of the messages before a step, by the seq of their event."""
    book = Book()
    for event in log[:start]:
        book.take(event)
    made = {}
    for seq in book.surface:
        try:
            message = message_of(log[seq])
        except NoMessage:
            message = None
        if message is not None:
            made[seq] = write(message)
    return made


@given(log=turned_logs(), data=st.data())
@often(2)
def test_breaches_told_are_new(core: Core, log: Log, data: st.DataObject) -> None:
    """The breaches told are those of the edited log that its event did not have before.

    Generator: turned_logs and edits of them; then edits of the edited log.
    Oracle:    all breaches of both logs.
    Catches:   old breaches told again, new ones at an event that had another.
    Broken:    breaches are looked up by their seq in the edited log.
    """
    session = core.accept(log)
    for _ in range(2):
        edits = data.draw(edits_of(core.events(session), 3))
        answer = asked(core, session, edits)
        if answer["session"] is None:
            return
        had = [(each.index, each.code) for each in core.violations(core.events(session))]
        now = core.violations(core.events(answer["session"]))
        new = [each for each in now if (answer["old"][each.index], each.code) not in had]
        assert answer["breaches"] == new
        session = answer["session"]


@given(case=emptied_logs() | edited_logs())
@often(3)
def test_blamed_edits_are_refused_without_the_others(core: Core, case: Edited) -> None:
    """Blamed are the edits refused alone; if none is, some refused together and not with one less.

    Generator: edited_logs; emptied_logs, where a replacement loses all that it takes away.
    Oracle:    each edit tried alone, the blamed ones tried together and with one less.
    Catches:   innocent edits blamed, one culprit of several named.
    Broken:    all edits of the first refused beginning are blamed.
    """
    session = core.accept(case.log)
    answer = asked(core, session, case.edits)

    def refused(some: list[int]) -> bool:
        return asked(core, session, [case.edits[at] for at in some])["session"] is None

    blamed = answer["blamed"]
    assert bool(blamed) == (answer["session"] is None)
    if blamed:
        alone = [at for at in range(len(case.edits)) if refused([at])]
        if alone:
            assert blamed == alone
        else:
            assert refused(blamed)
            assert not any(refused([at for at in blamed if at != spared]) for spared in blamed)


@given(case=edited_logs(most=2), wrong=st.sampled_from(["twice", "beyond", "before", "cited"]))
def test_edits_that_make_no_sense_are_refused_first(core: Core, case: Edited, wrong: str) -> None:
    """An unknown seq, or an event edited twice, is EDIT_INVALID with the index of the edit.

    Generator: edited_logs with one senseless edit behind the others.
    Oracle:    none needed.
    Catches:   an edit that silently does nothing.
    Broken:    an event may be edited twice.
    """
    log, end = case.log, len(case.log)
    edits = list(case.edits)
    said = {"edit": "insert", "before": end, "type": "user/message", "data": {}}
    if wrong == "twice":
        if not log:
            return
        edits = [edit for edit in edits if edit.get("seq") != 0]
        edits += [{"edit": "replace", "seq": 0, "data": 1}, {"edit": "drop", "seq": 0}]
    elif wrong == "beyond":
        edits.append({"edit": "drop", "seq": end})
    elif wrong == "before":
        edits.append({**said, "before": end + 1})
    else:
        edits.append({**said, "surfaceOp": "append", "sourceEventSeqs": [end]})

    answer = core.what_if(core.accept(log), edits)

    assert isinstance(answer, Refused)
    assert (answer.code, answer.index) == ("EDIT_INVALID", len(edits) - 1)


@given(log=valid_logs(), data=st.data())
def test_bisect_equals_linear_search(core: Core, log: Log, data: st.DataObject) -> None:
    """What bisect finds is the first length of all, or of those given, in few calls.

    Generator: valid_logs, any threshold or none, all lengths or some.
    Oracle:    asking one length after the other; ceil(log2(n + 1)) + 1 calls for n + 1 lengths.
    Catches:   an end left out, a call too many.
    Broken:    the end is not asked first.
    """
    threshold = data.draw(st.integers(0, len(log) + 1))
    some = st.lists(st.integers(0, len(log)), min_size=1, max_size=9)
    at = data.draw(st.none() | some)
    tried: list[int] = []

    def holds(length: int) -> bool:
        tried.append(length)
        return length >= threshold

    found = core.bisect(core.accept(log), holds, at)

    lengths = list(range(len(log) + 1)) if at is None else sorted(set(at))
    assert found == next((length for length in lengths if length >= threshold), None)
    assert tried[0] == lengths[-1]
    assert len(tried) <= math.ceil(math.log2(len(lengths))) + 1
    assert len(set(tried)) == len(tried)


@given(
    lengths=st.sets(st.integers(0, 40), min_size=1, max_size=25),
    threshold=st.integers(0, 40),
    skipped=st.sets(st.integers(0, 40), max_size=20),
)
@often(2)
def test_skips_leave_what_they_hide(
    core: Core, lengths: set[int], threshold: int, skipped: set[int]
) -> None:
    """What is left of a search are the lengths that the skipped ones keep from being told apart.

    Generator: sets of lengths, a threshold, any lengths that cannot be judged.
    Oracle:    all verdicts, read from one end to the other.
    Catches:   a stretch never tried, a length tried twice.
    Broken:    a skipped length is taken to be good.
    """
    ordered = sorted(lengths)
    threshold = min(threshold, ordered[-1])
    tried: list[int] = []

    def judge(length: int) -> str:
        tried.append(length)
        if length in skipped:
            return "skip"
        return "bad" if length >= threshold else "good"

    left = core.search(ordered, judge)

    known = [length for length in ordered if length not in skipped or length == ordered[-1]]
    bad = next(length for length in known if length >= threshold)
    good = [length for length in known if length < threshold]
    low = good[-1] if good else -1
    assert left == [length for length in ordered if low < length <= bad]
    assert len(set(tried)) == len(tried)
