"""A persistent vector seen up to a length: the plain list is what it must equal."""

from __future__ import annotations

import pytest

from dsh_fp.core.growing import Growing


def test_it_reads_like_a_list() -> None:
    """Length, index, negative index, slice and iteration."""
    grown = Growing.of("abcde")

    assert len(grown) == 5
    assert (grown[0], grown[4], grown[-1], grown[-5]) == ("a", "e", "e", "a")
    assert grown[1:3] == ["b", "c"]
    assert list(grown) == list("abcde")


@pytest.mark.parametrize("index", [3, -4])
def test_an_index_beyond_the_length_raises(index: int) -> None:
    """What stands behind the length belongs to another line of history."""
    prefix = Growing.of("abcde").prefix(3)

    with pytest.raises(IndexError):
        prefix[index]


def test_a_prefix_hides_what_follows() -> None:
    """A prefix is only as long as it says, in every way of reading it."""
    prefix = Growing.of("abcde").prefix(2)

    assert list(prefix) == ["a", "b"]
    assert prefix[-1] == "b"
    assert prefix[:] == ["a", "b"]
    assert prefix == Growing.of("ab")
    assert hash(prefix) == hash(Growing.of("ab"))


def test_two_lines_of_history_stay_apart() -> None:
    """Appending and extending a prefix leaves the longer line and its sisters alone."""
    whole = Growing.of("abcde")
    prefix = whole.prefix(2)

    one = prefix.append("x").append("y")
    other = prefix.extend("1234")

    assert list(one) == list("abxy")
    assert list(other) == list("ab1234")
    assert list(whole) == list("abcde")
    assert list(prefix) == list("ab")


@pytest.mark.parametrize(
    ("start", "stop", "after"),
    [(0, 1, "-bcde"), (0, 5, "-"), (1, 3, "a-de"), (4, 5, "abcd-"), (2, 5, "ab-")],
)
def test_splicing_puts_one_in_place_of_several(start: int, stop: int, after: str) -> None:
    """The elements from start up to stop give way to one; the original stays."""
    grown = Growing.of("abcde")

    spliced = grown.splice(start, stop, "-")

    assert list(spliced) == list(after)
    assert list(grown) == list("abcde")


@pytest.mark.parametrize(
    ("start", "stop", "after"), [(0, 1, "-bc"), (0, 3, "-"), (1, 3, "a-"), (2, 3, "ab-")]
)
def test_splicing_a_prefix_keeps_to_its_length(start: int, stop: int, after: str) -> None:
    """What stands behind a prefix does not come back in, then or later."""
    prefix = Growing.of("abcde").prefix(3)

    spliced = prefix.splice(start, stop, "-")

    assert list(spliced) == list(after)
    assert list(spliced.append("z")) == [*after, "z"]


def test_large_vectors_splice_and_branch_alike() -> None:
    """Beyond one node of the tree nothing changes."""
    whole = Growing.of(range(5000))

    spliced = whole.splice(100, 4900, -1).append(-2)
    branch = whole.prefix(4000).extend(range(10))

    assert list(spliced) == [*range(100), -1, *range(4900, 5000), -2]
    assert list(branch) == [*range(4000), *range(10)]
    assert list(whole) == list(range(5000))


def test_extending_with_nothing_is_the_same_object() -> None:
    """What is not changed is shared."""
    grown = Growing.of("ab")

    assert grown.extend([]) is grown
    assert grown.prefix(2) is grown
