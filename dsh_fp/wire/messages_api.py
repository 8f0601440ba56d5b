"""The Messages-API body of a request, as the adapter of that time sent it, key order included.

In here: how a request becomes a body. What a log tells beside the request comes in as Setting:
how the route takes system texts, and which changes of tools are in force.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

import attrs

from dsh_fp.core.json_paths import Step
from dsh_fp.core.lossless import (
    AnyJson,
    JsonArray,
    JsonObject,
    decode_plain,
    freeze,
    json_array,
    json_object,
    parse_value,
    text_of,
)
from dsh_fp.core.rejection import Code, Rejection
from dsh_fp.wire.bodies import blocks_of, messages_of, picked, text_of_blocks

ToolUpdates = Literal["none", "additions", "both"]
"""Which changes of tools a route is told of in the middle of a conversation."""

TOOL_UPDATES: Final[tuple[ToolUpdates, ...]] = ("none", "additions", "both")
USUAL_EFFORT: Final = "high"
NO_EFFORT: Final = "off"
ATTACHED: Final = frozenset({"image", "file"})
"""The blocks of a request that are sent as something no log holds."""

_HEAD: Final = MappingProxyType({"model": "model"})
_TAIL: Final = MappingProxyType({"temperature": "temperature", "stop_sequences": "stop"})
_TOOL: Final = MappingProxyType(
    {"name": "name", "description": "description", "input_schema": "parameters"}
)
_CARRIED: Final = MappingProxyType(
    {
        "model": ("model",),
        "max_tokens": ("maxTokens",),
        "thinking": ("reasoningEffort",),
        "output_config": ("reasoningEffort",),
        "temperature": ("temperature",),
        "stop_sequences": ("stop",),
    }
)


@attrs.frozen(eq=False)
class Series:
    """The tools that a series of requests began with, and the changes that are in force since.

    Shapes:  `updates` has, for the place in the request of each developer message in force,
             the definitions of the tools it adds, by name; None where the log has none.
    """

    tools: JsonArray
    updates: Mapping[int, Mapping[str, AnyJson]]


@attrs.frozen(eq=False)
class Setting:
    """What a log tells of a request beside the request itself.

    With `in_history` a system text that something precedes stays where it is.
    """

    in_history: bool = False
    updates: ToolUpdates = "none"
    series: Series | None = None


PLAIN: Final = Setting()


@attrs.frozen(eq=False)
class _Group:
    """One wire message while it is put together: what each message of the request gives it."""

    role: str
    places: list[int]
    parts: list[tuple[JsonObject, ...]]


@attrs.frozen(eq=False)
class MessagesBody:
    """The JSON body of one request, and which part of the request each part comes from.

    Shapes:  `tool_places` has, for each tool of the body, its place in the request's tools;
             None for one that the request no longer has.
    """

    body: JsonObject
    _groups: tuple[_Group, ...]
    _system: int | None
    _tool_places: tuple[int | None, ...]
    # For a wire message with attached blocks: how many blocks stand for each of its own.
    _sizes: Mapping[int, tuple[int, ...]]

    def request_steps(self, path: tuple[Step, ...]) -> tuple[Step, ...] | None:
        """Where in the request the value at a path of the body comes from; None for nowhere.

        Of a wire message as a whole it is the first message that was merged into it.
        """
        match path:
            case ("messages", int(place), "content", int(block), *_):
                owners = self._owners(place)
                return ("messages", owners[block]) if 0 <= block < len(owners) else None
            case ("messages", int(place), *_):
                owners = self._owners(place)
                return ("messages", owners[0]) if owners else None
            case ("system", *_):
                return None if self._system is None else ("messages", self._system)
            case ("tools", int(place), *_):
                at = self._tool_places[place] if 0 <= place < len(self._tool_places) else place
                return ("tools",) if at is None else ("tools", at)
            case ("tools", *_):
                return ("tools",)
            case (str(key), *_) if key in _CARRIED:
                return _CARRIED[key]
            case _:
                return None

    def _owners(self, place: int) -> list[int]:
        """The message of the request behind each block of a wire message."""
        if not 0 <= place < len(self._groups):
            return []
        group = self._groups[place]
        owned = [
            (block, owner)
            for owner, part in zip(group.places, group.parts, strict=True)
            for block in part
        ]
        if group.role == "user":
            owned.sort(key=lambda entry: _after_results(entry[0]))
        sizes = self._sizes.get(place, (1,) * len(owned))
        return [owner for (_, owner), size in zip(owned, sizes, strict=True) for _ in range(size)]


class MessagesBodies:
    """Makes the bodies of many requests; what they share is encoded once and shared."""

    def __init__(self) -> None:
        # By the identity of what it was made from, which is kept alive beside it.
        self._blocks: dict[tuple[int, AnyJson], tuple[AnyJson, tuple[JsonObject, ...]]] = {}
        self._joined: dict[tuple[str, tuple[int, ...]], tuple[AnyJson, JsonObject, bool]] = {}
        self._tools: dict[tuple[int, bool], tuple[AnyJson, JsonObject]] = {}
        self.open_messages: list[JsonObject] = []
        """The wire messages with attached blocks that were made so far."""

    def encode(
        self,
        request: JsonObject,
        setting: Setting = PLAIN,
        options: Mapping[str, AnyJson] = MappingProxyType({}),
    ) -> MessagesBody:
        """The body of one request. O(m) for m messages, and the text of those not seen yet.

        `options` may hold `max_tokens`, for a request without, and `images`: what stands for
        each attached block, in the order of the body. Without that the block stands for itself.

        Law:     messages_bodies_match_model.
        Source:  docs/reference/wire.md, "Messages API".
        """
        plan = _tool_plan(request, setting)
        groups, system, system_text = self._grouped(request, setting, plan)
        parts = picked(request, _HEAD)
        parts["stream"] = True
        fillings = iter(options.get("images") or ())
        sizes: dict[int, tuple[int, ...]] = {}
        messages: list[JsonObject] = []
        for place, group in enumerate(groups):
            message, is_open = self._wire_message(group)
            if is_open:
                message, sizes[place] = _filled(message, fillings)
            messages.append(message)
        parts["messages"] = json_array(messages)
        if "maxTokens" in request:
            parts["max_tokens"] = request["maxTokens"]
        elif "max_tokens" in options:
            parts["max_tokens"] = options["max_tokens"]
        effort = request.get("reasoningEffort", USUAL_EFFORT)
        parts["thinking"] = _DISABLED if effort == NO_EFFORT else _ENABLED
        if effort != NO_EFFORT:
            parts["output_config"] = json_object({"effort": effort})
        if system_text:
            parts["system"] = system_text
        if plan.tools:
            parts["tools"] = json_array(self._tool(*tool) for tool in plan.tools)
        parts |= picked(request, _TAIL)
        return MessagesBody(json_object(parts), tuple(groups), system, plan.places, sizes)

    def _grouped(
        self, request: JsonObject, setting: Setting, plan: _ToolPlan
    ) -> tuple[list[_Group], int | None, str]:
        """The wire messages, and the system text with the place it comes from."""
        groups: list[_Group] = []
        waiting: list[tuple[int, tuple[JsonObject, ...]]] = []
        system, system_text = None, ""
        model = request.get("model")

        def put(role: str, place: int, blocks: tuple[JsonObject, ...]) -> None:
            if not blocks:
                return
            if not groups or groups[-1].role != role:
                groups.append(_Group(role, [], []))
            groups[-1].places.append(place)
            groups[-1].parts.append(blocks)

        def put_waiting() -> None:
            for each in waiting:
                put("system", *each)
            waiting.clear()

        for place, message in enumerate(messages_of(request)):
            if not isinstance(message, JsonObject):
                continue
            match message.get("role"):
                case "system":
                    text = text_of_blocks(message.get("content"))
                    if setting.in_history and (groups or waiting):
                        waiting.append((place, self._text(message, text)))
                    else:
                        system, system_text = place, text
                case "developer":
                    waiting.append((place, plan.developer_blocks(place, message)))
                case "assistant":
                    blocks = self._made(message, model)
                    if blocks:
                        put_waiting()
                    put("assistant", place, blocks)
                case _:
                    put("user", place, self._made(message, None))
        put_waiting()
        return groups, system, system_text

    def _made(self, message: JsonObject, model: AnyJson) -> tuple[JsonObject, ...]:
        key = (id(message), model if isinstance(model, str) else None)
        known = self._blocks.get(key)
        if known is None:
            made = tuple(_wire_blocks(message, model))
            known = self._blocks[key] = (message, made)
        return known[1]

    def _text(self, message: JsonObject, text: str) -> tuple[JsonObject, ...]:
        key = (id(message), None)
        known = self._blocks.get(key)
        if known is None:
            made = (json_object({"type": "text", "text": text}),) if text else ()
            known = self._blocks[key] = (message, made)
        return known[1]

    def _wire_message(self, group: _Group) -> tuple[JsonObject, bool]:
        """The message of a group, a user's results first, and whether it has attached blocks."""
        key = (group.role, tuple(map(id, group.parts)))
        known = self._joined.get(key)
        if known is None:
            blocks = [block for part in group.parts for block in part]
            if group.role == "user":
                blocks.sort(key=_after_results)
            made = json_object({"role": group.role, "content": json_array(blocks)})
            known = (tuple(group.parts), made, has_attached(made))
            self._joined[key] = known
            if known[2]:
                self.open_messages.append(made)
        return known[1:]

    def _tool(self, tool: AnyJson, deferred: bool) -> JsonObject:
        known = self._tools.get((id(tool), deferred))
        if known is None:
            fields = tool if isinstance(tool, JsonObject) else json_object({})
            parts = picked(fields, _TOOL)
            if deferred or fields.get("deferLoading") is True:
                parts["defer_loading"] = True
            known = self._tools[id(tool), deferred] = (tool, json_object(parts))
        return known[1]


def _after_results(block: JsonObject) -> bool:
    """The place of a block in a user's message: the results come first."""
    return bool(block["type"] != "tool_result")


_ENABLED: Final = json_object({"type": "enabled"})
_DISABLED: Final = json_object({"type": "disabled"})


# ---- one message -----------------------------------------------------------------------------


def _wire_blocks(message: JsonObject, model: AnyJson) -> Iterator[JsonObject]:
    content = message.get("content")
    match message.get("role"):
        case "assistant":
            yield from _assistant_blocks(message, model)
        case "tool":
            parts: dict[str, AnyJson] = {"type": "tool_result"}
            parts |= picked(message, {"tool_use_id": "toolCallId"})
            parts["content"] = json_array(_said(content))
            parts |= picked(message, {"is_error": "isError"})
            yield json_object(parts)
        case _:
            yield from _said(content)


def _said(content: AnyJson) -> Iterator[JsonObject]:
    """The blocks of a user's message or of a result that are sent."""
    for block in blocks_of(content):
        if block.get("type") == "text":
            if block.get("text"):
                yield json_object({"type": "text", "text": block["text"]})
        elif block.get("type") in ATTACHED:
            yield block


def _assistant_blocks(message: JsonObject, model: AnyJson) -> Iterator[JsonObject]:
    blocks = list(blocks_of(message.get("content")))
    replayed = _replayed(message, blocks, model)
    for place, block in enumerate(blocks):
        match block.get("type"):
            case "text":
                if block.get("text"):
                    yield json_object({"type": "text", "text": block["text"]})
            case "reasoning":
                parts = {"type": "thinking", **picked(block, {"thinking": "text"})}
                if replayed is not None:
                    parts |= picked(replayed[place], {"signature": "signature"})
                yield json_object(parts)
            case "tool-call":
                parts = {"type": "tool_use", **picked(block, {"id": "id", "name": "name"})}
                parts["input"] = _input(block.get("arguments"))
                yield json_object(parts)
            case _:
                pass


def _replayed(
    message: JsonObject, blocks: list[JsonObject], model: AnyJson
) -> list[JsonObject] | None:
    """What the provider said of each block of an answer, where it may be told again."""
    source: AnyJson = message.get("source")
    state: AnyJson = source.get("replayState") if isinstance(source, JsonObject) else None
    response = state.get("response") if isinstance(state, JsonObject) else None
    kept = state.get("blocks") if isinstance(state, JsonObject) else None
    if not (isinstance(response, JsonObject) and isinstance(kept, JsonArray)):
        return None
    if response.get("kind") != "deepseek-messages" or response.get("version") != 1:
        return None
    if not isinstance(model, str) or not (response.get("model") == source.get("model") == model):
        return None
    told = [entry for entry in kept if isinstance(entry, JsonObject)]
    if len(told) != len(kept):
        return None
    types = [entry.get("type") for entry in told]
    return told if types == [block.get("type") for block in blocks] else None


def _input(arguments: AnyJson) -> JsonObject:
    """The arguments of a call as JavaScript parses them, if an object; else an empty one."""
    value = parse_value(arguments) if isinstance(arguments, str) else None
    if isinstance(value, Rejection) and value.code is Code.NOT_JSON:
        plain, fault = decode_plain(arguments)
        value = freeze(_as_written(plain), from_text=True) if fault is None else None
    return value if isinstance(value, JsonObject) else json_object({})


def _as_written(root: AnyJson) -> AnyJson:
    """A plain value with the numbers that JavaScript writes otherwise: -0 as 0, infinities as null.

    By an explicit stack: the model decides how deep its arguments are.
    """
    top = [root]
    stack: list[AnyJson] = [top]
    while stack:
        container = stack.pop()
        pairs = container.items() if isinstance(container, dict) else enumerate(container)
        for key, value in list(pairs):
            if isinstance(value, dict | list):
                stack.append(value)
            elif isinstance(value, float) and not math.isfinite(value):
                container[key] = None
            elif isinstance(value, float) and value == 0:
                container[key] = 0
    return top[0]


# ---- tools -----------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class _ToolPlan:
    """Which tools a body has, each with whether it is deferred, and which changes it tells."""

    tools: tuple[tuple[AnyJson, bool], ...]
    places: tuple[int | None, ...]
    told: Mapping[int, tuple[JsonObject, ...]] = MappingProxyType({})
    tells_texts: bool = True

    def developer_blocks(self, place: int, message: JsonObject) -> tuple[JsonObject, ...]:
        """What is sent of the developer message at a place."""
        if not self.tells_texts:
            return ()
        told = iter(self.told.get(place, ()))
        blocks: list[JsonObject] = []
        for block in blocks_of(message.get("content")):
            if block.get("type") == "text":
                if block.get("text"):
                    blocks.append(json_object({"type": "text", "text": block["text"]}))
            elif block.get("type") in _CHANGES:
                change = next(told, _UNTOLD)
                if change is not _UNTOLD:
                    blocks.append(change)
        return tuple(blocks)


_CHANGES: Final = MappingProxyType(
    {"tool-addition": "tool_addition", "tool-removal": "tool_removal"}
)
_UNTOLD: Final = json_object({})


def _tool_plan(request: JsonObject, setting: Setting) -> _ToolPlan:
    """The tools of a body, and the changes it tells, as the route takes them."""
    listed = request.get("tools")
    tools: Sequence[AnyJson] = listed if isinstance(listed, JsonArray) else ()
    plain = _ToolPlan(tuple((tool, False) for tool in tools), tuple(range(len(tools))))
    if setting.updates == "none" or setting.series is None:
        return plain
    changes = list(_changes(request, setting.series))
    if not _explain(tools, setting.series.tools, changes):
        return attrs.evolve(plain, tells_texts=False)
    place_of = {tool["name"]: place for place, tool in enumerate(tools)}
    first = {tool["name"] for tool in setting.series.tools}
    only_additions = setting.updates == "additions"
    made = [
        (tools[place_of[tool["name"]]] if tool["name"] in place_of else tool, False)
        for tool in setting.series.tools
        if tool["name"] in place_of or not only_additions
    ]
    told: dict[int, list[JsonObject]] = {}
    added: dict[str, AnyJson] = {}
    for place, kind, name, definition in changes:
        is_new = kind == "tool-addition" and name not in first and name not in added
        if kind == "tool-addition" and name not in first:
            added[name] = definition
        # A route that takes additions alone hears of each tool once, and of none that is gone.
        is_told = not only_additions or (is_new and name in place_of)
        reference = json_object({"type": "tool_reference", "name": name})
        block = json_object({"type": _CHANGES[kind], "tool": reference})
        told.setdefault(place, []).append(block if is_told else _UNTOLD)
    for name, definition in added.items():
        if name in place_of:
            made.append((tools[place_of[name]], True))
        elif not only_additions:
            made.append((definition, True))
    places = tuple(place_of.get(tool["name"]) for tool, _ in made)
    return _ToolPlan(tuple(made), places, {place: tuple(each) for place, each in told.items()})


def _changes(request: JsonObject, series: Series) -> Iterator[tuple[int, str, str, AnyJson]]:
    """Each change of tools in force: place, kind, name, and the definition of what is added."""
    messages = messages_of(request)
    for place, definitions in sorted(series.updates.items()):
        for block in blocks_of(messages[place].get("content")):
            kind, name = block.get("type"), block.get("toolName")
            if isinstance(kind, str) and kind in _CHANGES and isinstance(name, str):
                yield place, kind, name, definitions.get(name)


def _explain(
    tools: Sequence[AnyJson],
    first: Sequence[AnyJson],
    changes: Iterable[tuple[int, str, str, AnyJson]],
) -> bool:
    """Whether the changes turn the first tools into those in force, in whatever order."""
    held = {tool["name"]: tool for tool in first}
    for _, kind, name, definition in changes:
        if kind == "tool-addition":
            if definition is None:
                return False
            held[name] = definition
        else:
            held.pop(name, None)
    wanted = {tool["name"]: tool for tool in tools}
    if held.keys() != wanted.keys() or len(wanted) != len(tools):
        return False
    return all(
        held[name] is tool or text_of(held[name]) == text_of(tool) for name, tool in wanted.items()
    )


# ---- what no log holds -----------------------------------------------------------------------


def _filled(message: JsonObject, fillings: Iterator[AnyJson]) -> tuple[JsonObject, tuple[int, ...]]:
    """A wire message with what stands for its attached blocks, as far as that is given.

    With how many blocks then stand for each of its own.
    """
    made: list[AnyJson] = []
    sizes: list[int] = []
    for block in message["content"]:
        before = len(made)
        made += _filled_block(block, fillings)
        sizes.append(len(made) - before)
    return json_object({**message, "content": json_array(made)}), tuple(sizes)


def _filled_block(block: JsonObject, fillings: Iterator[AnyJson]) -> Iterable[AnyJson]:
    if block["type"] == "tool_result":
        inner = [each for held in block["content"] for each in _filled_block(held, fillings)]
        return (json_object({**block, "content": json_array(inner)}),)
    filling = next(fillings, None) if block["type"] in ATTACHED else None
    return (block,) if filling is None else filling


def has_attached(message: JsonObject) -> bool:
    """Whether a wire message, not filled, has attached blocks."""
    return message["role"] == "user" and attached_count(message) > 0


def attached_count(message: JsonObject) -> int:
    """How many attached blocks a wire message, not filled, has."""
    return sum(
        block["type"] in ATTACHED
        if block["type"] != "tool_result"
        else sum(inner["type"] in ATTACHED for inner in block["content"])
        for block in message["content"]
    )


def fillings_of(
    template: JsonObject, message: AnyJson, *, strict: bool = True
) -> list[JsonArray] | None:
    """What stands for the attached blocks of a wire message in a captured one.

    None where there is nothing at the place of one of them and, if `strict`, where the two
    differ in anything else. An attached block is sent as a text, as an image, or as a text
    and an image behind it.
    """
    if not isinstance(message, JsonObject) or tuple(message) != tuple(template):
        return None
    if message["role"] != template["role"]:
        return None
    return _fillings(template["content"], message["content"], strict=strict)


def _fillings(
    template: Iterable[JsonObject], content: AnyJson, *, strict: bool
) -> list[JsonArray] | None:
    if not isinstance(content, JsonArray):
        return None
    found: list[JsonArray] = []
    at = 0
    for block in template:
        if block["type"] in ATTACHED:
            taken = _one_attached(content, at)
            if not taken:
                return None
            found.append(json_array(taken))
            at += len(taken)
            continue
        its: AnyJson = content[at] if at < len(content) else None
        at += 1
        if block["type"] == "tool_result":
            held = its.get("content") if isinstance(its, JsonObject) else None
            inner = _fillings(block["content"], held, strict=strict)
            if inner is None:
                return None
            found += inner
            ours, theirs = ({**each, "content": 0} for each in (block, its))
        else:
            ours, theirs = block, its
        if strict and text_of(ours) != text_of(theirs):
            return None
    return found if at == len(content) or not strict else None


def _one_attached(content: JsonArray, at: int) -> list[AnyJson]:
    taken: list[AnyJson] = []
    for kinds in (("text",), ("image", "document")):
        its: AnyJson = content[at] if at < len(content) else None
        if isinstance(its, JsonObject) and its.get("type") in kinds:
            taken.append(its)
            at += 1
    return taken
