"""Payloads as readable text: blocks of content, sources, times, folded where they are long.

Nothing in here trusts a payload's shape: acceptance never looked into it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from dsh_fp.cli.answer import count
from dsh_fp.cli.output import Output
from dsh_fp.cli.safe import columns, lines_of, one_line, padded, wrapped
from dsh_fp.core.lossless import to_text
from dsh_fp.core.vocabulary import MessageRule

FOLD_LINES: Final = 16
LINES_KEPT: Final = 12
_CHARACTERS_PER_COLUMN: Final = 4  # marks may stack up, but not much further
SUMMARY_CHARACTERS: Final = 200
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Page:
    """Text for a person, wrapped to the width of the output; long ones folded unless `full`."""

    def __init__(self, out: Output, *, full: bool) -> None:
        self.out = out
        self.full = full

    def line(self, text: str = "", style: str | None = None) -> None:
        """One line of our own words."""
        self.out.line(text, style)

    def text(self, text: str, indent: int, *, style: str | None = None, lead: str = "") -> None:
        """A stranger's text, line by line, each begun with `lead`."""
        room = self.out.width - indent - len(lead)
        start = " " * indent + lead
        kept: list[str] = []
        # Of a text that will be folded only the beginning is looked at, however long it is.
        seen = text if self.full else text[: room * FOLD_LINES * _CHARACTERS_PER_COLUMN]
        for line in lines_of(seen):
            for part in wrapped(line, room):
                if self.full:
                    self.out.line((start + self.out.paint(part, style)).rstrip())
                    continue
                kept.append(part)
                if len(kept) > FOLD_LINES:
                    break
            if len(kept) > FOLD_LINES:
                break
        folded = len(kept) > FOLD_LINES or len(seen) < len(text)
        for part in kept[:LINES_KEPT] if folded else kept:
            self.out.line((start + self.out.paint(part, style)).rstrip())
        if folded:
            size = count(len(text), "character")
            self.out.line(f"{start}... folded: {size} in all; --full shows them", "dim")

    def wrapped(self, text: str, indent: int, style: str | None = None, lead: str = "") -> None:
        """One paragraph of text that is safe already; `lead` stands before its first line."""
        start = lead.ljust(indent)
        for part in wrapped(text, self.out.width - indent):
            self.out.line(start + self.out.paint(part, style))
            start = " " * indent

    def content(self, content: object, indent: int) -> None:
        """The blocks of a message; what is no list of blocks is shown as JSON."""
        if not isinstance(content, tuple):
            self.value(content, indent)
            return
        if not content:
            self.line(" " * indent + "(empty)", "dim")
        for block in content:
            self.block(block, indent)

    def block(self, block: object, indent: int) -> None:
        """One block of content."""
        fields: dict[str, Any] = block if isinstance(block, dict) else {}
        text, start = fields.get("text"), " " * indent
        match fields.get("type"):
            case "text" if isinstance(text, str):
                self.text(text, indent)
            case "reasoning" if isinstance(text, str):
                self.line(f"{start}reasoning", "dim")
                self.text(text, indent, style="dim", lead="| ")
            case "tool-call":
                call = scalar(fields.get("id"))
                self.line(f"{start}-> call {scalar(fields.get('name'))} ({call})", "mark")
                self.argument(fields.get("arguments"), indent + 3)
            case "tool-result":
                told = self.out.paint(f"<- result of {scalar(fields.get('toolCallId'))}", "mark")
                error = self.out.paint(" ERROR", "bad") if fields.get("isError") is True else ""
                self.line(f"{start}{told}{error}")
                # A result inside a result is shown as JSON: depth is decided by strangers.
                inner = fields.get("content")
                for part in inner if isinstance(inner, tuple) else (inner,):
                    self._leaf(part, indent + 3)
            case _:
                self.value(block, indent)

    def argument(self, arguments: object, indent: int) -> None:
        """The arguments of a call: JSON text as the model gave it."""
        if isinstance(arguments, str):
            self.text(arguments, indent)
        elif arguments is not None:
            self.value(arguments, indent)

    def value(self, value: object, indent: int) -> None:
        """Any JSON value, as JSON."""
        self.text(to_text(value), indent, style="dim")

    def _leaf(self, block: object, indent: int) -> None:
        fields: dict[str, Any] = block if isinstance(block, dict) else {}
        if fields.get("type") == "text" and isinstance(fields.get("text"), str):
            self.text(fields["text"], indent)
        else:
            self.value(block, indent)

    def table(
        self, head: Sequence[str], rows: Iterable[Sequence[str]], *, left: Container[int]
    ) -> None:
        """Aligned columns: those numbered in `left` to the left, the others to the right."""
        table = [list(head), *map(list, rows)]
        widths = [max(columns(row[place]) for row in table) for place in range(len(head))]
        for number, row in enumerate(table):
            cells = [
                padded(cell, width) if place in left else " " * (width - columns(cell)) + cell
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            self.out.line("  ".join(cells).rstrip(), None if number else "bold")


def scalar(value: object, limit: int = 80) -> str:
    """A value on one line: a text as it is, anything else as JSON, cut when it is long."""
    return one_line(value if isinstance(value, str) else to_text(value), limit)


def record_of(data: object, rule: MessageRule | None) -> object:
    """What in a surface event's payload has content and source: itself, or the message in it."""
    within = None if rule is None else rule.within
    return data if within is None or not isinstance(data, dict) else data.get(within)


def sender_of(data: object, rule: MessageRule | None) -> str:
    """Who a surface event comes from, in words, where its type does not say it already."""
    record = record_of(data, rule)
    source = source_of(record)
    return "" if record is not data and source in ("model", "tool") else source


def source_of(data: object) -> str:
    """Who an event comes from, in words; empty when it does not say."""
    source = data.get("source") if isinstance(data, dict) else None
    if not isinstance(source, dict):
        return ""
    kind, plugin = source.get("kind"), source.get("plugin")
    if "plugin" in source and kind == "plugin":
        return f"plugin {scalar(plugin)}"
    return scalar(kind) if "kind" in source else scalar(source)


def time_of(time_ms: float) -> str:
    """A point in time for a person, in UTC."""
    try:
        moment = _EPOCH + timedelta(milliseconds=time_ms)
    except (OverflowError, ValueError):
        return f"{to_text(time_ms)} ms"
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def seqs_of(seqs: Sequence[int], limit: int = 12) -> str:
    """Seqs as runs: `1, 4 to 9, 12`; a long list is cut."""
    runs: list[tuple[int, int]] = []
    for seq in seqs:
        if runs and seq == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], seq)
        else:
            runs.append((seq, seq))
    shown = runs[:limit]
    parts = [str(a) if a == b else f"{a} to {b}" if b > a + 1 else f"{a}, {b}" for a, b in shown]
    rest = len(seqs) - sum(b - a + 1 for a, b in shown)
    return ", ".join(parts) + (f" and {rest:,} more" if rest else "")
