"""What tests of others build on: strategies, a state machine, minimising, readable comparisons.

Names are loaded on first use. The strategies and SessionMachine need hypothesis, which
`pip install 'dsh-fp[testing]'` brings along; the rest needs nothing more than dsh_fp.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dsh_fp.testing.comparing import assert_same_messages, assert_same_request
    from dsh_fp.testing.machine import Disagreement, SessionMachine
    from dsh_fp.testing.minimising import minimise
    from dsh_fp.testing.strategies import (
        BROKEN_CODES,
        broken_logs,
        compactions,
        crashed_logs,
        events,
        header_sequences,
        payloads,
        sessions,
        valid_logs,
    )

_HOMES = {
    "dsh_fp.testing.strategies": (
        "BROKEN_CODES broken_logs compactions crashed_logs events header_sequences payloads"
        " sessions valid_logs"
    ),
    "dsh_fp.testing.machine": "Disagreement SessionMachine",
    "dsh_fp.testing.minimising": "minimise",
    "dsh_fp.testing.comparing": "assert_same_messages assert_same_request",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "BROKEN_CODES",
    "Disagreement",
    "SessionMachine",
    "assert_same_messages",
    "assert_same_request",
    "broken_logs",
    "compactions",
    "crashed_logs",
    "events",
    "header_sequences",
    "minimise",
    "payloads",
    "sessions",
    "valid_logs",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'dsh_fp.testing' has no attribute {name!r}")
    try:
        value = getattr(import_module(_HOME_OF[name]), name)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != "hypothesis":
            raise
        raise ImportError(
            f"dsh_fp.testing.{name} needs hypothesis: pip install 'dsh-fp[testing]'",
            name="hypothesis",
        ) from missing
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
