"""Servers for the tests, good and bad: each is a Python script of a few lines."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Final

GOOD: Final = """
    import json, sys
    def hello(**more):
        return {"protocol": "dsh_fp conform", "version": 1, "capabilities": ["accept"], **more}
    def say(ask, **answer):
        print(json.dumps({"id": ask["id"], **answer}), flush=True)
    def asks():
        for line in sys.stdin:
            ask = json.loads(line)
            if ask["op"] == "hello":
                say(ask, answer=hello(**HELLO))
            else:
                yield ask
    HELLO = {}
"""
FAITHFUL: Final = """
    for ask in asks():
        say(ask, answer={"length": len(ask["log"])})
"""


def script(folder: Path, body: str, *, begin: str = GOOD) -> list[str]:
    """The command that runs a server."""
    path = folder / "server.py"
    path.write_text(textwrap.dedent(begin) + textwrap.dedent(body), encoding="utf-8")
    return [sys.executable, str(path)]
