"""`dsh-fp check-proof PROOF`: what a proof shows, and for which root; no log is needed."""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

import click
from returns.result import Failure

from dsh_fp.cli.answer import Answer, common_options, count, log_name
from dsh_fp.cli.certified import Given, advised, given_certificate
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of, usage_complaint
from dsh_fp.cli.files import content_of, document_of, refuse_document
from dsh_fp.cli.page import Page
from dsh_fp.cli.safe import one_line
from dsh_fp.core.chains import RequestDigests
from dsh_fp.core.lossless import text_of
from dsh_fp.core.proofs import Checked, ConsistencyProof, check_proof, digests_of
from dsh_fp.core.rejection import Code, Rejection

_OTHER_ROOT: Final = (
    "Is it the right certificate? (--certificate is the later one, --old-certificate the earlier)"
)
_ROOT: Final = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)
_UNTRUSTED: Final = (
    "This root came with the proof itself. Compare it with the one you know the log by, or "
    "give that: --root HEX or --certificate C."
)
_OLD_UNTRUSTED: Final = (
    "The old root came with the proof itself. Compare it with the one you know the earlier log "
    "by, or give that: --old-root HEX or --old-certificate C."
)


@click.command("check-proof")
@click.argument("proof", metavar="PROOF")
@click.option("--root", metavar="HEX", help="The root that the log is known by.")
@click.option("--certificate", metavar="C", help="The same, taken from a certificate.")
@click.option("--old-root", metavar="HEX", help="The root of the earlier log.")
@click.option("--old-certificate", metavar="C", help="The same, taken from its certificate.")
@click.option(
    "--public-key",
    "key",
    metavar="K",
    help="Public key file (PEM or OpenSSH) that must have signed the certificate.",
)
@click.option("--signature", metavar="S", help="The signature of C, when it is not C.sig.")
@click.option(
    "--request",
    metavar="FILE",
    help="Also check that the proof is about the request in FILE.",
)
@common_options
def command(  # noqa: PLR0917  # click passes each option by its name
    proof: str,
    root: str | None,
    certificate: str | None,
    old_root: str | None,
    old_certificate: str | None,
    key: str | None,
    signature: str | None,
    request: str | None,
    as_json: bool,
    color: str,
) -> int:
    """Say what PROOF shows, without the log it is about.

    A proof holds for a root. Give the root that you trust; without one the answer says which
    it holds for, and you compare. The exit code is 1 when the proof does not hold.

    --request takes the JSON value of the request, as `dsh-fp request --text` prints it. The
    order of its keys counts; spaces and escapes do not. --public-key is about the certificate
    of --certificate.
    """
    for one, other, name in (
        (root, certificate, "--root and --certificate"),
        (old_root, old_certificate, "--old-root and --old-certificate"),
    ):
        if one is not None and other is not None:
            raise click.UsageError(f"{name} exclude each other.")
    if key is not None and certificate is None:
        raise click.UsageError("--public-key needs --certificate C.")
    if signature is not None and key is None:
        raise click.UsageError("--signature needs --public-key K.")
    if [proof, certificate, old_certificate, key, signature, request].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once.")
    answer = Answer("check-proof", as_json=as_json, color=color)
    root, given = _root(answer, root, certificate, signature, key)
    old_root, _ = _root(answer, old_root, old_certificate)
    content = content_of(answer, proof)
    made = check_proof(document_of(answer, proof, content, "proof"), root, old_root)
    if isinstance(made, Failure):
        _refuse(answer, proof, made.failure())
    checked = made.unwrap()
    told = None if request is None else _see_request(answer, checked, request)
    if as_json:
        signed = None if given is None else given.signature
        asked = {"signature": signed, "request_is_given": told is not None}
        answer.document(**_wire(proof, checked), **asked)
        return Exit.HOLDS
    page = Page(answer.out, full=True)
    _print(page, proof, checked)
    if given is not None and given.is_signed:
        page.line(f"  signed    {one_line(given.file, 200)}, by the owner of that key")
    remark = None if given is None else given.remark()
    if remark is not None:
        page.wrapped(remark, 12, lead="  note")
    if told is not None:
        page.line(f"  text      {told}")
    return Exit.HOLDS


def _refuse(answer: Answer, file: str, fault: Rejection) -> NoReturn:
    """End with why a proof does not hold, or why it is none."""
    name = log_name(file)
    if fault.code is Code.OTHER_ROOT:
        what = f"{one_line(name)} does not hold for the given root: {fault.code.value}"
        complaint = complaint_of(what, fault.at(file=name))
        answer.refuse(advised(complaint, _OTHER_ROOT), Exit.FINDING)
    if fault.data.get("reason") in ("false", "inconsistent"):
        what = f"{one_line(name)} does not hold: {fault.code.value}"
        answer.refuse(complaint_of(what, fault.at(file=name)), Exit.FINDING)
    refuse_document(answer, file, fault, "proof")


def _see_request(answer: Answer, checked: Checked, file: str) -> str:
    """That a file holds the request that is proved; ends the command when it does not."""
    if isinstance(checked.proof, ConsistencyProof):
        raise click.UsageError("--request is for proofs of a request, this one is of a log.")
    content = content_of(answer, file)
    value = document_of(answer, file, content, "request")
    found, proved = digests_of(value), checked.proof.step.digests
    name = one_line(log_name(file))
    if found is None or found != proved:
        _refuse_request(answer, name, found, proved)
    is_exact = content.removesuffix(b"\n") == text_of(value).encode()
    return f"{name} is that request{'' if is_exact else ' (spelled otherwise)'}"


def _refuse_request(
    answer: Answer, name: str, found: RequestDigests | None, proved: RequestDigests | None
) -> NoReturn:
    had = "it is no request" if found is None else f"its digest is {found.request}"
    was = "not known from the log" if proved is None else proved.request
    asked = usage_complaint(
        "OTHER_REQUEST",
        f"{name} is not the request that is proved: {had}, that one's is {was}",
        "Give the same JSON value, key order included, as dsh-fp request --text prints it; "
        "spaces and escapes do not count.",
    )
    answer.refuse(asked, Exit.FINDING)


def _root(
    answer: Answer,
    root: str | None,
    certificate: str | None,
    signature: str | None = None,
    key: str | None = None,
) -> tuple[str | None, Given | None]:
    """The root that was given, and the certificate that it was taken from."""
    if certificate is not None:
        given = given_certificate(answer, certificate, signature, key)
        return given.certificate.root, given
    if root is not None and not _ROOT.fullmatch(root):
        raise click.UsageError("a root is 64 hex digits.")
    return None if root is None else root.lower(), None


def _wire(file: str, checked: Checked) -> dict[str, Any]:
    proof = checked.proof
    head = {"file": log_name(file), "verdict": "holds", "kind": checked.kind}
    given = {"root": proof.root, "root_is_given": checked.root_is_given}
    if isinstance(proof, ConsistencyProof):
        old = {"old_root": proof.old.root, "old_root_is_given": checked.old_root_is_given}
        sizes = {"events": proof.new.events.size, "old_events": proof.old.events.size}
        return {**head, **given, **old, **sizes}
    sizes = {"events": proof.events.size, "requests": proof.requests.size}
    return {**head, **given, **sizes, "index": proof.index, "step": proof.step.to_wire()}


def _print(page: Page, file: str, checked: Checked) -> None:
    proof, out = checked.proof, page.out
    holds = out.paint("HOLDS", "good" if checked.is_anchored else "warn")
    name = one_line(log_name(file))
    if isinstance(proof, ConsistencyProof):
        old, new = proof.old.events.size, proof.new.events.size
        page.line(f"{holds}     {name}: {count(new, 'event')} begin with the earlier {old:,}")
        page.line(f"  old root  {proof.old.root}{_trust(checked.old_root_is_given)}")
    else:
        step = proof.step
        place = f"number {proof.index + 1:,} of {count(proof.requests.size, 'request')}"
        page.line(f"{holds}     {name}: the request of {one_line(step.name)} is in the log")
        page.line(f"  place     {place}, in {count(proof.events.size, 'event')}")
        if step.digests is None:
            page.line(f"  request   not known: {step.fault}")
        else:
            page.line(f"  request   {step.digests.request}")
            page.line(f"  header    {step.digests.header}")
            page.line(f"  messages  {step.digests.messages}")
    page.line(f"  root      {proof.root}{_trust(checked.root_is_given)}")
    if not checked.root_is_given:
        page.wrapped(_UNTRUSTED, 12, lead="  note")
    if isinstance(proof, ConsistencyProof) and not checked.old_root_is_given:
        page.wrapped(_OLD_UNTRUSTED, 12, lead="  note")


def _trust(is_given: bool) -> str:
    return " as given" if is_given else ""
