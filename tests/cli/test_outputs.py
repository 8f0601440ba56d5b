"""Files that commands write: never one they read, and pairs whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from dsh_fp import unwrap
from dsh_fp.signing import check_signature
from tests.cli.logs import GARDEN, document, run, sound, spawn, write
from tests.cli.test_certify import PRIVATE, PUBLIC

OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(31) + b"\1").private_bytes(
    Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
)
SERVER = b"import sys\nsys.exit(1)\n"
JUDGED = b"class Judged:\n    def accept(self, *_):\n        return None\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, the working directory of the test, with a file for each input."""
    shutil.copy(GARDEN, tmp_path / "log")
    write(tmp_path, PRIVATE, "key")
    write(tmp_path, b'{"content":[],"source":{"kind":"user"}}', "edit")
    write(tmp_path, b"abcdefgh\n", "values")
    write(tmp_path, SERVER, "own_server.py")
    write(tmp_path, JUDGED, "judged_module.py")
    monkeypatch.chdir(tmp_path)
    assert run("certify", "log", "-o", "cert").exit_code == 0
    return tmp_path


# Each call, and which of its files is both read and to be written.
CALLS = [
    ("certify log -o {} --force", "log"),
    ("certify log -o {} --sign key --force", "log"),
    ("certify log -o {} --sign key --force", "key"),
    ("prove log --seq 2 -o {} --force", "log"),
    ("prove log --consistency cert -o {} --force", "log"),
    ("prove log --consistency cert -o {} --force", "cert"),
    ("certify log -o {}", "log"),
    ("what-if log -o {}", "log"),
    ("what-if log --replace 1=edit -o {}", "edit"),
    ("what-if log --insert 1=edit -o {}", "edit"),
    ("minimise log -o {} -- false", "log"),
    ("redact log --rule none --values values -o {}", "log"),
    ("redact log --rule none --values values -o {}", "values"),
    ("conform --junit {} -- python own_server.py", "own_server.py"),
    (
        "conform --junit {} --only first_fault_wins --python judged_module:Judged",
        "judged_module.py",
    ),
]


def same(path: Path) -> str:
    return path.name


def spelled(path: Path) -> str:
    (path.parent / "sub").mkdir()
    return os.path.join("sub", "..", ".", path.name)


def absolute(path: Path) -> str:
    return str(path)


def hard_link(path: Path) -> str:
    os.link(path, path.parent / "hard")
    return "hard"


def soft_link(path: Path) -> str:
    os.symlink(path.name, path.parent / "soft")
    return "soft"


@pytest.mark.parametrize("naming", [same, spelled, absolute, hard_link, soft_link])
@pytest.mark.parametrize(("call", "name"), CALLS)
def test_no_command_writes_over_what_it_reads(
    folder: Path, call: str, name: str, naming: Callable[[Path], str]
) -> None:
    """Whatever name is used for it, and with --force too: it is wrong usage."""
    target = naming(folder / name)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    command, *words = call.format(target).split()
    # In a process of its own, which forgets the module of another test.
    result = (
        spawn(command, "--json", *words) if "--python" in words else run(command, "--json", *words)
    )

    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    code = result.returncode if isinstance(result, CompletedProcess) else result.exit_code
    told = json.loads(result.stdout)["error"]
    assert (code, told["code"]) == (2, "USAGE")
    assert "read by this command" in told["message"]
    assert after == before


def test_a_signature_is_not_written_over_an_input(folder: Path) -> None:
    """Its name is made of that of the certificate."""
    os.rename("log", "c.sig")
    os.rename("key", "d.sig")

    for words in (("c.sig", "-o", "c", "--sign", "d.sig"), ("cert", "-o", "d", "--sign", "d.sig")):
        result = run("certify", *words, "--force")
        assert result.exit_code == 2
        assert "read by this command" in result.stderr
    assert Path("c.sig").read_bytes() == Path(GARDEN).read_bytes()
    assert Path("d.sig").read_bytes() == PRIVATE


def test_an_input_may_come_from_standard_input(folder: Path) -> None:
    """The file behind it is an input all the same."""
    with open("log", "rb") as log:
        result = spawn("certify", "-", "-o", str(folder / "log"), "--force", stdin=log)

    assert result.returncode == 2
    assert b"read by this command" in result.stderr
    assert Path("log").read_bytes() == Path(GARDEN).read_bytes()


def test_the_log_of_a_folder_is_an_input(tmp_path: Path) -> None:
    """Whoever names the folder reads the file."""
    (tmp_path / "inner").mkdir()
    log = sound().write(tmp_path / "inner", "session.jsonl")
    before = Path(log).read_bytes()

    result = run("certify", str(tmp_path / "inner"), "-o", log, "--force")

    assert result.exit_code == 2
    assert "read by this command (as" in " ".join(result.stderr.split())
    assert Path(log).read_bytes() == before
    assert run("certify", str(tmp_path / "inner"), "-o", str(tmp_path / "c")).exit_code == 0


def test_other_files_may_be_written_over(folder: Path) -> None:
    """With --force, and the copy of an input is another file."""
    shutil.copy("log", "copy")

    assert run("certify", "log", "-o", "copy", "--force").exit_code == 0
    assert Path("copy").read_bytes() == Path("cert").read_bytes()


# ---- a certificate and its signature -------------------------------------------------------------


def signed(name: str, key: str = "key", *more: str) -> Any:
    return run("certify", "log", "-o", name, "--sign", key, *more)


def test_a_pair_is_written_whole_or_not_at_all(folder: Path) -> None:
    """A name too long for the signature alone leaves no certificate either."""
    before = sorted(os.listdir())

    result = signed("x" * 252)

    assert result.exit_code == 3
    assert "Nothing was written" in " ".join(result.stderr.split())
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("fault", [OSError(5, "the disk is broken"), KeyboardInterrupt()])
def test_a_pair_that_cannot_be_named_leaves_what_was_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: int, force: bool, fault: BaseException
) -> None:
    """Whichever of the two fails: the old pair stands with --force, no pair without."""
    if force:
        assert signed("pair").exit_code == 0
    write(folder, sound().content, "log")  # so that the new pair would be another one
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    calls: list[str] = []
    named = "replace" if force else "link"
    through = getattr(os, named)

    def failing(source: str, target: str, **options: Any) -> None:
        if os.path.basename(target).startswith("pair"):
            calls.append(target)
            if len(calls) == place + 1:
                raise fault
        through(source, target, **options)

    monkeypatch.setattr(os, named, failing)
    options = ("--force",) if force else ()
    if isinstance(fault, OSError):
        result = signed("pair", "key", *options)
        assert result.exit_code == 3
        assert "Nothing was written" in " ".join(result.stderr.split())
    else:
        assert signed("pair", "key", *options).exit_code == 130
    monkeypatch.undo()

    assert {name: (folder / name).read_bytes() for name in os.listdir(folder)} == before


def test_a_pair_that_has_both_names_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C right after the last name was given takes nothing back."""
    assert signed("pair").exit_code == 0
    write(folder, sound().content, "log")
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    through = os.replace

    def stopping(source: str, target: str) -> None:
        through(source, target)
        if target == "pair":
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stopping)
    assert signed("pair", "key", "--force").exit_code == 130
    monkeypatch.undo()

    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after.keys() == before.keys()
    assert after["pair"] != before["pair"]
    assert unwrap(check_signature(after["pair"], after["pair.sig"], PUBLIC))


def test_what_cannot_be_taken_back_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which file was written."""
    through = os.link

    def failing(source: str, target: str, **options: Any) -> None:
        if target == "pair":
            monkeypatch.setattr(os, "unlink", refuse)
            raise OSError(5, "the disk is broken")
        through(source, target, **options)

    def refuse(path: str) -> None:
        raise OSError(30, "the file system is read-only")

    monkeypatch.setattr(os, "link", failing)
    result = signed("pair")
    monkeypatch.undo()

    told = " ".join(result.stderr.split())
    assert result.exit_code == 3
    assert "Nothing was written" not in told
    assert "pair.sig was written" in told


def test_a_pair_replaces_a_pair(folder: Path) -> None:
    """Both of them, with nothing left of the old ones."""
    assert signed("pair").exit_code == 0
    write(folder, OTHER_KEY, "other")
    before = sorted(os.listdir())
    old = Path("pair.sig").read_bytes()
    assert signed("pair", "other", "--force").exit_code == 0

    assert sorted(os.listdir()) == before
    assert Path("pair.sig").read_bytes() != old
    assert signed("pair", "key", "--force").exit_code == 0
    assert Path("pair.sig").read_bytes() == old
    assert unwrap(check_signature(Path("pair").read_bytes(), old, PUBLIC))


def test_a_pair_is_replaced_where_files_have_one_name_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems have no hard links: the old signature is kept as a copy meanwhile."""
    assert signed("pair").exit_code == 0
    write(folder, sound().content, "log")
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    through = os.replace

    def no_link(*_: Any, **__: Any) -> None:
        raise PermissionError(1, "not permitted")

    def failing(source: str, target: str) -> None:
        if target == "pair":
            raise OSError(5, "the disk is broken")
        through(source, target)

    monkeypatch.setattr(os, "link", no_link)
    monkeypatch.setattr(os, "replace", failing)
    assert signed("pair", "key", "--force").exit_code == 3
    monkeypatch.setattr(os, "replace", through)
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before
    assert signed("pair", "key", "--force").exit_code == 0
    assert Path("pair").read_bytes() != before["pair"]
    assert sorted(os.listdir()) == sorted(before)


@pytest.mark.parametrize("options", [(), ("--force",)])
def test_no_certificate_is_put_beside_a_signature_of_another(
    folder: Path, options: tuple[str, ...]
) -> None:
    """Unsigned, it would look like one whose signature does not hold."""
    assert signed("pair").exit_code == 0
    if not options:
        os.unlink("pair")
    before = {name: Path(name).read_bytes() for name in os.listdir()}

    told = document("certify", "log", "-o", "pair", *options)

    assert told["error"]["code"] == "FILE_EXISTS"
    assert "pair.sig" in told["error"]["message"]
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before
