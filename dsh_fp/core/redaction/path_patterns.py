"""Paths with gaps: which values of a JSON value a person means by `$.data.meta.*.token`."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from typing import Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.json_paths import Step
from dsh_fp.core.rejection import Rejection, rule_invalid


class _Gap(enum.Enum):
    ANY = "*"
    """Any one step."""
    ALL = ".."
    """Any number of steps, none too."""


_STEP: Final = re.compile(
    r"(?P<deep>\.\.)?(?:"
    r"(?P<any>\.?\*|\[\*\])|\.?(?P<name>[A-Za-z_][A-Za-z0-9_-]*)"
    r"|\[(?P<place>[0-9]{1,15})\]|\[(?P<quote>['\"])(?P<quoted>.*?)(?P=quote)\])"
)
_MOST_STEPS: Final = 64


Reach = frozenset[int]
"""Places in a pattern up to which a path so far fits it."""


@attrs.frozen
class PathPattern:
    """A path with gaps, compared with the steps of paths."""

    _steps: tuple[Step | _Gap, ...]

    def covers(self, steps: Iterable[Step]) -> bool:
        """Whether the pattern names the value at these steps, or one that it stands in."""
        reach = self.reach
        for step in steps:
            reach = self.onward(reach, step)
        return self.is_named(reach)

    @property
    def reach(self) -> Reach:
        """How far the pattern reaches before any step."""
        return self._open({0})

    def onward(self, reach: Reach, step: Step) -> Reach:
        """How far it reaches one step further. Costs no more than the pattern has steps."""
        if self.is_named(reach) or not reach:
            return reach
        steps = self._steps
        return self._open(
            {
                place if steps[place] is _Gap.ALL else place + 1
                for place in reach
                if isinstance(steps[place], _Gap) or _same(steps[place], step)
            }
        )

    def is_named(self, reach: Reach) -> bool:
        """Whether what it reaches is the whole pattern."""
        return len(self._steps) in reach

    def _open(self, places: set[int]) -> Reach:
        """These places of the pattern, and those behind a gap that may be empty."""
        opened = set(places)
        for place in places:
            after = place
            while after < len(self._steps) and self._steps[after] is _Gap.ALL:
                after += 1
                opened.add(after)
        return frozenset(opened)

    @property
    def first(self) -> Step | None:
        """The step every path it names begins with; None when a gap stands there."""
        first = self._steps[0] if self._steps else None
        return None if isinstance(first, _Gap) else first


def _same(one: object, other: Step) -> bool:
    return type(one) is type(other) and one == other


def parse_path(text: str) -> Result[PathPattern, Rejection]:
    """The pattern that a path's text stands for.

    Shapes:  `$`, then `.name`, `['any name']`, `[0]`, `.*` or `[*]` for any one step, and
             `..name` for a name at any depth.
    Errors:  RULE_INVALID with the character.
    """
    if not text.startswith("$"):
        return Failure(rule_invalid("a path begins with $"))
    steps: list[Step | _Gap] = []
    at = 1
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None or (found["name"] and not found[0].startswith(".")):
            return Failure(rule_invalid(f"the path cannot be read from character {at + 1} on"))
        if found["deep"]:
            steps.append(_Gap.ALL)
        if found["any"]:
            steps.append(_Gap.ANY)
        elif found["place"]:
            steps.append(int(found["place"]))
        else:
            steps.append(found["name"] if found["name"] is not None else found["quoted"])
        at = found.end()
    if len(steps) > _MOST_STEPS:
        return Failure(rule_invalid(f"the path has more than {_MOST_STEPS} steps"))
    return Success(PathPattern(tuple(steps)))
