"""The families that can be run, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tests.conformance.asking import Family
from tests.conformance.families import files, store, turns, values, views

FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    {
        family.name: family
        for family in (
            values.JSON,
            values.ACCEPT,
            views.SURFACE,
            views.MESSAGES,
            views.HEADER,
            turns.CLOSERS,
            views.PAIRING,
            turns.ASSEMBLER,
            files.SCANLOG,
            files.PATHS,
            turns.TRACE,
            turns.REQUESTS,
            store.STORE,
        )
    }
)
