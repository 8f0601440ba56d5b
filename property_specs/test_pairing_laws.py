"""Tool pairing: where a surface may be cut."""

from __future__ import annotations

from hypothesis import given

from property_specs.core import Core, Log, code_of
from property_specs.generators.logs import loose_logs, turned_logs
from property_specs.models.acceptance import accepted
from property_specs.models.pairing import is_balanced
from property_specs.profiles import often


@given(log=turned_logs() | loose_logs())
@often(2)
def test_cuts_are_balanced_by_counting(core: Core, log: Log) -> None:
    """A cut is balanced when as many results as calls stand before it; more are corrupt.

    Generator: turned_logs and loose_logs; a cut before every seq and behind the tail.
    Oracle:    counting over the model's surface.
    Catches:   ids matched instead of counted, the node after the cut counted.
    Broken:    one call that waits is let pass.
    """
    session, book = core.accept(log), accepted(log)

    for before in [None, *range(len(log) + 2)]:
        expected = is_balanced(book, before)
        answer = core.balanced(session, before)
        if expected is None:
            assert code_of(answer) == "PAIRING_CORRUPT"
        else:
            assert answer is expected


@given(log=turned_logs() | loose_logs())
def test_damage_behind_a_cut_does_not_matter(core: Core, log: Log) -> None:
    """The answer for a cut depends on the nodes before it alone.

    Generator: turned_logs and loose_logs.
    Oracle:    the same log with a result too many behind the cut.
    Catches:   the whole surface judged for each cut.
    Broken:    the walk goes on behind the cut.
    """
    data = {"turn": 1, "step": 1, "callId": "c1", "content": [], "isError": False}
    result = {"type": "tool/result", "time": 0, "data": data, "surfaceOp": "append"}
    damage = [{**result, "seq": len(log) + place} for place in range(9)]
    session, damaged = core.accept(log), core.accept([*log, *damage])

    for seq in accepted(log).surface:
        assert core.balanced(damaged, seq) == core.balanced(session, seq)


@given(log=turned_logs())
def test_regions_collapse_between_balanced_cuts(core: Core, log: Log) -> None:
    """A run of nodes may be collapsed when the cuts at both its edges are balanced.

    Generator: turned_logs, every run of nodes.
    Oracle:    the two cuts.
    Catches:   the cut before the last node taken for the one behind it.
    Broken:    only the cut at the start is asked.
    """
    session, nodes = core.accept(log), accepted(log).surface

    for first, start in enumerate(nodes):
        for last in range(first, len(nodes)):
            after = nodes[last + 1] if last + 1 < len(nodes) else None
            edges = [core.balanced(session, start), core.balanced(session, after)]
            answer = core.collapsible(session, start, nodes[last])
            if True in [code_of(edge) is not None for edge in edges]:
                assert code_of(answer) is not None or answer is False
            else:
                assert answer is (edges == [True, True])
