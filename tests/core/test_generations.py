"""The released generations: what each knows, and what it refuses of others."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_fp import Session, Vocabulary
from dsh_fp.core.generations import RELEASED_GENERATIONS

EVERY = pytest.mark.parametrize(
    "vocabulary", RELEASED_GENERATIONS, ids=lambda one: one.form.generation
)


def bare(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "seq": 0, "time": 1, "data": {}, **more}


@EVERY
@pytest.mark.parametrize("kind", ["approval/widened", "hook/skipped", "tool-workflow/paused"])
def test_an_unlisted_member_of_a_family_is_accepted(vocabulary: Vocabulary, kind: str) -> None:
    """Of these families only some members are known; refusing another would refuse real logs."""
    assert vocabulary.knows(kind)
    assert Session.replay([bare(kind)], vocabulary=vocabulary).unwrap()


@EVERY
def test_an_unknown_type_is_refused_unless_it_may_be_ignored(vocabulary: Vocabulary) -> None:
    refused = Session.replay([bare("custom/thing")], vocabulary=vocabulary).failure()
    ignored = Session.replay([bare("custom/thing", ignorable=True)], vocabulary=vocabulary)

    assert refused.code == "TYPE_UNKNOWN"
    assert len(ignored.unwrap()) == 1
