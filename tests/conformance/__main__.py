"""`python -m tests.conformance DIR [--family NAME]`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tests.conformance.loading import Found, OtherFile, UnusableFile, VectorFile, find_vectors
from tests.conformance.report import BAD_USAGE, Outcome, Status, exit_status, totals
from tests.conformance.running import run_files


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--family", metavar="NAME", help="Run the vectors of this family only.")
def main(folder: Path, family: str | None) -> None:
    """Run the library over every vector file in DIR.

    Files are recognised by their `family` field. Each failing case and each skip is printed;
    the last line counts. Exit status: 0 nothing failed, 1 something did, 2 bad usage or no
    vector files.
    """
    if not folder.is_dir():
        raise click.UsageError(f"{folder} is no folder")
    found = find_vectors(folder)
    chosen = tuple(file for file in found if _chosen(file, family))
    if not chosen:
        asked = "" if family is None else f" of family {family}"
        click.echo(f"no vector files{asked} in {folder}", err=True)
        sys.exit(BAD_USAGE)
    for file in found:
        if isinstance(file, OtherFile):
            click.echo(f"no vectors in {ascii(file.path.name)[1:-1]}")
    outcomes: list[Outcome] = []
    for file in chosen:
        ran = tuple(run_files((file,)))
        _tell(file, ran)
        outcomes += ran
    click.echo(totals(outcomes))
    sys.exit(exit_status(outcomes))


def _chosen(file: Found, family: str | None) -> bool:
    """Whether to run a file; one that cannot be read might be of the family asked for."""
    match file:
        case VectorFile() | UnusableFile():
            return family is None or file.family in (family, None)
        case OtherFile():
            return False


def _tell(file: Found, outcomes: tuple[Outcome, ...]) -> None:
    for outcome in outcomes:
        if outcome.status is not Status.PASSED:
            click.echo(str(outcome))
    if isinstance(file, VectorFile):
        click.echo(f"{ascii(file.family)[1:-1]}: {totals(outcomes)}")


if __name__ == "__main__":
    main()
