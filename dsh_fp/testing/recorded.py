"""The model behind the pytest fixture `replay_model`: it remembers what a test may have caught."""

from __future__ import annotations

from dsh_fp.core.session import Session
from dsh_fp.replay_model import ReplayModel

_CALLS_NAMED = 3


class RecordedModel(ReplayModel):
    """A ReplayModel that says afterwards what was wrong with the run.

    An agent under test catches what its model raises, so that the exception alone may fail
    nothing.
    """

    def __init__(self, session: Session, *, check: bool, to_the_end: bool) -> None:
        super().__init__(session, check=check)
        self._to_the_end = to_the_end

    @property
    def parted(self) -> str | None:
        """The report of the first request that was not the recorded one; None when none was."""
        return None if self._stopped is None else self._stopped.report

    @property
    def complaint(self) -> str | None:
        """Why the run was not the recorded one; None when it was."""
        if self.parted is not None:
            return self.parted
        left = self.left() if self._to_the_end else ()
        if not left:
            return None
        names = ", ".join(call.name for call in left[:_CALLS_NAMED])
        more = f" and {len(left) - _CALLS_NAMED} more" if len(left) > _CALLS_NAMED else ""
        return f"{len(left)} recorded calls were not asked for: {names}{more}"
