"""A certificate by its definition alone: every text written out, the trees by recursion."""

from __future__ import annotations

import base64
from typing import Any

from property_specs.models import digests, merkle
from property_specs.models.json_values import write
from property_specs.models.requests import requests_of


def certificate(header: dict[str, Any], log: list[dict[str, Any]]) -> dict[str, Any]:
    """All of a certificate but its content digests."""
    leaves = [bytes.fromhex(digests.event_digest(event)) for event in log]
    steps = [_step(log, request) for request in requests_of(log)]
    entries = [digests.digest("step", write(step).encode()) for step in steps]
    trees = [(len(leaves), merkle.root(leaves)), (len(entries), merkle.root(entries))]
    session = digests.digest("session", write(header).encode())
    whole = session + b"".join(size.to_bytes(8, "big") + root for size, root in trees)
    events, requests = ({"size": size, "root": root.hex()} for size, root in trees)
    marks = base64.b64encode(b"".join(leaf[:4] for leaf in leaves)).decode()
    return {
        "format": "dsh_fp certificate",
        "version": 1,
        "rules": "dsh_fp/1",
        "root": digests.digest("log", whole).hex(),
        "session": header,
        "events": {**events, "marks": marks},
        "requests": requests,
        "steps": steps,
    }


def _step(log: list[dict[str, Any]], request: dict[str, Any]) -> dict[str, Any]:
    seq = request["seq"]
    data = log[seq]["data"] if isinstance(log[seq]["data"], dict) else {}
    place = {"turn": data.get("turn"), "step": data.get("step"), "seq": seq}
    if "fault" in request:
        return {**place, "fault": request["fault"]}
    return {**place, **digests.request_digests(request["request"])}
