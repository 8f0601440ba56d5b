"""The saved corpus: every law on the logs that its generators could have drawn."""

from __future__ import annotations

import pytest

from property_specs.conforming.judging import function_of, judged_laws, on_saved_logs
from property_specs.core import Core
from property_specs.corpus import KINDS, all_saved, fitting, kind_of
from property_specs.laws import Law

LAWS = [law for law in judged_laws() if fitting(function_of(law))[1]]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_saved_logs_hold(core: Core, law: Law) -> None:
    """What broke once, and what is rare, is tried each time."""
    on_saved_logs(function_of(law), core)


def test_each_log_is_of_the_kind_its_name_says() -> None:
    """A log that acceptance or its rules came to judge otherwise is to be renamed."""
    assert [saved.name for saved in all_saved() if saved.kind not in KINDS] == []
    assert [saved.name for saved in all_saved() if kind_of(saved.log()) != saved.kind] == []


def test_logs_are_small_enough_to_read() -> None:
    """And few enough to be tried each time."""
    assert max(len(saved.log()) for saved in all_saved()) <= 24
    assert len(all_saved()) <= 150


def test_most_laws_on_logs_have_saved_ones() -> None:
    """The words of a docstring are what finds them."""
    assert len(LAWS) > 30
