"""`python -m tests.cases DIR [--case NAME] [--basis NAME]...`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tests.cases.inputs import Inputs
from tests.cases.loading import case_folders
from tests.cases.running import BASES, run_folder
from tests.conformance.report import BAD_USAGE, exit_status, totals


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--case", "name", metavar="NAME", help="Run this case only (or: names beginning so).")
@click.option(
    "--basis", "more", multiple=True, metavar="NAME", help="Run checks of this basis as well."
)
def main(folder: Path, name: str | None, more: tuple[str, ...]) -> None:
    """Run the checks of every case folder in DIR.

    Each check is printed with its case, operation and file; the last line counts. Exit status:
    0 nothing failed, 1 something did, 2 bad usage or no cases.
    """
    if not folder.is_dir():
        raise click.UsageError(f"{folder} is no folder")
    chosen = [one for one in case_folders(folder) if name is None or one.name.startswith(name)]
    if not chosen:
        asked = "" if name is None else f" named {name}"
        click.echo(f"no cases{asked} in {folder}", err=True)
        sys.exit(BAD_USAGE)
    outcomes = []
    with Inputs() as inputs:
        for one in chosen:
            for outcome in run_folder(one, inputs, BASES.union(more)):
                click.echo(ascii_lines(str(outcome)))
                outcomes.append(outcome)
    click.echo(totals(outcomes))
    sys.exit(exit_status(outcomes))


def ascii_lines(text: str) -> str:
    """Text from strangers, safe for any terminal; its line ends stay."""
    return "".join(one if one == "\n" or " " <= one <= "~" else ascii(one)[1:-1] for one in text)


if __name__ == "__main__":
    main()
