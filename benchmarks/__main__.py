"""Measure every row of the cost table in one run: python -m benchmarks.

Exit code 0: every limit holds. 1: one is broken. 2: a log or a call is not fit to measure.
"""

import argparse
import json
import sys
from pathlib import Path
from subprocess import CalledProcessError
from typing import Final

from returns.primitives.exceptions import UnwrapFailedError

from benchmarks.jobs import UnfitLogError
from benchmarks.measure import ROOT
from benchmarks.plan import Plan
from benchmarks.rows import rows
from benchmarks.table import Row, machine, machine_line, table_lines

SCHEMA_VERSION: Final = 1
LARGE_OVER_MAIN: Final = 10


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--events", type=int, default=100_000, help="events of the main log")
    parser.add_argument("--quick", action="store_true", help="leave out the log ten times as long")
    parser.add_argument("--repeats", type=int, default=7, help="runs of each reading job")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument(
        "--cache",
        type=Path,
        default=ROOT / "build" / "benchmarks",
        metavar="DIR",
        help="where generated logs are kept (default: build/benchmarks)",
    )
    return parser.parse_args()


def measured(plan: Plan) -> list[Row]:
    """All rows, each named on stderr as it is done."""
    done: list[Row] = []
    for row in rows(plan):
        print(f"  {row.job}: {row.measured:.2f} {row.unit}", file=sys.stderr, flush=True)
        done.append(row)
    return done


def main() -> int:
    """The exit code, everything being printed."""
    options = arguments()
    plan = Plan(
        events=options.events,
        large=None if options.quick else LARGE_OVER_MAIN * options.events,
        folder=options.cache,
        repeats=options.repeats,
    )
    try:
        done = measured(plan)
    except UnfitLogError as unfit:
        print(f"not fit to measure: {unfit}", file=sys.stderr)
        return 2
    except UnwrapFailedError as failed:
        print(f"refused: {failed.halted_container}", file=sys.stderr)
        return 2
    except CalledProcessError as failed:
        print(f"a measuring process failed:\n{failed.stderr}", file=sys.stderr)
        return 2
    print(machine_line())
    print("Y: json.loads over the lines of the same file, each result dropped at once")
    print()
    print("\n".join(table_lines(done)))
    if options.json is not None:
        report = {
            "schema_version": SCHEMA_VERSION,
            "machine": machine(),
            "rows": [row.to_json() for row in done],
        }
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0 if all(row.holds for row in done) else 1


if __name__ == "__main__":
    sys.exit(main())
