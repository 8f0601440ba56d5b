"""Sessions of a generation for examples, and what becomes of them one step on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dsh_fp import Rejection, Session, thaw
from dsh_fp.core.generations import RELEASED_GENERATIONS
from dsh_fp.core.migration.migrating import Migration, migrated
from dsh_fp.core.migration.v0_to_v1 import V0_WITH_OLDER_NAMES
from tests.formats.making import header

Wire = dict[str, Any]


def session(version: int, events: Iterable[Wire], **fields: Any) -> Session:
    """A session of a generation; v0 with the names of its earliest builds."""
    vocabulary = V0_WITH_OLDER_NAMES if version == 0 else RELEASED_GENERATIONS[version]
    rule = vocabulary.form.session_header
    assert rule is not None
    born = rule(header(version, **fields)).unwrap()
    return Session.replay(list(events), born, vocabulary=vocabulary).unwrap()


def carried(
    version: int, events: Iterable[Wire], to: int | None = None, **fields: Any
) -> Migration:
    """What becomes of a session one generation on, or in the one that is named."""
    target = RELEASED_GENERATIONS[version + 1 if to is None else to]
    return migrated(session(version, events, **fields), target).unwrap()


def after(version: int, events: Iterable[Wire], to: int | None = None, **fields: Any) -> list[Wire]:
    """The events of a session one generation on, none of its requests changed."""
    made = carried(version, events, to, **fields)
    assert made.differences == ()
    return [thaw(event.to_wire()) for event in made.session.events]


def refused(version: int, events: Iterable[Wire], **fields: Any) -> Rejection:
    """Why a session is not carried one generation on."""
    target = RELEASED_GENERATIONS[version + 1]
    return migrated(session(version, events, **fields), target).failure()
