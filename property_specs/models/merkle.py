"""Merkle trees as RFC 6962 section 2.1 writes them down: by recursion, on lists."""

from __future__ import annotations

import hashlib


def node(left: bytes, right: bytes) -> bytes:
    """The hash of two nodes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root(leaves: list[bytes]) -> bytes:
    """MTH(D[n]), the leaves being hashed already."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    half = split(len(leaves))
    return node(root(leaves[:half]), root(leaves[half:]))


def split(size: int) -> int:
    """The largest power of two smaller than a size."""
    half = 1
    while 2 * half < size:
        half *= 2
    return half


def path(index: int, leaves: list[bytes]) -> list[bytes]:
    """PATH(m, D[n])."""
    if len(leaves) == 1:
        return []
    half = split(len(leaves))
    if index < half:
        return [*path(index, leaves[:half]), root(leaves[half:])]
    return [*path(index - half, leaves[half:]), root(leaves[:half])]


def consistency(old_size: int, leaves: list[bytes]) -> list[bytes]:
    """PROOF(m, D[n]) for 0 < m < n."""
    return _part(old_size, leaves, whole=True)


def _part(size: int, leaves: list[bytes], *, whole: bool) -> list[bytes]:
    if size == len(leaves):
        return [] if whole else [root(leaves)]
    half = split(len(leaves))
    if size <= half:
        return [*_part(size, leaves[:half], whole=whole), root(leaves[half:])]
    return [*_part(size - half, leaves[half:], whole=False), root(leaves[:half])]
