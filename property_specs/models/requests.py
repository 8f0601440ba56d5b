"""Every past request of a log, each from two prefixes that are folded again for it alone."""

from __future__ import annotations

from typing import Any

from property_specs.models import headers
from property_specs.models.acceptance import accepted
from property_specs.models.projection import messages_of


def requests_of(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One entry for each step/start: its seq, and the request or the code of why none is known."""
    return [request_at(log, event["seq"]) for event in log if event["type"] == "step/start"]


def request_at(log: list[dict[str, Any]], start: int) -> dict[str, Any]:
    """The request of the step that starts at a seq."""
    force = headers.fold(log[: output_of(log, start)])
    if force is None:
        return {"seq": start, "fault": "NO_REQUEST_HEADER"}
    if isinstance(force, str):
        return {"seq": start, "fault": force}
    derived = messages_of(accepted(log[:start]))
    if isinstance(derived, int):
        return {"seq": start, "fault": "PAYLOAD_INVALID"}
    config = force["config"]
    parts = {key: config[key] for key in headers.CONFIG_FIELDS if key in config}
    parts |= {key: force[key] for key in ("system", "tools") if key in force}
    parts["messages"] = [*force.get("messagePrefix", []), *derived]
    return {"seq": start, "request": parts}


def output_of(log: list[dict[str, Any]], start: int) -> int:
    """The seq of a step's first output, or the log's length when there is none."""
    for event in log[start + 1 :]:
        kind = event["type"]
        if kind == "step/end" or kind.startswith(("assistant/", "tool/")):
            return int(event["seq"])
    return len(log)
