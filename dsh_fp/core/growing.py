"""A persistent vector seen up to a length, so that a prefix shares it and costs nothing.

`v[:k]` of a pyrsistent vector copies k elements. Here a prefix is the same vector with a
smaller length; what stands behind the length belongs to another line of history, and the
first append to a prefix overwrites it in a version of its own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar, overload

import attrs
from pyrsistent import PVector, pvector

T = TypeVar("T")


@attrs.frozen(eq=False, repr=False)
class Growing(Sequence[T], Generic[T]):
    """An immutable sequence with O(log n) append and O(1) prefixes."""

    _vector: PVector[T]
    _length: int

    @classmethod
    def of(cls, items: Iterable[T] = ()) -> Growing[T]:
        """The sequence of these elements, built in one go."""
        vector = pvector(items)
        return cls(vector, len(vector))

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._vector[place] for place in range(*index.indices(self._length))]
        if index < 0:
            index += self._length
        if not 0 <= index < self._length:
            raise IndexError(index)
        return self._vector[index]

    def __iter__(self) -> Iterator[T]:
        return islice(self._vector, self._length)

    def append(self, item: T) -> Growing[T]:
        """The sequence with one more element."""
        if self._length == len(self._vector):
            return Growing(self._vector.append(item), self._length + 1)
        return Growing(self._vector.set(self._length, item), self._length + 1)

    def extend(self, items: Sequence[T]) -> Growing[T]:
        """The sequence with more elements; a run is cheaper than one by one."""
        if not items:
            return self
        if self._length == len(self._vector):
            return Growing(self._vector.extend(items), self._length + len(items))
        grown = self
        for item in items:
            grown = grown.append(item)
        return grown

    def splice(self, start: int, stop: int, item: T) -> Growing[T]:
        """The sequence with the elements from start up to stop replaced by one.

        Costs the elements behind start, not those before it.
        """
        behind = self._length - stop
        if stop != start + 1 and behind > start:
            # Most of it moves: one pass over a list costs less than a set for each element.
            items = list(islice(self._vector, self._length))
            return Growing.of([*items[:start], item, *items[stop:]])
        vector = self._vector.evolver()
        vector[start] = item
        length = start + 1
        if stop == length:
            return Growing(vector.persistent(), self._length)
        for place in range(stop, self._length):
            vector[length] = self._vector[place]
            length += 1
        return Growing(vector.persistent(), length)

    def bisect(self, bound: int, key: Callable[[T], int] | None = None, start: int = 0) -> int:
        """How many elements stand below a bound; they increase from `start` on."""
        vector: Any = self._vector  # the vector itself: this is asked for each look into the past
        return bisect_left(vector, bound, start, self._length, key=key)

    def prefix(self, length: int) -> Growing[T]:
        """The first elements; shares everything."""
        return self if length == self._length else Growing(self._vector, length)

    def __reduce__(self) -> tuple[Callable[[Iterable[T]], Growing[T]], tuple[list[T]]]:
        return Growing.of, (list(self),)  # a prefix takes nothing of what came later along

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Growing):
            return NotImplemented
        return len(self) == len(other) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Growing({list(self)!r})"
