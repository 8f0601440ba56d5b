"""The inputs of a check: its files, those a script makes, and each log read once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, Self

from returns.result import Result

import dsh_fp
from tests.cases.loading import Check

SCRIPT_SECONDS: Final = 600


class Inputs:
    """Finds and reads inputs for one run; what scripts make lives as long as the run."""

    def __init__(self) -> None:
        self._made: dict[tuple[Path, str], TemporaryDirectory[str]] = {}
        self._last: tuple[Path, Result[Any, Any]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for folder in self._made.values():
            folder.cleanup()
        self._made.clear()
        self._last = None

    def folder(self, check: Check) -> Path:
        """Where the inputs of a check are; its script is run first, once, elsewhere."""
        if check.made_by is None:
            return check.folder
        key = check.folder, check.made_by
        if key not in self._made:
            made = TemporaryDirectory(prefix="case-")
            self._made[key] = made
            script = (check.folder / check.made_by).resolve()
            subprocess.run(
                [sys.executable, "-B", str(script)],
                cwd=made.name,
                check=True,
                capture_output=True,
                timeout=SCRIPT_SECONDS,
            )
        return Path(self._made[key].name)

    def paths(self, check: Check) -> Iterator[Path]:
        """The files a check names: one, several joined by commas, or `*` for all logs."""
        folder = self.folder(check)
        if check.file == "*":
            logs = sorted(folder.rglob("*.jsonl"))
            yield from (path for path in logs if not path.name.startswith("expect"))
            return
        for name in check.file.split(","):
            yield folder / name.strip()

    def log(self, path: Path) -> Result[Any, Any]:
        """What reading the file gives; the last one read is kept, for one file has many checks."""
        if self._last is None or self._last[0] != path:
            self._last = None  # so that two large logs are never held at once
            self._last = path, dsh_fp.read(path)
        return self._last[1]
