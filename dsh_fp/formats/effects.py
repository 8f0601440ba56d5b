"""What damage breaks for the runtime that wrote a log, and what can be done: the sentences."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import attrs

Severity = Literal["fatal", "tail", "finding", "note"]


@attrs.frozen
class Breaks:
    """What becomes of reading, of resuming, and of the next request."""

    read: str
    resume: str
    next_request: str


BREAKS: Final[Mapping[Severity, Breaks]] = MappingProxyType(
    {
        "fatal": Breaks(
            "refused: nothing of the session is shown",
            "refused: the session cannot go on",
            "none can be made",
        ),
        "tail": Breaks(
            "the events before this place; it and what follows are left out, without a word",
            "cuts the file here, closes the open turn, and goes on",
            "has only what stands before this place",
        ),
        "finding": Breaks(
            "read as it stands",
            "goes on; a later runtime may refuse",
            "may be refused by the provider, or say something else than was meant",
        ),
        "note": Breaks("read as it stands", "goes on", "not affected"),
    }
)

BREAKS_OF_KIND: Final[Mapping[str, Breaks]] = MappingProxyType(
    {
        "turn-not-closed": Breaks(
            "read as it stands",
            "appends the events that close the turn, and goes on",
            "holds a result for each call that was left without one",
        ),
        "invalid-utf8": Breaks(
            "read with U+FFFD in the place of the bad bytes",
            "goes on; the file stays as it is",
            "has U+FFFD where the bad bytes are",
        ),
        "older-log-grew": Breaks(
            "the newer file alone; what was added to the older one is not shown",
            "goes on with the newer file, or refuses both",
            "does not hold what was added to the older file",
        ),
    }
)
"""What breaks otherwise than the severity says."""

# By kind; where a kind has none, by severity.
ADVICE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fatal": "Keep a copy. dsh-fp salvage LOG shows what each policy would keep.",
        "tail": "dsh-fp repair LOG shows what resuming would do to a July log; "
        "dsh-fp salvage LOG --policy good-prefix keeps what is sound, in any generation.",
        "finding": "Nothing has to be done to read it. dsh-fp verify LOG says more.",
        "note": "Nothing has to be done.",
        "turn-not-closed": "The session may still be running. If it is not, resuming closes the "
        "turn; dsh-fp repair LOG shows how, for a July log.",
        "seq-duplicate": "Look at both branches, then keep one: dsh-fp salvage LOG --policy "
        "keep-first or keep-second, with -o once for each to keep both as files.",
        "ambiguous-branch": "No policy can part the branches behind this line: good-prefix keeps "
        "what was written before the writers met.",
        "repeated-line": "dsh-fp salvage LOG --policy drop-repeats leaves one of the two out; "
        "no event is lost.",
        "seq-gap": "The missing events are in no part of this file: look for a backup. "
        "dsh-fp salvage LOG --policy good-prefix keeps the events before them.",
        "blank-line": "dsh-fp salvage LOG --policy drop-blank takes blank lines out; "
        "no event is lost.",
        "nul-run": "dsh-fp salvage LOG --policy strip-nul takes NUL bytes around lines out; "
        "no event is lost if the lines are whole.",
        "bom": "dsh-fp salvage LOG --policy strip-bom takes the three bytes out, no event is lost. "
        "An editor put them there: do not edit logs.",
        "header-frame": "If events can be read behind it: dsh-fp salvage LOG --policy reframe "
        "writes the same lines in frames as the runtimes do. Else look for a backup.",
        "bad-frame": "What the frame held is lost: look for a backup. dsh-fp salvage LOG --policy "
        "good-prefix keeps the events before it.",
        "no-frame": "If no seq is missing behind it: dsh-fp salvage LOG --policy strip-junk takes "
        "these bytes out, no event is lost. Else good-prefix keeps the events before it.",
        "empty-call-id": "It cannot be mended without inventing ids, so no policy does: keep the "
        "log for reading, and go on in a new session or a fork before this event.",
        "ambiguous-tool-call": "It cannot be mended without inventing ids: go on in a fork from "
        "before this message.",
        "dangling-tool-call": "Go on in a fork from before this message, or with a runtime that "
        "answers the call itself.",
        "duplicate-tool-result": "Providers refuse two results for one call: go on in a fork from "
        "before this event.",
        "orphan-tool-result": "Providers refuse a result without its call: go on in a fork from "
        "before this event.",
        "cut-through-pair": "Providers refuse a result without its call: go on in a fork from "
        "before the compaction.",
        "older-log-grew": "A runtime of an older generation went on with the older file. Read "
        "both; the events it added are in no other file, so do not delete it.",
        "newer-log-beside": "This file is what a migration left behind: look at the newer one.",
        "older-generation": "Leave it: a migration made this log of it. If this log is damaged, "
        "the events up to the migration can be read from it.",
        "left-over-file": "It may be removed once no writer is at work.",
        "id-mismatch": "The file was renamed or copied: runtimes look for the id in its header. "
        "Give it its own name back.",
        "file-name-mismatch": "The file was renamed or copied: runtimes refuse it where it is. "
        "Give the folder and the file the names that the header asks for.",
        "version-unsupported": "Read it with a release that knows this version.",
        "empty-log": "There is no session in it: look for a backup.",
        "no-complete-line": "There is no session in it: look for a backup.",
        "not-a-header": "Is it a session log at all? If its first line was lost, look for a "
        "backup.",
        "file-unreadable": "See that the path is right and that you may read it.",
        "log-too-large": "Decompress it, and read the plain file.",
    }
)
