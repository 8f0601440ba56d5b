"""`redact`: what is replaced, where it is found, what stays, and what is told of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dsh_fp import Code, Session, past_requests, thaw, unwrap
from dsh_fp.core.certificates import certify
from dsh_fp.core.generations import V2, V4
from dsh_fp.core.redaction.path_patterns import parse_path
from dsh_fp.core.redaction.redacting import (
    Detector,
    Found,
    PathRule,
    Redaction,
    Rule,
    Values,
    redact,
)
from dsh_fp.core.verifying import compare_certificate
from tests.core.making import (
    asking,
    assistant,
    call,
    delta,
    event,
    header,
    nested,
    note,
    replacing,
    replayed,
    result,
    step_end,
    step_start,
    text,
    turn_end,
    turn_start,
    user,
)

KEY = "tern-key-41f9"


def redacted(session: Session, *rules: Rule) -> Redaction:
    """The redaction by these rules; by the one known secret when none are given."""
    return unwrap(redact(session, rules or [Values([KEY])]))


def data_of(made: Redaction, seq: int = 0) -> Any:
    """The payload of an event of the copy."""
    return thaw(made.session.events[seq].data)


def path(text: str, type: str | None = None) -> PathRule:
    """A rule of a path."""
    return PathRule(unwrap(parse_path(text)), type=type)


def word(secret: str) -> Detector:
    """A detector that finds one word, only where it stands alone."""

    def find(text: str) -> list[Found]:
        return [Found(0, len(text), "lone word")] if text == secret else []

    return Detector(find)


def chunk(seq: int, piece: str, kind: str = "text-delta", index: int = 0) -> dict[str, Any]:
    """A piece of a stream."""
    key = "argumentsDelta" if kind == "tool-call-delta" else "text"
    delta = {"type": kind, "index": index, key: piece}
    return event("assistant/chunk", seq, {"turn": 1, "step": 1, "chunk": delta})


def pieces(made: Redaction) -> list[str]:
    """The pieces of the stream in the copy."""
    events = made.session.events
    chunks = [thaw(one.data)["chunk"] for one in events if one.type == "assistant/chunk"]
    return [one.get("text", one.get("argumentsDelta")) for one in chunks]


# ---- where secrets are found -----------------------------------------------------------------


def test_a_secret_is_replaced_everywhere_by_one_mark() -> None:
    """In messages, in another message, and twice in one text."""
    made = redacted(replayed(user(0, f"{KEY} and {KEY}"), user(1, f"({KEY})")))

    assert data_of(made)["content"] == [text("[redacted:value:1] and [redacted:value:1]")]
    assert data_of(made, 1)["content"] == [text("([redacted:value:1])")]
    assert made.count == 3


def test_what_a_rule_finds_once_is_looked_for_everywhere() -> None:
    """The detector sees the word only where it stands alone."""
    made = redacted(replayed(user(0, f"It is {KEY}."), user(1, KEY)), word(KEY))

    assert data_of(made)["content"] == [text("It is [redacted:lone-word:1].")]


def test_a_short_find_is_replaced_where_it_is_found_only() -> None:
    """Four characters may stand in many other words."""
    made = redacted(replayed(user(0, "1234"), user(1, "012345")), word("1234"))

    assert data_of(made)["content"] == [text("[redacted:lone-word:1]")]
    assert data_of(made, 1)["content"] == [text("012345")]


@pytest.mark.parametrize("kind", ["text-delta", "reasoning-delta", "tool-call-delta"])
def test_a_secret_in_pieces_is_put_where_it_begins(kind: str) -> None:
    """The other pieces lose their part, and none is lost."""
    session = replayed(
        turn_start(0), step_start(1), *(chunk(2 + at, part, kind) for at, part in enumerate(PARTS))
    )

    made = redacted(session)

    assert pieces(made) == ["so ", "[redacted:value:1]", "", " it"]
    assert [(one.count, one.continued) for one in made.replaced] == [(1, 0), (0, 1), (0, 1)]


PARTS = ("so ", KEY[:4], KEY[4:9], KEY[9:] + " it")


def test_streams_of_two_blocks_are_not_mixed() -> None:
    """Blocks may be streamed side by side."""
    session = replayed(chunk(0, KEY[:5]), chunk(1, "other", index=1), chunk(2, KEY[5:]))

    assert pieces(redacted(session)) == ["[redacted:value:1]", "other", ""]


def test_a_new_block_begins_a_new_text() -> None:
    """What two blocks happen to make up together was never one text."""
    start = {"type": "block-start", "index": 0, "blockType": "text"}
    began = event("assistant/chunk", 1, {"turn": 1, "step": 1, "chunk": start})
    session = replayed(chunk(0, KEY[:5]), began, chunk(2, KEY[5:]))

    assert redacted(session).replaced == ()


def test_pieces_of_a_later_generation_are_joined_too() -> None:
    """There they stand in one record of the message."""
    record = {"type": "text-chunks", "time0": 1, "index": 0, "dt": [1], "texts": [KEY[:6], KEY[6:]]}
    log = [event("assistant/attempt", 0, {"turn": 1, "step": 1, "stream": [record]})]
    session = unwrap(Session.replay(log, vocabulary=V2))

    made = redacted(session)

    assert data_of(made)["stream"][0]["texts"] == ["[redacted:value:1]", ""]
    assert made.session.vocabulary is V2


def test_json_text_inside_strings_stays_json_text() -> None:
    """A secret that needs escapes is found behind them, at any depth, by any spelling."""
    secret = 'tern"key\\\n/é😀'
    inner = json.dumps({"h": f"Bearer {secret}"})
    for arguments in (inner, json.dumps([inner]), json.dumps({secret: 1}, ensure_ascii=False)):
        session = replayed(event("tool/call", 0, {"arguments": arguments}))

        kept = data_of(redacted(session, Values([secret])))["arguments"]

        assert "[redacted:value:1]" in kept
        assert json.loads(kept)
        assert "tern" not in kept


def test_a_number_inside_json_text_becomes_a_text() -> None:
    """So that it stays JSON text, also when that is quoted once more."""
    once = json.dumps({"pin": 41424344})
    session = replayed(event("tool/call", 0, {"one": once, "two": json.dumps([once])}))

    data = data_of(redacted(session, Values(["41424344"])))

    assert json.loads(data["one"]) == {"pin": "[redacted:value:1]"}
    assert json.loads(json.loads(data["two"])[0]) == {"pin": "[redacted:value:1]"}


@pytest.mark.parametrize(
    "spelled",
    [
        'say "tern\\"key\\n/1"',
        'say "tern\\"key\\n\\/1"',
        'say "{\\"k\\":\\"tern\\\\\\"key\\\\n/1\\"}"',
        "say tern%22key%0A%2F1",
    ],
)
def test_a_secret_is_found_in_prose_that_quotes_json(spelled: str) -> None:
    """In text that is no JSON as a whole its usual spellings are looked for."""
    made = redacted(replayed(user(0, spelled)), Values(['tern"key\n/1']))

    assert "[redacted:value:1]" in data_of(made)["content"][0]["text"]
    assert "tern" not in data_of(made)["content"][0]["text"]


def test_a_key_of_an_object_is_a_text_too() -> None:
    """It keeps its place among the others, and the path is told with the mark."""
    made = redacted(replayed(event("x/y", 0, {"a": 1, KEY: {"b": KEY}, "z": 2})))

    assert list(data_of(made)) == ["a", "[redacted:value:1]", "z"]
    assert [(one.path, one.in_key) for one in made.replaced] == [
        ("$.data['[redacted:value:1]']", True),
        ("$.data['[redacted:value:1]'].b", False),
    ]


def test_a_number_that_is_a_secret_becomes_a_text() -> None:
    """Only a number as a whole; a part of one is another number."""
    made = redacted(replayed(event("x/y", 0, [41424344, 414243445])), Values(["41424344"]))

    assert data_of(made) == ["[redacted:value:1]", 414243445]


def test_the_working_directory_stays_an_absolute_path() -> None:
    """It is the one text of a July header that may be changed."""
    session = unwrap(Session.create("bay", cwd=f"/{KEY}/garden"))

    assert redacted(session).session.header.cwd == "/[redacted:value:1]/garden"
    made = redacted(session, path("$.cwd", "session"))
    assert made.session.header.cwd == "/[redacted:path:1]"
    assert made.replaced[0].seq is None


def test_header_deltas_still_fit_a_redacted_system_text() -> None:
    """A secret of several lines leaves as many lines behind."""
    secret = "-----TERN\nkey\nTERN-----"
    session = replayed(
        header(0, system=f"one\n{secret}\nlast"),
        delta(1, system={"keepStart": 4, "keepEnd": 1, "insert": ["new", *secret.split("\n")]}),
    )

    made = redacted(session, Values([secret]))

    in_force = unwrap(made.session.request_header())
    assert in_force is not None
    assert in_force["system"].split("\n") == ["one", MARK, "", "", "new", MARK, "", "", "last"]


MARK = "[redacted:value:1]"


def test_a_schema_of_a_tool_is_looked_into() -> None:
    """Whatever its shape."""
    tool = {"name": "t", "parameters": {"default": KEY, "enum": [KEY, "x"]}}
    made = redacted(replayed(header(0, tools=[tool])))

    assert data_of(made)["header"]["tools"][0]["parameters"] == {
        "default": MARK,
        "enum": [MARK, "x"],
    }


# ---- paths -----------------------------------------------------------------------------------


def test_a_path_takes_all_that_stands_there() -> None:
    """Texts and numbers; what keeps the shape stays: keys, true, false and null."""
    meta = {"token": "abc", "n": [7, True, None], "type": "text"}
    made = redacted(replayed(event("x/y", 0, {"meta": meta, "rest": "abc"})), path("$.data.meta"))

    assert data_of(made) == {
        "meta": {
            "token": "[redacted:path:1]",
            "n": ["[redacted:path:2]", True, None],
            "type": "text",
        },
        "rest": "abc",
    }


def test_a_path_may_be_for_one_type() -> None:
    """And have gaps."""
    session = replayed(
        event("a/b", 0, {"m": {"t": "secret"}}), event("c/d", 1, {"m": {"t": "other"}})
    )

    made = redacted(session, path("$.data.*.t", "a/b"))

    assert [data_of(made, seq)["m"]["t"] for seq in (0, 1)] == ["[redacted:path:1]", "other"]


def test_a_path_to_arguments_keeps_them_json_text() -> None:
    """Of a JSON text the texts and numbers are taken, keys not."""
    log = event("tool/call", 0, {"arguments": '{"cmd": "ls", "n": [1, {"k": "x"}]}'})
    made = redacted(replayed(log), path("$.data.arguments"))

    assert list(json.loads(data_of(made)["arguments"])) == ["cmd", "n"]
    assert "ls" not in data_of(made)["arguments"]


# ---- what stays ------------------------------------------------------------------------------


def conversation(words: str) -> Session:
    """A turn of two requests with a call, the words in all of it."""
    return replayed(
        turn_start(0),
        header(1, system=words),
        user(2, words),
        step_start(3),
        assistant(4, asking(words), text(words)),
        call(5, words),
        result(6, words),
        step_end(7),
        replacing(8, 2, 2, [2], words),
        step_start(9, step=2),
        assistant(10, step=2),
        step_end(11, step=2),
        turn_end(12),
    )


def test_the_copy_folds_like_the_log() -> None:
    """Surface, replacements, calls and requests are where they were; call ids still pair."""
    session = conversation(KEY)
    made = redacted(session)

    assert made.session == conversation(MARK)
    assert made.session.surface.seqs == session.surface.seqs
    assert [one.seq for one in made.requests] == [3, 9]
    before, after = past_requests(session), past_requests(made.session)
    assert [one.before for one in made.requests] == [one.digests for one in before]
    assert [one.after for one in made.requests] == [one.digests for one in after]


def test_the_copy_does_not_pass_for_the_log() -> None:
    """Its certificate is another."""
    session = conversation(KEY)

    assert compare_certificate(redacted(session).session, certify(session)).verdict == "differs"


def test_events_without_secrets_are_the_same_objects() -> None:
    """And a session without any is itself."""
    session = replayed(note(0), user(1, KEY), note(2))
    made = redacted(session)

    assert made.session.events[0] is session.events[0]
    assert redacted(session, Values(["not in there"])).session is session
    assert unwrap(redact(session, [])).session is session


def test_what_the_log_is_made_of_is_left_and_told() -> None:
    """An event's type, the format's own words and keys, what names sessions."""
    session = unwrap(
        Session.replay(
            [
                event(f"plugin/{KEY}", 0, {"content": "x", "type": "reasoning"}),
                user(1, "the reasoning of the content"),
            ],
            {"id": KEY, "parentSession": KEY},
        )
    )

    made = redacted(session, Values([KEY, "reasoning", "content"]))

    assert [(one.seq, one.path, one.in_key) for one in made.left] == [
        (None, "$.id", False),
        (None, "$.parentSession", False),
        (0, "$.type", False),
        (0, "$.data.content", True),
        (0, "$.data.type", False),
        (1, "$.data.content", True),
    ]
    assert data_of(made, 1)["content"][0]["type"] == "text"
    assert "reasoning" not in data_of(made, 1)["content"][0]["text"]


def test_a_mark_that_stands_in_the_log_is_passed_over() -> None:
    """So a log can be redacted twice, and a stranger's mark stands for nothing of ours."""
    session = replayed(user(0, f"[redacted:value:7] {KEY}"))

    assert data_of(redacted(session))["content"] == [text("[redacted:value:7] [redacted:value:8]")]


def test_secrets_that_overlap_are_one_span() -> None:
    """The longest gives it its mark."""
    made = redacted(replayed(user(0, "abcdefghijkl")), Values(["abcdefgh", "efghijkl-", "fghijkl"]))

    assert data_of(made)["content"] == [text("[redacted:value:1]")]


def test_ids_that_would_become_one_are_refused() -> None:
    """Two spellings of one secret have one mark: as call ids they could not be told apart."""
    one, other = 'call "tern"', 'call \\"tern\\"'
    session = replayed(
        turn_start(0),
        step_start(1),
        assistant(2, asking(one), asking(other)),
        call(3, one),
        call(4, other),
        result(5, one),
        result(6, other),
    )

    refused = redact(session, [Values([one])]).failure()

    assert refused.code is Code.REDACTION_UNSOUND
    assert "tern" not in str(refused)


def test_nothing_told_is_a_secret() -> None:
    """Not in the report, not in its text, not in that of a rule."""
    made = redacted(conversation(KEY))
    told = f"{made.replaced}{made.left}{made.requests}{Values([KEY])}"

    assert KEY not in told


# ---- hostile logs ----------------------------------------------------------------------------


def test_depth_is_for_strangers_to_choose() -> None:
    """Texts and keys of a deep value are replaced, and the path is cut in the middle."""
    session = replayed(event("x/y", 0, nested(9000, {KEY: KEY})))

    made = redacted(session, Values([KEY]), path("$..deep"))

    assert KEY not in made.session.events[0].to_text()
    assert len(made.replaced[0].path) < 400
    assert "…" in made.replaced[0].path


def test_json_text_as_deep_as_it_likes() -> None:
    """Brackets inside a string, and quotes inside quotes."""
    deep = "[" * 5000 + json.dumps(KEY) + "]" * 5000
    quoted: str = KEY
    for _ in range(9):
        quoted = json.dumps([quoted])
    made = redacted(replayed(user(0, deep), user(1, quoted)))

    assert KEY not in "".join(one.to_text() for one in made.session.events)
    assert json.loads(data_of(made, 1)["content"][0]["text"])


def test_many_secrets_with_one_beginning() -> None:
    """Ten thousand of them cost no more per character than one."""
    keys = [f"tern-{number:09}" for number in range(10_000)]
    made = redacted(replayed(*(user(seq, key) for seq, key in enumerate(keys))), Values(keys))

    assert made.count == len(keys)
    assert len({one.mark for one in made.replaced}) == len(keys)


def test_halves_of_characters_are_texts_too() -> None:
    """A log may hold them, in secrets and beside them."""
    session = replayed(user(0, f"\ud83d{KEY}\ude00"), event("x/y", 1, "half \udc00 key"))

    made = redacted(session, Values([KEY, "half \udc00 key"]))

    assert data_of(made)["content"] == [text("\ud83d[redacted:value:1]\ude00")]
    assert data_of(made, 1) == "[redacted:value:2]"


@pytest.mark.parametrize("found", [(0, 99), (-1, 4), (5, 5), (6, 2)])
def test_a_detector_that_finds_nonsense_is_not_believed(found: tuple[int, int]) -> None:
    """Spans that do not stand in the text are none."""
    session = replayed(user(0, KEY))

    assert redacted(session, Detector(lambda text: [Found(*found, "x")])).replaced == ()


def test_wrong_types_in_a_call_are_refused() -> None:
    """They are the caller's bugs."""
    with pytest.raises(TypeError):
        redact([], [])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        redact(replayed(), [KEY])  # type: ignore[list-item]


def test_a_log_of_the_last_generation_is_redacted_by_the_same_walk() -> None:
    """Its shapes are other ones."""
    message = {"id": "m", "role": "system", "content": [text(KEY)]}
    log = [event("system/message", 0, {"message": message}, surfaceOp="append")]
    made = redacted(unwrap(Session.replay(log, vocabulary=V4)))

    assert data_of(made)["message"]["content"] == [text(MARK)]
