"""Where a surface may be cut so that no tool call is parted from its result."""

from __future__ import annotations

import pytest

from dsh_fp import Code, Session, can_collapse, is_balanced_cut
from tests.core.making import asking, assistant, event, replayed, result, text, user


def talk() -> Session:
    """Nodes 0 to 5: a question, two calls, their results, an answer, a question."""
    return replayed(
        user(0),
        assistant(1, text("Let me see"), asking("a"), asking("b")),
        result(2, "a"),
        result(3, "b"),
        assistant(4),
        user(5),
    )


def cut(session: Session, before: int | None) -> bool:
    return is_balanced_cut(session.nodes(), before).unwrap()


def test_a_cut_is_balanced_when_every_call_before_it_is_answered() -> None:
    """Between a call and its last result there is no balanced cut."""
    session = talk()

    assert [cut(session, before) for before in range(6)] == [True, True, False, False, True, True]
    assert cut(session, None)


def test_an_unanswered_call_unbalances_the_tail() -> None:
    """The cut after the tail counts everything."""
    session = replayed(user(0), assistant(1, asking("a")))

    assert not cut(session, None)
    assert cut(session, 1)


@pytest.mark.parametrize("before", [99, -1])
def test_a_seq_that_is_no_node_means_the_tail(before: int) -> None:
    """What is not on the surface stands for the cut after the tail."""
    assert cut(talk(), before) is True
    assert cut(replayed(assistant(0, asking("a"))), before) is False


def test_true_is_no_node_to_cut_before() -> None:
    """True is not 1: it names no node, so it means the tail."""
    session = replayed(user(0), user(1), assistant(2, asking("a")))

    assert cut(session, 1) is True
    assert cut(session, True) is False


def test_ids_are_counted_not_matched() -> None:
    """Any result answers any call."""
    assert cut(replayed(assistant(0, asking("a")), result(1, "another")), None)


def test_a_result_without_a_call_is_corrupt() -> None:
    """A count below zero is PAIRING_CORRUPT at the result, for every cut behind it."""
    session = replayed(user(0), result(1, "a"), assistant(2, asking("a")))

    fault = is_balanced_cut(session.nodes(), None).failure()

    assert (fault.code, fault.seq) == (Code.PAIRING_CORRUPT, 1)
    assert is_balanced_cut(session.nodes(), 2).failure().code is Code.PAIRING_CORRUPT


def test_damage_after_a_cut_does_not_affect_it() -> None:
    """What stands behind the cut is not counted."""
    session = replayed(user(0), result(1, "a"))

    assert cut(session, 0)
    assert cut(session, 1)


def test_payloads_of_odd_shape_count_nothing() -> None:
    """A message without a list of content has no calls."""
    session = replayed(
        event("assistant/message", 0, None, surfaceOp="append"),
        event("assistant/message", 1, {"content": "x"}, surfaceOp="append"),
        event("assistant/message", 2, {"content": [1, None, {"type": 1}]}, surfaceOp="append"),
    )

    assert cut(session, None)


def test_a_tool_call_block_of_another_speaker_does_not_count() -> None:
    """Only assistant messages ask, only tool results answer."""
    asked = event("user/message", 0, {"content": [asking("a")]}, surfaceOp="append")

    assert cut(replayed(asked), None)


@pytest.mark.parametrize(
    ("start", "end", "may"),
    [
        (0, 0, True),
        (1, 3, True),
        (0, 5, True),
        (4, 5, True),
        (1, 2, False),
        (2, 3, False),
        (1, 1, False),
    ],
)
def test_a_region_may_be_collapsed_when_both_edges_are_balanced(
    start: int, end: int, may: bool
) -> None:
    """A region keeps every pair together or apart from it."""
    assert can_collapse(talk().nodes(), start, end).unwrap() is may


def test_collapsing_over_damage_is_refused() -> None:
    """PAIRING_CORRUPT comes through from the edge that meets it."""
    session = replayed(user(0), result(1, "a"), user(2))

    assert can_collapse(session.nodes(), 0, 1).failure().code is Code.PAIRING_CORRUPT
