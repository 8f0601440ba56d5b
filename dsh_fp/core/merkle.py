"""Merkle trees over hashed leaves, as RFC 6962 section 2.1 has them.

Leaves come in hashed already (`digests.digest` begins with the byte 0x00 that the RFC asks of
a leaf); inner nodes are hashed here. Nothing recurses, and nothing knows what a leaf stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = sha256(b"").digest()
"""The root of a tree without leaves."""


def node_of(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node."""
    return sha256(b"\x01" + left + right).digest()


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root of the tree over these leaves. O(n).

    Law:     merkle_roots_match_the_recursive_tree.
    Source:  RFC 6962, section 2.1.
    """
    level = leaves
    while len(level) > 1:
        level = _level_above(level)
    return level[0] if level else EMPTY_ROOT


def inclusion_path(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """The nodes that lead from one leaf to the root, lowest first: at most log2(n) rounded up.

    Errors:  IndexError for what is no place of a leaf.
    Law:     merkle_paths_prove_their_leaf_alone.
    Source:  RFC 6962, section 2.1.1.
    """
    if not 0 <= index < len(leaves):
        raise IndexError(f"leaf {index} in a tree of {len(leaves)}")
    path: list[bytes] = []
    level, place = leaves, index
    while len(level) > 1:
        beside = place ^ 1
        if beside < len(level):  # the last of an odd number goes up as it is
            path.append(level[beside])
        level, place = _level_above(level), place >> 1
    return tuple(path)


def root_from_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root that a path leads to; None when no tree of that size has such a path.

    Source:  RFC 9162, section 2.1.3.2, which says what RFC 6962 leaves to the reader.
    """
    if not 0 <= index < size or not _are_hashes((leaf, *path)):
        return None
    place, last = index, size - 1
    reached = leaf
    for beside in path:
        if last == 0:
            return None  # longer than the tree is high
        if place & 1 or place == last:
            reached = node_of(beside, reached)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            reached = node_of(reached, beside)
        place, last = place >> 1, last >> 1
    return reached if last == 0 else None


def consistency_path(leaves: Sequence[bytes], old_size: int) -> tuple[bytes, ...]:
    """The nodes that show the tree over the first `old_size` leaves to be where this one began.

    Empty where there is nothing to show: no leaf at first, or none since.

    Errors:  IndexError for a size that this tree never had.
    Law:     merkle_consistency_holds_for_prefixes_alone.
    Source:  RFC 6962, section 2.1.2.
    """
    if not 0 <= old_size <= len(leaves):
        raise IndexError(f"{old_size} leaves of a tree of {len(leaves)}")
    if old_size == 0:
        return ()
    path: list[bytes] = []
    start, stop = 0, len(leaves)
    while old_size != stop - start:  # old_size counts from `start`
        half = _largest_power_below(stop - start)
        if old_size <= half:
            path.append(root_of(leaves[start + half : stop]))
            stop = start + half
        else:
            path.append(root_of(leaves[start : start + half]))
            start, old_size = start + half, old_size - half
    if start:  # or the old root itself is the last node, which whoever checks has
        path.append(root_of(leaves[start:stop]))
    path.reverse()
    return tuple(path)


def is_consistent(
    old_size: int, old_root: bytes, new_size: int, new_root: bytes, path: Sequence[bytes]
) -> bool:
    """Whether a path shows that the new tree began with the leaves of the old one.

    Source:  RFC 9162, section 2.1.4.2.
    """
    if not 0 <= old_size <= new_size or not _are_hashes((old_root, new_root, *path)):
        return False
    if (old_size == 0 and old_root != EMPTY_ROOT) or (new_size == 0 and new_root != EMPTY_ROOT):
        return False
    if old_size in (0, new_size):
        return not path and (old_size == 0 or old_root == new_root)
    place, last = old_size - 1, new_size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    # Where the old tree is whole within the new one, its root is the node to begin with.
    nodes = (old_root, *path) if place == 0 else tuple(path)
    if not nodes:
        return False
    old = new = nodes[0]
    for beside in nodes[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = node_of(beside, old), node_of(beside, new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = node_of(new, beside)
        place, last = place >> 1, last >> 1
    return last == 0 and old == old_root and new == new_root


def _level_above(level: Sequence[bytes]) -> list[bytes]:
    """Each two nodes joined; the last of an odd number goes up as it is.

    So the left part of every node is a full tree, which is how the RFC splits its leaves.
    """
    above = [node_of(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
    if len(level) % 2:
        above.append(level[-1])
    return above


def _largest_power_below(size: int) -> int:
    return 1 << ((size - 1).bit_length() - 1)


def _are_hashes(nodes: Sequence[bytes]) -> bool:
    # A node of another length would let bytes wander from one side to the other.
    return all(len(node) == HASH_BYTES for node in nodes)
