"""Write garden-capture.ndjson: what a proxy beside the garden session could have recorded.

    python examples/make_capture.py            writes examples/garden-capture.ndjson
    python examples/make_capture.py --check    says whether the file is what this writes

The bodies are what the log says was sent, with what makes a capture worth checking: the proxy
started after the first request, one request was sent twice, in one of them a middleware wrote
the degree signs of tool results as plain letters, and a request that names the conversation is
none of the session's. The call of the compaction has a system text that no log holds.
"""

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from dsh_fp import past_requests, read, thaw, to_text, unwrap
from dsh_fp.wire.chat_completions import encode_chat_body
from dsh_fp.wire.compaction import compactions

LOG: Final = Path(__file__).with_name("garden.jsonl")
CAPTURE: Final = Path(__file__).with_name("garden-capture.ndjson")

SUMMARIZER: Final = "Sum up this talk between a gardener and Mira. Keep crops, beds and dates."
NAMING: Final = {
    "model": "mira-small",
    "messages": [{"role": "user", "content": "Three words for a talk about kale."}],
    "stream": False,
}


def bodies() -> list[Any]:
    """The captured bodies, in order."""
    session = unwrap(read(LOG)).session
    made = [
        thaw(encode_chat_body(past.request.unwrap(), thinking="enabled").body)
        for past in past_requests(session)
    ]
    for message in made[4]["messages"]:
        if message["role"] == "tool":
            message["content"] = message["content"].replace("\u00b0C", "deg C")
    (compaction,) = compactions(session)
    summing = thaw(compaction.encode(SUMMARIZER, {}).wire.body)
    return [NAMING, made[1], made[2], made[3], made[3], made[4], summing, made[5]]


def content() -> bytes:
    """The bytes of the capture: one object a line, the body in it."""
    lines = (
        to_text({"i": number, "path": "/chat/completions", "body": body})
        for number, body in enumerate(bodies())
    )
    return "".join(f"{line}\n" for line in lines).encode()


def main() -> int:
    """Write or compare, as the arguments say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    if parser.parse_args().check:
        same = CAPTURE.exists() and CAPTURE.read_bytes() == content()
        print(f"{CAPTURE.name} is {'as this writes it' if same else 'NOT what this writes'}")
        return 0 if same else 1
    CAPTURE.write_bytes(content())
    print(f"wrote {CAPTURE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
