"""Redacted copies."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from property_specs.core import Core, Log, Refused, Session, Wire, seen
from property_specs.generators.logs import turned_logs
from property_specs.generators.secrets import Planted, planted_logs
from property_specs.models.json_values import exact
from property_specs.models.redaction import skeleton, texts_in
from property_specs.profiles import often

SHORTEST = 4
MARK = re.compile(r"\[redacted:value:[0-9]+\]")


def redacted(core: Core, session: Session, secrets: list[str]) -> Wire:
    """The answer to a redaction that can be made."""
    answer = core.redacted(session, secrets)
    assert not isinstance(answer, Refused), answer
    return answer


def some_texts(log: Log, data: st.DataObject) -> list[str]:
    """Parts of texts that the log holds, long enough to be looked for."""
    found = sorted({text for event in log for text in texts_in(event["data"])})
    long = [text for text in found if len(text) >= SHORTEST]
    if not long:
        return []
    chosen = data.draw(st.lists(st.sampled_from(long), max_size=3))
    starts = [data.draw(st.integers(0, len(text) - SHORTEST)) for text in chosen]
    return [text[start:] for text, start in zip(chosen, starts, strict=True)]


def requests_in_short(core: Core, session: Session) -> list[Wire]:
    """Of each request how many messages it has, or why it is not known."""
    past = core.requests(session)
    return [one.get("fault") or len(one["request"]["messages"]) for one in past]


@given(case=planted_logs())
@often(3)
def test_redacting_matches_text_surgery(core: Core, case: Planted) -> None:
    """A log filled with secrets, redacted, is the same log filled with marks.

    Generator: planted_logs: secrets with quotes, line feeds and wide characters in a session
               header, a system text, a delta's lines, a schema, messages, a key, pieces of a
               stream, and JSON text inside strings, once and twice.
    Oracle:    the template, filled by the model.
    Catches:   a secret missed across pieces or behind escapes, a mark in the wrong piece, marks
               that differ for one secret, arguments that are JSON text no longer, lost lines.
    Broken:    the pieces of a stream are read one by one.
    """
    session = core.accept(case.log, case.header)

    answer = redacted(core, session, case.secrets)

    assert exact(core.events(answer["session"])) == exact(case.redacted_log)
    assert core.header_of(answer["session"])["cwd"] == case.redacted_header["cwd"]
    assert sum(answer["counts"]) == sum(case.counts)


@given(case=planted_logs())
def test_redacting_nothing_changes_nothing(core: Core, case: Planted) -> None:
    """Without rules, and with secrets that stand nowhere, the session is what it was.

    Generator: planted_logs.
    Oracle:    the session itself.
    Catches:   events written anew although nothing in them changed.
    Broken:    what begins like a secret is taken for one.
    """
    session = core.accept(case.log, case.header)

    for secrets in ([], ["KEY0 is nowhere", "KEY1 neither"]):
        answer = redacted(core, session, secrets)

        assert exact(seen(core, answer["session"])) == exact(seen(core, session))
        assert (answer["counts"], answer["left"], answer["requests"]) == ([], [], [])


@given(log=turned_logs(), data=st.data())
@often(2)
def test_redacting_keeps_structure(core: Core, log: Log, data: st.DataObject) -> None:
    """Whatever texts of a log are called secret, only texts change, and it folds as before.

    Generator: turned_logs; secrets are parts of their own texts, keys and names included.
    Oracle:    the log without its texts, and what the session shows of its nodes and requests.
    Catches:   changed types, seqs or citations; call ids that part from their calls; a role
               or a block type taken for a secret.
    Broken:    the keys of the format are replaced as well.
    """
    session = core.accept(log)
    before = exact(log)

    answer = redacted(core, session, some_texts(log, data))

    after = answer["session"]
    assert exact(skeleton(core.events(after))) == exact(skeleton(log))
    assert exact(core.surface(after)) == exact(core.surface(session))
    assert requests_in_short(core, after) == requests_in_short(core, session)
    assert exact(log) == before


@given(log=turned_logs(), data=st.data())
@often(2)
def test_redacting_leaves_no_secret(core: Core, log: Log, data: st.DataObject) -> None:
    """What was called secret stands nowhere in the copy but where the answer says it was left.

    Generator: turned_logs; secrets are parts of their own texts.
    Oracle:    a walk over all texts and keys of the copy, marks taken out.
    Catches:   a secret that only the place it was found in lost, one inside another, one in a
               key or behind another secret's mark.
    Broken:    keys are not looked at.
    """
    secrets = some_texts(log, data)

    answer = redacted(core, core.accept(log), secrets)

    for event in core.events(answer["session"]):
        if event["seq"] in answer["left"]:
            continue
        for text in texts_in(event["data"]):
            rest = MARK.sub("\0", text)
            assert not [secret for secret in secrets if secret in rest], json.dumps(text)
