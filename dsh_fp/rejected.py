"""The one exception of the library: a Rejection for callers who would rather raise."""

from __future__ import annotations

from typing import TypeVar

from returns.result import Failure, Result

from dsh_fp.core.rejection import Rejection

T = TypeVar("T")


class Rejected(Exception):
    """Raised by `unwrap`; carries the Rejection. Pickles and copies whole."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection)
        self.rejection = rejection

    def __str__(self) -> str:
        return str(self.rejection)


def unwrap(result: Result[T, Rejection]) -> T:
    """The value of a Success; raises Rejected with the Rejection of a Failure."""
    if isinstance(result, Failure):
        raise Rejected(result.failure())
    return result.unwrap()
