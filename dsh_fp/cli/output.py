"""The one way to standard output and standard error: colour, encoding, and readers that leave."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import Final, TextIO

PLAIN_WIDTH: Final = 80
_NARROWEST: Final = 40
_BATCH_BYTES: Final = 1 << 16
_STYLES: Final = {
    "bold": "1",
    "dim": "2",
    "good": "32",
    "bad": "1;31",
    "warn": "33",
    "speaker": "1;36",
    "mark": "35",
}


class ReaderLeft(Exception):
    """Nobody reads the output any more."""


class Unwritable(Exception):
    """The output cannot be written; says why."""


class Output:
    """One of the two standard streams.

    `color` is auto, always or never; auto means a terminal, unless NO_COLOR is set.
    """

    def __init__(self, name: str, color: str = "auto") -> None:
        self._name = name
        stream = self._stream()
        self.is_terminal = stream is not None and stream.isatty()
        self._colored = color == "always" or (
            color == "auto"
            and self.is_terminal
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )
        if isinstance(stream, TextIOWrapper) and stream.errors != "backslashreplace":
            # An encoding that lacks a character must not end the command. This flushes.
            with self._guarded():
                stream.reconfigure(errors="backslashreplace")

    @property
    def width(self) -> int:
        """How many columns a line may take."""
        if not self.is_terminal:
            return PLAIN_WIDTH
        return max(shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns, _NARROWEST)

    def paint(self, text: str, style: str | None) -> str:
        """The text in a style, where there is colour."""
        if style is None or not text or not self._colored:
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"

    def line(self, text: str = "", style: str | None = None) -> None:
        """Write one line of text that is safe already."""
        with self._guarded() as stream:
            stream.write(f"{self.paint(text, style)}\n")

    def exact(self, pieces: Iterable[str]) -> None:
        """Write text as UTF-8 whatever the locale, nothing added."""
        with self._guarded() as stream:
            stream.flush()
            waiting = bytearray()
            for piece in pieces:
                waiting += piece.encode()
                if len(waiting) >= _BATCH_BYTES:
                    stream.buffer.write(waiting)
                    waiting.clear()
            stream.buffer.write(waiting)

    def flush(self) -> None:
        """Let out what was written."""
        with self._guarded() as stream:
            stream.flush()

    def _stream(self) -> TextIO | None:
        return sys.stdout if self._name == "stdout" else sys.stderr

    @contextmanager
    def _guarded(self) -> Generator[TextIO]:
        stream = self._stream()
        if stream is None:
            raise Unwritable("it is closed")
        try:
            yield stream
        except BrokenPipeError:
            raise ReaderLeft from None
        except OSError as fault:
            if fault.errno == errno.EINVAL and os.name == "nt":  # a pipe closed on Windows
                raise ReaderLeft from None
            raise Unwritable(fault.strerror or type(fault).__name__) from fault


class Messages(Output):
    """Standard error. What cannot be told there changes no exit code."""

    def __init__(self, color: str = "auto") -> None:
        super().__init__("stderr", color)

    def line(self, text: str = "", style: str | None = None) -> None:
        """Write one line, if anybody listens."""
        with suppress(ReaderLeft, Unwritable):
            super().line(text, style)
            self.flush()


def discard_rest() -> None:
    """Let what is still buffered go nowhere, so that the interpreter ends quietly."""
    for stream in (sys.stdout, sys.stderr):
        try:
            descriptor = stream.fileno()
        except (AttributeError, OSError, ValueError):
            continue  # no stream, or one that is no file
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)
