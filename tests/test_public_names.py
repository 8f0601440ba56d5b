"""The names that others build on: where they are, that they load, and what `unwrap` does."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from returns.result import Failure, Success

import dsh_fp
from dsh_fp import Code, Rejected, Session, unwrap
from dsh_fp.core.rejection import Rejection, segment_empty
from tests.shared import REPOSITORY

PROMISED = {
    "read",
    "Session",
    "past_requests",
    "reduce",
    "fold",
    "LogFile",
    "Rejection",
    "Code",
    "PastRequest",
}


def imports_for_type_checkers() -> dict[str, str]:
    """Name to module, as the package tells type checkers."""
    tree = ast.parse(Path(dsh_fp.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.name: statement.module or ""
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


@pytest.mark.parametrize("name", dsh_fp.__all__)
def test_every_public_name_loads_from_its_home(name: str) -> None:
    """A name of the package is the very object of the module that is named for it."""
    home = import_module(dsh_fp._HOME_OF[name])

    assert getattr(dsh_fp, name) is getattr(home, name)


def test_the_lists_of_public_names_agree() -> None:
    """What is listed, what is loaded on first use, and what type checkers see are the same."""
    assert len(set(dsh_fp.__all__)) == len(dsh_fp.__all__)
    assert set(dsh_fp._HOME_OF) == set(dsh_fp.__all__)
    assert imports_for_type_checkers() == dsh_fp._HOME_OF


def test_the_promised_names_are_public() -> None:
    """Others may rely on these from the first release."""
    assert set(dsh_fp.__all__) >= PROMISED


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("append", ["self", "type", "data", "time", "surface_op", "source_event_seqs"]),
        ("at", ["self", "seq"]),
        ("messages", ["self"]),
        ("request_header", ["self"]),
    ],
)
def test_promised_methods_take_what_was_promised(method: str, parameters: list[str]) -> None:
    """The signature is part of the promise."""
    assert list(inspect.signature(getattr(Session, method)).parameters) == parameters


def test_the_keywords_of_append_have_no_order() -> None:
    """Time, operation and sources are given by name; the last two may be left out."""
    parameters = inspect.signature(Session.append).parameters

    kinds = {name: parameters[name].kind for name in ("time", "surface_op", "source_event_seqs")}

    assert set(kinds.values()) == {inspect.Parameter.KEYWORD_ONLY}
    assert parameters["time"].default is inspect.Parameter.empty
    assert parameters["surface_op"].default is None
    assert parameters["source_event_seqs"].default is None


def test_fork_takes_a_boundary_first() -> None:
    """`fork(5)` and `fork()` both work."""
    parameter = list(inspect.signature(Session.fork).parameters.values())[1]

    assert (parameter.name, parameter.default) == ("boundary", None)


def test_dir_lists_every_public_name() -> None:
    """What is not loaded yet is listed too."""
    assert set(dsh_fp.__all__) <= set(dir(dsh_fp))


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A typo says what it is."""
    with pytest.raises(AttributeError, match="no attribute 'Sesion'"):
        dsh_fp.Sesion  # noqa: B018  # that is the point


def test_everything_can_be_imported_at_once() -> None:
    """`from dsh_fp import *` gives all public names, in a fresh process."""
    code = "from dsh_fp import *; import dsh_fp; print(all(n in globals() for n in dsh_fp.__all__))"

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "True"


@pytest.mark.parametrize("name", [name for name in dsh_fp.__all__ if name != "Json"])
def test_every_public_callable_says_what_it_gives(name: str) -> None:
    """Functions and classes have a docstring."""
    value = getattr(dsh_fp, name)

    assert not callable(value) or inspect.getdoc(value)


def test_the_package_is_typed() -> None:
    """The marker for type checkers lies in the package."""
    assert (Path(dsh_fp.__file__).parent / "py.typed").is_file()


# ---- unwrap ---------------------------------------------------------------------------------


def test_unwrap_gives_the_value_of_a_success() -> None:
    """The value itself, whatever it is."""
    value = Session.create().unwrap()

    assert unwrap(Session.create()) == value
    assert unwrap(Success(None)) is None


def test_unwrap_raises_the_rejection_of_a_failure() -> None:
    """The one exception carries the Rejection and says its sentence."""
    with pytest.raises(Rejected) as caught:
        unwrap(Session.create().unwrap().at(0))

    assert caught.value.rejection.code is Code.INVALID_BOUNDARY
    assert str(caught.value) == str(caught.value.rejection)


def test_a_rejected_pickles_and_copies_whole() -> None:
    """The rejection survives the way to another process."""
    fault: Rejection = segment_empty()
    with pytest.raises(Rejected) as caught:
        unwrap(Failure(fault))

    back = pickle.loads(pickle.dumps(caught.value))

    assert back.rejection == copy.copy(caught.value).rejection == fault
    assert str(back) == str(fault)
