"""Lossless JSON: the immutable values a log holds, and their one exact text."""

from dsh_fp.core.lossless.frozen import (
    AnyJson,
    Json,
    JsonArray,
    JsonObject,
    json_array,
    json_equal,
    json_object,
    thaw,
)
from dsh_fp.core.lossless.reading import (
    SAFE_DEPTH,
    decode_clean,
    decode_exact,
    decode_plain,
    is_deep,
    parse,
    parse_value,
    revive,
)
from dsh_fp.core.lossless.snapshot import (
    MAX_DEPTH,
    depth_of,
    freeze,
    join_halves,
    ordered_items,
    snapshot,
    to_text,
)
from dsh_fp.core.lossless.writing import number_text, text_of

__all__ = [
    "MAX_DEPTH",
    "SAFE_DEPTH",
    "AnyJson",
    "Json",
    "JsonArray",
    "JsonObject",
    "decode_clean",
    "decode_exact",
    "decode_plain",
    "depth_of",
    "freeze",
    "is_deep",
    "join_halves",
    "json_array",
    "json_equal",
    "json_object",
    "number_text",
    "ordered_items",
    "parse",
    "parse_value",
    "revive",
    "snapshot",
    "text_of",
    "thaw",
    "to_text",
]
