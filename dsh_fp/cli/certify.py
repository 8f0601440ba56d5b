"""`dsh-fp certify LOG`: what a log is, in a small document that others can hold it against."""

from __future__ import annotations

import os
from typing import Final, NoReturn

import click
from returns.result import Failure

from dsh_fp.cli.answer import Answer, common_options, count, log_argument
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of, usage_complaint
from dsh_fp.cli.files import content_of, see_free, write_files
from dsh_fp.cli.safe import json_safe, one_line
from dsh_fp.core.certificates import certify

SIGNATURE_SUFFIX: Final = ".sig"


@click.command("certify")
@log_argument
@click.option("-o", "--output", metavar="FILE", help="Write the certificate there.")
@click.option(
    "--sign",
    "key",
    metavar="KEY",
    help="Sign with this ed25519 private key file (PEM or OpenSSH; needs the extra sign).",
)
@click.option("--force", is_flag=True, help="Write over files that are there already.")
@common_options
def command(  # noqa: PLR0917  # click passes each option by its name
    log: str, output: str | None, key: str | None, force: bool, as_json: bool, color: str
) -> int:
    """Print a certificate of LOG: digests of its events and of every request, and one root.

    Keep the root, or the whole certificate, where whoever could change the log cannot change
    it too. `dsh-fp verify LOG --certificate FILE` says later whether the log is still that one;
    `dsh-fp prove` proves a single request to those who have the root and not the log.

    With --sign the signature of FILE is put beside it, as FILE.sig.
    """
    if output is None and (key is not None or force):
        raise click.UsageError("--sign and --force need -o FILE.")
    answer = Answer("certify", as_json=as_json, color=color)
    beside = f"{output}{SIGNATURE_SUFFIX}"
    written = [] if output is None else [output]
    if key is not None:
        written.append(beside)
    see_free(answer, written, reads=(log, key), force=force)
    if output is not None and key is None and os.path.lexists(beside):
        _refuse_beside(answer, beside)
    opened = answer.open(log)
    certificate = certify(opened.session)
    text = json_safe(certificate.to_text())
    signature = None if key is None else _signed(answer, text.encode(), key)
    files = [] if output is None else [(output, text.encode())]
    if signature is not None:
        files.insert(0, (beside, signature))  # a certificate never stands there unsigned
    if files:
        write_files(answer, files, force=force)
    if as_json:
        answer.document(
            certificate=certificate.to_wire(),
            file=output,
            signature=beside if signature is not None else None,
        )
    elif output is None:
        answer.out.exact((text,))
    else:
        out = answer.out
        name = one_line(opened.header.id, 80)
        events = count(certificate.events.size, "event")
        requests = count(certificate.requests.size, "request")
        out.line(f'session "{name}" is certified: {events}, {requests}', "bold")
        out.line(f"  root       {certificate.root}")
        out.line(f"  written    {one_line(output)}")
        if signature is not None:
            out.line(f"  signature  {one_line(beside)}")
    if not as_json:
        answer.mention_torn_tail(opened)
    return Exit.HOLDS


def _refuse_beside(answer: Answer, signature: str) -> NoReturn:
    """End where the certificate would stand beside the signature of another."""
    why = f"{one_line(signature)} is there already, and would be no signature of this certificate"
    now = "Sign with --sign, or remove that file, or choose another name."
    answer.refuse(usage_complaint("FILE_EXISTS", why, now), Exit.USAGE)


def _signed(answer: Answer, content: bytes, key: str) -> bytes:
    from dsh_fp.signing import sign

    try:
        made = sign(content, content_of(answer, key))
    except ImportError as missing:
        refuse_without_extra(answer, missing)
    if isinstance(made, Failure):
        fault = made.failure().at(file=key)
        what = f"nothing is signed or written: {fault.code.value}"
        answer.refuse(complaint_of(what, fault), Exit.UNREADABLE)
    return made.unwrap()


def refuse_without_extra(answer: Answer, missing: ImportError) -> NoReturn:
    """End with how to install what signatures need."""
    why, _, now = str(missing).partition(": ")
    answer.refuse(usage_complaint("EXTRA_MISSING", why, f"Install it: {now}"), Exit.USAGE)
