"""Many texts looked for at once, each wherever it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

_ANCHOR: Final = 4
# So many beginnings are looked for one by one, which the interpreter does fast; more of them
# are looked up at each place of the text, whose cost does not grow with their number.
_FEW: Final = 48


class Literals:
    """A fixed set of texts to look for; those shorter than `SHORTEST` are left out.

    Their beginnings are found first, then the longest text that stands there. So a hostile
    log that holds a hundred thousand of them costs no more per character than one.
    """

    SHORTEST: Final = _ANCHOR

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = frozenset(text for text in texts if len(text) >= _ANCHOR)
        lengths: dict[str, set[int]] = {}
        for text in self._texts:
            lengths.setdefault(text[:_ANCHOR], set()).add(len(text))
        self._lengths = {start: sorted(found, reverse=True) for start, found in lengths.items()}

    def __bool__(self) -> bool:
        return bool(self._texts)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Where they stand, as half-open spans in order; the longest at each start.

        Spans may overlap.
        """
        found: list[tuple[int, int]] = []
        for start, anchor in self._starts(text):
            for length in self._lengths[anchor]:
                if start + length <= len(text) and text[start : start + length] in self._texts:
                    found.append((start, start + length))
                    break
        found.sort()
        return found

    def _starts(self, text: str) -> Iterator[tuple[int, str]]:
        if len(self._lengths) > _FEW:
            for start in range(len(text) - _ANCHOR + 1):
                anchor = text[start : start + _ANCHOR]
                if anchor in self._lengths:
                    yield start, anchor
            return
        for anchor in self._lengths:
            start = text.find(anchor)
            while start >= 0:
                yield start, anchor
                start = text.find(anchor, start + 1)
