"""Write garden.jsonl: a short session of an invented kitchen-garden planner.

    python examples/make_garden.py            writes examples/garden.jsonl
    python examples/make_garden.py --check    says whether the file is what this writes

The log holds one of everything a reader of logs meets: reasoning, text and tool calls with
their streamed chunks, a failed call, a note from a plugin, steering, a list of tasks, a
change of the request header and a compaction. Nothing here reads a clock or rolls dice,
so the same bytes come out everywhere.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

GARDEN: Final = Path(__file__).with_name("garden.jsonl")
FIRST_TIME_MS: Final = 1_752_480_000_000
TIME_STEP_MS: Final = 340

Usage = dict[str, int]
Block = dict[str, object]

USER: Final = {"kind": "user"}
WEATHER: Final = {"kind": "plugin", "plugin": "weather-station"}
COMPACT: Final = {"kind": "plugin", "plugin": "compact"}

SYSTEM: Final = """\
You are Mira, a planner for one kitchen garden.
The garden has four beds: north, east, south and pond.
Look things up before you promise a harvest.
Answer in a few friendly sentences."""

BED: Final = {"type": "string", "enum": ["north", "east", "south", "pond"]}

TOOLS: Final = (
    {
        "name": "soil_probe",
        "description": "Temperature in °C and moisture in percent of one bed.",
        "parameters": {"type": "object", "properties": {"bed": BED}, "required": ["bed"]},
    },
    {
        "name": "sowing_calendar",
        "description": "When a crop is sown and harvested here.",
        "parameters": {
            "type": "object",
            "properties": {"crop": {"type": "string"}},
            "required": ["crop"],
        },
    },
    {
        "name": "todo_write",
        "description": "Replace the list of garden tasks.",
        "parameters": {
            "type": "object",
            "properties": {"todos": {"type": "array", "items": {"type": "object"}}},
            "required": ["todos"],
        },
    },
)

SEED_BOX: Final = {
    "name": "seed_box",
    "description": "How many seeds of a crop are left in the box.",
    "parameters": {
        "type": "object",
        "properties": {"crop": {"type": "string"}},
        "required": ["crop"],
    },
}


def to_text(value: object) -> str:
    """Compact JSON, characters as they are.

    The texts and numbers of this script are such that JSON.stringify writes the same.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text(words: str) -> Block:
    """A text block."""
    return {"type": "text", "text": words}


def reasoning(words: str) -> Block:
    """A reasoning block."""
    return {"type": "reasoning", "text": words}


def tool_call(call_id: str, name: str, arguments: object) -> Block:
    """A block that asks for a tool."""
    return {"type": "tool-call", "id": call_id, "name": name, "arguments": to_text(arguments)}


def pieces(words: str, size: int) -> list[str]:
    """The text in pieces, as a stream brings it."""
    return [words[start : start + size] for start in range(0, len(words), size)]


class Log:
    """The lines of one session, in the order in which they happen."""

    def __init__(self, session_id: str, cwd: str) -> None:
        created_at = FIRST_TIME_MS - TIME_STEP_MS
        header = {
            "type": "session",
            "version": 0,
            "id": session_id,
            "createdAt": created_at,
            "cwd": cwd,
        }
        self.lines = [to_text(header)]
        self.nodes: list[int] = []
        self.turn = 0
        self.step = 0

    def append(
        self,
        event_type: str,
        data: dict[str, object],
        *,
        surface_op: object = None,
        sources: list[int] | None = None,
    ) -> int:
        """Append one event; its seq comes back."""
        seq = len(self.lines) - 1
        event: dict[str, object] = {
            "type": event_type,
            "seq": seq,
            "time": FIRST_TIME_MS + TIME_STEP_MS * seq,
            "data": data,
        }
        if sources is not None:
            event["sourceEventSeqs"] = sources
        if surface_op is not None:
            event["surfaceOp"] = surface_op
        if surface_op == "append":
            self.nodes.append(seq)
        self.lines.append(to_text(event))
        return seq

    def place(self) -> dict[str, object]:
        """Where in the session things happen."""
        return {"turn": self.turn, "step": self.step}

    def start_turn(self, trigger: dict[str, object]) -> None:
        """The next turn begins."""
        self.turn += 1
        self.step = 0
        self.append("turn/start", {"turn": self.turn, "trigger": trigger})

    def end_turn(self) -> None:
        """The open turn is done."""
        self.append("turn/end", {"turn": self.turn, "reason": {"kind": "completed"}})

    def start_step(self) -> None:
        """The next step of the turn begins."""
        self.step += 1
        self.append("step/start", self.place())

    def end_step(self) -> None:
        """The open step is done."""
        self.append("step/end", self.place())

    def say(self, words: str) -> None:
        """A prompt of the person at the keyboard."""
        data: dict[str, object] = {"content": [text(words)], "source": USER}
        self.append("user/message", data, surface_op="append")

    def answer(self, blocks: list[Block], usage: Usage, size: int = 48) -> None:
        """One answer of the model: its chunks, then the message that cites them."""
        asks = any(block["type"] == "tool-call" for block in blocks)
        chunks: list[Block] = []
        for index, block in enumerate(blocks):
            chunks.extend(self._chunks_of(index, block, size))
        chunks.append({"type": "usage", "usage": usage})
        chunks.append({"type": "finish", "reason": {"kind": "tool-calls" if asks else "stop"}})
        cited = [
            self.append("assistant/chunk", {**self.place(), "chunk": chunk}) for chunk in chunks
        ]
        self.append(
            "assistant/message",
            {**self.place(), "content": blocks, "usage": usage},
            surface_op="append",
            sources=cited,
        )

    def _chunks_of(self, index: int, block: Block, size: int) -> Iterable[Block]:
        kind = str(block["type"])
        yield {"type": "block-start", "index": index, "blockType": kind}
        if kind == "tool-call":
            yield {
                "type": "tool-call-delta",
                "index": index,
                "id": block["id"],
                "name": block["name"],
                "argumentsDelta": block["arguments"],
            }
        else:
            for piece in pieces(str(block["text"]), size):
                yield {"type": f"{kind}-delta", "index": index, "text": piece}
        yield {"type": "block-end", "index": index, "block": block}

    def call(self, block: Block) -> int:
        """The tool call of one block begins to run."""
        data = {
            **self.place(),
            "callId": block["id"],
            "name": block["name"],
            "arguments": block["arguments"],
        }
        return self.append("tool/call", data)

    def result(
        self,
        block: Block,
        called_at: int,
        words: str,
        *,
        error: dict[str, str] | None = None,
        meta: dict[str, object] | None = None,
    ) -> None:
        """What the tool answered."""
        data: dict[str, object] = {
            **self.place(),
            "callId": block["id"],
            "content": [text(words)],
            "isError": error is not None,
        }
        if error is not None:
            data["error"] = error
        if meta is not None:
            data["meta"] = meta
        self.append("tool/result", data, surface_op="append", sources=[called_at])


def first_turn(log: Log) -> None:
    """A question with one look at the soil."""
    log.start_turn({"kind": "message", "source": USER})
    log.say("Is it too late to sow Grünkohl in the north bed?")
    log.start_step()
    header = {
        "config": {"model": "mira-small", "temperature": 0.4, "maxTokens": 800},
        "system": SYSTEM,
        "tools": list(TOOLS),
    }
    log.append("request/header", {"header": header, "reason": "initial"})
    probe = tool_call("call_soil_1", "soil_probe", {"bed": "north"})
    log.answer(
        [
            reasoning("Kale likes cool soil. Measure before advising."),
            text("Let me feel the soil first. 🌱"),
            probe,
        ],
        {"inputTokens": 412, "outputTokens": 38, "reasoningTokens": 11},
    )
    called_at = log.call(probe)
    log.result(
        probe,
        called_at,
        "north bed: 17.5 °C, moisture 31 %",
        meta={"celsius": 17.5, "percent": 31, "sensor": "n-2"},
    )
    log.end_step()
    log.start_step()
    log.answer(
        [
            text(
                "Not at all: mid-July is fine for Grünkohl. The north bed has 17.5 °C and is a "
                "little dry, so water it the evening before you sow."
            )
        ],
        {"inputTokens": 96, "outputTokens": 41, "cacheReadTokens": 412},
    )
    log.end_step()
    log.end_turn()


def note_turn(log: Log) -> None:
    """The weather plugin speaks up while nobody asks."""
    log.start_turn({"kind": "injection", "source": WEATHER})
    log.append(
        "context/message",
        {
            "content": [text("Hail is forecast for Thursday, 16 to 18 h; nights down to 9 °C.")],
            "source": WEATHER,
        },
        surface_op="append",
    )
    log.end_turn()


def planning_turn(log: Log) -> None:
    """A plan with a failed call, steering from the side and a list of tasks."""
    log.start_turn({"kind": "message", "source": USER})
    log.say("Then plan the week: kale, and something quick for the salad bowl.")
    log.start_step()
    insert = ["Mention the weather when it matters."]
    log.append(
        "request/header-delta",
        {
            "system": {"keepStart": 3, "keepEnd": 1, "insert": insert},
            "tools": {"added": [SEED_BOX], "removed": [], "changed": []},
        },
    )
    calendar = tool_call("call_cal_1", "sowing_calendar", {"crop": "rocket"})
    seeds = tool_call("call_seed_1", "seed_box", {"crop": "roquette d'été"})
    log.answer(
        [calendar, seeds],
        {"inputTokens": 148, "outputTokens": 52, "cacheReadTokens": 508},
    )
    called_at = log.call(calendar)
    log.result(calendar, called_at, "rocket 🥬: sow March to September, cut after 28 days")
    called_at = log.call(seeds)
    log.result(
        seeds,
        called_at,
        "Error: no crop «roquette d'été» in the box",
        error={"name": "CropNotFoundError", "code": "UNKNOWN_CROP"},
    )
    log.append(
        "steering/message",
        {
            "turn": log.turn,
            "content": [text('The box says "Rauke".\nAnd keep Thursday free.')],
            "source": USER,
        },
        surface_op="append",
    )
    log.end_step()
    log.start_step()
    todos = [
        {"content": "Water the north bed", "status": "in_progress"},
        {"content": "Sow Grünkohl, 40 cm apart", "status": "pending"},
        {"content": "Sow Rauke along the pond", "status": "pending"},
        {"content": "Fleece over the seedlings by Wednesday", "status": "pending"},
    ]
    write = tool_call("call_todo_1", "todo_write", {"todos": todos})
    log.answer([write], {"inputTokens": 131, "outputTokens": 96, "cacheReadTokens": 656})
    called_at = log.call(write)
    log.append("todo/write", {"todos": todos})
    log.result(write, called_at, "4 tasks: 1 in progress, 3 pending")
    log.end_step()
    log.start_step()
    log.answer(
        [
            text(
                "Water tonight, kale on Tuesday, Rauke by the pond on Wednesday, then fleece on "
                "top. Thursday stays free: that is when the hail comes. First salad around 13 "
                "August. 🥗"
            )
        ],
        {"inputTokens": 60, "outputTokens": 55, "cacheReadTokens": 787},
        size=80,
    )
    log.end_step()
    log.end_turn()


def closing_turn(log: Log, shadowed: list[int]) -> None:
    """The first question is folded into a checkpoint; then a last exchange."""
    log.start_turn({"kind": "message", "source": USER})
    start, end = shadowed[0], shadowed[-1]
    log.append("compact/start", {"turn": log.turn})
    summary = [text("Grünkohl may still be sown in the north bed (17.5 °C, dry: water it first).")]
    log.append(
        "compact/summary",
        {
            "summary": summary,
            "shadowedRange": {"start": start, "end": end},
            "shadowedSeqs": shadowed,
            "shadowedTokenCount": 208,
            "model": "mira-small",
            "maxTokens": 256,
        },
    )
    checkpoint = [text("Earlier in this conversation, in short:"), *summary]
    log.append(
        "user/message",
        {"content": checkpoint, "source": COMPACT},
        surface_op={"op": "replace", "start": start, "end": end},
        sources=shadowed,
    )
    log.append("compact/end", {"turn": log.turn})
    log.say("Watered! How far apart again?")
    log.start_step()
    log.answer(
        [text("40 cm for the kale — the Rauke doesn't mind a crowd. 👍")],
        {"inputTokens": 302, "outputTokens": 19, "cacheReadTokens": 220, "cacheWriteTokens": 82},
    )
    log.end_step()
    log.end_turn()


def garden() -> bytes:
    """The whole log as bytes."""
    log = Log(GARDEN.stem, "/home/mira/garden")
    first_turn(log)
    first_exchange = list(log.nodes)
    note_turn(log)
    planning_turn(log)
    closing_turn(log, first_exchange)
    return "".join(f"{line}\n" for line in log.lines).encode("utf-8")


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description="Write examples/garden.jsonl.")
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    arguments = parser.parse_args()
    content = garden()
    if not arguments.check:
        GARDEN.write_bytes(content)
        return 0
    same = GARDEN.is_file() and GARDEN.read_bytes() == content
    print(f"{GARDEN.name} is {'what' if same else 'not what'} this script writes")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
