"""The catalogue of broken cores: whole, current, and a few of them caught here."""

from __future__ import annotations

from collections import Counter

import pytest

from property_specs.broken_cores import CORES, MOST_EVENTS, BrokenCore, is_current, judged
from property_specs.conforming.judging import judged_laws
from property_specs.see_fail import misfit

FEW = ("off-by-one-in-a-range", "true-as-1", "cache-that-outlives-a-replacement", "closers-twice")


def test_there_are_enough_and_each_has_its_name() -> None:
    """At least 40, and no two alike."""
    assert len(CORES) >= 40
    assert max(Counter(core.name for core in CORES).values()) == 1
    assert (
        max(Counter((core.broken.module, core.broken.new, core.laws) for core in CORES).values())
        == 1
    )


@pytest.mark.parametrize("core", CORES, ids=lambda core: core.name)
def test_each_fits_and_names_laws_that_others_can_be_asked(core: BrokenCore) -> None:
    """Its text stands in the library as it is now."""
    assert misfit(core.broken) is None
    assert core.says().endswith(".")
    assert set(core.laws) <= {law.name for law in judged_laws()}


def test_the_page_tells_of_these_cores() -> None:
    """`python -m property_specs.broken_cores --write` judges them all and writes it."""
    assert is_current()


@pytest.mark.parametrize("name", FEW)
def test_a_broken_core_is_caught(name: str) -> None:
    """By `dsh-fp conform`, on a counterexample that can be read."""
    catch = judged({core.name: core for core in CORES}[name])

    assert catch.problem == ""
    assert catch.laws
    assert catch.events is not None
    assert catch.events <= MOST_EVENTS
