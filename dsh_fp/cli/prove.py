"""`dsh-fp prove LOG`: a proof about a log for those who have its root and not the log."""

from __future__ import annotations

import re
from typing import Final

import click
from returns.result import Failure

from dsh_fp.cli.answer import Answer, common_options, log_argument
from dsh_fp.cli.certified import given_certificate
from dsh_fp.cli.exits import Exit
from dsh_fp.cli.faults import complaint_of, usage_complaint
from dsh_fp.cli.files import see_free, write_file
from dsh_fp.cli.request import find_step
from dsh_fp.cli.safe import json_safe, one_line
from dsh_fp.core.proofs import ConsistencyProof, Proof, prove_extension, prove_request
from dsh_fp.core.verifying import compare_certificate
from dsh_fp.storage.jsonl import LogFile

_TURN_AND_STEP: Final = re.compile(r"(-?[0-9]{1,19})\.(-?[0-9]{1,19})", re.ASCII)


@click.command("prove")
@log_argument
@click.option("--request", "named", metavar="T.S", help="This step's request belongs to LOG.")
@click.option("--seq", type=int, metavar="SEQ", help="The same, by the seq of the step/start.")
@click.option(
    "--consistency", "old", metavar="C", help="LOG extends the log that this file certifies."
)
@click.option("-o", "--output", metavar="FILE", help="Write the proof there.")
@click.option("--force", is_flag=True, help="Write over a file that is there already.")
@common_options
def command(  # noqa: PLR0917  # click passes each option by its name
    log: str,
    named: str | None,
    seq: int | None,
    old: str | None,
    output: str | None,
    force: bool,
    as_json: bool,
    color: str,
) -> int:
    """Print a proof that one request belongs to LOG, or that LOG extends an earlier log.

    It is a small JSON document that says nothing else about LOG. Whoever has the root that
    `dsh-fp certify` gave checks it with `dsh-fp check-proof`, without LOG.
    """
    if sum(choice is not None for choice in (named, seq, old)) != 1:
        raise click.UsageError("give one of --request T.S, --seq SEQ and --consistency C.")
    if output is None and force:
        raise click.UsageError("--force needs -o FILE.")
    if log == old == "-":
        raise click.UsageError("standard input (-) can be read only once.")
    turn = step = None
    if named is not None:
        parts = _TURN_AND_STEP.fullmatch(named)
        if parts is None:
            raise click.UsageError("--request takes a turn and a step, as in 3.2.")
        turn, step = int(parts[1]), int(parts[2])
    answer = Answer("prove", as_json=as_json, color=color)
    see_free(answer, [] if output is None else [output], reads=(log, old), force=force)
    proof: Proof
    if old is not None:
        proof = _extension(answer, log, old)
    else:
        opened = answer.open(log)
        past = find_step(answer, opened, turn, step, seq)
        proof = prove_request(opened.session, past.seq).unwrap()
    text = json_safe(proof.to_text())
    if output is not None:
        write_file(answer, output, text.encode(), force=force)
    if as_json:
        answer.document(proof=proof.to_wire(), file=output)
    elif output is None:
        answer.out.exact((text,))
    else:
        answer.out.line(f"{_claim(proof)}, proved in {one_line(output)}")
        answer.out.line(f"  root  {proof.root}")
    return Exit.HOLDS


def _extension(answer: Answer, log: str, old: str) -> ConsistencyProof:
    given = given_certificate(answer, old)
    opened: LogFile = answer.open(log)
    size = given.certificate.events.size
    earlier = compare_certificate(opened.session.prefix(size), given.certificate)
    if not earlier.holds:
        first = earlier.mismatches[0]
        where = f"request (seq {first.seq}): " if first.part == "request" else ""
        why = f"{log} does not extend what {old} certifies: {where}{first.message}"
        now = f"dsh-fp verify {log} --certificate {old} says more."
        asked = usage_complaint("NO_EXTENSION", one_line(why, 600), one_line(now, 600))
        answer.refuse(asked, Exit.FINDING)
    made = prove_extension(opened.session, size)
    if isinstance(made, Failure):  # it is of that size, or it would not hold
        answer.refuse(complaint_of("no proof can be made", made.failure()), Exit.FINDING)
    return made.unwrap()


def _claim(proof: Proof) -> str:
    if isinstance(proof, ConsistencyProof):
        return f"{proof.new.events.size:,} events extend {proof.old.events.size:,}"
    return f"the request of {one_line(proof.step.name)} belongs to this log"
