"""Detectors: formats of keys, a user's patterns, and that no text makes them slow or loud."""

from __future__ import annotations

import random
import string
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from dsh_fp import Code, unwrap
from dsh_fp.core.redaction.redacting import Detector, redact
from dsh_fp.detecting import key_format_names, key_formats, pattern
from tests.core.making import event, replayed, user
from tests.shared import REPOSITORY

LETTERS: Final = string.ascii_letters + string.digits
DRAWN: Final = random.Random(46)


def drawn(length: int, alphabet: str = LETTERS) -> str:
    """Characters as a provider draws them: no key here was ever one."""
    return "".join(DRAWN.choice(alphabet) for _ in range(length))


KEYS: Final = {
    "aws-access-key-id": "AKIA" + drawn(16, string.ascii_uppercase + "234567"),
    "openai-api-key": f"sk-proj-{drawn(74)}T3BlbkFJ{drawn(74)}",
    "anthropic-api-key": f"sk-ant-api03-{drawn(93)}AA",
    "github-pat": "ghp_" + drawn(36),
    "gitlab-pat": "glpat-" + drawn(20),
    "gcp-api-key": "AIza" + drawn(35),
    "slack-bot-token": f"xoxb-{drawn(12, string.digits)}-{drawn(12, string.digits)}-{drawn(24)}",
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join(drawn(64) for _ in range(5))
    + "\n-----END RSA PRIVATE KEY-----",
}


@pytest.fixture(scope="module")
def formats() -> Detector:
    """All formats."""
    return unwrap(key_formats())


def found(detector: Detector, text: str) -> list[tuple[str, str]]:
    """What is found: its kind and its text."""
    return [(kind, text[start:stop]) for start, stop, kind in detector.find(text)]


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("around", ["{} ", "é😀 \ud800 ({})", "It is {}.", "[{}, more]", "<{}>"])
def test_keys_of_known_formats_are_found(formats: Detector, kind: str, around: str) -> None:
    """The whole key and nothing else, also behind characters of several bytes."""
    assert (kind, KEYS[kind]) in found(formats, around.format(KEYS[kind]))


def test_a_password_in_a_url_is_found(formats: Detector) -> None:
    """Of any scheme."""
    text = "see postgres://mira:Zu7hs92k@sea.example:5432/bay and http://sea.example/@x"

    assert found(formats, text) == [("url-password", "Zu7hs92k")]


def test_a_secret_that_only_its_key_tells_is_found_in_context(formats: Detector) -> None:
    """The value alone is forty letters; beside its name it is an access key's secret."""
    secret = drawn(40)
    session = replayed(
        event(
            "x/y",
            0,
            {"aws_access_key_id": KEYS["aws-access-key-id"], "aws_secret_access_key": secret},
        ),
        user(1, secret),
    )

    made = unwrap(redact(session, [formats]))

    assert secret not in "".join(one.to_text() for one in made.session.events)


def test_a_text_of_no_key_is_let_be(formats: Detector) -> None:
    """Digests, ids and paths of the kind that logs are full of."""
    text = "commit 0b5ad1f1e6e8f9d10f6f0d2d8b1c9c7e8a4b2f31 in /srv/bay, id 6f9619ff-8b86-d011"

    assert found(formats, text) == []


def test_formats_are_chosen_by_name_or_family() -> None:
    """A family is what a name begins with."""
    both = f"{KEYS['github-pat']} {KEYS['gitlab-pat']} {KEYS['aws-access-key-id']}"

    assert found(unwrap(key_formats(["github-pat"])), both) == [("github-pat", KEYS["github-pat"])]
    assert found(unwrap(key_formats(["github", "aws"])), both) == [
        ("github-pat", KEYS["github-pat"]),
        ("aws-access-key-id", KEYS["aws-access-key-id"]),
    ]
    assert {"github-pat", "aws-access-key-id"} <= set(key_format_names())


def test_a_name_of_no_format_is_refused_unquoted() -> None:
    """Someone may have given a key in its place."""
    refused = key_formats(["github", KEYS["github-pat"]]).failure()

    assert refused.code is Code.RULE_INVALID
    assert KEYS["github-pat"] not in str(refused)


def test_a_pattern_finds_all_it_matches_or_its_group() -> None:
    """The group named `secret`, when there is one; nothing where that is empty."""
    assert found(unwrap(pattern(r"\d+")), "a1 22") == [("pattern", "1"), ("pattern", "22")]
    grouped = unwrap(pattern(r"pin=(?P<secret>\d*)", "pin"))
    assert found(grouped, "pin=42 pin=") == [("pin", "42")]
    assert found(unwrap(pattern("x*")), "axxb") == [("pattern", "xx")]
    assert found(unwrap(pattern("é.")), "\ud800 é😀!") == [("pattern", "é😀")]


@pytest.mark.parametrize(
    "regex", ["(", "(?=tern)", r"(tern)\1", "tern{99999}", "\ud800", "t" * 10_001]
)
def test_a_pattern_that_cannot_be_run_is_refused_unquoted(
    regex: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The engine itself keeps quiet as well."""
    refused = pattern(regex).failure()

    assert refused.code is Code.RULE_INVALID
    assert "tern" not in str(refused).replace("pattern", "")
    assert "".join(capfd.readouterr()) == ""


def test_a_pattern_that_would_hang_other_engines_ends() -> None:
    """Its time grows with the text alone."""
    text = "a" * 50_000 + "!"

    assert found(unwrap(pattern("(a+)+$")), text) == []
    assert found(unwrap(pattern("(a|aa|a*)*b")), text) == []


@pytest.mark.parametrize(
    "text", ["eyJ", "artif ", "aws key ", "://a:", "-----BEGIN RSA PRIVATE KEY-----"]
)
def test_hostile_text_does_not_slow_the_formats(formats: Detector, text: str) -> None:
    """Beginnings of keys, a hundred thousand of them, none of them whole."""
    assert len(found(formats, text * (300_000 // len(text)))) < 100_000


def test_without_the_extra_the_error_names_it() -> None:
    """Also from a process that has never loaded it."""
    code = (
        "import sys; sys.modules['re2'] = sys.modules['kingfisher_sdk'] = None\n"
        "from dsh_fp.detecting import key_formats, pattern\n"
        "for one in (key_formats, lambda: pattern('x')):\n"
        "    try: one()\n"
        "    except ImportError as missing: print(missing)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )

    assert ran.stdout.count("pip install 'dsh-fp[redact]'") == 2


def test_nothing_is_written_to_the_disk(tmp_path: Path) -> None:
    """No cache of rules, unless a folder for one was named."""
    code = "from dsh_fp.detecting import key_formats; key_formats(['github'])"
    homes = dict.fromkeys(("HOME", "XDG_CACHE_HOME"), str(tmp_path))
    path = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", code], env={**homes, **path}, check=True)

    assert list(tmp_path.rglob("*")) == []
