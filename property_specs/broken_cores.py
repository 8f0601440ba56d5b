"""The catalogue of broken cores: each breaks one rule, and `dsh-fp conform` must say so.

    python -m property_specs.broken_cores                  every core, judged by its own laws
    python -m property_specs.broken_cores NAME ...         these
    python -m property_specs.broken_cores --all-laws NAME  by all laws and vectors
    python -m property_specs.broken_cores --write          write the page of the docs too
    python -m property_specs.broken_cores --check          exit 1 when that page names other cores
    python -m property_specs.broken_cores --save-corpus    keep the counterexamples, see `corpus`

Each core is a copy of this library with one text of it changed. It is caught when a law breaks
on a counterexample of at most 12 events. Exit 1 when one is not.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from property_specs import breaks
from property_specs.breaks import BREAKS, Break
from property_specs.corpus import keep_counterexamples
from property_specs.laws import FOLDER, all_laws
from property_specs.see_fail import misfit

REPOSITORY: Final = FOLDER.parent
PAGE: Final = REPOSITORY / "docs" / "reference" / "broken-cores.md"
MOST_EVENTS: Final = 12
_COPIED: Final = ("dsh_fp", "property_specs")
_LIMIT_SECONDS: Final = 900
_SHOWN: Final = 200


@dataclass(frozen=True)
class BrokenCore:
    """One core with a fault: its name, what is wrong with it, and the laws that must catch it.

    Without a break of its own it has that of its first law, and says what that law's
    `Broken:` line says.
    """

    name: str
    laws: tuple[str, ...]
    sentence: str = ""
    own: Break | None = None

    @property
    def broken(self) -> Break:
        """What is changed."""
        return self.own or BREAKS[self.laws[0]]

    def says(self) -> str:
        """What is wrong, in a sentence."""
        return self.sentence or _BROKEN_LINES[self.laws[0]]


_BROKEN_LINES: Final = {law.name: law.fields.get("Broken", "") for law in all_laws()}


def _core(name: str, *laws: str) -> BrokenCore:
    return BrokenCore(name, laws)


def _own(name: str, sentence: str, broken: Break, *laws: str) -> BrokenCore:
    return BrokenCore(name, laws, sentence, broken)


CORES: Final[tuple[BrokenCore, ...]] = (
    # acceptance
    _core("larger-start-refused", "valid_logs_are_accepted"),
    _core("miscounted-event", "prefix_of_accepted_is_accepted"),
    _core("fault-out-of-order", "first_fault_wins"),
    _core("source-twice-let-through", "each_code_is_answered"),
    _core("first-uncited-node-only", "every_uncited_node_is_named"),
    _core("half-applied-replacement", "refusal_changes_nothing"),
    _core("bulk-route-skips-a-check", "bulk_fold_equals_reduce"),
    _core("resumed-fold-forgets-header", "fold_splits_anywhere"),
    _core("extend-keeps-no-history", "append_equals_extend_equals_replay"),
    _core("payload-kept-by-reference", "the_log_is_apart_from_what_it_was_made_of"),
    _core("extra-envelope-key-let-through", "envelopes_are_judged_alike"),
    _own(
        "true-as-1",
        "True passes for the seq 1, in an envelope, a range or a source.",
        Break(
            breaks.EVENTS,
            "return type(value) is int and 0 <= value <= MAX_SEQ",
            "return isinstance(value, int) and 0 <= value <= MAX_SEQ",
        ),
        "first_fault_wins",
        "what_is_no_seq_is_no_boundary",
    ),
    _own(
        "source-may-be-itself",
        "An event may cite its own seq.",
        Break(
            breaks.SURFACE,
            "if known is not None or max(sources, default=-1) >= seq:",
            "if known is not None or max(sources, default=-1) > seq:",
        ),
        "first_fault_wins",
    ),
    _own(
        "reversed-range-by-number",
        "A range is reversed when its start is the larger number, wherever it stands.",
        Break(breaks.SURFACE, "    if first > last:\n", "    if start > end:\n"),
        "valid_logs_are_accepted",
        "first_fault_wins",
    ),
    _own(
        "only-the-ends-cited",
        "Of a replaced range only the two ends have to be cited.",
        Break(
            breaks.SURFACE,
            "missing = tuple(node for node in surface.shadowed(*span) if node not in cited)",
            "missing = tuple(node for node in surface.shadowed(*span)[:: max(span[1] - span[0], 1)]"
            " if node not in cited)",
        ),
        "first_fault_wins",
        "every_uncited_node_is_named",
    ),
    # the surface
    _core("off-by-one-in-a-range", "surface_matches_list_surgery"),
    _core("single-node-not-counted", "generation_counts_replacements"),
    _core("shadowed-by-number", "replacements_say_what_they_shadowed"),
    _core("unknown-source-let-through", "bare_fold_takes_gaps"),
    _core("bare-fold-skips-a-check", "bare_fold_refuses_what_acceptance_does"),
    # request headers
    _core("empty-parts-kept", "canonical_is_the_one_form"),
    _core("parts-out-of-order", "canonical_is_idempotent"),
    _core("empty-system-is-none", "headers_equal_as_they_stand"),
    _core("overlapping-ends", "diff_says_what_changed"),
    _core("added-tools-in-front", "apply_inverts_diff"),
    _core("negative-position-is-zero", "odd_deltas_are_applied_as_slices"),
    _core("delta-that-does-not-round-trip", "writer_deltas_round_trip"),
    _core("always-a-fallback", "writer_prefers_deltas"),
    _core("header-fault-forgotten", "a_header_fault_stands_until_the_next_snapshot"),
    _core("first-header-fault-lost", "folding_headers_answers_the_first_fault"),
    # messages
    _core("empty-answer-is-a-message", "messages_match_model"),
    _core("log-only-event-hides-a-node", "log_only_events_make_no_message"),
    _own(
        "markup-escaped",
        "The kind of a source is written without its quotes.",
        Break(
            breaks.PROJECTION,
            'text_of(source["kind"]) if "kind" in source',
            'str(source["kind"]) if "kind" in source',
        ),
        "messages_match_model",
    ),
    # sessions
    _core("prefix-without-first-header", "at_equals_replayed_prefix"),
    _core("true-as-a-boundary", "what_is_no_seq_is_no_boundary"),
    _core("fork-anywhere", "forks_end_at_closed_turns"),
    _core("seed-off-by-one", "a_fork_knows_its_parent"),
    _core("fork-changes-its-parent", "fork_leaves_parent_alone"),
    _core("cache-that-outlives-a-replacement", "fork_then_append_equals_replay"),
    _core("sharing-broken", "branches_do_not_see_each_other", "any_history_matches_the_list_model"),
    _core("first-todos-answered", "todos_are_the_last_written"),
    _core("usage-of-the-seed-off-by-one", "usage_sums_every_call"),
    # requests
    _core("header-of-the-start", "requests_match_refolded_prefixes"),
    _core("surface-of-today", "what_was_sent_stays_sent"),
    _own(
        "prefix-including-the-step",
        "A request holds what was logged behind its step/start, up to the first output.",
        Break(
            breaks.REQUESTS,
            "cut = output if session.vocabulary.form.sent_at_output else start",
            "cut = output",
        ),
        "requests_match_refolded_prefixes",
    ),
    # repair
    _core("call-not-cited", "closers_match_model"),
    _core("step-left-open", "repair_closes_any_cut"),
    _core("closers-with-one-seq", "closers_are_accepted"),
    _core("closers-twice", "repairing_twice_adds_nothing"),
    _core("closed-turn-closed-again", "closed_logs_need_no_repair"),
    _own(
        "answered-calls-closed-too",
        "A call that was answered gets a second result.",
        Break(
            breaks.REPAIR,
            'self.pending.pop(to_text(_field(event, "callId")), None)',
            "pass",
        ),
        "closers_match_model",
    ),
    # turns, steps and pairs
    _core("calls-outlive-their-step", "first_breach_matches_model"),
    _core("too-strict-for-a-sound-log", "sound_logs_have_no_breach"),
    _core("one-call-may-wait", "cuts_are_balanced_by_counting"),
    _core("damage-behind-the-cut-counts", "damage_behind_a_cut_does_not_matter"),
    # values
    _core("integral-float-kept", "snapshot_keeps_the_value"),
    _core("key-order-lost", "parse_agrees_with_the_standard_library"),
    _core("exponents-too-early", "numbers_are_written_as_script_does"),
    _core("one-index-key-too-many", "index_keys_come_first"),
)
"""Every broken core."""


@dataclass(frozen=True)
class Catch:
    """What came of one core: the laws that broke, and how many events the smallest case has."""

    core: BrokenCore
    laws: tuple[str, ...]
    events: int | None
    problem: str
    seconds: float

    @property
    def is_caught(self) -> bool:
        """Whether a law broke on a case that is small enough."""
        return not self.problem


def judged(
    core: BrokenCore,
    *,
    every_law: bool = False,
    save: Callable[[BrokenCore, Path], None] | None = None,
) -> Catch:
    """Make the core and have it judged by `dsh-fp conform`."""
    began = time.monotonic()
    why = misfit(core.broken)
    if why is not None:
        return Catch(core, (), None, f"its break does not fit: {why}", 0)
    with tempfile.TemporaryDirectory(prefix="broken-core-") as folder:
        copy, out = Path(folder) / "copy", Path(folder) / "out"
        for name in _COPIED:
            ignored = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(REPOSITORY / name, copy / name, ignore=ignored)
        path = copy / core.broken.module
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(core.broken.old, core.broken.new), encoding="utf-8")
        only = [] if every_law else [f"--only={law}" for law in core.laws]
        problem = _run(copy, [*only, "--out", str(out)])
        catch = _caught(core, out, problem, time.monotonic() - began)
        if save is not None and catch.is_caught:
            save(core, out)
    return catch


def _run(copy: Path, arguments: list[str]) -> str:
    """What went wrong with judging itself, if anything did."""
    door = ["--python", "property_specs.core:DSH_FP"]
    command = [sys.executable, "-m", "dsh_fp.cli", "conform", *door, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
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
        return f"no verdict in {_LIMIT_SECONDS} s"
    if ran.returncode == 0:
        return "NOT CAUGHT"
    is_verdict = ran.returncode == 1 and "Traceback" not in ran.stderr
    return "" if is_verdict else f"exit {ran.returncode}: {ran.stderr[-_SHOWN:]}"


def _caught(core: BrokenCore, out: Path, problem: str, seconds: float) -> Catch:
    found: dict[str, int] = {}
    for record in sorted(out.glob("*.json")) if out.is_dir() else ():
        log = record.with_suffix(".jsonl")
        events = log.read_bytes().count(b"\n") - 1 if log.exists() else 0
        found[json.loads(record.read_text(encoding="utf-8"))["law"]] = events
    smallest = min(found.values(), default=None)
    if not problem and smallest is None:
        problem = "no counterexample was left"
    elif not problem and smallest is not None and smallest > MOST_EVENTS:
        problem = f"its smallest counterexample has {smallest} events"
    return Catch(core, tuple(found), smallest, problem, seconds)


def rows(catches: Sequence[Catch]) -> Iterator[str]:
    """The table, for a terminal."""
    width = max((len(catch.core.name) for catch in catches), default=0)
    for catch in catches:
        verdict = catch.problem or f"{catch.events:2} events  {', '.join(catch.laws)}"
        yield f"{catch.core.name:<{width}}  {catch.seconds:5.1f} s  {verdict}"
    caught = sum(catch.is_caught for catch in catches)
    yield f"{caught} of {len(catches)} broken cores caught"


_HEAD: Final = """# Broken cores

Written by `python -m property_specs.broken_cores --write`; edit the catalogue, not this page.

Each of these {count} cores is this library with one rule broken. `dsh-fp conform` was run on
each, and the law named beside it broke; the number is how many events its smallest
counterexample has. 0 is a case without a log, a header or a value alone.

| core | what is wrong with it | caught by | events |
|---|---|---|---|
"""


def page(catches: Sequence[Catch]) -> str:
    """The page of the docs."""
    lines = [
        f"| {catch.core.name} | {catch.core.says()} | "
        f"{', '.join(f'`{law}`' for law in catch.laws)} | {catch.events} |\n"
        for catch in catches
    ]
    return _HEAD.format(count=len(catches)) + "".join(lines)


def is_current() -> bool:
    """Whether the page tells of exactly these cores, in their words; it runs nothing."""
    lines = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []
    told = [line.split(" | ")[:2] for line in lines if line.startswith("| ")][1:]
    return told == [[f"| {core.name}", core.says()] for core in CORES]


def main(arguments: list[str]) -> int:
    """Judge the named cores, or all."""
    if "--check" in arguments:
        current = is_current()
        if not current:
            sys.stderr.write(f"{PAGE.name} is not current: --write writes it\n")
        return 0 if current else 1
    names = [each for each in arguments if not each.startswith("--")]
    cores = {core.name: core for core in CORES}
    unknown = [name for name in names if name not in cores]
    if unknown:
        sys.stderr.write(f"no such core: {', '.join(unknown)}\n")
        return 2
    save = keep_counterexamples if "--save-corpus" in arguments else None
    wanted = [cores[name] for name in names] if names else list(CORES)
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        every_law = "--all-laws" in arguments
        catches = list(pool.map(lambda core: judged(core, every_law=every_law, save=save), wanted))
    sys.stdout.write("".join(f"{row}\n" for row in rows(catches)))
    is_whole = all(catch.is_caught for catch in catches)
    if "--write" in arguments and not names and is_whole:
        PAGE.write_text(page(catches), encoding="utf-8")
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
