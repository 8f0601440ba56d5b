"""Finding secrets in strangers' text: known formats of keys, and a user's own patterns.

Kingfisher's rules know the formats, and RE2 runs the patterns. Both take time that grows with
the text alone, whatever the text is, and neither asks any network. Both are an extra
(`pip install 'dsh-fp[redact]'`), loaded when a detector is first made.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from returns.result import Failure, Result, Success

from dsh_fp.core.redaction.redacting import Detector, Found
from dsh_fp.core.rejection import Rejection, rule_invalid

_MISSING: Final = "redacting by rule or pattern needs packages: pip install 'dsh-fp[redact]'"
# What tells a key from other text stands near it: a shorter text holds no key of any format.
_SHORTEST_KEY: Final = 12
# The whole library of rules is ready sooner when this names a folder that may keep it.
_CACHE: Final = "KF_RULE_CACHE_DIR"
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_SECRET_GROUP: Final = "secret"
_LONGEST_PATTERN: Final = 10_000

# Kingfisher reports what is surely a leak, so it leaves out an access key id whose secret is
# not beside it, and a password in a URL of another scheme than it knows. Redaction takes both.
_OWN: Final = (
    ("aws-access-key-id", r"\b(?P<secret>(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})\b"),
    (
        "url-password",
        r"\b[a-z][a-z0-9+.-]{1,30}://[^\s/:@?#\"'<>]{0,256}:(?P<secret>[^\s/@?#\"'<>]{1,256})@",
    ),
)


def key_formats(names: Iterable[str] = ()) -> Result[Detector, Rejection]:
    """What finds keys of known formats; of the named formats only, if any are named.

    A name is that of a format (`github-pat`) or of a family of them (`github`).

    Errors:  RULE_INVALID for a name there is not; ImportError when the extra is not installed.
    Source:  docs/reference/redaction.md, "Formats of keys".
    """
    rules = _rules()
    wanted = tuple(names)
    chosen: set[str] = set()
    own = [one for one in _OWN if not wanted]
    for number, name in enumerate(wanted, start=1):
        its = [one for one in _OWN if _is_of(name, one[0])]
        ids = [rule for rule, kind in _kinds(rules).items() if _is_of(name, kind)]
        if not its and not ids:
            return Failure(rule_invalid(f"name {number} is that of no format of keys"))
        own += its
        chosen.update(ids)
    finds = [_scanned(rules, frozenset(chosen) if wanted else None)]
    finds += [_matched(_compiled(pattern), kind) for kind, pattern in own]
    return Success(Detector(_all_of(finds), in_context=True, shortest=_SHORTEST_KEY))


def key_format_names() -> tuple[str, ...]:
    """The names of all known formats of keys, in order.

    Errors:  ImportError when the extra is not installed.
    """
    return tuple(sorted({*_kinds(_rules()).values(), *(kind for kind, _ in _OWN)}))


def pattern(regex: str, kind: str = "pattern") -> Result[Detector, Rejection]:
    """What finds all that a regular expression matches.

    If it has a group named `secret`, what that group matches is the secret; else all of the
    match is. The syntax is that of RE2: no backreferences, no looking around.

    Errors:  RULE_INVALID; ImportError when the extra is not installed.
    """
    if len(regex) > _LONGEST_PATTERN:
        return Failure(rule_invalid(f"a pattern has at most {_LONGEST_PATTERN} characters"))
    re2 = _re2()
    try:
        compiled = _compiled(regex)
    except (re2.error, UnicodeEncodeError):
        # The engine's own words would repeat the pattern, which may be a secret.
        return Failure(rule_invalid("RE2 does not take the pattern"))
    return Success(Detector(_matched(compiled, kind)))


Find = Callable[[str], Iterable[Found]]


def _re2() -> Any:  # noqa: ANN401  # the library has no types
    try:
        return import_module("re2")
    except ImportError as fault:
        raise ImportError(_MISSING) from fault


def _compiled(regex: str) -> Any:  # noqa: ANN401  # the library has no types
    re2 = _re2()
    options = re2.Options()
    options.log_errors = False
    return re2.compile(regex, options)


def _matched(compiled: Any, kind: str) -> Find:  # noqa: ANN401  # the library has no types
    group: int = compiled.groupindex.get(_SECRET_GROUP, 0)

    def find(text: str) -> Iterator[Found]:
        for match in compiled.finditer(_encodable(text)):
            start, stop = match.span(group)
            if start < stop:
                yield Found(start, stop, kind)

    return find


def _encodable(text: str) -> str:
    """A text of the same length that UTF-8 can hold."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def _all_of(finds: Sequence[Find]) -> Find:
    def find(text: str) -> Iterator[Found]:
        for one in finds:
            yield from one(text)

    return find


# ---- formats of keys -------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _rules() -> Any:  # noqa: ANN401  # a class of an extra
    """All rules of the library. Compiling them takes seconds, so it is done once a process."""
    try:
        from kingfisher_sdk import Rules  # noqa: PLC0415  # an extra
    except ImportError as fault:
        raise ImportError(_MISSING) from fault
    # Nothing is written to the disk unless the user has named a place for it.
    return Rules(cache=bool(os.environ.get(_CACHE)))


def _kinds(rules: Any) -> dict[str, str]:  # noqa: ANN401  # a class of an extra
    """The kind that each rule finds, by the rule's own id."""
    return {rule["id"]: _kind_of(rule["id"]) for rule in rules.metadata()}


def _kind_of(rule: str) -> str:
    """A rule's id without the collection it is from: `betterleaks.github-pat`."""
    kind = re.split(r"[./]", rule.removeprefix("veles."), maxsplit=1)[-1]
    return _NUMBERED.sub("", kind)


_NUMBERED: Final = re.compile(r"\.[0-9]+$")


def _is_of(name: str, kind: str) -> bool:
    return kind == name or kind.startswith((f"{name}-", f"{name}."))


def _scanned(rules: Any, chosen: frozenset[str] | None) -> Find:  # noqa: ANN401  # an extra's
    from kingfisher_sdk import Scanner  # noqa: PLC0415  # an extra

    scanner = Scanner(rules, base64=False)
    kinds = _kinds(rules)

    def find(text: str) -> Iterator[Found]:
        encodable = _encodable(text)
        # The rules are made for code, where a key ends at a quote or a space. In prose it ends
        # at a bracket or a full stop too, so there the text is looked at once more without them.
        for given in dict.fromkeys((encodable, _IN_PROSE.sub(" ", encodable))):
            encoded = given.encode()
            for finding in scanner.scan(encoded):
                rule = finding.rule_id
                if chosen is None or rule in chosen:
                    place = finding.location
                    span = place["start_offset"], place["end_offset"]
                    if len(encoded) != len(text):
                        span = _characters(encoded, *span)
                    yield Found(*span, kinds[rule])

    return find


_IN_PROSE: Final = re.compile(r"[(){}\[\]<>,!?*|]|[.:;](?=\s|\Z)")


def _characters(encoded: bytes, start: int, stop: int) -> tuple[int, int]:
    """A span of bytes as one of characters."""
    before = len(encoded[:start].decode(errors="ignore"))
    return before, before + len(encoded[start:stop].decode(errors="ignore"))
