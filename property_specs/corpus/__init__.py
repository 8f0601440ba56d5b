"""Saved logs on which something once broke, or that long runs found rare.

Each file is a log, `KIND-NAME.jsonl`. The ordinary run tries every law on those logs that its
generators could have drawn, beside the random ones; so do `dsh-fp conform` and `make laws-long`.

    python -m property_specs.corpus                   list them
    python -m property_specs.corpus add FILE [NAME]   keep a log; its kind is found out
    python -m property_specs.corpus collect [N]       draw N logs of each kind, keep what is new
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import Any, Final

from property_specs.laws import law_of
from property_specs.models import headers
from property_specs.models.acceptance import Book, accept
from property_specs.models.json_values import settle, write
from property_specs.models.payloads import has_its_shape
from property_specs.models.traces import Trace, trace_of

FOLDER: Final = Path(__file__).resolve().parent
HEADER: Final = {"type": "session", "version": 0, "id": "corpus", "createdAt": 0}

CLOSED: Final = "closed"
TURNED: Final = "turned"
LOOSE: Final = "loose"
WILD: Final = "wild"
KINDS: Final = (CLOSED, TURNED, LOOSE, WILD)
# What a generator of this name may draw: these kinds.
_FITS: Final[dict[str, tuple[str, ...]]] = {
    "closed_logs": (CLOSED,),
    "many_turned_logs": (CLOSED,),
    "turned_logs": (CLOSED, TURNED),
    "crashed_logs": (CLOSED, TURNED),
    "logs_with_steps": (CLOSED, TURNED),
    "loose_logs": (CLOSED, TURNED, LOOSE),
    "loose_steps": (CLOSED, TURNED, LOOSE),
    "valid_logs": (CLOSED, TURNED, LOOSE),
    "bent_traces": (CLOSED, TURNED, LOOSE),
    "wild_logs": KINDS,
}
_WITH_STEP: Final = ("logs_with_steps", "loose_steps")
_WORD: Final = re.compile(r"\w+")

Log = list[dict[str, Any]]


@dataclass(frozen=True)
class Saved:
    """One log of the corpus."""

    name: str
    kind: str
    text: str

    def log(self) -> Log:
        """Its events, made anew: a law may scribble on them."""
        return [json.loads(line) for line in self.text.split("\n")[1:-1]]


@cache
def all_saved() -> tuple[Saved, ...]:
    """Every log, in the order of the files' names."""
    return tuple(
        Saved(path.stem, path.stem.partition("-")[0], path.read_text(encoding="utf-8"))
        for path in sorted(FOLDER.glob("*.jsonl"))
    )


def fitting(law: Callable[..., Any]) -> tuple[str, tuple[Saved, ...]]:
    """The argument of a law that takes a log, and the saved logs it could have been given."""
    name, could_draw = fits(law)
    return name, tuple(saved for saved in all_saved() if name and could_draw(saved.log()))


def fits(law: Callable[..., Any]) -> tuple[str, Callable[[list[Any]], bool]]:
    """The argument of a law that takes a log, and whether it could have been given one.

    A law's generators are those that its docstring names; of one that is not known here
    nothing is said to fit.
    """
    handle = getattr(law, "hypothesis", None)
    given = {} if handle is None else handle._given_kwargs
    name = next((name for name in ("log", "events") if name in given), "")
    words = _WORD.findall(law_of("", "", getdoc(law) or "").fields.get("Generator", ""))
    generators = [each for each in words if each in _FITS]

    def could_draw(log: list[Any]) -> bool:
        kind = kind_of(log)
        has_step = any(isinstance(each, dict) and each.get("type") == "step/start" for each in log)
        return any(
            kind in _FITS[each] and (has_step or each not in _WITH_STEP) for each in generators
        )

    return name, could_draw


def kind_of(log: list[Any]) -> str:
    """Which generators could have drawn a log: sound writers' first."""
    book = accept(log)
    if not isinstance(book, Book):
        return WILD
    trace = trace_of(log)
    is_sound = (
        isinstance(trace, Trace)
        and all(map(has_its_shape, log))
        and headers.first_fault(log) is None
    )
    if not is_sound or not isinstance(trace, Trace):
        return LOOSE
    return CLOSED if log and trace.open_turn is None else TURNED


def keep(log: list[Any], name: str, folder: Path = FOLDER) -> Path | None:
    """Save a log, unless the same events are there already; the file, if it was made."""
    settled = settle(log)
    lines = [write(HEADER), *map(write, settled)]
    text = "".join(f"{line}\n" for line in lines)
    if any(path.read_text(encoding="utf-8") == text for path in folder.glob("*.jsonl")):
        return None
    path = folder / f"{kind_of(settled)}-{name}.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def keep_counterexamples(core: Any, out: Path) -> None:
    """Save the smallest counterexample that `dsh-fp conform` left for a broken core."""
    logs = [list(_events(path)) for path in out.glob("*.jsonl")]
    logs = [log for log in logs if log and all(isinstance(each, dict) for each in log)]
    if logs:
        keep(min(logs, key=lambda log: (len(log), len(repr(log)))), core.name)


def _events(path: Path) -> Iterator[Any]:
    for line in path.read_text(encoding="utf-8").split("\n")[1:-1]:
        yield json.loads(line)
