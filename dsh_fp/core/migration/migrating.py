"""The way of a session from its generation to a later one: the steps, and what each must hold.

No step is trusted: what it makes goes through the same acceptance as a log that is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.events import SessionHeader
from dsh_fp.core.generations import RELEASED_GENERATIONS
from dsh_fp.core.migration.drafts import Draft, drafts_of, settled
from dsh_fp.core.migration.equivalence import RequestDifference, request_differences
from dsh_fp.core.migration.v0_to_v1 import header_to_v1, v0_to_v1
from dsh_fp.core.migration.v1_to_v2 import header_to_v2, v1_to_v2
from dsh_fp.core.migration.v2_to_v3 import header_to_v3, v2_to_v3
from dsh_fp.core.migration.v3_to_v4 import header_to_v4, v3_to_v4
from dsh_fp.core.nesting import NESTINGS, nesting_fault
from dsh_fp.core.rejection import Rejection, conversion_refused
from dsh_fp.core.session import Session
from dsh_fp.core.vocabulary import Vocabulary

_Step = Callable[[SessionHeader, list[Draft]], list[Draft] | Rejection]
_NewHeader = Callable[[SessionHeader], SessionHeader]

STEPS: Final[tuple[tuple[_Step, _NewHeader], ...]] = (
    (v0_to_v1, header_to_v1),
    (v1_to_v2, header_to_v2),
    (v2_to_v3, header_to_v3),
    (v3_to_v4, header_to_v4),
)
"""What leads from each generation to the next, that of v0 first."""

_JULY: Final = (
    "a log of July's cannot be carried: its messages have no ids and no provider, its "
    "requests may have a message prefix, and its context and steering messages go to the model "
    "between tags that no later generation writes"
)


@attrs.frozen(eq=False)
class Migration:
    """A session in its new generation, and the requests that are not what they were."""

    session: Session
    differences: tuple[RequestDifference, ...]


def migrated(session: Session, to: Vocabulary) -> Result[Migration, Rejection]:
    """The session in a later released generation, one step after the other.

    `to` is one of RELEASED_GENERATIONS. Nothing is taken on trust: each step's outcome is put
    through acceptance, and every past request is compared with what it was.

    Errors:  CONVERSION_REFUSED; its seq is that of the event, or of the one that what is new
             came after, in the session that was given.
    Law:     migration_keeps_every_request, migration_goes_by_steps.
    Source:  docs/reference/conversion.md.
    """
    if not isinstance(session, Session):
        raise TypeError("migrated takes a Session; a LogFile has one as .session")
    form = session.vocabulary.form
    if form.session_header is None:
        return Failure(conversion_refused(None, _JULY))
    if form.version >= to.form.version:
        what = (
            f"there is no way from {form.generation} to {to.form.generation}: only to a later one"
        )
        return Failure(conversion_refused(None, what))
    made = session
    origins: Sequence[int] = range(len(session))
    for version in range(form.version, to.form.version):
        step = _stepped(made, version)
        if isinstance(step, Rejection):
            known = step.seq is not None and step.seq < len(origins)
            seq = origins[step.seq] if known and step.seq is not None else None
            return Failure(attrs.evolve(step, seq=seq))
        made, drafts = step
        origins = _origins(drafts, origins)
    return Success(Migration(made, request_differences(session, made)))


def _stepped(session: Session, version: int) -> tuple[Session, list[Draft]] | Rejection:
    """The session one generation on, and the drafts that became its events."""
    step, new_header = STEPS[version]
    vocabulary = RELEASED_GENERATIONS[version + 1]
    named = vocabulary.form.generation
    drafts = step(session.header, drafts_of(session.events))
    if isinstance(drafts, Rejection):
        return drafts
    events = settled(drafts)
    if isinstance(events, Rejection):
        return events
    header = new_header(session.header)
    accepted = Session.replay(events, header, vocabulary=vocabulary)
    fault = accepted.failure() if isinstance(accepted, Failure) else None
    fault = fault or nesting_fault(events, NESTINGS[named])
    if fault is not None:
        what = f"{named} would not accept it ({fault.code.value}): {fault.message}"
        of = _origins(drafts, range(len(session)))
        return conversion_refused(None if fault.seq is None else of[fault.seq], what)
    made: Session = accepted.unwrap()
    return made, drafts


def _origins(drafts: Sequence[Draft], before: Sequence[int]) -> list[int]:
    """For each draft the seq it had at first; for what is new, that of what it came after."""
    made: list[int] = []
    last = 0
    for draft in drafts:
        key = draft.key if draft.key >= 0 else -1 - draft.key  # an attempt: its last piece
        if key < len(before):
            last = before[key]
        made.append(last)
    return made
