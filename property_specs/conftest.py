"""The implementation on trial, and how long the laws run."""

from __future__ import annotations

import random

import pytest

from property_specs import profiles
from property_specs.core import DSH_FP, Core

profiles.register()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of random profiles here, so that the report can name it."""
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = str(random.SystemRandom().getrandbits(32))


def pytest_report_header(config: pytest.Config) -> str:
    """The seed, for profiles that draw new cases each time."""
    return f"laws: --hypothesis-seed={config.getoption('hypothesis_seed')} draws the same cases"


@pytest.fixture(scope="session")
def core() -> Core:
    """The implementation that the laws judge."""
    return DSH_FP
