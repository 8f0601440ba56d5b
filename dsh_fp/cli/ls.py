"""`dsh-fp ls ROOT`: the sessions of a store, one row each, by their metadata only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final, NoReturn

import attrs
import click

from dsh_fp.cli.answer import SCHEMA_VERSION, Answer, common_options, count, pieces_of_array
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of, exit_of, wire_of
from dsh_fp.cli.output import Output
from dsh_fp.cli.page import time_of
from dsh_fp.cli.safe import columns, json_safe, one_line, padded
from dsh_fp.core.events import SessionHeader
from dsh_fp.core.lossless import to_text
from dsh_fp.core.rejection import Rejection, file_unreadable
from dsh_fp.storage.backend import Listing
from dsh_fp.storage.jsonl_backend import list_folder

HEAD: Final = ("id", "created (UTC)", "cwd", "parent", "seed", "bytes", "path", "")
_TO_THE_RIGHT: Final = frozenset({4, 5})
_LOOKED_AHEAD: Final = 200
_SHOWN_OF_NAME: Final = 60
_SQLITE_MAGIC: Final = b"SQLite format 3\0"


@attrs.frozen
class Row:
    """One stored session, or what cannot be told of it.

    Units:   size counts bytes; None in a database, whose sessions have no file of their own.
    """

    path: str
    header: SessionHeader | None
    size: int | None
    fault: Rejection | None

    def to_wire(self) -> dict[str, Any]:
        """The row as JSON."""
        if self.header is not None:
            return {"session": self.header.to_wire(), "bytes": self.size, "path": self.path}
        assert self.fault is not None, "a row without a header has its fault"
        return {"path": self.path, "bytes": self.size, "error": wire_of(self.fault)}

    def cells(self) -> tuple[str, ...]:
        """The row as text, one cell a column of HEAD."""
        size = "-" if self.size is None else f"{self.size:,}"
        path, header, fault = one_line(self.path), self.header, self.fault
        if header is None:
            why = "" if fault is None else one_line(f"{fault.code.value}: {fault.message}")
            return ("-", "-", "-", "-", "-", size, path, why)
        return (
            one_line(header.id, _SHOWN_OF_NAME),
            time_of(header.created_at).removesuffix(" UTC"),
            _name(header.cwd),
            _name(header.parent_session),
            _seed(header),
            size,
            path,
            "",
        )


@click.command("ls")
@click.argument("root", metavar="ROOT")
@common_options
def command(root: str, as_json: bool, color: str) -> int:
    """List the sessions of a store, one row each, by their metadata only.

    ROOT is the root folder of a store, one of the folders in it, or an SQLite database. A log
    whose first line is no session header is a row with its fault, and the exit code is 1 then.
    Whether the rest of a log holds is the business of verify.
    """
    answer = Answer("ls", as_json=as_json, color=color)
    rows = rows_of(answer, root)
    if as_json:
        faults: list[Row] = []
        answer.out.exact(map(json_safe, _document(root, rows, faults)))
        return Exit.FINDING if faults else Exit.HOLDS
    sessions, faulty = _print(answer.out, rows)
    told = f", {count(faulty, 'fault')}" if faulty else ""
    answer.out.line(f"{count(sessions, 'session')}{told}", "bold")
    return Exit.FINDING if faulty else Exit.HOLDS


# ---- where sessions are looked for -----------------------------------------------------------


def rows_of(answer: Answer, root: str) -> Iterator[Row]:
    """The rows in order of their paths; ends the command when ROOT itself cannot be read."""
    try:
        if os.path.isfile(root):
            return _rows_of_database(answer, root)
        with os.scandir(root) as entries:
            folders = sorted(entry.name for entry in entries if entry.is_dir())
    except ValueError:
        _refuse(answer, root, "no path holds such a character")
    except OSError as fault:
        _refuse(answer, root, fault.strerror or type(fault).__name__)
    # A session lies in a folder of the root; a folder of a store is a ROOT as well.
    places = chain((root,), (os.path.join(root, name) for name in folders))
    return (
        Row(listing.where, listing.header, listing.size, listing.fault)
        for place in places
        for listing in list_folder(place)
    )


def _rows_of_database(answer: Answer, path: str) -> Iterator[Row]:
    from dsh_fp.storage.sqlite_backend import SqliteBackend

    with open(path, "rb") as opened:
        if opened.read(len(_SQLITE_MAGIC)) != _SQLITE_MAGIC:
            _refuse(answer, path, "it is neither a folder nor an SQLite database")
    listings = SqliteBackend(path).list()
    first = list(islice(listings, 1))
    for listing in first:
        if listing.header is None and listing.fault is not None and listing.where == path:
            _refuse_with(answer, listing.fault)
    return (_row_of_session(path, listing) for listing in chain(first, listings))


def _row_of_session(path: str, listing: Listing) -> Row:
    return Row(path, listing.header, None, listing.fault)


def _refuse(answer: Answer, root: str, cause: str) -> NoReturn:
    _refuse_with(answer, file_unreadable(root, cause))


def _refuse_with(answer: Answer, fault: Rejection) -> NoReturn:
    what = f"{one_line(fault.file or '')} cannot be listed: {fault.code.value}"
    answer.refuse(complaint_of(what, fault), exit_of(fault))


# ---- how they are shown ----------------------------------------------------------------------


def _print(out: Output, rows: Iterator[Row]) -> tuple[int, int]:
    """Write the table as the rows come; how many sessions and how many faults there were.

    Columns are as wide as the widest cell so far, some rows looked at ahead: a long listing
    begins at once and is never held whole.
    """
    sessions = faulty = 0
    widths = [columns(name) for name in HEAD]
    while batch := list(islice(rows, _LOOKED_AHEAD)):
        table = list(zip(*(row.cells() for row in batch), strict=True))
        widths = [
            max(width, *map(columns, cells)) for width, cells in zip(widths, table, strict=True)
        ]
        if not sessions + faulty:
            out.line(_lines([(name,) for name in HEAD], widths)[0], "bold")
        lines = [
            line if row.header is not None else out.paint(line, "warn")
            for row, line in zip(batch, _lines(table, widths), strict=True)
        ]
        out.line("\n".join(lines))
        out.flush()
        found = sum(row.header is not None for row in batch)
        sessions, faulty = sessions + found, faulty + len(batch) - found
    if sessions + faulty:
        out.line()
    return sessions, faulty


def _lines(table: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    """The lines of a table that is given column by column."""
    filled = [
        [_filled(cell, width, to_the_right=place in _TO_THE_RIGHT) for cell in cells]
        for place, (cells, width) in enumerate(zip(table, widths, strict=True))
    ]
    return ["  ".join(cells).rstrip() for cells in zip(*filled, strict=True)]


def _filled(cell: str, width: int, *, to_the_right: bool) -> str:
    if cell.isascii():  # as nearly all are: a column a character
        return cell.rjust(width) if to_the_right else cell.ljust(width)
    return " " * (width - columns(cell)) + cell if to_the_right else padded(cell, width)


def _seed(header: SessionHeader) -> str:
    """How many events were inherited; later headers only say whether any were."""
    if header.seed_length is not None:
        return f"{header.seed_length:,}"
    return "yes" if header.extra.get("isSeeded") is True else "-"


def _name(text: str | None) -> str:
    return "-" if text is None else one_line(text, _SHOWN_OF_NAME)


def _document(root: str, rows: Iterable[Row], faults: list[Row]) -> Iterator[str]:
    """The document in pieces, session by session; the faulty rows end up in `faults`."""
    head = {"schema_version": SCHEMA_VERSION, "command": "ls", "root": root}
    yield to_text(head)[:-1] + ',"sessions":'
    yield from pieces_of_array(_texts_of_sessions(rows, faults))
    code = Exit.FINDING if faults else Exit.HOLDS
    wires = [row.to_wire() for row in faults]
    yield f',"faults":{to_text(wires)},"exit_code":{int(code)}}}\n'


def _texts_of_sessions(rows: Iterable[Row], faults: list[Row]) -> Iterator[str]:
    for row in rows:
        if row.header is None:
            faults.append(row)
        else:
            yield to_text(row.to_wire())
