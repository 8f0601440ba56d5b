"""Every captured request of the shared samples is what their logs say was sent."""

from __future__ import annotations

import pytest

from tests.shared import shared_or_skip
from tests.wire.samples import Sample, samples, samples_folder

SAMPLES = list(samples(samples_folder()))


def test_there_are_samples() -> None:
    """Or this is skipped, which says so."""
    shared_or_skip("formats")

    assert len({sample.name for sample in SAMPLES}) > 1


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_every_captured_request_is_equal(sample: Sample) -> None:
    """In every generation the sample is kept in; what went out later is only in the last one."""
    matched = sample.matched()

    words = {verdict.verdict for verdict in matched.verdicts}
    assert words <= ({"equal"} if sample.is_last else {"equal", "unexpected"})
    assert matched.equal
    assert not any(verdict.out_of_order for verdict in matched.verdicts)
