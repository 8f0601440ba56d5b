"""Finding secrets in one text, and inside the JSON text that it may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from dsh_fp.core.lossless import text_of
from dsh_fp.core.redaction.embedded import Token, tokens_of

_MOST_INSIDE: Final = 6  # JSON texts inside JSON texts; quoting doubles the text at each level


class Hit(NamedTuple):
    """A secret in a text, half-open.

    `begins` is false where it began in an earlier piece of the text. `quote` is what has to
    stand around a mark that takes the place of a number of a JSON text.
    """

    start: int
    stop: int
    kind: str
    secret: str
    begins: bool = True
    quote: str = ""


Look = Callable[[str], Iterable[Hit]]


def found_within(text: str, look: Look, depth: int = 0) -> Iterator[Hit]:
    """What is found in a text, and in the texts of a JSON text; told in places of the whole.

    In a JSON text what is found is kept to its texts and numbers, so that it stays one. It
    recurses into JSON text inside JSON text, a few levels deep whatever the text.
    """
    tokens = tokens_of(text) if depth < _MOST_INSIDE else None
    if tokens is None:
        yield from look(text)
        return
    for hit in look(text):
        yield from _confined(hit, text, tokens)
    for token in tokens:
        if token.is_text:
            for hit in found_within(token.value, look, depth + 1):
                start, stop = token.outward(hit.start, hit.stop)
                quote = _quoted_once(hit.quote)
                yield hit._replace(start=start, stop=stop, quote=quote)


def whole_of(text: str, kind: str) -> Iterator[Hit]:
    """All of a text as one secret; of a JSON text all that its texts and numbers say, keys not."""
    tokens = tokens_of(text)
    if tokens is None:
        if text:
            yield Hit(0, len(text), kind, text)
        return
    for token in tokens:
        if not token.is_key and token.value:
            quote = "" if token.is_text else '"'
            yield Hit(token.start, token.stop, kind, token.value, quote=quote)


def _confined(hit: Hit, text: str, tokens: Sequence[Token]) -> Iterator[Hit]:
    """A find in a JSON text, cut to what stands in its texts; a number is taken whole."""
    low, high = 0, len(tokens)
    while low < high:  # the first token that ends behind the start of the find
        middle = (low + high) // 2
        if tokens[middle].stop <= hit.start:
            low = middle + 1
        else:
            high = middle
    is_spelled_otherwise = hit.secret != text[hit.start : hit.stop]
    for place in range(low, len(tokens)):
        token = tokens[place]
        if token.start >= hit.stop:
            return
        if not token.is_text:
            yield Hit(token.start, token.stop, hit.kind, token.value, quote='"')
            continue
        start, stop = token.inward(hit.start, hit.stop)
        if start < stop:
            is_whole = token.start <= hit.start and hit.stop <= token.stop
            known = hit.secret if is_whole and is_spelled_otherwise else token.value[start:stop]
            yield Hit(*token.outward(start, stop), hit.kind, known)


def forms_of(secret: str) -> Iterator[str]:
    """A secret, and how it is spelled in JSON text, in JSON text inside that, and in a URL."""
    yield secret
    once = text_of(secret)[1:-1]
    for spelled in (once, once.replace("/", "\\/"), _BEYOND_ASCII.sub(_escaped, once)):
        yield spelled
        yield _quoted_once(spelled)
    yield _NOT_IN_URLS.sub(_percent, secret)


def _quoted_once(text: str) -> str:
    """A text as it stands in JSON text, if it holds no control characters."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_NOT_IN_URLS: Final = re.compile(r"[^A-Za-z0-9_.~-]")
_LARGEST_UNIT: Final = 0xFFFF


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code <= _LARGEST_UNIT:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode(errors="surrogatepass"))
