"""A session carried to a later generation: what it sent, and the way it went."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import dsh_fp
from dsh_fp.core.generations import RELEASED_GENERATIONS
from dsh_fp.core.migration.migrating import Migration, migrated
from dsh_fp.formats.reading import read
from dsh_fp.formats.whole import encode_session
from property_specs.generators.migratable import migratable, sent, turns

Wire = dict[str, Any]


def session(version: int, wires: list[Wire], *, seed: int | None) -> dsh_fp.Session:
    vocabulary = RELEASED_GENERATIONS[version]
    rule = vocabulary.form.session_header
    assert rule is not None
    own: Wire = {"isSeeded": False} if version >= 2 else {}
    if version < 2 and seed is not None:
        own = {"seedLength": seed}
    fields = {"version": version, "id": "s", "createdAt": 1, "delegationDepth": 0, **own}
    header = dsh_fp.unwrap(rule(fields))
    return dsh_fp.unwrap(dsh_fp.Session.replay(wires, header, vocabulary=vocabulary))


def carried(of: dsh_fp.Session, to: int) -> Migration:
    return dsh_fp.unwrap(migrated(of, RELEASED_GENERATIONS[to]))


@given(version=st.integers(0, 3), script=turns(), data=st.data())
def test_migration_keeps_every_request(
    version: int, script: list[Wire], data: st.DataObject
) -> None:
    """A session in a later generation sent what its script says, and reads as it was written.

    Generator: turns, written in one of v0 to v3; any later generation.
    Oracle:    the requests told while the log was made.
    Catches:   a lost prompt, a wrong seq, a result without its call, a difference not told.
    Broken:    the system's text is put at the head once and never again.
    """
    wires, requests = migratable(version, script)
    to = data.draw(st.integers(version + 1, 4))
    seed = data.draw(st.none() | st.just(len(wires)))

    made = carried(session(version, wires, seed=seed), to)

    assert made.differences == ()
    past = dsh_fp.past_requests(made.session)
    assert [sent(dsh_fp.thaw(dsh_fp.unwrap(one.request))) for one in past] == requests
    content = encode_session(made.session, compress=data.draw(st.booleans()))
    assert dsh_fp.unwrap(read(content)).session == made.session


@given(version=st.integers(0, 2), script=turns(), data=st.data())
def test_migration_goes_by_steps(version: int, script: list[Wire], data: st.DataObject) -> None:
    """A session carried on and then on again is the one that was carried all the way.

    Generator: turns, written in one of v0 to v2; a generation to stop at.
    Oracle:    the same way without a stop.
    Catches:   a step that looks at more than the session it is given; a way that ends early.
    Broken:    the way ends after two steps.
    """
    wires, _ = migratable(version, script)
    stop = data.draw(st.integers(version + 1, 3))
    start = session(version, wires, seed=None)

    halfway = carried(start, stop).session

    assert carried(halfway, 4).session == carried(start, 4).session
