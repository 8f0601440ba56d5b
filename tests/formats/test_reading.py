"""Sound logs of every generation and container, and how a generation is told from another."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dsh_fp import Code, TypeRule, thaw
from dsh_fp.core.generations import RELEASED_GENERATIONS, V0, V4
from dsh_fp.core.streams import stream_of
from dsh_fp.formats.frames import compressed
from dsh_fp.formats.reading import read, read_session_header
from tests.formats.making import (
    FORMS,
    GENERATIONS,
    TIME,
    Writer,
    contained,
    conversation,
    header,
    lines,
    opened,
    packed,
    plain,
    refusal,
    says,
    zstd,
)
from tests.shared import REPOSITORY
from tests.storage.logs import line


@pytest.mark.parametrize(("version", "container"), FORMS)
def test_a_sound_log_is_read_whole(version: int, container: str) -> None:
    """Every event comes back as written, with its generation's vocabulary and no finding."""
    events = conversation(version)

    log = opened(contained(container, version, events))

    assert [thaw(event.to_wire()) for event in log.session] == events
    assert log.session.vocabulary is RELEASED_GENERATIONS[version]
    assert (log.generation, log.container) == (f"v{version}", container)
    assert log.good_bytes == log.size
    assert log.findings == ()


@pytest.mark.parametrize(("version", "container"), FORMS)
def test_a_header_keeps_the_fields_of_its_generation(version: int, container: str) -> None:
    """Later fields are kept beside July's, and written again in their order."""
    more = {"origin": "subagent", "delegationDepth": 2, "agentPreset": "ptc"}
    fields = header(version, **more)

    log = opened(contained(container, version, conversation(version), **more))

    assert log.header.extra["delegationDepth"] == 2
    wire = thaw(log.header.to_wire())
    assert wire == {key: value for key, value in fields.items() if key != "type"}
    assert list(wire) == [key for key in fields if key != "type"]
    assert log.session.header is log.header


@pytest.mark.parametrize(("version", "container"), FORMS)
def test_a_header_alone_is_an_empty_session(version: int, container: str) -> None:
    """No event was logged yet."""
    log = opened(contained(container, version, []))

    assert len(log.session) == 0
    assert log.findings == ()


@pytest.mark.parametrize("version", GENERATIONS)
def test_messages_and_requests_come_of_every_generation(version: int) -> None:
    """The same conversation has the same messages, but for where system and results stand."""
    session = opened(plain(version, conversation(version))).session

    roles = [message["role"] for message in session.messages().unwrap()]

    answer = {4: "tool"}.get(version, "user")
    assert roles == [*["system"] * (version >= 3), "user", "assistant", answer, "user", "assistant"]
    header = session.request_header().unwrap()
    assert header is not None
    assert header["config"]["model"] == "m-1"


def test_a_header_event_that_cannot_be_folded_is_a_finding() -> None:
    """The log is read all the same; the fault names the event and stands in the header's place."""
    events = conversation(4)
    at = next(place for place, event in enumerate(events) if event["type"] == "request/header")
    events[at]["data"] = {"header": {}, "reason": "initial"}

    log = opened(plain(4, events))

    assert [(one.code, one.seq) for one in log.findings] == [(Code.HEADER_INVALID, at)]
    assert log.session.request_header().failure().seq == at


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("container", ["plain", "zstd"])
def test_packed_rows_stand_for_their_events(version: int, container: str) -> None:
    """A row is one line of a file and several events of the log."""
    events = conversation(version)
    rows = packed(events)

    log = opened(contained(container, version, rows))

    assert len(rows) == len(events) - 3
    assert [thaw(event.to_wire()) for event in log.session] == events
    assert log.session == opened(plain(version, events)).session
    assert log.findings == ()


def test_a_row_with_half_a_character_is_read() -> None:
    """Half a surrogate pair may stand in any text; the fast decoder does not take it."""
    log = Writer(0)
    log.add("turn/start", {"turn": 1})
    log.add("step/start", {"turn": 1, "step": 1})
    log.answer(1, 1, [says("x")], ["a", "\ud83c", "b"])
    row = json.dumps(packed(log.events)[2]).encode() + b"\n"

    made = opened(plain(0, [*log.events[:2], row, log.events[-1]]))

    assert [event.data["chunk"]["text"] for event in made.session.events[2:5]] == [
        "a",
        "\ud83c",
        "b",
    ]
    assert [one.code for one in made.findings] == [Code.TURN_NOT_CLOSED]


@pytest.mark.parametrize(
    ("stream", "path"),
    [
        ({}, "$.data.stream"),
        ([5], "$.data.stream[0]"),
        ([{"type": "chunk", "time": 0.5, "chunk": {}}], "$.data.stream[0]"),
        (
            [
                {"type": "chunk", "time": 0, "chunk": {"type": "usage"}},
                {"type": "text-chunks", "time0": 0, "index": 0, "dt": [1], "texts": ["a"]},
            ],
            "$.data.stream[1]",
        ),
    ],
)
def test_a_malformed_stream_is_read_and_named_when_it_is_asked_for(stream: Any, path: str) -> None:
    """No runtime looks at it on load."""
    events = conversation(4)
    at = next(place for place, event in enumerate(events) if "stream" in (event["data"] or {}))
    events[at]["data"]["stream"] = stream

    event = opened(plain(4, events)).session.events[at]

    assert stream_of(event).failure().path == path
    assert stream_of(event).failure().seq == at


def test_a_stream_gives_its_chunks_with_their_times() -> None:
    """An event without a stream has none."""
    session = opened(plain(4, conversation(4))).session
    streamed = [event for event in session.events if event.type == "assistant/message"][-1]

    chunks = stream_of(streamed).unwrap()

    assert [(one.time - TIME, one.chunk["text"]) for one in chunks] == [
        (0, "S"),
        (1, "ow"),
        (2, " it"),
        (3, "."),
    ]
    assert stream_of(session.events[0]).unwrap() == ()


def test_adjacent_rows_of_one_run_are_read() -> None:
    """A run never crosses a write, so a long one stands in several rows."""
    log = Writer(0)
    log.add("turn/start", {"turn": 1})
    log.add("step/start", {"turn": 1, "step": 1})
    log.answer(1, 1, [says("abcdef")], list("abcdef"))
    first, second = packed(log.events[:5]), packed(log.events[5:])

    assert [row["type"] for row in (first[-1], second[0])] == ["text-chunks"] * 2
    assert opened(zstd(0, first, second)).session == opened(plain(0, log.events)).session


def test_a_line_may_be_split_over_frames() -> None:
    """Only the text of all frames together is cut into lines."""
    rows = lines(*conversation(4))
    top = compressed(line(header(4)))

    log = opened(top + b"".join(compressed(rows[at : at + 100]) for at in range(0, len(rows), 100)))

    assert len(log.session) == len(conversation(4))


def test_frames_need_no_checksum_and_lines_may_end_in_crlf() -> None:
    """Both are read by every runtime."""
    rows = lines(*conversation(4)).replace(b"\n", b"\r\n")
    content = compressed(line(header(4)), checksum=False) + compressed(rows, checksum=False)

    assert len(opened(content).session) == len(conversation(4))


@pytest.mark.parametrize("version", GENERATIONS)
def test_times_may_go_back_and_lie_before_1970(version: int) -> None:
    """A note says that time went back; nothing is refused."""
    events = conversation(version)
    events[1]["time"] = -5

    log = opened(plain(version, events))

    assert log.session.events[1].time == -5
    assert [one.code for one in log.findings] == [Code.TIME_GOES_BACK]


@pytest.mark.parametrize("version", GENERATIONS)
def test_an_unknown_type_is_kept_if_it_says_that_it_may_be_ignored(version: int) -> None:
    """Without `ignorable` it was written by a newer harness, and the whole log is refused."""
    events = conversation(version)
    extra = {"type": "plugin:rain", "seq": len(events), "time": TIME, "data": {"mm": 3}}

    kept = opened(plain(version, [*events, {**extra, "ignorable": True}]))
    refused = refusal(plain(version, [*events, extra]))

    assert kept.session.events[-1].type == "plugin:rain"
    assert (refused.code, refused.seq) == (Code.TYPE_UNKNOWN, len(events))


@pytest.mark.parametrize("mark", [False, None, 1, "true"])
def test_ignorable_is_true_or_absent(mark: Any) -> None:
    """Any other value makes it no event: a damaged row from v2 on, a bad envelope before."""
    events = [*conversation(0)]
    events[-1] = {**events[-1], "ignorable": mark}
    later = [*conversation(4)]
    later[-1] = {**later[-1], "ignorable": mark}

    assert refusal(plain(0, events)).code is Code.BAD_ENVELOPE
    assert refusal(plain(4, later)).data["reason"] == "bad-envelope"


def test_runs_of_sources_are_written_out() -> None:
    """A pair stands for all seqs between, both included."""
    events = conversation(0)
    at = next(place for place in reversed(range(len(events))) if "sourceEventSeqs" in events[place])
    first, *_, last = events[at]["sourceEventSeqs"]
    events[at] = {**events[at], "sourceEventSeqs": [[first, last]]}

    event = opened(plain(0, events)).session.events[at]

    assert event.source_event_seqs == list(range(first, last + 1))
    assert thaw(event.to_wire())["sourceEventSeqs"] == [[first, last]]


@pytest.mark.parametrize(
    ("sources", "code"),
    [
        ([[4, 3]], Code.SOURCES_INVALID),
        ([[3, 4], 4], Code.SOURCES_INVALID),
        ([4, [2, 3]], Code.SOURCES_INVALID),
        ([[0, 99]], Code.SOURCES_INVALID),
        ([[0, 1, 2]], Code.SOURCES_INVALID),
        ([[True, 2]], Code.SOURCES_INVALID),
    ],
)
def test_unsound_runs_of_sources_are_refused(sources: Any, code: Code) -> None:
    """A run goes forward, ends before the event, and all seqs increase."""
    events = conversation(0)
    at = next(place for place in reversed(range(len(events))) if "sourceEventSeqs" in events[place])
    events[at] = {**events[at], "sourceEventSeqs": sources}

    assert refusal(plain(0, events)).code is code


def test_a_run_of_sources_may_cover_what_a_replacement_takes_away() -> None:
    """Every replaced node lies in a run, or is named."""
    log = Writer(4)
    log.add("turn/start", {"turn": 1})
    log.add("step/start", {"turn": 1, "step": 1})
    log.system(1, 1, "")
    nodes = [log.say(f"{number}") for number in range(4)]
    data = {**log.events[-1]["data"], "id": "m-short"}
    op = {"op": "replace", "startSeq": nodes[0], "endSeq": nodes[-1]}

    def replaced(sources: list[Any]) -> bytes:
        more = {"surfaceOp": op, "sourceEventSeqs": sources}
        event = {"type": "user/message", "seq": len(log.events), "time": TIME, "data": data}
        return plain(4, [*log.events, {**event, **more}])

    log_file = opened(replaced([[nodes[0], nodes[-1]]]))
    fault = refusal(replaced([[nodes[0], nodes[-2]]]))

    assert len(log_file.session.surface) == 2
    assert fault.code is Code.REPLACE_UNCITED
    assert fault.data["missing"] == (nodes[-1],)


def test_july_and_released_v0_are_told_apart_by_the_depth_of_delegation() -> None:
    """Every released v0 header has it, and July does not know it."""
    july = line({"type": "session", "version": 0, "id": "s", "createdAt": 1})

    assert read(july).unwrap().generation == "July"
    assert opened(plain(0, [])).generation == "v0"


def test_a_compressed_log_is_never_julys() -> None:
    """July wrote plain files only, so a header without the field is a faulty released one."""
    fault = refusal(compressed(line({"type": "session", "version": 0, "id": "s", "createdAt": 1})))

    assert (fault.code, fault.data) == (Code.META_INVALID, {"field": "delegationDepth"})


def test_a_vocabulary_takes_the_place_of_its_own_generations() -> None:
    """A plugin's type is known to v4 logs read with it; a v0 log keeps its own vocabulary."""
    grown = V4.extend({"plugin/rain": TypeRule()})
    events = [*conversation(4)]
    events.append({"type": "plugin/rain", "seq": len(events), "time": TIME, "data": 0})

    assert len(opened(plain(4, events), vocabulary=grown).session) == len(events)
    assert opened(plain(0, conversation(0)), vocabulary=grown).session.vocabulary is V0


@pytest.mark.parametrize(("version", "container"), FORMS)
def test_a_header_is_read_without_the_log(version: int, container: str, tmp_path: Path) -> None:
    """Whatever stands behind the first line or frame is not looked at."""
    content = contained(container, version, [])
    path = tmp_path / "some.log"
    path.write_bytes(content + b"\x00 damage")

    assert read_session_header(str(path)).unwrap() == opened(content).header


def test_what_decompresses_is_loaded_when_a_compressed_log_is_met() -> None:
    """Who reads plain logs does not pay for it."""
    code = (
        "import sys; from dsh_fp import read; read({content!r}).unwrap(); "
        "print(any('zstd' in name for name in sys.modules))"
    )

    def loads_it(content: bytes) -> str:
        ran = [sys.executable, "-c", code.format(content=content)]
        done = subprocess.run(ran, cwd=REPOSITORY, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert loads_it(plain(4, [])) == "False"
    assert loads_it(zstd(4)) == "True"


def test_inherited_events_are_counted_by_length_or_by_marker() -> None:
    """v0 and v1 say it in the header, later generations mark the cut in the log."""
    events = conversation(4)
    marker = {
        "type": "session/end-seed",
        "seq": len(events),
        "time": TIME,
        "data": {"inherited": True},
    }

    early = opened(plain(0, conversation(0), seedLength=4))
    late = opened(plain(4, [*events, marker], isSeeded=True))

    assert (early.inherited_length, late.inherited_length) == (4, len(events))


@pytest.mark.parametrize(("seeded", "marked"), [(True, False), (False, True)])
def test_a_header_and_its_log_agree_about_inheritance(seeded: bool, marked: bool) -> None:
    """A seeded session has the marker of its cut, and no other has one."""
    events = conversation(4)
    marker = {
        "type": "session/end-seed",
        "seq": len(events),
        "time": TIME,
        "data": {"inherited": True},
    }

    fault = refusal(plain(4, [*events, *[marker] * marked], isSeeded=seeded))

    assert (fault.code, fault.data) == (Code.META_INVALID, {"field": "isSeeded"})
