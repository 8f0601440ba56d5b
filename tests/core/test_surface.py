"""The surface: which nodes are in force, in which order, and what each event does to it."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from dsh_fp import Code, Node, Replacement, fold_surface
from tests.core.making import event, note, refused, replacing, replayed, user


def test_appended_nodes_stand_in_order() -> None:
    """Surface events line up by seq; log-only events between them leave no trace."""
    session = replayed(user(0), note(1), user(2), note(3), user(4))

    assert session.surface.seqs == (0, 2, 4)
    assert session.surface.generation == 0
    assert len(session.surface) == 3


def test_nodes_know_their_neighbours() -> None:
    """Each node names the one before and the one behind; the ends have None."""
    session = replayed(user(0), note(1), user(2), user(3))

    assert session.surface.nodes == (Node(0, None, 2), Node(2, 0, 3), Node(3, 2, None))


def test_an_empty_surface_has_no_nodes() -> None:
    """Nothing logged, nothing in force."""
    surface = replayed().surface

    assert (surface.seqs, surface.nodes, len(surface), list(surface)) == ((), (), 0, [])


def test_a_replacement_takes_the_place_of_its_range() -> None:
    """Both ends are taken off, the new node stands in their place, the rest stays."""
    session = replayed(user(0), user(1), user(2), user(3), replacing(4, 1, 2, cites=[1, 2]))

    assert session.surface.seqs == (0, 4, 3)
    assert session.surface.generation == 1
    assert session.surface.nodes == (Node(0, None, 4), Node(4, 0, 3), Node(3, 4, None))


def test_one_node_may_be_replaced() -> None:
    """A range may begin and end at the same node."""
    session = replayed(user(0), user(1), user(2), replacing(3, 1, 1, cites=[1]))

    assert session.surface.seqs == (0, 3, 2)


def test_the_whole_surface_may_be_replaced() -> None:
    """A range from head to tail leaves one node."""
    session = replayed(user(0), user(1), user(2), replacing(3, 0, 2, cites=[0, 1, 2]))

    assert session.surface.seqs == (3,)


def test_start_may_be_the_larger_number() -> None:
    """Start and end are places: after a replacement 4 may stand before 2."""
    session = replayed(
        user(0),
        user(1),
        user(2),
        replacing(3, 0, 1, cites=[0, 1]),
        replacing(4, 3, 2, cites=[3, 2]),
    )

    assert session.surface.seqs == (4,)
    assert session.surface.generation == 2


def test_a_replacement_can_be_replaced_again_and_again() -> None:
    """A node that stands by replacement is found where it stands, however often replaced."""
    session = replayed(
        user(0),
        user(1),
        user(2),
        replacing(3, 1, 1, cites=[1]),
        replacing(4, 3, 3, cites=[3]),
        user(5),
        replacing(6, 4, 2, cites=[4, 2]),
        replacing(7, 0, 6, cites=[0, 6]),
        user(8),
    )

    assert session.surface.seqs == (7, 5, 8)
    assert session.surface.generation == 4
    assert [session.surface.index(seq) for seq in range(9)] == [
        *[None] * 5,
        1,
        None,
        0,
        2,
    ]


def test_membership_asks_for_nodes_in_force() -> None:
    """A seq that was replaced, is log-only or lies beyond is not on the surface."""
    surface = replayed(user(0), note(1), user(2), replacing(3, 0, 0, cites=[0])).surface

    assert [seq in surface for seq in range(5)] == [False, False, True, True, False]
    assert "2" not in surface
    assert None not in surface


def test_true_is_no_node() -> None:
    """True is not 1: it stands nowhere."""
    surface = replayed(user(0), user(1)).surface

    assert 1 in surface
    assert True not in surface


def test_surfaces_are_equal_by_order_and_generation() -> None:
    """The same nodes after another number of replacements are another surface."""
    plain = replayed(user(0), user(1)).surface
    again = replayed(user(0), user(1)).surface
    replaced = replayed(user(0), replacing(1, 0, 0, cites=[0])).surface

    assert plain == again
    assert hash(plain) == hash(again)
    assert plain != replaced
    assert plain != plain.seqs


def test_a_surface_survives_pickling() -> None:
    """Order, places and generation come back, ready to be replaced further."""
    session = replayed(user(0), user(1), user(2), replacing(3, 0, 1, cites=[0, 1]))

    back = pickle.loads(pickle.dumps(session.surface))

    assert back == session.surface
    assert back.index(3) == 0


@pytest.mark.parametrize(
    ("op", "code"),
    [
        (None, Code.SURFACE_OP_INVALID),
        ("Append", Code.SURFACE_OP_INVALID),
        ("replace", Code.SURFACE_OP_INVALID),
        (True, Code.SURFACE_OP_INVALID),
        (["append"], Code.SURFACE_OP_INVALID),
        ({}, Code.SURFACE_OP_INVALID),
        ({"op": "append"}, Code.SURFACE_OP_INVALID),
        ({"op": "replace", "start": 0}, Code.SURFACE_OP_INVALID),
        ({"op": "replace", "start": 0, "end": 0, "x": 1}, Code.SURFACE_OP_INVALID),
        ({"op": "Replace", "start": 0, "end": 0}, Code.SURFACE_OP_INVALID),
        ({"op": "replace", "start": "0", "end": 0}, Code.SURFACE_OP_INVALID),
        ({"op": "replace", "start": 0, "end": None}, Code.SURFACE_OP_INVALID),
        ({"op": "replace", "start": -1, "end": 0}, Code.SURFACE_OP_INVALID),
        ({"op": "replace", "start": 0, "end": 0.5}, Code.SURFACE_OP_INVALID),
        ({"op": "replace", "start": True, "end": 1}, Code.SURFACE_OP_INVALID),
        ({"op": "replace", "start": 1, "end": True}, Code.SURFACE_OP_INVALID),
        ({"op": "replace", "start": 2**53, "end": 2**53}, Code.SURFACE_OP_INVALID),
        ({"op": "replace", "start": 2**53 - 1, "end": 0}, Code.REPLACE_START_UNKNOWN),
    ],
    ids=str,
)
def test_a_surface_op_has_exactly_two_forms(op: object, code: Code) -> None:
    """It is `append`, or op, start and end with seqs; True is no seq."""
    fault = refused(user(0), user(1), user(2, surfaceOp=op, sourceEventSeqs=[0, 1]))

    assert (fault.code, fault.seq) == (code, 2)


@pytest.mark.parametrize("sources", [None, {}, "0", 0, True, [True], [0, "1"], [-1], [0.5], [[0]]])
def test_sources_are_a_list_of_seqs(sources: object) -> None:
    """Anything else is SOURCES_INVALID, before any range or place is looked at."""
    op = {"op": "replace", "start": 9, "end": 9}

    fault = refused(user(0), user(1), user(2, surfaceOp=op, sourceEventSeqs=sources))

    assert (fault.code, fault.seq, fault.path) == (Code.SOURCES_INVALID, 2, "$.sourceEventSeqs")


def test_integral_floats_are_seqs() -> None:
    """1.0 has one accepted representation, the integer 1, in ranges and sources too."""
    op = {"op": "replace", "start": 0.0, "end": 1.0}

    session = replayed(user(0), user(1), user(2, surfaceOp=op, sourceEventSeqs=[0.0, 1.0]))

    assert session.surface.seqs == (2,)


def test_sources_may_cite_any_earlier_event() -> None:
    """Log-only and already replaced events may be cited, and in any order."""
    session = replayed(
        user(0),
        note(1),
        user(2),
        replacing(3, 0, 0, cites=[1, 0]),
        replacing(4, 3, 2, cites=[2, 0, 3, 1]),
        user(5, sourceEventSeqs=[0]),
    )

    assert session.surface.seqs == (4, 5)


def test_only_nodes_in_force_must_be_cited() -> None:
    """A replacement of a replacement need not cite what was replaced before."""
    session = replayed(
        user(0), user(1), replacing(2, 0, 1, cites=[0, 1]), replacing(3, 2, 2, cites=[2])
    )

    assert session.surface.seqs == (3,)


def test_every_uncited_node_is_named() -> None:
    """The middle of a range counts as its ends do, in surface order."""
    fault = refused(
        user(0), user(1), user(2), user(3), replacing(4, 1, 1, cites=[1]), replacing(5, 0, 3, [0])
    )

    assert fault.code is Code.REPLACE_UNCITED
    assert fault.data == {"missing": (4, 2, 3)}


def test_the_whole_fold_answers_nodes_and_replacements() -> None:
    """`fold_surface` lists what each replacement took off, in surface order."""
    folded = fold_surface(
        [
            user(0),
            user(1),
            user(2),
            replacing(3, 0, 1, cites=[0, 1]),
            replacing(4, 3, 2, cites=[3, 2]),
            user(5),
        ]
    ).unwrap()

    assert folded.seqs == (4, 5)
    assert folded.nodes == (Node(4, None, 5), Node(5, 4, None))
    assert folded.replacements == (
        Replacement(3, 0, 1, (0, 1)),
        Replacement(4, 3, 2, (3, 2)),
    )


def test_the_whole_fold_does_not_mind_gaps() -> None:
    """A bare fold judges what it is given: seqs need not be contiguous."""
    folded = fold_surface([user(10), user(20), replacing(30, 10, 20, cites=[10, 20])]).unwrap()

    assert folded.seqs == (30,)


def test_a_source_in_a_gap_is_unknown() -> None:
    """Only over a log with gaps can a source be earlier and yet not be there."""
    fault = fold_surface([user(10), user(20, sourceEventSeqs=[15])]).failure()

    assert fault.code is Code.SOURCES_UNKNOWN
    assert (fault.seq, fault.index, fault.data) == (20, 1, {"source": 15})


def test_sources_are_judged_one_by_one() -> None:
    """Of two bad sources the first in the list is named, whichever fault it has."""
    unknown_first = fold_surface([user(10), user(20, sourceEventSeqs=[15, 30])]).failure()
    later_first = fold_surface([user(10), user(20, sourceEventSeqs=[30, 15])]).failure()

    assert unknown_first.code is Code.SOURCES_UNKNOWN
    assert later_first.code is Code.SOURCES_NOT_EARLIER


def test_a_fold_names_the_place_in_the_list() -> None:
    """A fault carries the index of its event, malformed ones included."""
    malformed: list[Any] = [user(0), {"type": "x"}]
    forbidden = [user(0), event("x", 5, surfaceOp="append")]

    first, second = fold_surface(malformed).failure(), fold_surface(forbidden).failure()

    assert (first.code, first.index) == (Code.BAD_ENVELOPE, 1)
    assert (second.code, second.index, second.seq) == (Code.SURFACE_OP_FORBIDDEN, 1, 5)


def test_a_list_handed_in_comes_back_unchanged() -> None:
    """Folding touches none of the caller's dicts."""
    events = [user(0), user(1), replacing(2, 0, 1, cites=[0, 1])]

    fold_surface(events).unwrap()

    assert events == [user(0), user(1), replacing(2, 0, 1, cites=[0, 1])]
