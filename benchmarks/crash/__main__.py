"""Kill writers at random moments and check what they leave: python -m benchmarks.crash.

Each kind of storage is tried with one writer and with two that compete; writers are killed by
SIGKILL at random moments, and kill themselves at chosen calls of the operating system or steps
of the database. After each kill every event that was reported as flushed has to be there.

Exit code 0: nothing was lost, doubled or damaged. 1: something was.
"""

from __future__ import annotations

import argparse
import random
import sys

from benchmarks.crash import campaign, sharing
from benchmarks.crash.places import KINDS


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="at least so many (default 1000)")
    parser.add_argument("--seed", type=int, help="what is random is drawn from it")
    parser.add_argument(
        "--two-writers",
        type=float,
        metavar="SECONDS",
        help="instead, let two processes append to one session for so long",
    )
    parser.add_argument(
        "--steal-locks", action="store_true", help="with --two-writers: take their lock files away"
    )
    return parser.parse_args()


def main() -> int:
    """The exit code, everything being printed."""
    options = arguments()
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    print(f"--seed {seed}", file=sys.stderr)
    if options.two_writers is not None:
        found = []
        for kind in KINDS:
            shared = sharing.share(kind, options.two_writers, seed, steals=options.steal_locks)
            print(shared, flush=True)
            found.append(shared)
        return 0 if all(shared.is_clean for shared in found) else 1
    tallies = campaign.run(
        options.kills, seed, lambda line: print(f"  {line}", file=sys.stderr, flush=True)
    )
    print("\n".join(campaign.table(tallies)))
    for note in [note for tally in tallies for note in tally.notes][:20]:
        print(note)
    print(campaign.verdict(tallies))
    return 0 if all(tally.is_clean for tally in tallies) else 1


if __name__ == "__main__":
    sys.exit(main())
