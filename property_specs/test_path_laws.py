"""File names: ids and working directories that a path can hold."""

from __future__ import annotations

import posixpath

from hypothesis import given
from hypothesis import strategies as st

from property_specs.core import Core, Refused, code_of
from property_specs.generators.ids import segments, session_ids
from property_specs.models.json_values import joined
from property_specs.models.paths import KEPT, bucket_of, segment_of
from property_specs.profiles import often


@given(session_id=session_ids())
@often(2)
def test_segments_match_model(core: Core, session_id: str) -> None:
    """An id is encoded unit by unit; an empty one is refused.

    Generator: session_ids: halves, dots, slashes.
    Oracle:    UTF-16 units, one at a time.
    Catches:   UTF-8 bytes instead of units, lower-case hex, dots left whole.
    Broken:    units are written in lower case.
    """
    answer = core.encode_segment(session_id)

    expected = segment_of(session_id)
    assert (answer if expected is not None else code_of(answer)) == (expected or "SEGMENT_EMPTY")


@given(session_id=session_ids())
@often(2)
def test_segment_decode_inverts_encode(core: Core, session_id: str) -> None:
    """Decoding a segment gives the id it was made from, and no two ids share one.

    Generator: session_ids.
    Oracle:    the id, halves that meet joined.
    Catches:   ids that collide; halves lost.
    Broken:    a tilde is kept as it is.
    """
    segment = core.encode_segment(session_id)

    if not isinstance(segment, Refused):
        assert core.decode_segment(segment) == joined(session_id)


@given(segment=segments())
@often(2)
def test_only_encoded_segments_decode(core: Core, segment: str) -> None:
    """A file name decodes exactly when some id is encoded as it.

    Generator: segments, of ids and of nothing.
    Oracle:    the model's encoding of the answer.
    Catches:   lower-case escapes, escapes of kept characters, `.` and `..`.
    Broken:    what decodes is not encoded again to compare.
    """
    answer = core.decode_segment(segment)

    if isinstance(answer, Refused):
        assert answer.code == "SEGMENT_INVALID"
        assert not _is_someones(segment)
    else:
        assert segment_of(answer) == segment


def _is_someones(segment: str) -> bool:
    """Whether undoing the escapes one by one gives an id that is encoded as this segment."""
    undone, place = "", 0
    while place < len(segment):
        digits = segment[place + 1 : place + 5]
        if segment[place] == "~" and len(digits) == 4 and set(digits) <= set("0123456789ABCDEF"):
            undone += chr(int(digits, 16))
            place += 5
        else:
            undone += segment[place]
            place += 1
    return segment_of(joined(undone)) == segment


@given(
    session_id=session_ids(),
    cwd=st.none() | session_ids(),
    root=st.sampled_from(["/r", "r", "/r/", "/r//x/../y", "./r"]),
)
@often(2)
def test_no_id_leaves_its_folder(core: Core, session_id: str, cwd: str | None, root: str) -> None:
    """The path of a log is its root, the folder of its cwd and its segment, whatever the id.

    Generator: session_ids made to escape, odd cwds and roots.
    Oracle:    the path model.
    Catches:   `..` and slashes in ids, a cwd hashed by its halves.
    Broken:    an id of dots is kept as it is.
    """
    answer = core.log_path(root, cwd, session_id)

    segment = segment_of(session_id)
    if segment is None:
        assert code_of(answer) == "SEGMENT_EMPTY"
    else:
        assert isinstance(answer, str)
        folder = posixpath.normpath(root)
        assert answer == posixpath.join(folder, bucket_of(cwd), f"{segment}.jsonl")
        assert core.bucket(cwd) == bucket_of(cwd)
        assert set(segment) <= set(KEPT + "~")
        assert segment not in (".", "..")
