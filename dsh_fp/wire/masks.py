"""Captured messages with images put as the log knows them, so that equal ones are found equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dsh_fp.core.lossless import AnyJson, JsonArray, JsonObject, json_array, json_object
from dsh_fp.wire.messages_api import ATTACHED, fillings_of
from dsh_fp.wire.sketches import NO_LIST, Sketch, Sketches, role_of

_LOOKED_AT: Final = 256


class Masks:
    """Which of the captures' messages are messages of a log with something for its images."""

    def __init__(
        self, sketches: Sketches, templates: Sequence[JsonObject], messages: Iterable[AnyJson]
    ) -> None:
        self._sketches = sketches
        # By the first block that is no image, which a message of the log has unchanged.
        self._templates: dict[int, list[JsonObject]] = {}
        for template in templates:
            self._templates.setdefault(self._opening(template), []).append(template)
        self._masks: dict[int, JsonObject] = {}  # by the number of the captured message
        if templates:
            for message in messages:
                fitting = self._template_of(message)
                if fitting is not None:
                    self._masks[sketches.lists.value_number(message)] = fitting

    def masked(self, sketch: Sketch) -> Sketch:
        """The sketch of a body with its images put as the log knows them."""
        if not self._masks or sketch.at == NO_LIST:
            return sketch
        lists = self._sketches.lists
        numbers = lists.numbers(sketch.at)
        if not any(number in self._masks for number in numbers):
            return sketch
        messages = [self._masks.get(number, lists.value(number)) for number in numbers]
        body = json_object({**self._sketches.body(sketch), "messages": json_array(messages)})
        return self._sketches.sketch(body)

    def _template_of(self, message: AnyJson) -> JsonObject | None:
        if role_of(message) != "user" or not isinstance(message.get("content"), JsonArray):
            return None
        content = message["content"]
        openings = dict.fromkeys(map(self._number, content[:_LOOKED_AT]))
        for opening in (*openings, _NOTHING):
            for template in self._templates.get(opening, ())[:_LOOKED_AT]:
                if fillings_of(template, message) is not None:
                    return template
        return None

    def _opening(self, template: JsonObject) -> int:
        for block in template["content"]:
            if block["type"] != "tool_result" and block["type"] not in ATTACHED:
                return self._number(block)
        return _NOTHING

    def _number(self, block: AnyJson) -> int:
        return self._sketches.lists.value_number(block)


_NOTHING: Final = -1
