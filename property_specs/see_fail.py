"""Seeing each law fail: one deliberate break at a time, in a copy, the law alone.

    python -m property_specs.see_fail               every law
    python -m property_specs.see_fail LAW ...       these

Prints a row for each law. Exit 1 when a law did not notice its break, or a break no longer
fits the text it was made for.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from property_specs.breaks import BREAKS, Break
from property_specs.laws import FOLDER, Law, all_laws
from property_specs.profiles import VARIABLE

REPOSITORY: Final = FOLDER.parent
_COPIED: Final = ("dsh_fp", "property_specs")
_FAILED: Final = re.compile(r"^FAILED \S+( - .*)?$", re.MULTILINE)
_TESTS_FAILED: Final = 1
_LIMIT_SECONDS: Final = 300


@dataclass(frozen=True)
class Sight:
    """What came of one law: whether it failed as it should, and how that showed."""

    law: str
    noticed: bool
    how: str
    seconds: float


def misfit(broken: Break, root: Path = REPOSITORY) -> str | None:
    """Why a break cannot be applied, if it cannot."""
    path = root / broken.module
    if not path.is_file():
        return f"{broken.module} is gone"
    text = path.read_text(encoding="utf-8")
    found = text.count(broken.old)
    if found != 1:
        return f"its old text stands {found} times in {broken.module}"
    try:
        compile(text.replace(broken.old, broken.new), broken.module, "exec")
    except SyntaxError as fault:
        return f"the broken {broken.module} is no Python: {fault.msg}"
    return None


def see(law: Law) -> Sight:
    """Run one law on its broken copy."""
    began = time.monotonic()
    broken = BREAKS.get(law.name)
    why = "it has no break" if broken is None else misfit(broken)
    if broken is None or why is not None:
        return Sight(law.name, False, f"ERROR: {why}", 0)
    with tempfile.TemporaryDirectory(prefix="see-fail-") as folder:
        copy = Path(folder)
        for name in _COPIED:
            ignored = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(REPOSITORY / name, copy / name, ignore=ignored)
        shutil.copy(REPOSITORY / "pyproject.toml", copy)
        path = copy / broken.module
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(broken.old, broken.new), encoding="utf-8")
        noticed, how = _run(copy, law)
    return Sight(law.name, noticed, how, time.monotonic() - began)


def _run(copy: Path, law: Law) -> tuple[bool, str]:
    test = f"property_specs/{law.file}::test_{law.name}"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", test]
    environment = {**os.environ, "PYTHONPATH": str(copy), VARIABLE: "see-fail"}
    try:
        ran = subprocess.run(
            command,
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, f"ERROR: no answer in {_LIMIT_SECONDS} s"
    if ran.returncode == 0:
        return False, "DID NOT NOTICE"
    failed = _FAILED.search(ran.stdout)
    if ran.returncode != _TESTS_FAILED or failed is None:
        return False, f"ERROR: the law could not run: {ran.stdout[-300:]}{ran.stderr[-300:]}"
    return True, (failed[1] or "").removeprefix(" - ") or "failed"


def rows(sights: list[Sight]) -> Iterator[str]:
    """The table."""
    width = max((len(sight.law) for sight in sights), default=0)
    for sight in sights:
        verdict = "failed as it should" if sight.noticed else "NOT SEEN FAILING"
        yield f"{sight.law:<{width}}  {verdict}  {sight.seconds:5.1f} s  {sight.how[:70]}"
    noticed = sum(sight.noticed for sight in sights)
    yield f"{noticed} of {len(sights)} laws seen failing on their break"


def main(names: list[str]) -> int:
    """See the named laws, or all, fail."""
    laws = {law.name: law for law in all_laws()}
    unknown = [name for name in names if name not in laws]
    if unknown:
        sys.stderr.write(f"no such law: {', '.join(unknown)}\n")
        return 2
    wanted = [laws[name] for name in names] if names else list(laws.values())
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        sights = list(pool.map(see, wanted))
    sys.stdout.write("".join(f"{row}\n" for row in rows(sights)))
    return 0 if all(sight.noticed for sight in sights) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
