"""Digests of requests cost what changed: what is hashed again, and what is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dsh_fp import Session, past_requests
from dsh_fp.core import chains
from dsh_fp.core import digests as digests_of
from tests.cli.logs import Log, text

STEPS = 60


@pytest.fixture
def links(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every link that is added to a chain of messages."""
    added: list[bytes] = []
    chained: Callable[[bytes, bytes], bytes] = digests_of.chained

    def counted(chain: bytes, message: bytes) -> bytes:
        added.append(message)
        return chained(chain, message)

    monkeypatch.setattr(chains, "chained", counted)
    return added


def digests(session: Session) -> list[Any]:
    return [past.digests for past in past_requests(session)]


def test_a_snapshot_that_repeats_the_prefix_starts_no_new_chain(links: list[bytes]) -> None:
    hello = {"role": "user", "content": text("hello")}
    header = {"config": {"model": "tern-1"}, "messagePrefix": [hello]}
    log = Log()
    for step in range(1, STEPS + 1):
        log.open_step(step=step, header=header)
        log.say(f"message {step}")
        log.add("step/end", {"turn": 1, "step": step})
    digests(log.session)

    # Each message once, and the prefix once for each snapshot.
    assert len(links) <= 2 * STEPS


def test_a_replacement_near_the_tail_keeps_the_chain_before_it(links: list[bytes]) -> None:
    log = Log()
    log.open_step()
    for number in range(STEPS):
        last = log.say(f"message {number}")
        again = log.replace(last, last, f"shorter {number}", sources=[last])
        log.add("step/start", {"turn": 1, "step": 2 + number})
        assert again == last + 1
    digests(log.session)

    assert len(links) <= 2 * STEPS
