"""Session ids and working directories: plain, odd, and made to escape a folder."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from property_specs.generators.json_values import half_texts, texts

ODD_IDS = (".", "..", "...", "../x", "a/b", "/", "\x00", "CON", "a~b", "~002E", "é", "A", "a", " ")


@cache
def session_ids() -> st.SearchStrategy[str]:
    """Ids of sessions, not empty ones only."""
    return st.sampled_from(ODD_IDS) | texts() | half_texts() | st.text("ab.~_-/", max_size=5)


@cache
def segments() -> st.SearchStrategy[str]:
    """File names that may or may not stand for an id."""
    return st.text("aZ0._-~02EDe/", max_size=8) | st.sampled_from(
        ["~002E", "~002E~002E", ".", "..", "", "~0041", "~002e", "~D83D~DE00", "~D83D", "a\n"]
    )
