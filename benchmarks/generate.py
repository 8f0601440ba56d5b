"""Generated session logs: seeded, valid, and of a size to choose.

What lives here knows the format only from the outside: lines are written as text, and no
module of the library is imported, so a mistake in the library can't hide in its own logs.
The texts are random syllables.
"""

import json
from collections.abc import Iterator
from random import Random
from typing import Final

from benchmarks.profiles import Profile

FIRST_TIME_MS: Final = 1_751_328_000_000
CWD: Final = "/srv/bench"
MODELS: Final = ("bench-small", "bench-large")
LINES_AT_ONCE: Final = 20_000

ASCII_SYLLABLES: Final = (
    *("ka", "lo", "mi", "ne", "pu", "ra", "so", "ti"),
    *("vu", "den", "gol", "har", "mer", "nis", "tor", "val"),
)
OTHER_SYLLABLES: Final = (
    *("ä", "ö", "ü", "ß", "é", "ñ", "ž", "ğ", "ло"),
    *("ми", "не", "そ", "と", "花", "語", "🌱", "👍", "…"),
)

USER: Final = {"kind": "user"}
COMPACT: Final = {"kind": "plugin", "plugin": "compact"}
WATCH: Final = {"kind": "plugin", "plugin": "watch"}


def to_text(value: object) -> str:
    """Compact JSON, characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text_block(text: str) -> dict[str, object]:
    """A text block."""
    return {"type": "text", "text": text}


def header_text(session_id: str) -> str:
    """The header line of a session in CWD."""
    created_at = FIRST_TIME_MS - 5
    header = {"type": "session", "version": 0, "id": session_id, "createdAt": created_at}
    return to_text({**header, "cwd": CWD})


class Words:
    """Endless invented text, cut from pools that were drawn once."""

    def __init__(self, random: Random, *, unfriendly: bool) -> None:
        syllables = ASCII_SYLLABLES + (OTHER_SYLLABLES if unfriendly else ())
        self._random = random
        self._words = tuple(
            "".join(random.choices(syllables, k=random.randint(1, 4))) for _ in range(2_000)
        )
        # A delta is a token or a few: mostly one short word with its blank.
        self._deltas = tuple(
            " ".join(random.choices(self._words, k=random.choice((1, 1, 1, 2, 2, 3)))) + " "
            for _ in range(4_000)
        )
        self._delta_texts = tuple(to_text(delta) for delta in self._deltas)

    def line(self, size: int) -> str:
        """So many words."""
        return " ".join(self._random.choices(self._words, k=size))

    def deltas(self, count: int) -> tuple[str, list[str]]:
        """The joined text of some deltas, and each of them as JSON text."""
        chosen = self._random.choices(range(len(self._deltas)), k=count)
        return (
            "".join([self._deltas[index] for index in chosen]),
            [self._delta_texts[index] for index in chosen],
        )


class Generator:
    """The lines of one log; every turn it starts, it ends."""

    def __init__(self, session_id: str, profile: Profile, events: int, seed: int) -> None:
        if events < 2:
            raise ValueError("a log of whole turns has two events at least")
        self._session_id = session_id
        self._profile = profile
        self._events = events
        self._random = Random(f"{profile.name}/{events}/{seed}")
        self._words = Words(self._random, unfriendly=profile.unfriendly)
        self._lines: list[str] = []
        self._seq = 0
        self._turn = 0
        self._step = 0
        self._calls = 0
        self._system_lines = 40
        # Surface, as seqs; where each turn begins on it; the notes that stand on it.
        self._nodes: list[int] = []
        self._turn_starts: list[int] = []
        self._notes: list[int] = []
        self._next_compaction = self._draw(profile.turns_between_compactions)

    def lines(self) -> Iterator[str]:
        """Header line and events, exactly as many as asked for."""
        yield header_text(self._session_id)
        # A turn is written whole or not at all, and never leaves room for one event only,
        # so that a last turn can always fill what is left.
        while self._seq < self._events:
            before = self._seq
            self._run_turn()
            if self._seq > self._events - 2 and self._seq != self._events:
                del self._lines[before - self._seq :]
                self._seq = before
                self._turn -= 1
                self._fill(self._events - before)
            if len(self._lines) > LINES_AT_ONCE:
                yield from self._lines
                self._lines = []
        yield from self._lines

    def _fill(self, count: int) -> None:
        """One last turn of exactly so many events."""
        self._start_turn()
        for index in range(count - 2):
            todos = [{"content": f"task {index}", "status": "pending"}]
            self._log("todo/write", to_text({"todos": todos}))
        self._end_turn()

    def _draw(self, bounds: tuple[int, int]) -> int:
        return self._random.randint(*bounds)

    def _log(self, event_type: str, data_text: str) -> int:
        seq = self._seq
        self._lines.append(
            f'{{"type":"{event_type}","seq":{seq},"time":{FIRST_TIME_MS + 7 * seq},'
            f'"data":{data_text}}}'
        )
        self._seq = seq + 1
        return seq

    def _place(
        self,
        event_type: str,
        data: dict[str, object],
        sources: list[int] | None = None,
        surface_op: object = "append",
    ) -> int:
        cited = "" if sources is None else f',"sourceEventSeqs":{to_text(sources)}'
        seq = self._seq
        self._lines.append(
            f'{{"type":"{event_type}","seq":{seq},"time":{FIRST_TIME_MS + 7 * seq},'
            f'"data":{to_text(data)}{cited},"surfaceOp":{to_text(surface_op)}}}'
        )
        self._seq = seq + 1
        if surface_op == "append":
            self._nodes.append(seq)
        return seq

    def _start_turn(self) -> None:
        self._turn += 1
        self._step = 0
        trigger = {"kind": "message", "source": USER}
        self._log("turn/start", to_text({"turn": self._turn, "trigger": trigger}))

    def _end_turn(self) -> None:
        reason = {"kind": "completed"}
        self._log("turn/end", to_text({"turn": self._turn, "reason": reason}))

    def _run_turn(self) -> None:
        profile = self._profile
        self._start_turn()
        self._next_compaction -= 1
        if self._next_compaction == 0:
            self._compact()
            self._next_compaction = self._draw(profile.turns_between_compactions)
        self._turn_starts.append(len(self._nodes))
        prompt = self._words.line(self._draw((5, 30)))
        self._place("user/message", {"content": [text_block(prompt)], "source": USER})
        if profile.notes:
            self._note()
        steps = self._draw(profile.steps)
        for step in range(1, steps + 1):
            self._run_step(step, last=step == steps)
        self._end_turn()

    def _compact(self) -> None:
        """All turns but the last two make room for one checkpoint."""
        stop = self._turn_starts[-2]
        shadowed = self._nodes[:stop]
        start, end = shadowed[0], shadowed[-1]
        summary = [text_block(self._words.line(120))]
        self._log("compact/start", to_text({"turn": self._turn}))
        self._log(
            "compact/summary",
            to_text(
                {
                    "summary": summary,
                    "shadowedRange": {"start": start, "end": end},
                    "shadowedSeqs": shadowed,
                    "shadowedTokenCount": 40 * len(shadowed),
                    "model": MODELS[0],
                }
            ),
        )
        seq = self._place(
            "user/message",
            {"content": summary, "source": COMPACT},
            shadowed,
            {"op": "replace", "start": start, "end": end},
        )
        self._log("compact/end", to_text({"turn": self._turn}))
        self._nodes[:stop] = [seq]
        self._turn_starts = [1 + begin - stop for begin in self._turn_starts[-2:]]
        gone = set(shadowed)
        self._notes = [note for note in self._notes if note not in gone]

    def _note(self) -> None:
        """A plugin's note: a new one now and then, mostly a newer text for an older one."""
        data: dict[str, object] = {
            "content": [text_block(self._words.line(self._draw((5, 20))))],
            "source": WATCH,
        }
        if len(self._notes) < 5 or self._random.random() < 0.3:
            self._notes.append(self._place("context/message", data))
            return
        which = self._random.randrange(len(self._notes))
        old = self._notes[which]
        surface_op = {"op": "replace", "start": old, "end": old}
        seq = self._place("context/message", data, [old], surface_op)
        self._notes[which] = seq
        self._nodes[self._nodes.index(old)] = seq

    def _run_step(self, step: int, *, last: bool) -> None:
        self._step = step
        here = f'"turn":{self._turn},"step":{step}'
        self._log("step/start", f"{{{here}}}")
        self._header_event()
        content, chunk_seqs = self._stream(here)
        asked = 0 if last else self._draw(self._profile.tool_calls)
        calls = [self._call_block() for _ in range(asked)]
        for index, call in enumerate(calls, 1):
            chunk_seqs.extend(self._call_chunks(here, index, call))
        usage = {
            "inputTokens": self._draw((40, 4_000)),
            "outputTokens": len(chunk_seqs),
            "cacheReadTokens": 64 * len(self._nodes),
        }
        finish = {"type": "finish", "reason": {"kind": "tool-calls" if calls else "stop"}}
        chunk_seqs.append(self._chunk(here, to_text({"type": "usage", "usage": usage})))
        chunk_seqs.append(self._chunk(here, to_text(finish)))
        self._place(
            "assistant/message",
            {**self._where(), "content": [*content, *calls], "usage": usage},
            chunk_seqs,
        )
        for call in calls:
            self._run_call(call)
        self._log("step/end", f"{{{here}}}")

    def _where(self) -> dict[str, object]:
        return {"turn": self._turn, "step": self._step}

    def _header_event(self) -> None:
        if self._turn == 1 and self._step == 1:
            system = "\n".join(self._words.line(12) for _ in range(self._system_lines))
            header = {
                "config": {"model": MODELS[0], "temperature": 0.7, "maxTokens": 4096},
                "system": system,
                "tools": [self._tool(index) for index in range(12)],
            }
            self._log("request/header", to_text({"header": header, "reason": "initial"}))
        elif self._step == 1 and self._turn % self._profile.turns_between_header_deltas == 0:
            self._log("request/header-delta", to_text(self._header_delta()))

    def _header_delta(self) -> dict[str, object]:
        if self._turn % (2 * self._profile.turns_between_header_deltas):
            model = self._random.choice(MODELS)
            return {"config": {"model": model, "temperature": 0.7, "maxTokens": 4096}}
        keep = self._random.randrange(self._system_lines)
        insert = [self._words.line(12)]
        after = self._system_lines - keep - 1
        return {"system": {"keepStart": keep, "keepEnd": after, "insert": insert}}

    def _tool(self, index: int) -> dict[str, object]:
        return {
            "name": f"tool_{index}",
            "description": self._words.line(25),
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "count": {"type": "integer"}},
                "required": ["path"],
            },
        }

    def _chunk(self, here: str, chunk_text: str) -> int:
        return self._log("assistant/chunk", f'{{{here},"chunk":{chunk_text}}}')

    def _stream(self, here: str) -> tuple[list[dict[str, object]], list[int]]:
        """One text block in deltas: the block, and the seqs of its chunks."""
        text, delta_texts = self._words.deltas(self._draw(self._profile.deltas))
        block = text_block(text)
        seqs = [self._chunk(here, '{"type":"block-start","index":0,"blockType":"text"}')]
        for delta_text in delta_texts:
            chunk = f'{{"type":"text-delta","index":0,"text":{delta_text}}}'
            seqs.append(self._chunk(here, chunk))
        end = {"type": "block-end", "index": 0, "block": block}
        seqs.append(self._chunk(here, to_text(end)))
        return [block], seqs

    def _call_block(self) -> dict[str, object]:
        self._calls += 1
        arguments = {"path": f"src/{self._words.line(1)}.txt", "count": self._draw((1, 400))}
        return {
            "type": "tool-call",
            "id": f"call_{self._calls}",
            "name": f"tool_{self._draw((0, 11))}",
            "arguments": to_text(arguments),
        }

    def _call_chunks(self, here: str, index: int, call: dict[str, object]) -> list[int]:
        delta = {
            "type": "tool-call-delta",
            "index": index,
            "id": call["id"],
            "name": call["name"],
            "argumentsDelta": call["arguments"],
        }
        chunks = (
            {"type": "block-start", "index": index, "blockType": "tool-call"},
            delta,
            {"type": "block-end", "index": index, "block": call},
        )
        return [self._chunk(here, to_text(chunk)) for chunk in chunks]

    def _run_call(self, call: dict[str, object]) -> None:
        called = {
            **self._where(),
            "callId": call["id"],
            "name": call["name"],
            "arguments": call["arguments"],
        }
        called_at = self._log("tool/call", to_text(called))
        failed = self._random.random() < 0.05
        result: dict[str, object] = {
            **self._where(),
            "callId": call["id"],
            "content": [text_block(self._output())],
            "isError": failed,
        }
        if failed:
            result["error"] = {"name": "ToolError", "code": "FAILED"}
        if self._profile.unfriendly:
            result["meta"] = self._measurements()
        self._place("tool/result", result, [called_at])

    def _output(self) -> str:
        size = self._draw(self._profile.result_lines)
        lines = [self._words.line(8) for _ in range(size)]
        if self._profile.unfriendly:
            lines = [f"{line} {self._digest()} {self._odd_number()}" for line in lines]
        return "\n".join(lines)

    def _odd_number(self) -> str:
        """A negative number; one in fifty is what no log may hold as a number."""
        return "-0" if self._random.random() < 0.02 else str(-self._draw((1, 900)))

    def _digest(self) -> str:
        return f"{self._random.getrandbits(256):064x}"

    def _measurements(self) -> dict[str, object]:
        """Numbers as a Python writer spells them: 1e-05, -0.25, 12345678901234."""
        random = self._random
        return {
            "sha256": self._digest(),
            "offset": -random.randint(1, 10**6),
            "error": random.choice((1e-05, 2.5e-07, -0.25, -3.5e-08)),
            "bytes": random.getrandbits(50),
            "ratio": round(random.random(), 6),
        }
