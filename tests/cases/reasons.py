"""The one table from the cases' words for what is wrong to the library's codes and facts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import attrs


@attrs.frozen
class Meaning:
    """The codes a word may stand for and, where lines are meant, the `reason` facts."""

    codes: frozenset[str]
    facts: frozenset[str] | None = None

    def covers(self, rejection: Any) -> bool:
        """Whether the rejection says what the word says."""
        if str(rejection.code) not in self.codes:
            return False
        return self.facts is None or rejection.data.get("reason") in self.facts


def _code(*codes: str) -> Meaning:
    return Meaning(frozenset(codes))


def _line(*facts: str) -> Meaning:
    """A line that is no event: corruption, or the reason a tail was torn."""
    return Meaning(frozenset({"LOG_CORRUPT", "TORN_TAIL"}), frozenset(facts))


def _file(*facts: str) -> Meaning:
    return Meaning(frozenset({"LOG_HEADER_INVALID"}), frozenset(facts))


REASONS: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        # the whole file
        "empty-log": _file("empty-log", "no-complete-line"),
        "no-complete-line": _file("no-complete-line", "empty-log"),
        "not-a-header": _file("not-a-header"),
        "bom": _file("bom"),
        "header-frame": _file("header-frame"),
        "unknown-event-type": _code("TYPE_UNKNOWN"),
        "unsupported-version": _code("VERSION_UNSUPPORTED"),
        "id-mismatch": _code("ID_MISMATCH"),
        # lines; what cannot be parsed may be known more closely
        "unparsable-line": _line("unparsable-line", "blank-line", "nul-run", "not-an-object"),
        "nul-run": _line("nul-run"),
        "blank-line": _line("blank-line"),
        "malformed-row": _line("malformed-row"),
        "bad-frame": _line("bad-frame"),
        "torn-line-in-complete-frame": _line("torn-line-in-complete-frame"),
        "torn-line": _line("torn-line"),
        "no-final-newline": _line("no-final-newline"),
        "seq-gap": _line("seq-gap"),
        "seq-duplicate": _line("seq-duplicate"),
        "invalid-utf8": _code("INVALID_UTF8"),
        # events
        "invalid-envelope": _code("BAD_ENVELOPE"),
        "not-lossless-json": _code("NOT_JSON"),
        "precision": _code("PRECISION"),
        "too-deep": _code("TOO_DEEP"),
        "time-goes-back": _code("TIME_GOES_BACK"),
        "empty-call-id": _code("EMPTY_CALL_ID"),
        # nesting
        "outside-turn": _code("OUTSIDE_TURN"),
        "turn-start-while-open": _code("TURN_ALREADY_OPEN"),
        "result-without-open-call": _code("RESULT_WITHOUT_CALL"),
        "open-turn": _code("OPEN_TURN"),
        # surface
        "surface-start-not-found": _code("REPLACE_START_UNKNOWN"),
        "surface-end-not-found": _code("REPLACE_END_UNKNOWN"),
        "surface-range-reversed": _code("REPLACE_REVERSED"),
        "surface-uncited": _code("REPLACE_UNCITED"),
        "surface-bad-op": _code("SURFACE_OP_INVALID", "SURFACE_OP_MISSING"),
        "surface-not-eligible": _code("SURFACE_OP_FORBIDDEN", "SOURCES_FORBIDDEN"),
        "provenance-duplicate": _code("SOURCES_DUPLICATE"),
        "provenance-empty": _code("SOURCES_EMPTY"),
        "provenance-not-earlier": _code("SOURCES_NOT_EARLIER"),
        "orphan-tool-result": _code("PAIRING_CORRUPT"),
        # requests
        "delta-before-snapshot": _code("HEADER_DELTA_WITHOUT_SNAPSHOT"),
    }
)


def named(word: object, rejection: Any) -> object:
    """The word itself when the rejection means it, else what the rejection says."""
    meaning = REASONS.get(word) if isinstance(word, str) else None
    if meaning is not None and rejection is not None and meaning.covers(rejection):
        return word
    if rejection is None:
        return None
    fact = rejection.data.get("reason")
    return str(rejection.code) if fact is None else f"{rejection.code} {fact}"
