"""On which way each request went, where the log leaves that open: as the captures fit best.

A rule of a writer holds from one resumption of a session to the next, what a route is told of
tools for one model. So that one changed body decides nothing by itself, most of them do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import attrs

from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject
from dsh_fp.core.vocabulary import Route
from dsh_fp.wire.aligning import Due
from dsh_fp.wire.expected import COMPACTION, Encoding, Expected
from dsh_fp.wire.instructions import without_instruction
from dsh_fp.wire.messages_api import ToolUpdates
from dsh_fp.wire.sketches import Sketch, Sketches, role_of
from dsh_fp.wire.ways import REASONING, ROUTE, UPDATES, Way

INSTRUCTED: Final = "instructed"
_PLACEHOLDER: Final = "instruction"


def step_key(sketch: Sketch) -> Hashable:
    """What two bodies of a step have alike that are equal but for what no log holds."""
    return None, sketch.bare, sketch.at


def july_key(sketch: Sketch) -> Hashable:
    """The same of two calls of July's compaction, whose system text no log holds."""
    return COMPACTION, sketch.bare, sketch.rest


def instructed_key(sketch: Sketch) -> Hashable:
    """The same of two calls of later compactions, sketched without their instruction."""
    return INSTRUCTED, sketch.bare, sketch.at


class Fact(NamedTuple):
    """Of one capture the keys of its body, its route, and its session.

    Shapes:  a session is a place among the sessions, None for a capture that names none.
    """

    keys: tuple[Hashable, ...]
    route: Route
    session: int | None


@attrs.frozen(eq=False)
class Evidence:
    """What the captures have, and by which keys they are known."""

    captures: tuple[Fact, ...]
    _keys: frozenset[tuple[Hashable, int | None]] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        keys = frozenset((key, place) for keys, _, place in self.captures for key in keys)
        object.__setattr__(self, "_keys", keys)

    def has(self, key: Hashable, place: int) -> bool:
        """Whether a capture that may be of a session has a body with this key."""
        return key is not None and ((key, place) in self._keys or (key, None) in self._keys)

    def routes_left(self, fitting: frozenset[Hashable]) -> set[tuple[Route, int | None]]:
        """The routes of captures that have none of these keys, each with its session."""
        return {(route, place) for keys, route, place in self.captures if fitting.isdisjoint(keys)}


@attrs.frozen(eq=False)
class _Variant:
    encoding: Encoding
    sketch: Sketch | None
    key: Hashable


class Settling:
    """The requests of some logs, each with the bodies it may have had."""

    def __init__(
        self,
        sessions: Sequence[Sequence[Expected]],
        sketches: Sketches,
        given: Mapping[str, AnyJson],
        routes: set[Route],
    ) -> None:
        self._sessions = sessions
        table = [[_variants(expected, given, routes) for expected in each] for each in sessions]
        self._variants = _sketched(table, sketches, given)

    @property
    def any_instructed(self) -> bool:
        """Whether any of them is a call of a compaction with an instruction."""
        return any(one.encoding.is_instructed for one in self._every())

    def open_messages(self) -> list[JsonObject]:
        """The wire messages, among those that were made, in which images stand for others."""
        lists = {
            id(one.encoding.open_messages): one.encoding.open_messages for one in self._every()
        }
        return [message for listed in lists.values() for message in listed]

    def settled(self, evidence: Evidence, told: Iterable[AnyJson]) -> list[list[Due]]:
        """Each request with the one encoding that it is compared by.

        `told` are the messages of the captures, for what routes are told of tools.
        """
        rules = _rules(self._sessions, self._variants, evidence)
        modes = _modes(self._sessions, self._variants, evidence, told)
        return [
            [
                _due(expected, of_one, rules.get((place, expected.run)), modes)
                for expected, of_one in zip(each, of_all, strict=True)
            ]
            for place, (each, of_all) in enumerate(zip(self._sessions, self._variants, strict=True))
        ]

    def _every(self) -> Iterator[_Variant]:
        return (one for each in self._variants for of_one in each for one in of_one)


def _variants(
    expected: Expected, given: Mapping[str, AnyJson], seen: set[Route]
) -> tuple[Encoding, ...]:
    """The encodings that may be, the usual first: those of the options and of routes seen."""
    if expected.encoding is None:
        return ()
    every = (expected.encoding, *expected.others)
    asked = [
        one
        for one in every
        if one.way.reasoning in (None, given.get(REASONING, one.way.reasoning))
        and one.way.updates in (None, given.get(UPDATES, one.way.updates))
    ]
    kept = [one for one in asked if one.way.route in seen]
    return tuple(kept or asked[:1] or every[:1])


def _sketched(
    table: list[list[tuple[Encoding, ...]]], sketches: Sketches, given: Mapping[str, AnyJson]
) -> list[list[list[_Variant]]]:
    """The variants with their sketches, way by way: what follows on a way shares most."""
    made: list[list[list[_Variant]]] = [[[] for _ in each] for each in table]
    for each, of_all in zip(table, made, strict=True):
        for rank in range(max(map(len, each), default=0)):
            for encodings, variants in zip(each, of_all, strict=True):
                if rank < len(encodings):
                    variants.append(_variant(encodings[rank], sketches, given))
    return made


def _variant(encoding: Encoding, sketches: Sketches, given: Mapping[str, AnyJson]) -> _Variant:
    if encoding.is_open:
        return _Variant(encoding, None, None)
    if not encoding.is_instructed:
        sketch = sketches.sketch(encoding.body(given), keep=True)
        is_july = encoding.is_july_compaction
        return _Variant(encoding, sketch, (july_key if is_july else step_key)(sketch))
    body = without_instruction(encoding.body({"instruction": _PLACEHOLDER, **given}))
    assert body is not None  # it ends with the placeholder
    sketch = sketches.sketch(body, keep=True)
    return _Variant(encoding, sketch, instructed_key(sketch))


# ---- what the captures say ---------------------------------------------------------------------

_Rule = tuple[Route, str | None]


def _rule_of(way: Way) -> _Rule:
    return way.route, way.reasoning


def _rules(
    sessions: Sequence[Sequence[Expected]],
    variants: list[list[list[_Variant]]],
    evidence: Evidence,
) -> dict[tuple[int, int], _Rule]:
    """For each run of each session the route and the rule of reasoning that fit most bodies."""
    found: dict[tuple[int, int], _Rule] = {}
    every = (one.key for of_all in variants for of_one in of_all for one in of_one)
    left = evidence.routes_left(frozenset(every))
    for place, (each, of_all) in enumerate(zip(sessions, variants, strict=True)):
        scores: dict[int, Counter[_Rule]] = {}
        for expected, of_one in zip(each, of_all, strict=True):
            score = scores.setdefault(expected.run, Counter())
            rules = dict.fromkeys(_rule_of(one.encoding.way) for one in of_one)
            fitting = {_rule_of(one.encoding.way) for one in of_one if evidence.has(one.key, place)}
            for rule in rules:
                score[rule] += rule in fitting
        before: _Rule | None = None
        for run, score in sorted(scores.items()):
            best = max(score.values(), default=0)
            fitting_best = [rule for rule, number in score.items() if number == best]
            if best == 0:
                likely = {route for route, its in left if its in (place, None)}
                fitting_best = [r for r in fitting_best if r[0] in likely] or fitting_best
                if before in fitting_best:
                    fitting_best = [before]
            if fitting_best:
                found[place, run] = before = fitting_best[0]
    return found


def _modes(
    sessions: Sequence[Sequence[Expected]],
    variants: list[list[list[_Variant]]],
    evidence: Evidence,
    told: Iterable[AnyJson],
) -> dict[AnyJson, ToolUpdates]:
    """For each model what its route is told of tools, as it fits most bodies."""
    scores: dict[AnyJson, Counter[ToolUpdates]] = {}
    for place, (each, of_all) in enumerate(zip(sessions, variants, strict=True)):
        for expected, of_one in zip(each, of_all, strict=True):
            modes = [one for one in of_one if one.encoding.way.updates is not None]
            if len({one.key for one in modes}) < 2:  # noqa: PLR2004  # nothing to decide
                continue
            model = expected.model if isinstance(expected.model, str) else None
            score = scores.setdefault(model, Counter())
            for one in modes:
                assert one.encoding.way.updates is not None
                score[one.encoding.way.updates] += evidence.has(one.key, place)
    likely = _likely_mode(told) if scores else "none"
    return {
        model: likely if max(score.values()) == 0 else score.most_common(1)[0][0]
        for model, score in scores.items()
    }


def _likely_mode(told: Iterable[AnyJson]) -> ToolUpdates:
    """What the captures show to be told, where none of them fits as a whole."""
    likely: ToolUpdates = "none"
    for message in told:
        content = message.get("content") if role_of(message) == "system" else None
        for block in content if isinstance(content, JsonArray) else ():
            kind = block.get("type") if isinstance(block, JsonObject) else None
            if kind == "tool_removal":
                return "both"
            if kind == "tool_addition":
                likely = "additions"
    return likely


def _due(
    expected: Expected,
    variants: list[_Variant],
    rule: _Rule | None,
    modes: Mapping[AnyJson, ToolUpdates],
) -> Due:
    if not variants:
        return Due(expected, None, None)
    model = expected.model if isinstance(expected.model, str) else None
    ruled = [one for one in variants if _rule_of(one.encoding.way) == rule] or variants
    mode = modes.get(model)
    chosen = next((one for one in ruled if one.encoding.way.updates == mode), ruled[0])
    way = chosen.encoding.way
    decided: list[str] = []
    assert expected.encoding is not None  # or there were no variants
    if way.route != expected.encoding.way.route:
        decided.append(ROUTE)
    others = [one for one in variants if one.encoding.way.route == way.route]
    differ = [one for one in others if one.sketch != chosen.sketch]
    if any(one.encoding.way.reasoning != way.reasoning for one in differ):
        decided.append(REASONING)
    if any(one.encoding.way.updates != way.updates for one in differ):
        decided.append(UPDATES)
    settled = attrs.evolve(expected, encoding=chosen.encoding)
    return Due(settled, chosen.sketch, chosen.key, tuple(decided))
