"""The command `dsh-fp`: arguments and files in, text and exit codes out.

Starting it loads click and little else; the core comes with the command that needs it.
"""

from __future__ import annotations

from dsh_fp.cli.program import main

__all__ = ["main"]
