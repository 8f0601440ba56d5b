"""Write garden-tuesday.jsonl: the garden session again, a day later, under a changed prompt.

    python examples/make_tuesday.py            writes examples/garden-tuesday.jsonl
    python examples/make_tuesday.py --check    says whether the file is what this writes

The same questions are asked and the same tools answer. Times and call ids are others, as in
any second recording. Before turn 3 the planner was started anew, with a newer line about the
beds in its system text: so a whole header is logged where Monday has a change, nothing is
read from the provider's cache there, and one answer ends in another sentence.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from dsh_fp import Session, encode_log, read, session_header, thaw, unwrap

MONDAY: Final = Path(__file__).with_name("garden.jsonl")
TUESDAY: Final = Path(__file__).with_name("garden-tuesday.jsonl")
LATER_MS: Final = 86_400_000 + 73_000

OLD_LINE: Final = "The garden has four beds: north, east, south and pond."
NEW_LINE: Final = "The garden has five beds: north, east, south, pond and herbs."
MORE: Final = " On Friday, mint for the herb bed."
CALL_IDS: Final = {
    "call_soil_1": "call_7Qd",
    "call_cal_1": "call_x02",
    "call_seed_1": "call_M9s",
    "call_todo_1": "call_bb4",
}

Wire = Any


def every_string(value: Wire, change: Callable[[str], str]) -> Wire:
    """A copy of a JSON value with each of its strings changed."""
    if isinstance(value, dict):
        return {key: every_string(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [every_string(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def restarted(session: Session, seq: int) -> Wire:
    """The payload of a whole header in the place of the change at a seq."""
    header = thaw(unwrap(unwrap(session.at(seq)).request_header()))
    header["system"] = header["system"].replace(OLD_LINE, NEW_LINE)
    return {"header": header, "reason": "resume"}


def tuesday() -> bytes:
    """The whole log as bytes."""
    monday = unwrap(read(str(MONDAY))).session
    change = next(event.seq for event in monday if event.type == "request/header-delta")
    last = max(e.seq for e in monday if e.type == "assistant/message" and e.data["turn"] == 3)
    answer = monday.events[last].data["content"][0]["text"]
    final_piece = monday.events[monday.events[last].source_event_seqs[-4]].data["chunk"]["text"]
    longer: dict[str, str] = {answer: answer + MORE, final_piece: final_piece + MORE}

    def renamed(text: str) -> str:
        return longer.get(text, CALL_IDS.get(text, text))

    events: list[Wire] = []
    for event in monday:
        wire = every_string(thaw(event.to_wire()), renamed)
        wire["time"] += LATER_MS
        data = wire["data"]
        if event.seq == change:
            wire["type"], wire["data"] = "request/header", restarted(monday, change)
        elif data.get("step") == 1 and data.get("turn") == 3:
            for usage in (data.get("usage"), data.get("chunk", {}).get("usage")):
                if usage is not None:
                    usage["inputTokens"] += usage.pop("cacheReadTokens")
                    usage["cacheReadTokens"] = 0
        events.append(wire)
    fields = {**thaw(monday.header.to_wire()), "id": TUESDAY.stem}
    fields["createdAt"] += LATER_MS
    header = unwrap(session_header(fields))
    return encode_log(header, unwrap(Session.replay(events, header)).events)


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description="Write examples/garden-tuesday.jsonl.")
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    arguments = parser.parse_args()
    content = tuesday()
    if not arguments.check:
        TUESDAY.write_bytes(content)
        return 0
    same = TUESDAY.is_file() and TUESDAY.read_bytes() == content
    print(f"{TUESDAY.name} is {'what' if same else 'not what'} this script writes")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
