"""Where generated logs are kept, so that a second run finds them.

A file is named for its session, as the reader expects.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.generate import (
    CWD,
    FIRST_TIME_MS,
    USER,
    Generator,
    header_text,
    text_block,
    to_text,
)
from benchmarks.hostile import hostile_lines
from benchmarks.profiles import Profile

SCRIPTS: Final = tuple(
    Path(__file__).with_name(name)
    for name in ("files.py", "generate.py", "hostile.py", "profiles.py")
)
# The folder for the sessions of generate.CWD.
BUCKET: Final = f"cwd-{hashlib.sha256(CWD.encode()).hexdigest()[:12]}"


def scripts_digest() -> str:
    """Changes when what is generated may have changed."""
    together = b"".join(script.read_bytes() for script in SCRIPTS)
    return hashlib.sha256(together).hexdigest()[:12]


def log_path(folder: Path, profile: Profile, events: int, seed: int) -> Path:
    """The generated log, written now unless these very scripts already wrote it."""
    path = folder / f"{profile.name}-{events}-{seed}-{scripts_digest()}.jsonl"
    if not path.is_file():
        write_lines(path, Generator(path.stem, profile, events, seed).lines())
    return path


def hostile_path(folder: Path, kind: str, count: int) -> Path:
    """The hostile log of a kind, with so many replacements or changes."""
    path = folder / f"hostile-{kind}-{count}-{scripts_digest()}.jsonl"
    if not path.is_file():
        write_lines(path, hostile_lines(path.stem, kind, count))
    return path


def sessions_root(folder: Path, profile: Profile, sessions: int, events: int) -> Path:
    """A root folder of so many sessions, the same but for their ids; whole or not there."""
    root = folder / f"root-{profile.name}-{sessions}-{events}-{scripts_digest()}"
    if not root.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        written = Path(tempfile.mkdtemp(dir=folder, prefix=f"{root.name}."))
        _, *lines = Generator("session", profile, events, 0).lines()
        for number in range(sessions):
            session_id = f"session-{number}"
            header = header_text(session_id)
            write_lines(written / BUCKET / f"{session_id}.jsonl", iter([header, *lines]))
        written.rename(root)
    return root


def single_line_path(folder: Path, size: int, *, wide_text: bool) -> Path:
    """A log of one turn, one prompt of which is a line of about so many bytes."""
    kind = "wide" if wide_text else "ascii"
    path = folder / f"single-{kind}-{size}-{scripts_digest()}.jsonl"
    if not path.is_file():
        write_lines(path, single_line_log(path.stem, size, wide_text=wide_text))
    return path


def single_line_log(session_id: str, size: int, *, wide_text: bool) -> Iterator[str]:
    """The lines of such a log."""
    sentence = "one very long paste, "
    text = sentence * (size // len(sentence))
    if wide_text:
        text = f"🌱{text}"
    header = {"type": "session", "version": 0, "id": session_id, "createdAt": FIRST_TIME_MS}
    trigger = {"kind": "message", "source": USER}
    content: dict[str, object] = {"content": [text_block(text)], "source": USER}
    yield to_text(header)
    events: tuple[tuple[str, dict[str, object]], ...] = (
        ("turn/start", {"turn": 1, "trigger": trigger}),
        ("user/message", content),
        ("turn/end", {"turn": 1, "reason": {"kind": "completed"}}),
    )
    for seq, (event_type, data) in enumerate(events):
        event = {"type": event_type, "seq": seq, "time": FIRST_TIME_MS + seq, "data": data}
        if event_type == "user/message":
            event["surfaceOp"] = "append"
        yield to_text(event)


def write_lines(path: Path, lines: Iterator[str]) -> None:
    """Write a whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
    Path(name).replace(path)
