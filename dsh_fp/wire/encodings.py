"""The encodings of the requests of a log: each with what no log holds, and the events behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from dsh_fp.core.events import Event
from dsh_fp.core.json_paths import Step
from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_object
from dsh_fp.core.origins import Origins
from dsh_fp.core.requests import PastRequest
from dsh_fp.core.session import Session
from dsh_fp.wire.bodies import WireBody
from dsh_fp.wire.chat_completions import JULY, OPTIONS, ChatBodies, ChatRules
from dsh_fp.wire.compaction import Compaction, system_of
from dsh_fp.wire.instructions import instruction_of
from dsh_fp.wire.messages_api import (
    MessagesBodies,
    MessagesBody,
    attached_count,
    fillings_of,
    has_attached,
)
from dsh_fp.wire.released_compaction import ReleasedCompaction
from dsh_fp.wire.settings import Settings
from dsh_fp.wire.ways import EVERY, JULY_WAY, REASONING_RULES, Way, ways_of

SYSTEM_TEXT: Final = "system"
"""The name of the system text of July's compactions, which no log holds."""

INSTRUCTION: Final = "instruction"
"""The name of the instruction of later ones."""

IMAGES: Final = "images"
NODES: Final = "nodes"
MAX_TOKENS: Final = "max_tokens"

Given = Mapping[str, AnyJson]


class Makers:
    """What makes the bodies of one session; a message that several share is made once."""

    def __init__(self, session: Session) -> None:
        self.session = session
        form = session.vocabulary.form
        self.settings = Settings(session)
        self.ways = tuple(ways_of(form, has_updates=self.settings.has_updates))
        self.messages = MessagesBodies()
        self.chats: dict[str | None, ChatBodies] = {None: ChatBodies(JULY)}
        for rule in REASONING_RULES:
            rules = ChatRules(released=True, every_reasoning=rule == EVERY)
            self.chats[rule] = ChatBodies(rules)


# ---- steps -----------------------------------------------------------------------------------


def step_encodings(makers: Makers, past: PastRequest, origins: Origins) -> tuple[StepEncoding, ...]:
    """The encodings of a step's request, that for the usual way first."""
    header = past.header
    assert header is not None  # or there would be a fault
    config = header["config"]
    return tuple(
        StepEncoding(makers, past, origins, way, _free(way, config)) for way in makers.ways
    )


def _free(way: Way, config: JsonObject) -> frozenset[str]:
    """The keys of a body that neither the log nor the adapter's rules tell."""
    if way.route == "messages":
        return frozenset() if "maxTokens" in config else frozenset((MAX_TOKENS,))
    told = way != JULY_WAY and config.get("reasoningEffort") is not None
    return frozenset() if told else frozenset(OPTIONS)


@attrs.frozen(eq=False)
class StepEncoding:
    """A step's request on one way."""

    _makers: Makers
    past: PastRequest
    origins: Origins
    way: Way
    free: frozenset[str]
    is_open = False
    is_instructed = False
    is_july_compaction = False

    @property
    def open_messages(self) -> Sequence[JsonObject]:
        """The wire messages of the log, as far as they were made, that hold images."""
        return self._makers.messages.open_messages

    def body(self, given: Given) -> JsonObject:
        """The body, given values for what is free."""
        return self._made(given).body

    def taken(self, body: JsonObject, given: Given) -> dict[str, AnyJson]:
        """What no log holds, as a captured body has it."""
        return _taken(self, body, given)

    def event_at(self, steps: tuple[Step, ...], offset: int | None, given: Given) -> Event | None:
        """The event behind what stands at a path of the body."""
        request_steps = self._made(given).request_steps(steps)
        seq = None if request_steps is None else self.origins.event_at(request_steps)
        return None if seq is None else self._makers.session.events[seq]

    def _made(self, given: Given) -> WireBody | MessagesBody:
        request = self.past.request.unwrap()
        past, way = self.past, self.way
        if way.route == "chat":
            return self._makers.chats[way.reasoning].encode(request, _options(given))
        seqs = self.origins.messages if way.updates not in (None, "none") else ()
        setting = self._makers.settings.of(past.cut, past.header_count, seqs, way.updates or "none")
        return self._makers.messages.encode(request, setting, given)


def _options(given: Given) -> dict[str, AnyJson]:
    return {key: given[key] for key in OPTIONS if key in given}


def _taken(
    encoding: StepEncoding | CompactionEncoding, body: JsonObject, given: Given
) -> dict[str, AnyJson]:
    """What is free of keys, and what stands for attached blocks."""
    taken = {key: body[key] for key in body if key in encoding.free and key not in given}
    if encoding.way.route != "messages" or IMAGES in given:
        return taken
    sent = body.get("messages")
    found: list[AnyJson] = []
    for place, message in enumerate(encoding.body({**given, **taken})["messages"]):
        if not has_attached(message):
            continue
        its: AnyJson = sent[place] if isinstance(sent, JsonArray) and place < len(sent) else None
        fillings = fillings_of(message, its, strict=False)
        found += [None] * attached_count(message) if fillings is None else fillings
    if any(filling is not None for filling in found):
        taken[IMAGES] = found
    return taken


# ---- compactions -----------------------------------------------------------------------------


def july_compaction_encoding(session: Session, call: Compaction) -> JulyCompactionEncoding:
    """The encoding of a compaction's call in July."""
    return JulyCompactionEncoding(session, call)


@attrs.frozen(eq=False)
class JulyCompactionEncoding:
    """A compaction's call as July's plugin made it."""

    session: Session
    call: Compaction
    free: frozenset[str] = frozenset(OPTIONS)
    way: Way = JULY_WAY
    is_open = False
    is_instructed = False
    is_july_compaction = True
    open_messages: Sequence[JsonObject] = ()

    def body(self, given: Given) -> JsonObject:
        """The body, given the system text and the adapter's options."""
        return self.call.encode(given.get(SYSTEM_TEXT, ""), given).wire.body

    def taken(self, body: JsonObject, given: Given) -> dict[str, AnyJson]:
        """The options and the system text, as a captured body has them."""
        taken = {key: body[key] for key in body if key in self.free and key not in given}
        system = None if SYSTEM_TEXT in given else system_of(body)
        return taken if system is None else {**taken, SYSTEM_TEXT: system}

    def event_at(self, steps: tuple[Step, ...], offset: int | None, given: Given) -> Event | None:
        """The event behind what stands at a path, and at a character of the transcript."""
        seq = self.call.encode(given.get(SYSTEM_TEXT, ""), given).event_at(steps, offset)
        return None if seq is None else self.session.events[seq]


def compaction_encodings(
    makers: Makers, call: ReleasedCompaction
) -> tuple[CompactionEncoding, ...]:
    """The encodings of a compaction's call, that for the usual way first."""
    request, _ = call.request({})
    found: list[CompactionEncoding] = []
    for way in makers.ways:
        free = _free(way, request)
        if not call.names_max_tokens:
            free |= {MAX_TOKENS}
        found.append(CompactionEncoding(makers, call, way, free))
    return tuple(found)


@attrs.frozen(eq=False)
class CompactionEncoding:
    """A compaction's call as the released generations made it, on one way."""

    _makers: Makers
    call: ReleasedCompaction
    way: Way
    free: frozenset[str]
    is_instructed = True
    is_july_compaction = False

    @property
    def open_messages(self) -> Sequence[JsonObject]:
        """The wire messages of the log, as far as they were made, that hold images."""
        return self._makers.messages.open_messages

    @property
    def is_open(self) -> bool:
        """Whether only a body tells which nodes were sent."""
        return self.call.is_open

    def body(self, given: Given) -> JsonObject:
        """The body, given its instruction and what else is free."""
        return self._made(given)[0].body

    def taken(self, body: JsonObject, given: Given) -> dict[str, AnyJson]:
        """The instruction and what else no log holds, as a captured body has it."""
        taken: dict[str, AnyJson] = {}
        if self.is_open and NODES not in given:
            taken[NODES] = self._nodes_of(body, given)
        instruction = None if INSTRUCTION in given else instruction_of(body)
        if instruction is not None:
            taken[INSTRUCTION] = instruction
        return taken | _taken(self, body, {**given, **taken})

    def event_at(self, steps: tuple[Step, ...], offset: int | None, given: Given) -> Event | None:
        """The event behind what stands at a path of the body."""
        made, makers = self._made(given)
        call, session = self.call, self._makers.session
        seq: int | None
        match made.request_steps(steps):
            case ("messages", int(place)):
                seq = makers[place]
            case ("model",) | ("maxTokens",) if call.summary_seq is not None:
                seq = call.summary_seq
            case None | ("maxTokens",):
                seq = None
            case _:
                seq = session.history.header_seqs[call.header_count - 1]
        return None if seq is None else session.events[seq]

    def _made(self, given: Given) -> tuple[WireBody | MessagesBody, tuple[int | None, ...]]:
        request, makers = self.call.request(given)
        way = self.way
        given = {
            key: value for key, value in given.items() if key != MAX_TOKENS or key in self.free
        }
        if MAX_TOKENS in given:
            request = json_object({**request, "maxTokens": given[MAX_TOKENS]})
        if way.route == "chat":
            return self._makers.chats[way.reasoning].encode(request, _options(given)), makers
        seqs = [seq for seq in makers if seq is not None]
        setting = self._makers.settings.of(
            self.call.cut, self.call.header_count, seqs, way.updates or "none"
        )
        return self._makers.messages.encode(request, setting, given), makers

    def _nodes_of(self, body: JsonObject, given: Given) -> int:
        """How many nodes a body sent: up to the one behind its last part but the instruction."""
        messages: AnyJson = body.get("messages")
        sent = len(messages) if isinstance(messages, JsonArray) else 0
        made, makers = self._made({**given, INSTRUCTION: " "})
        paths: list[tuple[Step, ...]] = [("messages", place) for place in range(sent - 1)]
        content = messages[-1].get("content") if sent and isinstance(messages[-1], dict) else None
        if isinstance(content, JsonArray):
            paths += [("messages", sent - 1, "content", at) for at in range(len(content) - 1)]
            if sent > 1 and len(content) == 1:
                told = made.body["messages"][sent - 2 : sent - 1]
                blocks = len(told[0]["content"]) if told else 0
                paths += [("messages", sent - 2, "content", at) for at in range(blocks)]
        last = -1
        for path in paths:
            match made.request_steps(path):
                case ("messages", int(place)):
                    last = max(last, place)
                case _:
                    pass
        place_of = {seq: place for place, seq in enumerate(self.call.nodes)}
        known = [place_of[seq] for seq in makers[: last + 1] if seq in place_of]
        return known[-1] + 1 if known else 0
