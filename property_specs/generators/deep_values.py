"""Values nested far deeper than any recursion goes, each made by a loop.

Leaves out: width; one chain of containers with a scalar beside each.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st


def nest(pattern: str, depth: int, leaf: Any = 1) -> Any:
    """A value of this many levels; the pattern of `[` and `{` repeats from the inside out."""
    value = leaf
    for level in range(depth):
        value = [value, level] if pattern[level % len(pattern)] == "[" else {"k": value}
    return value


@cache
def patterns() -> st.SearchStrategy[str]:
    """How the levels of a deep value alternate."""
    return st.sampled_from(["[", "{", "[{", "[[{"])


@cache
def deep_values(least: int = 5_000, most: int = 9_000) -> st.SearchStrategy[Any]:
    """A deep value."""
    return st.builds(nest, patterns(), st.integers(least, most))
