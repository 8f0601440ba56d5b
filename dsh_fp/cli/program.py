"""The program: its commands by name, and how it ends whatever happens.

A command's module is loaded when the command is used, and what it answers is its exit code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

import click

from dsh_fp.cli.exits import Exit
from dsh_fp.cli.output import Messages, Output, ReaderLeft, Unwritable, discard_rest
from dsh_fp.cli.safe import one_line

NAME: Final = "dsh-fp"
_SHOWN_OF_USAGE: Final = 300
_EVERYWHERE: Final = ("--json", "--color")
_TAKE_A_COMMAND: Final = ("bisect", "minimise", "conform")

SECTIONS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "Look into a log": {
            "verify": "Say whether logs hold, and what is wrong where.",
            "show": "Print a log as a readable transcript.",
            "messages": "Print what the model sees, and who brought it there.",
            "header": "Print the request header in force, and since when.",
            "requests": "List every request, one row a step.",
            "request": "Print one request as it was sent.",
        },
        "Prove what was sent": {
            "digest": "Print fingerprints of content and requests.",
            "certify": "Write a certificate: digests of events and requests, and one root.",
            "prove": "Prove that a request is in a log, or that a log extends another.",
            "check-proof": "Say what a proof shows, and for which root.",
            "check-wire": "Compare captured request bodies with what was sent.",
        },
        "Find what changed": {
            "diff": "Compare two requests, or two logs, down to the event.",
            "cache": "Say how much of each prompt a cache can have kept.",
            "what-if": "Say which requests change when events are others.",
            "bisect": "Find the first prefix for which a command fails.",
            "minimise": "Make a log as small as it can be while a command still fails.",
        },
        "Use it as a model or an oracle": {
            "script": "List the model calls, as a replay gives them.",
            "conform": "Judge another implementation by the laws.",
        },
        "Stored sessions": {
            "ls": "List the sessions of a store, one row each.",
            "resume-check": "Say what resuming would change, changing nothing.",
            "convert": "Write a log in a later generation, its requests compared.",
            "redact": "Write a copy of a log with its secrets replaced.",
            "repair": "Close what a crash cut; shows it first.",
            "doctor": "Name everything that is wrong, and what can be done.",
            "salvage": "Make a sound log of a damaged one, by a named policy.",
        },
        "For programs": {
            "schema": "Print the JSON Schema of a command's --json.",
        },
    }
)
"""The commands with a line each, as the help lists them."""

COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {name: line for section in SECTIONS.values() for name, line in section.items()}
)


class Program(click.Group):
    """A group that loads a command when it is used and turns every ending into a code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, loaded now."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"dsh_fp.cli.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help, with none of them loaded."""
        longest = max(map(len, COMMANDS))
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(longest), line) for name, line in section.items()])

    def main(  # type: ignore[override]  # it answers an int where click answers anything
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,  # noqa: ANN401  # as click declares it
    ) -> int:
        """Run the program; it exits with its code, or answers it when not standalone."""
        if complete_var is None and "_DSH_FP_COMPLETE" in os.environ:
            super().main(args, NAME, "_DSH_FP_COMPLETE", **extra)
        code = self.run(list(sys.argv[1:] if args is None else args), extra)
        if standalone_mode:
            sys.exit(code)
        return code

    def run(self, args: list[str], extra: Mapping[str, Any]) -> int:
        """The exit code of one run. Nothing but a bug of ours leaves a traceback."""
        try:
            try:
                code = self._answer(list(args), extra)  # click empties its list
                Output("stdout").flush()
            except click.ClickException as wrong:
                code = _refuse_usage(wrong, args)
        except ReaderLeft:
            code = Exit.READER_LEFT
        except Unwritable as why:
            code = _last_words(f"cannot write to standard output: {why}", Exit.UNWRITABLE)
        except (KeyboardInterrupt, EOFError):
            code = _last_words("interrupted", Exit.INTERRUPTED)
        except MemoryError:
            code = _last_words("this needs more memory than there is", Exit.UNREADABLE)
        discard_rest()
        return code

    def _answer(self, args: list[str], extra: Mapping[str, Any]) -> int:
        if not args:
            with self.make_context(NAME, ["--help"], resilient_parsing=True) as ctx:
                Messages().line(self.get_help(ctx))
            return Exit.USAGE
        try:
            with self.make_context(NAME, args, **extra) as ctx:
                code = self.invoke(ctx)
        except click.exceptions.Exit as ended:
            code = ended.exit_code
        # What is read is read under guard, so this is click writing its help.
        except BrokenPipeError:
            raise ReaderLeft from None
        except OSError as fault:
            raise Unwritable(fault.strerror or type(fault).__name__) from fault
        return int(code)


def _refuse_usage(wrong: click.ClickException, args: Sequence[str]) -> int:
    ctx = getattr(wrong, "ctx", None)
    path = NAME if ctx is None else ctx.command_path
    hint = _hint(wrong, args)
    # With a hint of ours, click's own guess is left out: for --json it is --version.
    message = one_line(wrong.message if hint else wrong.format_message(), _SHOWN_OF_USAGE)
    now = f"{hint}{path} --help says how it is used."
    err = Messages()
    err.line(f"{err.paint('dsh-fp:', 'bad')} {message}")
    err.line(f"  now    {now}")
    if "--json" in args:
        from dsh_fp.cli.answer import print_document
        from dsh_fp.cli.faults import usage_complaint

        command = path.removeprefix(NAME).strip() or None
        fault = usage_complaint("USAGE", message, now)
        print_document(Output("stdout"), command, {"error": fault.wire})
        Output("stdout").flush()
    return Exit.USAGE


def _hint(wrong: click.ClickException, args: Sequence[str]) -> str:
    """What was probably meant, as a sentence with a space behind it; empty for no idea."""
    first = args[0]
    option = wrong.option_name if isinstance(wrong, click.NoSuchOption) else None
    if option is not None and first in COMMANDS:
        if first in _TAKE_A_COMMAND and "--" not in args:
            return f"If {one_line(option, 40)} is for COMMAND, put -- before COMMAND. "
    elif option in _EVERYWHERE:
        return f"{option} goes behind the command. "
    elif option is None and first not in COMMANDS:
        from difflib import get_close_matches

        near = get_close_matches(first[:_SHOWN_OF_USAGE], COMMANDS, n=1)
        return f"Did you mean {near[0]}? " if near else ""
    return ""


def _last_words(text: str, code: Exit) -> int:
    Messages().line(f"dsh-fp: {text}")
    return code


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("dsh-fp")
    except PackageNotFoundError:
        number = "(not installed)"
    Output("stdout").line(f"{NAME} {number}")
    ctx.exit()


@click.group(
    cls=Program,
    name=NAME,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
    epilog="LOG is a path, or - for standard input. Every command takes --json. "
    "Exit codes: 0 holds, 1 a finding, 2 usage, 3 unreadable or corrupt, 4 unsupported version.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version and exit.",
)
def main() -> None:
    """Look into the logs of agent sessions.

    Only `repair --apply` and `salvage --apply` ever change one.
    """
