"""A law that is tried for each of several values: a test of its own for each, where pytest runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_ATTRIBUTE: Final = "_tried_for_each"


def for_each(name: str, values: Sequence[Any]) -> Callable[[F], F]:
    """Try a law for each value of one of its arguments; needs no pytest."""

    def marked(law: F) -> F:
        if find_spec("pytest") is not None:
            import pytest

            law = pytest.mark.parametrize(name, values)(law)
        setattr(law, _ATTRIBUTE, (name, values))
        return law

    return marked


def cases_of(law: Callable[..., Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A label and the arguments of each case of a law; one without either for most laws."""
    name, values = getattr(law, _ATTRIBUTE, None) or _of_pytest(law)
    if not name:
        yield "", {}
    for value in values:
        yield str(value), {name: value}


def _of_pytest(law: Callable[..., Any]) -> tuple[str, Sequence[Any]]:
    """What pytest would try a law for, by its first mark; a law has one name at most."""
    for mark in getattr(law, "pytestmark", ()):
        if mark.name == "parametrize":
            return mark.args[0], mark.args[1]
    return "", ()
