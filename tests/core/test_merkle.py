"""Merkle trees: the example that implementations of RFC 6962 share, and the edges."""

from __future__ import annotations

from hashlib import sha256

import pytest

from dsh_fp.core.merkle import (
    EMPTY_ROOT,
    consistency_path,
    inclusion_path,
    is_consistent,
    node_of,
    root_from_path,
    root_of,
)

# Eight short texts and the roots of their trees, as implementations of the RFC test each other.
INPUTS = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657"]
LEAVES = [
    sha256(b"\x00" + bytes.fromhex(text)).digest()
    for text in [*INPUTS, "606162636465666768696a6b6c6d6e6f"]
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


@pytest.mark.parametrize("size", range(9))
def test_roots_are_those_that_others_have(size: int) -> None:
    """From no leaf to eight."""
    assert root_of(LEAVES[:size]).hex() == ROOTS[size]


def test_a_path_is_the_neighbours_from_the_leaf_up() -> None:
    """Of leaf 5 among 8: its twin, then the pair beside, then the other half."""
    path = inclusion_path(LEAVES, 5)

    beside = node_of(LEAVES[6], LEAVES[7])
    assert path == (LEAVES[4], beside, root_of(LEAVES[:4]))
    assert root_from_path(LEAVES[5], 5, 8, path) == root_of(LEAVES)


def test_the_last_of_an_odd_number_has_a_shorter_path() -> None:
    """Of leaf 4 among 5 the other four are all there is."""
    assert inclusion_path(LEAVES[:5], 4) == (root_of(LEAVES[:4]),)
    assert inclusion_path(LEAVES[:1], 0) == ()


def test_consistency_of_three_in_seven() -> None:
    """The example of RFC 6962, section 2.1.3: c, d, g, l."""
    path = consistency_path(LEAVES[:7], 3)

    a_and_b = node_of(LEAVES[0], LEAVES[1])
    the_rest = root_of(LEAVES[4:7])
    assert path == (LEAVES[2], LEAVES[3], a_and_b, the_rest)
    assert is_consistent(3, root_of(LEAVES[:3]), 7, root_of(LEAVES[:7]), path)


def test_a_full_tree_is_its_own_first_node() -> None:
    """The RFC's second example: of four in seven, l alone is needed."""
    path = consistency_path(LEAVES[:7], 4)

    assert path == (root_of(LEAVES[4:7]),)
    assert is_consistent(4, root_of(LEAVES[:4]), 7, root_of(LEAVES[:7]), path)
    assert not is_consistent(4, root_of(LEAVES[:4]), 7, root_of(LEAVES[:7]), ())


def test_there_is_nothing_to_show_for_no_leaf_and_for_the_same() -> None:
    """Both paths are empty; a path that is not is refused."""
    old, new = root_of(LEAVES[:3]), root_of(LEAVES[:7])

    assert consistency_path(LEAVES, 0) == consistency_path(LEAVES, 8) == ()
    assert is_consistent(0, EMPTY_ROOT, 7, new, ())
    assert is_consistent(0, EMPTY_ROOT, 0, EMPTY_ROOT, ())
    assert is_consistent(3, old, 3, old, ())
    assert not is_consistent(0, EMPTY_ROOT, 7, new, (new,))
    assert not is_consistent(0, new, 7, new, ())
    assert not is_consistent(0, EMPTY_ROOT, 0, new, ())
    assert not is_consistent(3, old, 3, old, (old,))
    assert not is_consistent(3, old, 3, new, ())
    assert not is_consistent(7, new, 3, old, consistency_path(LEAVES[:7], 3))


@pytest.mark.parametrize(("index", "size"), [(-1, 8), (8, 8), (0, 0), (2**53, 2**53)])
def test_a_place_outside_the_tree_leads_nowhere(index: int, size: int) -> None:
    """Whatever the path."""
    assert root_from_path(LEAVES[0], index, size, inclusion_path(LEAVES, 0)) is None


def test_a_path_of_the_wrong_length_leads_nowhere() -> None:
    """One node more or less than the tree is high."""
    path = inclusion_path(LEAVES, 2)

    assert root_from_path(LEAVES[2], 2, 8, path[:-1]) is None
    assert root_from_path(LEAVES[2], 2, 8, (*path, LEAVES[0])) is None
    assert root_from_path(LEAVES[0], 0, 1, (LEAVES[0],)) is None


def test_nodes_have_32_bytes_each() -> None:
    """Bytes moved from one node to its neighbour give the same hash, so they are no node."""
    left, right = LEAVES[:2]

    assert node_of(left + right[:1], right[1:]) == node_of(left, right)
    assert root_from_path(left + right[:1], 0, 2, (right[1:],)) is None
    assert root_from_path(left, 0, 2, (right + b"x",)) is None
    assert not is_consistent(1, left + right[:1], 2, root_of(LEAVES[:2]), (right[1:],))


def test_a_path_into_a_huge_tree_is_short() -> None:
    """A tree of 2**53 leaves is 53 nodes high; a checker needs no more than that."""
    leaf = LEAVES[0]
    reached = leaf
    for _ in range(53):
        reached = node_of(reached, leaf)

    assert root_from_path(leaf, 0, 2**53, [leaf] * 53) == reached
    assert root_from_path(leaf, 0, 2**53, [leaf] * 54) is None


def test_asking_for_what_never_was_is_an_error_of_the_caller() -> None:
    """A leaf that is not there, a size the tree never had."""
    for index in (-1, 8):
        with pytest.raises(IndexError):
            inclusion_path(LEAVES, index)
    for size in (-1, 9):
        with pytest.raises(IndexError):
            consistency_path(LEAVES, size)
