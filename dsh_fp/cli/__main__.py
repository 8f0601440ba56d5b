"""`python -m dsh_fp.cli`: the command where it is not on the PATH."""

from __future__ import annotations

from dsh_fp.cli.program import main

if __name__ == "__main__":
    main()
