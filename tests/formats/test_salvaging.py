"""Salvage: whole branches or prefixes, every byte and event accounted for, nothing invented."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import pytest
from returns.result import Failure

from dsh_fp import read
from dsh_fp.formats.damage import diagnose
from dsh_fp.formats.frames import compressed, walk
from dsh_fp.formats.salvaging import POLICIES, Salvaged, Unfit, fitting_policies, salvage
from dsh_fp.storage.jsonl_backend import JsonlBackend
from tests.formats.making import contained, conversation, header, lines, plain, zstd
from tests.formats.test_diagnosis import JULY, SPLIT, turn, two_writers

BOTH: Final = turn(1, 0, "both")
MINE: Final = turn(2, SPLIT, "mine")
YOURS: Final = turn(2, SPLIT, "yours")


def salvaged(content: bytes, policy: str) -> Salvaged:
    """What a policy makes of bytes, its account checked."""
    made = salvage(content, policy).unwrap()
    check_account(made, content)
    return made


def check_account(made: Salvaged, content: bytes) -> None:
    """The spans follow each other over the whole file, and no event is counted twice or never."""
    places = [place for one in made.spans for place in (one.start, one.stop)]
    assert places[0] == 0
    assert places[-1] == len(content) == made.size
    assert places[1:-1:2] == places[2::2]
    again = read(made.content).unwrap()
    assert len(again.session) == made.kept_events + len(made.synthetic)
    assert again.size == again.good_bytes


def refused(content: bytes, policy: str | None) -> Unfit:
    """Why a policy makes nothing of bytes."""
    return salvage(content, policy).failure().code


def test_nothing_is_salvaged_without_a_policy() -> None:
    """Which branch to keep is for a person to say."""
    assert refused(two_writers(), None) is Unfit.POLICY_NEEDED


def test_each_branch_can_be_saved_whole() -> None:
    """Either writer's log comes out as that writer wrote it, to the byte."""
    first = salvaged(two_writers(), "keep-first")
    second = salvaged(two_writers(), "keep-second")

    assert first.content == lines(JULY, *BOTH, *MINE)
    assert second.content == lines(JULY, *BOTH, *YOURS)
    assert [(one.first_line, one.last_line, one.seqs) for one in second.dropped] == [(5, 7, (3, 5))]
    assert (second.kept_events, second.dropped_events, second.synthetic) == (6, 3, ())


def test_dropped_lines_of_several_branches_are_told_apart() -> None:
    """Lines in a row whose seqs do not go on are two runs of the account."""
    third = turn(2, SPLIT, "theirs")
    made = salvaged(lines(JULY, *BOTH, *MINE, *YOURS, *third), "keep-first")

    assert [one.seqs for one in made.dropped] == [(3, 5), (3, 5)]
    assert salvaged(made.content + lines(*YOURS, *third), "keep-branch-3").kept_events == 6


def test_branches_that_cannot_be_told_apart_are_not_saved() -> None:
    """Where a row may be either writer's, no branch is whole; what stands before is."""
    content = lines(JULY, *BOTH, *MINE[:2], *YOURS[:2], MINE[2])

    assert refused(content, "keep-first") is Unfit.POLICY_UNFIT
    assert refused(content, "keep-second") is Unfit.POLICY_UNFIT
    assert salvaged(content, "good-prefix").kept_events == 5


def test_a_prefix_is_closed_by_marked_closers_and_resumes(tmp_path: Path) -> None:
    """The closers of the open turn are the only new events; July's log then resumes as it is."""
    content = lines(JULY, *BOTH, *MINE[:2], b"oops\n", MINE[2])
    made = salvaged(content, "good-prefix")

    assert [event.type for event in made.synthetic] == ["turn/end"]
    assert made.content.startswith(lines(JULY, *BOTH, *MINE[:2]))
    path = tmp_path / "two.jsonl"
    path.write_bytes(made.content)
    stored, writer = JsonlBackend(str(tmp_path)).resume_file(str(path))
    writer.close()
    assert stored.closers == ()
    assert path.read_bytes() == made.content


def test_a_later_generation_is_left_open_and_says_so() -> None:
    """Closers of other generations are not invented."""
    events = conversation(4, closed=False)
    made = salvaged(plain(4, events) + b"oops\n", "good-prefix")

    assert made.is_left_open
    assert made.synthetic == ()
    assert made.content == plain(4, events)


@pytest.mark.parametrize("container", ["plain", "zstd"])
@pytest.mark.parametrize(
    ("policy", "bad"),
    [("drop-blank", b"\n"), ("strip-nul", b"\0\0\0\n"), ("drop-repeats", None)],
)
def test_what_is_no_event_is_taken_out_and_no_event_lost(
    container: str, policy: str, bad: bytes | None
) -> None:
    """Blank lines, NUL lines and repeats go; every event stays."""
    events = conversation(4)
    between = events[4] if bad is None else bad
    content = contained(container, 4, [*events[:5], between, *events[5:]])
    made = salvaged(content, policy)

    whole = read(plain(4, events)).unwrap()
    assert made.log.session == whole.session
    assert made.kept_events == len(events)


def test_nul_bytes_around_a_line_are_taken_off() -> None:
    """The line within the padding is kept; only the padding goes."""
    sound = lines(JULY, *BOTH)
    padded = lines(JULY, BOTH[0]) + b"\0" * 7 + lines(BOTH[1])[:-1] + b"\0" * 5 + b"\n"
    made = salvaged(padded + lines(BOTH[2]), "strip-nul")

    assert made.content == sound
    assert made.dropped_bytes == 12


def test_the_beginning_of_a_file_is_set_right() -> None:
    """A byte order mark goes, and a header line gets a frame of its own."""
    events = conversation(4)
    marked = salvaged(b"\xef\xbb\xbf" + plain(4, events), "strip-bom")
    framed = salvaged(compressed(lines(header(4), *events)), "reframe")

    assert marked.content == plain(4, events)
    assert marked.dropped_bytes == 3
    assert framed.log.session == read(zstd(4, events)).unwrap().session


def test_junk_between_frames_is_taken_out() -> None:
    """Whole frames stay as they are, byte for byte."""
    rows = lines(*conversation(4))
    whole = compressed(lines(header(4))) + compressed(rows, checksum=False)
    frames, _ = walk(whole)
    made = salvaged(whole[: frames[0].end] + b"junk" + whole[frames[0].end :], "strip-junk")

    assert made.content == whole


def test_a_frame_is_cut_where_its_lines_are() -> None:
    """Of a frame in which a line is bad the lines before it are kept, in a frame anew."""
    events = conversation(4)
    content = zstd(4, events[:3], [*events[3:5], b"oops\n", *events[5:]])
    made = salvaged(content, "good-prefix")

    assert made.kept_events == 5
    assert [one.fate for one in made.spans] == ["kept", "kept", "in-part"]


def test_what_the_reader_refuses_ends_the_prefix() -> None:
    """An event that is well-formed and breaks the format is not kept, nor what follows."""
    place = {"op": "replace", "start": 0, "end": 0}
    bad = {**MINE[1], "surfaceOp": place, "sourceEventSeqs": [0]}
    made = salvaged(
        lines(JULY, *BOTH, MINE[0], bad, MINE[2], b"oops\n", *turn(3, 6, "")), "good-prefix"
    )

    assert made.kept_events == 4


@pytest.mark.parametrize(
    ("content", "policy", "why"),
    [
        (lines(JULY, *BOTH), "good-prefix", Unfit.NOTHING_TO_SALVAGE),
        (b"", "good-prefix", Unfit.LOG_HOPELESS),
        (two_writers(), "keep-both", Unfit.POLICY_UNFIT),
        (two_writers(), "mend", Unfit.POLICY_UNKNOWN),
        (two_writers(), "drop-blank", Unfit.POLICY_UNFIT),
        (lines(JULY, b"\n", *BOTH, *MINE, *YOURS), "drop-blank", Unfit.POLICY_UNFIT),
        (lines(JULY, *BOTH, *turn(3, 6, "")), "keep-first", Unfit.POLICY_UNFIT),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(content: bytes, policy: str, why: Unfit) -> None:
    """Each refusal has its code."""
    assert refused(content, policy) is why


def test_every_policy_has_a_name_that_is_known() -> None:
    """No policy in the table is answered as unknown."""
    for name in POLICIES:
        assert refused_or_none(two_writers(), name) is not Unfit.POLICY_UNKNOWN


def refused_or_none(content: bytes, policy: str) -> Unfit | None:
    """Why a policy makes nothing of bytes, if it does not."""
    made = salvage(content, policy)
    return made.failure().code if isinstance(made, Failure) else None


@pytest.mark.parametrize("container", ["plain", "zstd"])
def test_whatever_is_salvaged_is_sound_and_accounted_for(container: str) -> None:
    """Of mutated files every policy that fits gives a sound log, each byte and event counted."""
    source = random.Random(container)
    content = contained(container, 4, conversation(4))
    fitted = 0
    for _ in range(60):
        broken = bytearray(content)
        start = source.randrange(len(broken))
        stop = min(len(broken), start + source.randint(0, 60))
        piece = bytes(broken[start:stop])
        broken[start:stop] = source.choice([b"", piece * 2, b"\0" * 5, b"\n", b"\n\n"])
        for made in fitting_policies(diagnose(bytes(broken))).values():
            check_account(made, bytes(broken))
            fitted += 1

    assert fitted > 10
