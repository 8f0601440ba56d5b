"""Turns that a crash left open in the middle of a log, closed as their runtimes close them."""

from __future__ import annotations

from dsh_fp.core.lossless import AnyJson, json_object
from dsh_fp.core.migration.drafts import Draft, fields_of

_INTERRUPTED = json_object({"kind": "interrupted"})


def with_turns_closed(drafts: list[Draft], *, fresh: int) -> list[Draft]:
    """The drafts, each turn that is open when the next begins ended just before its message came.

    Only where nothing but one edit of the queue stands between: that is what a restart leaves.

    Units:   fresh is the first key for drafts that are new.
    """
    made: list[Draft] = []
    open_turn: AnyJson = None
    for draft in drafts:
        if draft.type == "turn/start":
            if open_turn is not None and len(made) > 1 and made[-1].type == "agent/inbox/spliced":
                data = json_object({"turn": open_turn, "reason": _INTERRUPTED})
                ended = Draft(fresh, "turn/end", made[-2].time, data)
                fresh += 1
                made.insert(len(made) - 1, ended)
            open_turn = fields_of(draft.data).get("turn")
        elif draft.type == "turn/end":
            open_turn = None
        made.append(draft)
    return made
