"""`what_if`: the edited session or why it cannot be, who is to blame, and what it changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.nesting import NESTINGS, nesting_breaches
from dsh_fp.core.rejection import Rejection
from dsh_fp.core.session import Session
from dsh_fp.core.trace import trace_violations
from dsh_fp.core.what_if.carrying import Numbering, carried
from dsh_fp.core.what_if.edits import Edit, Replace, edits_checked, plan_of
from dsh_fp.core.what_if.effects import RequestChange, request_changes
from dsh_fp.core.what_if.pairs import LostPair, lost_pairs

TRIED_ALONE: Final = 50
"""Of up to so many edits each is tried alone when the edited log is refused."""


@attrs.frozen(eq=False)
class WhatIf:
    """What edits make of a session.

    `session` is the edited one, or None when a log edited so is not accepted: then `refusal` is
    the first reason, its seq one of the edited log, and `blamed` the indexes of the edits that
    are each refused alone; if none is, of some that are refused together and not with one less.

    Source:  docs/reference/what-if.md.
    """

    before: Session
    edits: tuple[Edit, ...]
    numbering: Numbering = attrs.field(repr=False)
    session: Session | None
    refusal: Rejection | None = None
    blamed: tuple[int, ...] = ()

    def new_seq(self, old: int) -> int | None:
        """The seq that an event has in the edited log; None when it is dropped."""
        return self.numbering.new_seq(old)

    def old_seq(self, new: int) -> int | None:
        """The seq that an event of the edited log had; None when it is inserted."""
        return self.numbering.old_seq(new)

    @cached_property
    def requests(self) -> tuple[RequestChange, ...]:
        """Every request that changes, appears or vanishes; none for a refused log."""
        if self.session is None:
            return ()
        replaced = frozenset(edit.seq for edit in self.edits if isinstance(edit, Replace))
        return request_changes(self.before, self.session, self.numbering, replaced)

    @cached_property
    def breaches(self) -> tuple[Rejection, ...]:
        """The breaches of turn and step rules that the log did not have before the edits.

        Units:   seq and index are those of the edited log.
        """
        if self.session is None:
            return ()
        had = {(fault.index, fault.code) for fault in breaches_of(self.before)}
        return tuple(
            fault
            for fault in breaches_of(self.session)
            if fault.index is not None and (self.old_seq(fault.index), fault.code) not in had
        )

    @cached_property
    def pairing(self) -> tuple[LostPair, ...]:
        """The calls without a result and results without a call that the edits left."""
        if self.session is None:
            return ()
        return lost_pairs(self.before, self.session, self.numbering)


def breaches_of(session: Session) -> tuple[Rejection, ...]:
    """The breaches of the turn and step rules of a session's generation, each with its index."""
    rules = NESTINGS.get(session.vocabulary.form.generation)
    if rules is None:
        return trace_violations(session.events)
    breaches = nesting_breaches(session.events.parts(), rules)
    return tuple(breach.at(index=breach.seq) for breach in breaches)


def what_if(session: Session, edits: Iterable[Edit]) -> Result[WhatIf, Rejection]:
    """The same log with events dropped, replaced or inserted, folded again.

    Every seq in an edit is one of the log as it was. That the edited log is not accepted is
    an answer, not a failure.

    Errors:  EDIT_INVALID, or why a value is none; with the index of the edit, before anything.
    Law:     edited_logs_match_list_edits.
    Source:  docs/reference/what-if.md.
    """
    if not isinstance(session, Session):
        raise TypeError("what_if takes a Session; a LogFile has one as .session")
    checked = edits_checked(session, edits)
    if isinstance(checked, Rejection):
        return Failure(checked)
    plan = plan_of(len(session), checked)
    numbering = Numbering.of(plan)
    made = carried(session, plan)
    if isinstance(made, Session):
        return Success(WhatIf(session, checked, numbering, made))
    return Success(WhatIf(session, checked, numbering, None, made, _blamed(session, checked)))


def _blamed(session: Session, edits: Sequence[Edit]) -> tuple[int, ...]:
    """The edits that a refused list of edits owes its refusal to.

    Those refused alone. If none is: of the fewest first edits that are refused together, those
    without which they are not. Of many edits none is tried alone, or each would cost a fold.
    """

    def refused(some: Sequence[int]) -> bool:
        plan = plan_of(len(session), [edits[index] for index in some])
        return isinstance(carried(session, plan), Rejection)

    together = list(range(len(edits)))
    if len(edits) <= TRIED_ALONE:
        alone = tuple(index for index in together if refused([index]))
        if alone:
            return alone
        together = next(
            together[:count] for count in range(2, len(edits) + 1) if refused(together[:count])
        )
    size = len(together) // 2
    while size:
        at = 0
        while at < len(together):
            rest = together[:at] + together[at + size :]
            if rest and refused(rest):
                together = rest
            else:
                at += size
        size //= 2
    return tuple(together)
