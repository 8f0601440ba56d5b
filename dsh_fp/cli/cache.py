"""`dsh-fp cache LOG`: how much of each prompt a cache can have kept, and what broke it."""

from __future__ import annotations

from typing import Any

import attrs
import click

from dsh_fp.cli.answer import Answer, common_options, count, located, log_argument
from dsh_fp.cli.differing import wire_of_difference, wire_of_event
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import wire_of
from dsh_fp.cli.page import Page, scalar
from dsh_fp.cli.safe import one_line
from dsh_fp.core.caching import CacheBreak, CacheUsage, PromptCaching, prompt_caching

_FAR = 2  # times the prediction, or a part of it
HEAD = (
    "turn",
    "step",
    "seq",
    "messages",
    "same",
    "bytes",
    "same",
    "%",
    "predicted",
    "read",
    "written",
    "uncached",
)


@click.command("cache")
@log_argument
@common_options
def command(log: str, as_json: bool, color: str) -> int:
    """Say how much of each prompt begins as the one before it did,
    and which event changed the rest.

    A prompt is the system text, the tools and the messages, a line each. Another model keeps
    nothing. Tokens are what the provider reported for the call; the prediction is the share
    of bytes, in these tokens: an estimate. Exit code 1: a request is not known.
    """
    answer = Answer("cache", as_json=as_json, color=color)
    opened = answer.open(log)
    rows = [
        row if row.fault is None else attrs.evolve(row, fault=located(opened, row.fault))
        for row in prompt_caching(opened.session)
    ]
    known = [row for row in rows if row.fault is None]
    if as_json:
        answer.document(session=opened.header.to_wire(), requests=[_wire_of(row) for row in rows])
    else:
        page = Page(answer.out, full=False)
        _print(page, one_line(opened.header.id, 80), rows)
        answer.mention_torn_tail(opened)
    return Exit.HOLDS if len(known) == len(rows) else Exit.FINDING


def _wire_of(row: PromptCaching) -> dict[str, Any]:
    past = row.past
    return {
        "turn": past.turn,
        "step": past.step,
        "seq": past.seq,
        "fault": None if row.fault is None else wire_of(row.fault),
        "messages": row.messages,
        "bytes": row.size,
        "common_messages": row.common_messages,
        "common_bytes": row.common_size,
        "kept_all": row.kept_all,
        "unknown_before": row.unknown_before,
        "broken_by": None if row.broken is None else _wire_of_break(row.broken),
        "usage": None if row.usage is None else _wire_of_usage(row.usage),
        "predicted_cache_read_tokens": row.predicted_read_tokens,
    }


def _wire_of_break(broken: CacheBreak) -> dict[str, Any]:
    return {
        "how": broken.how,
        "event": wire_of_event(broken.event),
        "first": wire_of_difference(broken.first),
        "line": broken.line,
    }


def _wire_of_usage(usage: CacheUsage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
    }


def _print(page: Page, name: str, rows: list[PromptCaching]) -> None:
    broken = [row for row in rows if row.broken is not None]
    unknown = [row for row in rows if row.fault is not None]
    changes = count(len(broken), "change")
    told = [count(len(rows), "request"), f"{changes} of the prompt's beginning"]
    if unknown:
        told.append(f"{len(unknown):,} not known")
    page.line(f'session "{name}": {", ".join(told)}', "bold")
    if not rows:
        return
    page.line()
    page.table(HEAD, [_cells(row) for row in rows], left=())
    far = [row for row in rows if _is_far(row)]
    if broken or unknown or far:
        page.line()
    for row in rows:
        step = f"turn {scalar(row.past.turn, 24)}, step {scalar(row.past.step, 24)}"
        if row.fault is not None:
            why = one_line(f"{row.fault.code.value}: {row.fault.message}", 300)
            page.wrapped(f"{step}: not known, {why}", 2, "warn")
        elif row.broken is not None:
            after = count(row.unknown_before, "request")
            behind = f", behind {after} not known" if row.unknown_before else ""
            page.wrapped(f"{step}: {one_line(str(row.broken), 400)}{behind}", 2)
        if _is_far(row):
            read = None if row.usage is None else row.usage.cache_read_tokens
            predicted = _number(row.predicted_read_tokens)
            page.wrapped(
                f"{step}: the provider read {_number(read)} tokens, {predicted} predicted",
                2,
                "warn",
            )


def _is_far(row: PromptCaching) -> bool:
    """Whether the read is more than twice the prediction, or less than half of it."""
    read = None if row.usage is None else row.usage.cache_read_tokens
    predicted = row.predicted_read_tokens
    if read is None or predicted is None:
        return False
    return read > _FAR * predicted or _FAR * read < predicted


def _cells(row: PromptCaching) -> tuple[str, ...]:
    past = row.past
    named = [scalar(value, 24) for value in (past.turn, past.step, past.seq)]
    usage = row.usage
    reported = (
        (None, None, None)
        if usage is None
        else (usage.cache_read_tokens, usage.cache_write_tokens, usage.input_tokens)
    )
    tokens = [_number(each) for each in reported]
    if row.size is None or row.common_size is None:
        return (*named, "-", "-", "-", "-", "-", "-", *tokens)
    share = f"{100 * row.common_size // row.size if row.size else 0}"
    return (
        *named,
        _number(row.messages),
        _number(row.common_messages),
        _number(row.size),
        _number(row.common_size),
        share,
        _number(row.predicted_read_tokens),
        *tokens,
    )


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else scalar(value, 24)
