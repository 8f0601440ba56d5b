"""Ids as file names, one UTF-16 unit at a time."""

from __future__ import annotations

import hashlib
import string

KEPT = string.ascii_letters + string.digits + "._-"


def units_of(text: str) -> list[int]:
    """The UTF-16 code units of a text."""
    encoded = text.encode("utf-16-be", "surrogatepass")
    return [256 * encoded[place] + encoded[place + 1] for place in range(0, len(encoded), 2)]


def segment_of(session_id: str) -> str | None:
    """The file name of an id; None for an empty one."""
    if session_id == "":
        return None
    if session_id == ".":
        return "~002E"
    if session_id == "..":
        return "~002E~002E"
    return "".join(
        chr(unit) if chr(unit) in KEPT else f"~{unit:04X}" for unit in units_of(session_id)
    )


def bucket_of(cwd: str | None) -> str:
    """The folder of a working directory."""
    if cwd is None:
        return "_no-cwd"
    whole = ""
    for character in cwd.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass"):
        whole += "�" if 0xD800 <= ord(character) <= 0xDFFF else character
    return "cwd-" + hashlib.sha256(whole.encode("utf-8")).hexdigest()[:12]
