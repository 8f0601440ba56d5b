"""A log held against a certificate, for `verify --certificate`: what to read, what to tell."""

from __future__ import annotations

import os
from typing import Any

import attrs
from returns.result import Failure

from dsh_fp.cli.answer import Answer, log_name
from dsh_fp.cli.certify import SIGNATURE_SUFFIX, refuse_without_extra
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import Complaint, complaint_of
from dsh_fp.cli.files import content_of, document_of, refuse_document
from dsh_fp.cli.page import Page, scalar
from dsh_fp.cli.safe import one_line
from dsh_fp.core.certificates import Certificate, certificate_of
from dsh_fp.core.rejection import Code
from dsh_fp.core.verifying import Comparison, Mismatch, compare_certificate
from dsh_fp.storage.jsonl import LogFile


@attrs.frozen
class Given:
    """A certificate from a file, and whether a signature over that file was checked.

    `unchecked` is the file of a signature that stands beside it and was not.
    """

    file: str
    certificate: Certificate
    is_signed: bool
    unchecked: str | None = None

    @property
    def signature(self) -> str | None:
        """What came of the signature, as JSON."""
        return "valid" if self.is_signed else None

    def remark(self) -> str | None:
        """What to tell a person of a signature that nobody checked."""
        if self.unchecked is None:
            return None
        return f"{one_line(self.unchecked, 200)} was not checked: give --public-key K to do so."


@attrs.frozen
class Certified:
    """What came of holding a log against it."""

    given: Given
    comparison: Comparison

    def to_wire(self) -> dict[str, Any]:
        """The comparison as JSON."""
        comparison = self.comparison
        return {
            "file": self.given.file,
            "verdict": comparison.verdict,
            "signature": self.given.signature,
            "root": self.given.certificate.root,
            "log_root": comparison.root,
            "same_content": comparison.same_content,
            "mismatches": [mismatch.to_wire() for mismatch in comparison.mismatches],
        }


def given_certificate(
    answer: Answer, file: str, signature: str | None = None, key: str | None = None
) -> Given:
    """The certificate of a file, its signature checked first; ends the command when one is bad.

    Without a name of its own the signature is the file's beside it.
    """
    content = content_of(answer, file)
    beside = f"{file}{SIGNATURE_SUFFIX}" if signature is None else signature
    if key is not None:
        _see_signed(answer, content, beside, key)
    unchecked = beside if key is None and file != "-" and os.path.lexists(beside) else None
    made = certificate_of(document_of(answer, file, content, "certificate"))
    if isinstance(made, Failure):
        refuse_document(answer, file, made.failure(), "certificate")
    return Given(log_name(file), made.unwrap(), key is not None, unchecked)


def _see_signed(answer: Answer, content: bytes, signature: str, key: str) -> None:
    from dsh_fp.signing import check_signature, how_to_publish

    public, signed = content_of(answer, key), content_of(answer, signature)
    try:
        made = check_signature(content, signed, public)
    except ImportError as missing:
        refuse_without_extra(answer, missing)
    if isinstance(made, Failure):
        fault = made.failure()
        is_key = fault.code is Code.KEY_UNUSABLE
        placed = fault.at(file=key if is_key else signature)
        code = Exit.UNREADABLE if is_key else Exit.FINDING
        what = "the signature cannot be checked" if is_key else "the certificate is not signed so"
        complaint = complaint_of(f"{what}: {fault.code.value}", placed)
        now = how_to_publish(public) if is_key else None
        answer.refuse(complaint if now is None else advised(complaint, now), code)


def advised(complaint: Complaint, now: str) -> Complaint:
    """The same with what to do about it in the words of this call."""
    return attrs.evolve(complaint, now=now, wire={**complaint.wire, "advice": now})


def held_against(opened: LogFile, given: Given) -> Certified:
    """What of a log is as a certificate says."""
    return Certified(given, compare_certificate(opened.session, given.certificate))


def print_certified(page: Page, opened: LogFile, certified: Certified) -> None:
    """Say it to a person."""
    given, comparison = certified.given, certified.comparison
    told = {
        "equal": ("this is the certified log", "good"),
        "extends": ("this is the certified log with more events after it", "warn"),
        "differs": ("this is another log than was certified", "bad"),
    }
    words, style = told[comparison.verdict]
    page.line(f"  {page.out.paint(words, style)} ({one_line(given.file, 200)})")
    page.line(f"    root {given.certificate.root}")
    if given.is_signed:
        page.line("    signed by the owner of that key")
    remark = given.remark()
    if remark is not None:
        page.wrapped(f"note: {remark}", 4)
    for mismatch in comparison.mismatches:
        page.wrapped(_told(opened, mismatch), 4)
    if comparison.verdict == "differs" and comparison.same_content:
        page.wrapped("content: the same, but for times, names and call ids", 4)


def _told(opened: LogFile, mismatch: Mismatch) -> str:
    place, message = _place(opened, mismatch), one_line(mismatch.message, 400)
    named = f"event {mismatch.seq} "
    if mismatch.part == "event" and message.startswith(named):  # it need not be named twice
        return f"{place} {message.removeprefix(named)}"
    return f"{place}: {message}"


def _place(opened: LogFile, mismatch: Mismatch) -> str:
    seq = mismatch.seq
    match mismatch.part:
        case "event" if seq is not None:
            line = f" (line {seq + 2})" if seq < len(opened.session) else ""
            return f"event {seq}{line}"
        case "request":
            named = f"turn {scalar(mismatch.turn, 24)}, step {scalar(mismatch.step, 24)}"
            return f"request of {named} (seq {seq})"
        case "session":
            return "session header (line 1)"
        case part:
            return part
