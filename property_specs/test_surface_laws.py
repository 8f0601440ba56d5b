"""The surface: which nodes are in force, in which order, after any replacements."""

from __future__ import annotations

from typing import Any

from hypothesis import given

import dsh_fp
from property_specs.core import Core, Log, Refused
from property_specs.generators.logs import loose_logs, valid_logs
from property_specs.generators.wild_events import gapped_logs, wild_logs
from property_specs.models.acceptance import Book, Fault, accepted, fold_bare
from property_specs.models.json_values import settle
from property_specs.profiles import often


@given(log=loose_logs(max_moves=24))
@often(2)
def test_surface_matches_list_surgery(core: Core, log: Log) -> None:
    """After every event the surface is what cutting and filling a list gives.

    Generator: loose_logs, with nested replacements.
    Oracle:    the list model, step by step.
    Catches:   off-by-one ranges, nodes lost behind a replacement, stale places.
    Broken:    a replaced run of nodes leaves its last one standing.
    """
    book = Book()
    state: Any = core.fold([])
    for event in log:
        state = core.step(state, event)
        book.take(event)

        assert core.look(state)["nodes"] == book.nodes


@given(log=valid_logs(max_moves=20))
def test_generation_counts_replacements(core: Core, log: Log) -> None:
    """The generation of a surface is the number of replacements in its log.

    Generator: valid_logs.
    Oracle:    counting.
    Catches:   single-node replacements not counted; a reset.
    Broken:    the replacement of a single node is not counted.
    """
    book = accepted(log)

    assert core.surface(core.accept(log))["generation"] == book.generation
    assert core.look(core.fold(log))["generation"] == book.generation


@given(log=valid_logs(max_moves=20))
def test_replacements_say_what_they_shadowed(core: Core, log: Log) -> None:
    """The bare fold names every replacement with the nodes it took off, in surface order.

    Generator: valid_logs.
    Oracle:    the list model.
    Catches:   shadowed nodes by number instead of by place.
    Broken:    shadowed nodes are named by number, not in surface order.
    """
    book = accepted(log)

    folded = core.fold_surface(log)

    assert folded == {"nodes": book.nodes, "replacements": book.replacements}


@given(log=gapped_logs())
@often(2)
def test_bare_fold_takes_gaps(core: Core, log: Log) -> None:
    """A bare fold does not ask for contiguous seqs, but sources must be in the log.

    Generator: gapped_logs, a valid log with events missing.
    Oracle:    the list model without the check of seqs.
    Catches:   SOURCES_UNKNOWN never answered; a gap refused.
    Broken:    sources that are not in the log are let through.
    """
    expected = fold_bare(log)

    folded = core.fold_surface(log)

    if isinstance(expected, Fault):
        assert isinstance(folded, Refused)
        assert (folded.index, folded.code) == (expected.index, expected.code)
    else:
        assert folded == {"nodes": expected.nodes, "replacements": expected.replacements}


@given(log=wild_logs())
@often(4)
def test_bare_fold_refuses_what_acceptance_does(core: Core, log: list[Any]) -> None:
    """Seqs aside, a bare fold refuses exactly what acceptance refuses.

    Generator: wild_logs.
    Oracle:    the list model without the check of seqs.
    Catches:   rules that only one of the two folds has.
    Broken:    a bare fold lets a log-only event carry sources.
    """
    expected = fold_bare(log)

    folded = core.fold_surface(log)

    if isinstance(expected, Fault):
        assert isinstance(folded, Refused)
        assert (folded.index, folded.code) == (expected.index, expected.code)
    else:
        assert not isinstance(folded, Refused), folded


@given(log=loose_logs(max_moves=24))
def test_every_node_is_found_where_it_stands(log: Log) -> None:
    """Asking a surface for a seq gives its place in the order; what is no node is not found.

    Generator: loose_logs with many replacements; this library's own objects.
    Oracle:    the place in the model's list.
    Catches:   a search that trusts seqs to increase along the surface.
    Broken:    a replacement's place is its own seq.
    """
    surface = dsh_fp.fold(log).unwrap().surface
    nodes = accepted(log).surface

    for seq in range(len(log) + 1):
        assert surface.index(seq) == (nodes.index(seq) if seq in nodes else None)
        assert (seq in surface) == (seq in nodes)
    assert list(surface) == nodes
    assert settle(surface.seqs) == nodes
