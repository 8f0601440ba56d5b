"""Lists of JSON values, many of which begin alike, held so that each beginning is held once.

The requests of a session send the same messages again and again. Each list here is one number;
how far two of them agree is told by the numbers, in O(log n), without looking at a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from operator import is_
from typing import Final

from dsh_fp.core.lossless import AnyJson, JsonArray, json_array, text_of

EMPTY: Final = 0
"""The list without members."""


class Lists:
    """Lists by number, and values by number: equal numbers, equal texts. Only ever grows.

    A list is its last member behind the list before it; `_jump` leads far back in steps that
    double, so that two lists find their common beginning in O(log n).
    """

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}  # by the digest of a value's text
        self._values: list[AnyJson] = []
        self._known: dict[int, tuple[AnyJson, int]] = {}  # by identity; the value is kept alive
        self._children: dict[tuple[int, int], int] = {}
        self._before = [EMPTY]
        self._jump = [EMPTY]
        self._length = [0]
        self._last = [-1]
        self._previous: Sequence[AnyJson] = ()
        self._previous_lists = [EMPTY]

    def value_number(self, value: AnyJson, *, keep: bool = False) -> int:
        """The number of a frozen value; of values with equal texts it is the same.

        With `keep` the object is remembered, so that it is not written as text again.
        """
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        key = sha256(text_of(value).encode()).digest()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._values)
            self._values.append(value)
            keep = True  # it is kept anyway
        if keep:
            self._known[id(value)] = (value, number)
        return number

    def value(self, number: int) -> AnyJson:
        """The value of a number, the first that was seen with its text."""
        return self._values[number]

    def values(self) -> tuple[AnyJson, ...]:
        """All values so far, in the order they were seen."""
        return tuple(self._values)

    def add(self, members: Sequence[AnyJson], *, keep: bool = False) -> int:
        """The number of a list of frozen values.

        Members that are the very objects of the list added before, in their places, cost next
        to nothing; a member that was added with `keep` costs no text.
        """
        previous, lists = self._previous, self._previous_lists
        both = min(len(previous), len(members))
        if not all(map(is_, previous, members)):
            both = next(n for n in range(both) if previous[n] is not members[n])
        del lists[both + 1 :]
        at = lists[both]
        for member in members[both:]:
            at = self._after(at, self.value_number(member, keep=keep))
            lists.append(at)
        self._previous = members
        return at

    def _after(self, before: int, number: int) -> int:
        """The list with one member more."""
        key = (before, number)
        known = self._children.get(key)
        if known is not None:
            return known
        made = self._children[key] = len(self._before)
        length, jump = self._length, self._jump
        far = jump[before]
        even = length[before] - length[far] == length[far] - length[jump[far]]
        self._before.append(before)
        jump.append(jump[far] if even else before)
        length.append(length[before] + 1)
        self._last.append(number)
        return made

    def length(self, at: int) -> int:
        """How many members a list has."""
        return self._length[at]

    def last(self, at: int) -> int:
        """The number of the last member; -1 of the empty list."""
        return self._last[at]

    def before(self, at: int) -> int:
        """The list without its last member."""
        return self._before[at]

    def common(self, one: int, other: int) -> int:
        """How many members two lists begin with alike. O(log n)."""
        length, jump, before = self._length, self._jump, self._before
        if length[one] > length[other]:
            one, other = other, one
        while length[other] > length[one]:
            far = jump[other]
            other = far if length[far] >= length[one] else before[other]
        while one != other:
            if jump[one] != jump[other]:
                one, other = jump[one], jump[other]
            else:
                one, other = before[one], before[other]
        return length[one]

    def numbers(self, at: int) -> list[int]:
        """The numbers of a list's members. O(n)."""
        found = list(self._backwards(at))
        found.reverse()
        return found

    def members(self, at: int) -> JsonArray:
        """A list's members. O(n)."""
        return json_array(self._values[number] for number in self.numbers(at))

    def _backwards(self, at: int) -> Iterator[int]:
        while at != EMPTY:
            yield self._last[at]
            at = self._before[at]
