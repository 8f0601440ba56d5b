"""Diagnoses: every kind of damage is named with its place, and nothing makes them fail."""

from __future__ import annotations

import random
from typing import Any, Final

import pytest

from dsh_fp.formats.branches import MOST_BRANCHES
from dsh_fp.formats.damage import Diagnosis, diagnose
from dsh_fp.formats.effects import ADVICE, BREAKS
from dsh_fp.formats.frames import compressed, walk
from dsh_fp.formats.salvaging import POLICIES
from tests.formats.making import (
    FORMS,
    Wire,
    Writer,
    asks,
    contained,
    conversation,
    header,
    lines,
    plain,
    zstd,
)
from tests.shared import REPOSITORY
from tests.storage.logs import line

JULY: Final = {"type": "session", "version": 0, "id": "two", "createdAt": 1}
SPLIT: Final = 3


def turn(number: int, first: int, words: str) -> list[Wire]:
    """The events of a whole July turn from a seq on."""
    say = {"content": [{"type": "text", "text": words}], "source": {"kind": "user"}}
    rows: list[Wire] = [
        {"type": "turn/start", "data": {"turn": number}},
        {"type": "user/message", "data": say, "surfaceOp": "append"},
        {"type": "turn/end", "data": {"turn": number, "reason": {"kind": "completed"}}},
    ]
    return [
        {"type": row["type"], "seq": first + place, "time": len(words), **row}
        for place, row in enumerate(rows)
    ]


def kinds(found: Diagnosis) -> list[str]:
    """The kinds of all damages in order of the file, notes left out."""
    return [one.kind for one in found.damages if one.severity != "note"]


def two_writers() -> bytes:
    """A log on which two processes went on from the end of its first turn."""
    first, second = turn(2, SPLIT, "mine"), turn(2, SPLIT, "yours")
    return lines(JULY, *turn(1, 0, "both"), *first, *second)


def test_two_writers_are_both_shown() -> None:
    """A seq used twice is one damage with both lines, and both branches say what they hold."""
    found = diagnose(two_writers())

    (damage,) = found.damages
    assert (damage.kind, damage.severity, damage.seq) == ("seq-duplicate", "fatal", SPLIT)
    assert damage.data == {"first_line": 5, "second_line": 8}
    assert two_writers()[damage.byte_offset or 0 :].startswith(line(turn(2, SPLIT, "yours")[0]))
    assert [(one.name, one.tail_seqs, one.turns) for one in found.branches] == [
        ("first", (3, 5), (2,)),
        ("second", (3, 5), (2,)),
    ]
    assert not any(one.only_closers for one in found.branches)


def test_a_branch_of_closers_alone_is_recognised() -> None:
    """What a resume writes by itself is no work of anybody's."""
    begun = turn(2, SPLIT, "mine")
    cut = {"type": "turn/end", "seq": 5, "time": 5}
    closer = {**cut, "data": {"turn": 2, "reason": {"kind": "interrupted"}}}
    found = diagnose(lines(JULY, *turn(1, 0, "both"), *begun[:2], closer, begun[2]))

    assert [one.only_closers for one in found.branches] == [True, False]


def test_writers_that_take_turns_are_told_apart() -> None:
    """Each batch goes on with the branch whose end its first seq fits."""
    mine, yours = turn(2, SPLIT, "mine"), turn(2, SPLIT, "yours")
    again, more = turn(3, 6, "mine again"), turn(3, 6, "yours again")
    rows = [*turn(1, 0, "both"), *mine, *yours[:2], *again, yours[2], *more]
    found = diagnose(lines(JULY, *rows))

    assert kinds(found) == ["seq-duplicate"]
    assert [one.events for one in found.branches] == [9, 9]


def test_a_row_that_fits_two_ends_goes_where_its_turn_is() -> None:
    """A turn begins in the branch whose turn is over, though the other was written last."""
    mine, yours = turn(2, SPLIT, "mine"), turn(2, SPLIT, "yours")
    step = {"type": "step/start", "seq": 5, "time": 5, "data": {"turn": 2, "step": 1}}
    begun = turn(3, 6, "mine again")[0]
    found = diagnose(lines(JULY, *turn(1, 0, "both"), *mine, *yours[:2], step, begun))

    assert "ambiguous-branch" not in kinds(found)
    assert [one.events for one in found.branches] == [7, 6]


def test_a_row_that_fits_two_branches_is_a_doubt() -> None:
    """Where nothing decides, the diagnosis says so instead of guessing."""
    mine, yours = turn(2, SPLIT, "mine"), turn(2, SPLIT, "yours")
    end = turn(2, SPLIT, "")[2]
    found = diagnose(lines(JULY, *turn(1, 0, "both"), *mine[:2], *yours[:2], end))

    assert "ambiguous-branch" in kinds(found)


def test_a_line_written_twice_is_no_branch() -> None:
    """The same words twice are a repeat, and what follows goes on."""
    rows = turn(1, 0, "both")
    found = diagnose(lines(JULY, *rows[:2], rows[1], rows[2]))

    assert kinds(found) == ["repeated-line"]
    assert found.branches == ()


def test_missing_events_are_named_by_their_seqs_and_later_turns_are_shown() -> None:
    """A gap says which seqs are gone, and which turns behind it are whole."""
    found = diagnose(lines(JULY, *turn(1, 0, "a"), *turn(3, 6, "c")))

    (damage,) = found.damages
    assert (damage.kind, damage.data["missing"]) == ("seq-gap", [3, 5])
    assert (found.intact, found.later_turns) == (3, (3,))


LINES: Final[dict[str, bytes]] = {
    "unparsable-line": b"{oops\n",
    "blank-line": b"\n",
    "nul-run": b"\0" * 9 + b"\n",
    "not-an-object": b"[1]\n",
    "fused-lines": line(turn(1, 0, "x")[0])[:-1] + line(turn(1, 0, "x")[0]),
}


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_damaged_line_is_named_with_its_place(form: tuple[int, str], kind: str) -> None:
    """In every generation and container a bad line among good ones is named where it is."""
    version, container = form
    events = conversation(version)
    rows = [*events[:5], LINES[kind], *events[5:]]
    content = contained(container, version, rows)
    found = diagnose(content)

    damage = next(one for one in found.damages if one.kind == kind)
    assert damage.severity == "fatal"
    assert damage.line_number == 7
    assert (damage.frame is None) is (container == "plain")
    if container == "plain":
        assert content[damage.byte_offset or 0 :].startswith(LINES[kind])


def test_a_bad_frame_says_which_events_it_held() -> None:
    """A frame that fails its checksum is named, and what stands behind it is still looked at."""
    events = conversation(4)
    content = zstd(4, events[:3], events[3:6], events[6:])
    frames, _ = walk(content)
    broken = bytearray(content)
    broken[frames[2].end - 1] ^= 1
    found = diagnose(bytes(broken))

    damage = next(one for one in found.damages if one.kind == "bad-frame")
    assert (damage.frame, damage.byte_offset) == (2, frames[2].start)
    assert damage.data["first_lost_seq"] == 3
    assert next(one for one in found.damages if one.kind == "seq-gap").data["missing"] == [3, 5]


def test_bytes_between_frames_are_named() -> None:
    """What is no frame is named, and the frames behind it are found."""
    events = conversation(4)
    whole = zstd(4, events)
    frames, _ = walk(whole)
    content = whole[: frames[0].end] + b"junk" + whole[frames[0].end :]
    found = diagnose(content)

    assert kinds(found) == ["no-frame"]
    assert found.damages[0].data["bytes"] == 4
    assert found.intact == 0, "no event before the first damage, though no seq is missing"


def test_the_beginning_of_a_file_is_judged() -> None:
    """A byte order mark, events in the header's frame, and no header at all are named."""
    events = conversation(4)
    together = compressed(lines(header(4), *events))

    assert kinds(diagnose(b"\xef\xbb\xbf" + plain(4, events))) == ["bom"]
    assert kinds(diagnose(together)) == ["header-frame"]
    assert kinds(diagnose(b"")) == ["empty-log"]
    assert kinds(diagnose(b"[]\n")) == ["not-a-header"]


def test_a_torn_tail_is_left_out_and_no_more() -> None:
    """Half a line at the end is a tail: the log can be read without it."""
    content = plain(4, conversation(4)) + b'{"type":"turn/sta'
    found = diagnose(content)

    assert [(one.kind, one.severity) for one in found.damages] == [("torn-line", "tail")]
    assert found.refusal is None


def call_log(*more: Wire) -> bytes:
    """A v3 log with a call and its result in one turn, then more events."""
    made = Writer(3)
    made.add("turn/start", {"turn": 1})
    made.add("step/start", {"turn": 1, "step": 1})
    made.system(1, 1, "Be brief.")
    made.say("Dig.")
    made.header()
    made.answer(1, 1, [asks("c-1")])
    call = made.call(1, 1, "c-1")
    made.result(1, 1, "c-1", call)
    for event in more:
        made.add(**event)
    made.add("step/end", {"turn": 1, "step": 1})
    made.add("turn/end", {"turn": 1, "reason": {"kind": "completed"}})
    return plain(3, made.events)


def july_calls(*ids: str, results: tuple[str, ...]) -> bytes:
    """A July log in which a message asks for calls and results answer."""
    rows = turn(1, 0, "dig")
    asked = [asks(one) for one in ids]
    data: Any = {"turn": 1, "step": 1, "content": asked}
    events: list[Wire] = [
        *rows[:2],
        {"type": "assistant/message", "data": data, "surfaceOp": "append"},
        *(
            {
                "type": "tool/result",
                "data": {"turn": 1, "step": 1, "callId": one, "content": [], "isError": False},
                "surfaceOp": "append",
            }
            for one in results
        ),
        rows[2],
    ]
    return lines(JULY, *({**event, "seq": seq, "time": 5} for seq, event in enumerate(events)))


@pytest.mark.parametrize(
    ("ids", "results", "kind", "seq"),
    [
        (("a", "b"), ("a",), "dangling-tool-call", 2),
        (("a",), ("a", "a"), "duplicate-tool-result", 4),
        (("a",), ("a", "z"), "orphan-tool-result", 4),
        (("a", "a"), ("a", "a"), "ambiguous-tool-call", 2),
    ],
)
def test_calls_that_do_not_pair_up_are_named(
    ids: tuple[str, ...], results: tuple[str, ...], kind: str, seq: int
) -> None:
    """What the next request would send unpaired is a finding at its event."""
    found = diagnose(july_calls(*ids, results=results))

    assert [(one.kind, one.seq) for one in found.damages if one.kind == kind] == [(kind, seq)]


def test_a_compaction_through_a_pair_is_named() -> None:
    """A result whose call was replaced is told apart from one that nobody asked for."""
    sound = july_calls("a", results=("a",)).split(b"\n")
    place = {"op": "replace", "start": 1, "end": 2}
    summary = {"content": [{"type": "text", "text": "so far"}], "source": {"kind": "compact"}}
    event = {"type": "user/message", "seq": 4, "time": 5, "data": summary, "surfaceOp": place}
    end = {**turn(1, 0, "")[2], "seq": 5}
    rows = b"\n".join(sound[:5]) + b"\n" + lines({**event, "sourceEventSeqs": [1, 2]}, end)
    found = diagnose(rows)

    assert "cut-through-pair" in kinds(found)


def test_every_damage_says_what_it_breaks_and_what_to_do() -> None:
    """Each severity has its effects, each advice is a sentence, and no kind is without one."""
    assert set(BREAKS) == {"fatal", "tail", "finding", "note"} <= set(ADVICE)
    for advice in ADVICE.values():
        assert advice.endswith(".")


@pytest.mark.parametrize("container", ["plain", "zstd"])
def test_mutated_files_are_diagnosed_whatever_they_hold(container: str) -> None:
    """Bytes cut, doubled, flipped and moved about never make a diagnosis fail."""
    source = random.Random(container)
    content = contained(container, 4, conversation(4))
    for _ in range(150):
        broken = bytearray(content)
        for _ in range(source.randint(1, 3)):
            start = source.randrange(len(broken))
            stop = min(len(broken), start + source.randint(0, 40))
            piece = bytes(broken[start:stop])
            broken[start:stop] = source.choice([b"", piece * 2, b"\0" * 5, b"\n", piece[::-1]])
        found = diagnose(bytes(broken))

        assert (found.refusal is None) or found.damages


def test_a_file_of_false_frames_is_walked_in_bounded_time() -> None:
    """Magic numbers without frames behind them are stepped over a bounded number of times."""
    start = compressed(line(header(4)))
    found = diagnose(start + b"\x28\xb5\x2f\xfd\xff\xff" * 5000)

    assert len(found.damages) < 200


def test_a_file_of_first_events_has_a_bounded_number_of_branches() -> None:
    """A log in which every line begins anew is diagnosed without a branch for each."""
    rows = [{**turn(1, 0, "")[0], "time": time} for time in range(500)]
    found = diagnose(lines(JULY, *rows))

    assert len(found.branches) == MOST_BRANCHES
    assert found.damages
    assert found.intact == 1


def test_the_page_on_damage_names_every_kind_and_policy() -> None:
    """What has advice of its own, and every policy, stands in the reference."""
    page = (REPOSITORY / "docs" / "reference" / "damage.md").read_text(encoding="utf-8")

    for name in (*ADVICE, *POLICIES):
        assert f"`{name}`" in page, name
