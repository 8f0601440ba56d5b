"""`examples/certificate.mjs`: the definition followed in another language, with no code shared."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dsh_fp import Session, encode_log, read, unwrap
from dsh_fp.core.certificates import certify
from dsh_fp.core.proofs import prove_extension, prove_request
from tests.cli.logs import GARDEN
from tests.cli.test_strangers import evil_log
from tests.shared import REPOSITORY

SCRIPT = str(REPOSITORY / "examples" / "certificate.mjs")
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="there is no node to run the script with")

ODD = {
    "10": 1e21,
    "9": 1e-7,
    "__proto__": [0.1, 5e-324, 1.2345678901234568e20, -1.5],
    "b": '"\\/\b\x1f\x7f\u2028é漢🛶\ud800 \udc00',
    "a": {"": None, "x": [True, False, [], {}]},
}


def odd_session() -> Session:
    """A session of values that two languages could well write in two ways."""
    session = unwrap(Session.create("odd \ud800 é", created_at=0.5, cwd="/x/\u2028"))
    for value in (ODD, list(ODD.values()), ODD["b"], 0):
        session = unwrap(session.append("x/odd", value, time=2**53 - 1))
    return unwrap(session.append("step/start", {"turn": ODD, "step": "\udc00"}, time=0))


def script(*words: str) -> tuple[int, str]:
    """The script's exit code and what it prints."""
    assert NODE is not None
    done = subprocess.run(
        [NODE, SCRIPT, *words], capture_output=True, encoding="utf-8", check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["garden", "odd", "evil", "empty"])
def test_another_language_gets_the_same_root(tmp_path: Path, name: str) -> None:
    """Sizes, trees, steps and the root of logs of all kinds."""
    sessions: dict[str, Callable[[], Session]] = {
        "garden": lambda: unwrap(read(GARDEN)).session,
        "odd": odd_session,
        "evil": lambda: evil_log().session,
        "empty": lambda: unwrap(Session.create()),
    }
    session = sessions[name]()
    (tmp_path / "log").write_bytes(encode_log(session.header, session.events))
    (tmp_path / "c").write_text(certify(session).to_text(), encoding="utf-8")

    assert script("log", str(tmp_path / "log"), str(tmp_path / "c")) == (0, "holds\n")


def test_another_language_sees_a_change(tmp_path: Path) -> None:
    """One letter is another root of the events."""
    content = Path(GARDEN).read_bytes()
    (tmp_path / "log").write_bytes(content.replace(b"Rauke", b"Raute", 1))
    (tmp_path / "c").write_text(certify(unwrap(read(GARDEN)).session).to_text(), encoding="utf-8")

    code, told = script("log", str(tmp_path / "log"), str(tmp_path / "c"))

    assert code == 1
    assert told.startswith("the root of the events is ")


@pytest.mark.parametrize("seq", [2, 52, 80])
def test_another_language_checks_proofs_of_requests(tmp_path: Path, seq: int) -> None:
    """The first, one in between, the last; and none for another root."""
    session = unwrap(read(GARDEN)).session
    proof = unwrap(prove_request(session, seq))
    (tmp_path / "p").write_text(proof.to_text(), encoding="utf-8")

    assert script("proof", str(tmp_path / "p"), proof.root) == (0, "holds\n")
    assert script("proof", str(tmp_path / "p"), "0" * 64)[0] == 1
    wire = json.loads(proof.to_text())
    wire["step"]["step"] = 9
    (tmp_path / "q").write_text(json.dumps(wire), encoding="utf-8")
    assert script("proof", str(tmp_path / "q"), proof.root)[0] == 1


@pytest.mark.parametrize("size", [0, 1, 37, 64, 90])
def test_another_language_checks_proofs_of_extensions(tmp_path: Path, size: int) -> None:
    """Of nothing, of one event, of a full tree, of all."""
    session = unwrap(read(GARDEN)).session
    proof = unwrap(prove_extension(session, size))
    (tmp_path / "p").write_text(proof.to_text(), encoding="utf-8")

    assert script("proof", str(tmp_path / "p"), proof.root, proof.old.root) == (0, "holds\n")
    assert script("proof", str(tmp_path / "p"), proof.root, "0" * 64)[0] == 1
