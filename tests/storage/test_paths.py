"""Ids and working directories as file names."""

from __future__ import annotations

import pytest

from dsh_fp import Code, bucket_name, decode_segment, encode_segment, log_path


@pytest.mark.parametrize(
    ("session_id", "segment"),
    [
        ("session-1", "session-1"),
        ("A.b_c-9", "A.b_c-9"),
        ("a/b", "a~002Fb"),
        ("a b", "a~0020b"),
        ("~", "~007E"),
        ("..", "~002E~002E"),
        (".", "~002E"),
        ("...", "..."),
        ("../x", "..~002Fx"),
        ("ä", "~00E4"),
        ("é", "~00E9"),
        ("e\u0301", "e~0301"),
        ("🌱", "~D83C~DF31"),
        ("\ud83c", "~D83C"),
        ("\x00\n", "~0000~000A"),
        ("CON", "CON"),
        ("١", "~0661"),
    ],
)
def test_an_id_becomes_one_safe_segment_and_comes_back(session_id: str, segment: str) -> None:
    """UTF-16 units outside A-Za-z0-9._- become ~XXXX; decoding gives the id again."""
    assert encode_segment(session_id).unwrap() == segment
    assert decode_segment(segment).unwrap() == session_id


def test_halves_and_the_whole_character_are_one_id() -> None:
    """Two halves that stand together are the character they make."""
    assert encode_segment("\ud83c\udf31") == encode_segment("🌱")


def test_an_empty_id_has_no_segment() -> None:
    """SEGMENT_EMPTY, from the path of a log too."""
    assert encode_segment("").failure().code is Code.SEGMENT_EMPTY
    assert log_path("/logs", None, "").failure().code is Code.SEGMENT_EMPTY


@pytest.mark.parametrize(
    "segment", ["", ".", "..", "a/b", "~", "~00e4", "~004", "~0041", "a b", "ä", "~00E4\n", "~G000"]
)
def test_a_segment_that_no_id_makes_is_refused(segment: str) -> None:
    """One id has one segment: lower-case digits or needless escapes are no segment."""
    assert decode_segment(segment).failure().code is Code.SEGMENT_INVALID


def test_a_working_directory_has_a_bucket() -> None:
    """The first twelve digits of its hash; without one there is a bucket of its own."""
    assert bucket_name("/home/ada") == "cwd-cf2d52428457"
    assert bucket_name("") == "cwd-e3b0c44298fc"
    assert bucket_name(None) == "_no-cwd"


def test_lone_halves_hash_as_the_replacement_character() -> None:
    """A directory's lone half counts as U+FFFD, a pair as its character."""
    assert bucket_name("/a\ud800") == bucket_name("/a\ufffd")
    assert bucket_name("/\ud83c\udf31") == bucket_name("/🌱")
    assert bucket_name("/🌱") != bucket_name("/\ufffd")


@pytest.mark.parametrize(
    ("root", "path"),
    [
        ("/logs", "/logs/_no-cwd/a.jsonl"),
        ("/logs/", "/logs/_no-cwd/a.jsonl"),
        ("//logs//deep", "/logs/deep/_no-cwd/a.jsonl"),
        ("./logs", "logs/_no-cwd/a.jsonl"),
        ("logs/x/..", "logs/_no-cwd/a.jsonl"),
        ("../logs", "../logs/_no-cwd/a.jsonl"),
        ("/", "/_no-cwd/a.jsonl"),
        (".", "_no-cwd/a.jsonl"),
    ],
)
def test_a_path_is_joined_and_tidied_as_text(root: str, path: str) -> None:
    """Doubled slashes, dots and steps back are tidied; the disk is not asked."""
    assert log_path(root, None, "a").unwrap() == path


def test_no_id_leaves_its_bucket() -> None:
    """Slashes and dots of an id never become steps of the path."""
    made = log_path("/logs", "/home/ada", "../../etc/passwd").unwrap()

    assert made == "/logs/cwd-cf2d52428457/..~002F..~002Fetc~002Fpasswd.jsonl"
