"""Reading a log of any generation: which one it is, what its lines hold, whether it is sound.

July's logs go to `storage.jsonl`. Everything a generation asks of a file is a value of its
vocabulary's form; this module only follows it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import attrs
from returns.result import Failure, Result, Success

from dsh_fp.core.events import HEADER_KEYS, HeaderRule, SessionHeader
from dsh_fp.core.lossless import freeze
from dsh_fp.core.nesting import NESTINGS, inherited_length, nesting_fault
from dsh_fp.core.rejection import (
    Rejection,
    file_name_mismatch,
    file_unreadable,
    id_mismatch,
    log_rule_broken,
    meta_invalid,
    version_unsupported,
)
from dsh_fp.core.vocabulary import STANDARD, Vocabulary
from dsh_fp.formats.frames import MAGIC, Frame
from dsh_fp.formats.names import ZSTD, FileName, is_project_segment, parse_file_name
from dsh_fp.storage.jsonl import (
    FirstLine,
    LogFile,
    Source,
    accept_lines,
    first_line,
    header_of,
    name_of,
    opened,
    read_july,
)
from dsh_fp.storage.lines import LineForm
from dsh_fp.storage.paths import decode_segment

if TYPE_CHECKING:
    from dsh_fp.formats.containers import Text

MAX_BYTES: Final = 1 << 30
"""How much a compressed log may hold, unless the reader says otherwise."""
_ONLY_RELEASED: Final = "delegationDepth"


@attrs.frozen(eq=False)
class ReleasedLogFile(LogFile):
    """A log of a released generation as it stands in a file, or in a session's folder.

    `frames` are those of a compressed file; `recovered` counts the lines that were taken from
    a cut last frame. `others` are the files of other generations that stand beside it.
    """

    text: Text = attrs.field(repr=False)
    is_compressed: bool = False

    @property
    def container(self) -> str:
        """How the lines are kept: `plain` or `zstd`."""
        return "zstd" if self.is_compressed else "plain"

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frames of a compressed file, a cut last one included."""
        return self.text.frames

    @property
    def recovered(self) -> int:
        """How many lines only a cut last frame holds: writing would have to keep them."""
        return self.text.recovered

    @cached_property
    def inherited_length(self) -> int:
        """How many events the session inherited from its parent."""
        if self.session.vocabulary.form.inherited_by == "seedLength":
            return self.header.seed_length or 0
        return inherited_length(self.session.events.parts()) or 0

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The files of this session's other generations in the same folder, by path."""
        from dsh_fp.formats.locating import files_beside  # noqa: PLC0415

        return files_beside(self.file) if self.file is not None else ()

    def placed_bytes(self, fault: Rejection) -> Rejection:
        """A fault in the text with its place in the file: of a compressed one, its frame."""
        if not self.is_compressed or fault.byte_offset is None:
            return fault
        frame = self.text.frame_of(fault.byte_offset)
        return attrs.evolve(
            fault,
            byte_offset=self.frames[frame].start,
            facts=(*fault.facts, ("frame", frame)),
        )

    def header_findings(self) -> Iterator[Rejection]:
        """What the header, the name of the file and the files beside it leave to say."""
        from dsh_fp.formats.locating import generation_findings  # noqa: PLC0415
        from dsh_fp.storage.findings import header_keys_left_out  # noqa: PLC0415

        yield from header_keys_left_out(self.scan.fields, (*HEADER_KEYS, *self.header.extra))
        named = _folder_id(self.file)
        if named is not None and named != self.header.id:
            yield id_mismatch(named, self.header.id)
        yield from generation_findings(self)


def read(
    source: Source,
    *,
    vocabulary: Vocabulary | None = None,
    max_bytes: int = MAX_BYTES,
) -> Result[LogFile, Rejection]:
    """The log in a file, a session's folder, bytes or a binary stream, of any generation.

    Never writes, never repairs. A torn tail is left out and is a finding; payloads stay
    undecoded, and runs of chunks packed, until looked at. `vocabulary` takes the place of that
    of its own generation; a log of another one is read with its own.

    Units:   max_bytes bounds what a compressed log may hold.
    Errors:  FILE_UNREADABLE, LOG_AMBIGUOUS; LOG_HEADER_INVALID, VERSION_UNSUPPORTED,
             FILE_NAME_MISMATCH, META_INVALID; LOG_CORRUPT, LOG_TOO_LARGE; the first refused
             event's acceptance code; LOG_RULE_BROKEN. Each names file, line or frame, and seq.
    Law:     good_prefix_survives_any_cut, released_logs_match_the_list_model.
    Source:  docs/reference/formats.md.
    """
    if isinstance(source, str | os.PathLike) and os.path.isdir(source):
        from dsh_fp.formats.locating import find_log  # noqa: PLC0415

        found = find_log(os.fsdecode(source))
        if isinstance(found, Failure):
            return found
        source = found.unwrap().path
    file = name_of(source)
    try:
        with opened(source) as pieces:
            answer = _read(pieces, file, vocabulary, max_bytes)
    except OSError as fault:
        return Failure(file_unreadable(file, fault.strerror or str(fault)))
    return Failure(answer.at(file=file)) if isinstance(answer, Rejection) else Success(answer)


def _read(
    pieces: Iterator[bytes], file: str | None, vocabulary: Vocabulary | None, limit: int
) -> LogFile | Rejection:
    first = next(pieces, b"")
    pieces = chain((first,), pieces)
    name = None if file is None else parse_file_name(os.path.basename(file))
    is_cut_short = len(first) < len(MAGIC) and MAGIC.startswith(first)
    if first.startswith(MAGIC) or (is_cut_short and file is not None and file.endswith(ZSTD)):
        return _read_zstd(b"".join(pieces), file, name, vocabulary, limit)
    top = first_line(pieces)
    if isinstance(top, Rejection):
        return top
    chosen = generation_of(top.fields, name, vocabulary, is_compressed=False)
    if isinstance(chosen, Rejection):
        return chosen
    if chosen.form.session_header is None:
        return _settled(read_july(top, file, chosen))
    return _read_plain(top, file, chosen)


def _settled(read_log: Result[LogFile, Rejection]) -> LogFile | Rejection:
    return read_log.failure() if isinstance(read_log, Failure) else read_log.unwrap()


def is_released(fields: Mapping[str, object], *, is_compressed: bool) -> bool:
    """Whether a header line is one of a released generation; July's is version 0 as well.

    A released v0 header always has `delegationDepth`, which July's does not know, and July
    never compresses.
    """
    return fields.get("version") != 0 or _ONLY_RELEASED in fields or is_compressed


def generation_of(
    fields: Mapping[str, Any],
    name: FileName | None,
    wanted: Vocabulary | None,
    *,
    is_compressed: bool,
) -> Vocabulary | Rejection:
    """The vocabulary of a file's generation, from its header and its name."""
    version = fields["version"]
    if not is_released(fields, is_compressed=is_compressed):
        own = STANDARD
    else:
        # Imported when met: most who read a July log never need them.
        from dsh_fp.core.generations import RELEASED_GENERATIONS  # noqa: PLC0415

        known = {one.form.version: one for one in RELEASED_GENERATIONS}
        if version not in known:
            return version_unsupported(version)
        own = known[int(version)]
    if name is not None and name.version != version:
        says = f"the file is named for version {name.version}, its header says {version}"
        return file_name_mismatch(says, name.version, version)
    if wanted is not None and wanted.form.generation == own.form.generation:
        return wanted
    return own


def _read_plain(top: FirstLine, file: str | None, vocabulary: Vocabulary) -> LogFile | Rejection:
    from dsh_fp.formats.containers import plain_text  # noqa: PLC0415

    header = _header(top.fields, vocabulary, file)
    if isinstance(header, Rejection):
        return header
    text = plain_text(top, line_form(vocabulary))
    if isinstance(text, Rejection):
        return text
    return _accepted(text, header, file, vocabulary, is_compressed=False)


def _read_zstd(
    content: bytes,
    file: str | None,
    name: FileName | None,
    wanted: Vocabulary | None,
    limit: int,
) -> LogFile | Rejection:
    from dsh_fp.formats.containers import zstd_header, zstd_text  # noqa: PLC0415

    view = memoryview(content)
    top = zstd_header(view)
    if isinstance(top, Rejection):
        return top
    header_line, fields = top
    vocabulary = generation_of(fields, name, wanted, is_compressed=True)
    if isinstance(vocabulary, Rejection):
        return vocabulary
    header = _header(fields, vocabulary, file)
    if isinstance(header, Rejection):
        return header
    text = zstd_text(view, header_line, fields, line_form(vocabulary), limit)
    if isinstance(text, Rejection):
        return text
    return _accepted(text, header, file, vocabulary, is_compressed=True)


def line_form(vocabulary: Vocabulary) -> LineForm:
    """How the lines of a generation are read."""
    form = vocabulary.form
    return _line_form(form.envelope, form.packed, form.judges_rows)


# Making a decoder costs more than reading a short log.
_line_form: Final = cache(LineForm)


def _header(
    fields: Mapping[str, Any], vocabulary: Vocabulary, file: str | None
) -> SessionHeader | Rejection:
    rule = vocabulary.form.session_header
    assert rule is not None
    header = header_by(rule, fields)
    if isinstance(header, Rejection):
        return header.at(line_number=1, byte_offset=0)
    named = _folder_id(file)
    if named is not None and named != header.id and _stands_where_written(file):
        return file_name_mismatch(
            "the session's folder is named for another id than the header says", named, header.id
        )
    return header


def header_by(rule: HeaderRule, fields: Mapping[str, Any]) -> SessionHeader | Rejection:
    """The session header of fields as they were read, numbers as in JSON text."""
    frozen = freeze({key: fields[key] for key in fields}, from_text=True)
    if isinstance(frozen, Rejection):
        return frozen
    made = rule(frozen)
    return made.failure() if isinstance(made, Failure) else made.unwrap()


def _folder_id(file: str | None) -> str | None:
    """The id that the folder of a session's file is named for, if it is named for one."""
    if file is None or parse_file_name(os.path.basename(file)) is None:
        return None
    folder = os.path.basename(os.path.dirname(os.path.abspath(file)))
    named: str | None = decode_segment(folder).value_or(None)
    return named


def _stands_where_written(file: str | None) -> bool:
    """Whether a file lies where a runtime keeps it, and is no copy put somewhere else."""
    if file is None:
        return False
    project = os.path.dirname(os.path.dirname(os.path.abspath(file)))
    return is_project_segment(os.path.basename(project))


def _accepted(
    text: Text,
    header: SessionHeader,
    file: str | None,
    vocabulary: Vocabulary,
    *,
    is_compressed: bool,
) -> LogFile | Rejection:
    lines = text.scan.lines
    session = accept_lines(lines, vocabulary)
    if isinstance(session, Rejection):
        return _in_frame(text, session, is_compressed=is_compressed)
    made = ReleasedLogFile(
        header,
        session.with_header(header),
        text.good_bytes,
        text.size,
        file,
        text.scan,
        text,
        is_compressed,
    )
    form = vocabulary.form
    breach = nesting_fault(lines.events, NESTINGS[form.generation])
    if breach is not None:
        return made.placed(log_rule_broken(form.generation, breach))
    if form.inherited_by == "isSeeded":
        has_marker = inherited_length(lines.events) is not None
        if has_marker is not header.extra["isSeeded"]:
            what = "true to a log that inherited events" if has_marker else "true to this log"
            return meta_invalid("isSeeded", what).at(line_number=1, byte_offset=0)
    return made


def _in_frame(text: Text, fault: Rejection, *, is_compressed: bool) -> Rejection:
    if not is_compressed or fault.byte_offset is None:
        return fault
    frame = text.frame_of(fault.byte_offset)
    facts = (*fault.facts, ("frame", frame))
    return attrs.evolve(fault, byte_offset=text.frames[frame].start, facts=facts)


def read_session_header(path: str) -> Result[SessionHeader, Rejection]:
    """The session header of a log file of any generation, from its first line or frame alone.

    Errors:  FILE_UNREADABLE, LOG_HEADER_INVALID, VERSION_UNSUPPORTED, FILE_NAME_MISMATCH,
             META_INVALID; LOG_CORRUPT for a damaged first frame.
    """
    try:
        with opened(path) as pieces:
            answer = _header_only(pieces, path)
    except OSError as fault:
        return Failure(file_unreadable(path, fault.strerror or str(fault)))
    return Failure(answer.at(file=path)) if isinstance(answer, Rejection) else Success(answer)


def _header_only(pieces: Iterator[bytes], path: str) -> SessionHeader | Rejection:
    first = next(pieces, b"")
    is_compressed = first.startswith(MAGIC)
    fields: Mapping[str, Any]
    if is_compressed:
        from dsh_fp.formats.containers import zstd_header  # noqa: PLC0415

        top = zstd_header(memoryview(first))
        if isinstance(top, Rejection):
            return top
        fields = top[1]
    else:
        line = first_line(chain((first,), pieces))
        if isinstance(line, Rejection):
            return line
        fields = line.fields
    name = parse_file_name(os.path.basename(path))
    vocabulary = generation_of(fields, name, None, is_compressed=is_compressed)
    if isinstance(vocabulary, Rejection):
        return vocabulary
    if vocabulary.form.session_header is not None:
        return _header(fields, vocabulary, path)
    made = header_of(fields)
    if isinstance(made, Failure):
        unfit: Rejection = made.failure()
        return unfit.at(line_number=1, byte_offset=0)
    return made.unwrap()
