"""Rejections: every code has its severity, its advice, and one readable sentence."""

from __future__ import annotations

import inspect
import json
import pickle
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from dsh_fp import Code, Rejection
from dsh_fp.core import rejection as module
from dsh_fp.core.rejection import advice, severity, shown
from tests.core.code_examples import EXAMPLES, HOSTILE, Example, hostile_rejections

IDS = [f"{place}-{example.code.value}" for place, example in enumerate(EXAMPLES)]


def is_one_readable_line(sentence: str) -> bool:
    """No control, format, surrogate or separator character but the plain space."""
    odd = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    return bool(sentence.strip()) and not any(unicodedata.category(c) in odd for c in sentence)


@pytest.mark.parametrize("example", EXAMPLES, ids=IDS)
def test_each_code_says_where_and_what(example: Example) -> None:
    """Each example meets its code, with the seq, index, path and facts that help."""
    met = example.meet()

    assert met.code is example.code
    assert (met.seq, met.index, met.path) == (example.seq, example.index, example.path)
    assert met.data == example.facts


@pytest.mark.parametrize("example", EXAMPLES, ids=IDS)
def test_each_example_reads_as_one_line(example: Example) -> None:
    """Message and whole text are one line without odd characters, code first."""
    met = example.meet()

    assert is_one_readable_line(met.message)
    assert is_one_readable_line(str(met))
    assert str(met).startswith(f"{example.code.value}: {met.message}")
    assert str(met).endswith(met.advice)


@pytest.mark.parametrize("example", EXAMPLES, ids=IDS)
def test_each_example_can_be_sent_as_json(example: Example) -> None:
    """Its wire form is strict JSON that names the code, how grave it is, and what to do."""
    met = example.meet()

    wire = json.loads(json.dumps(met.to_wire(), allow_nan=False))

    assert wire["code"] == example.code.value
    assert wire["severity"] in {"error", "finding", "note"}
    assert wire["message"] == met.message
    assert wire["advice"] == met.advice
    assert wire.get("seq") == example.seq
    assert None not in wire.values()


@pytest.mark.parametrize("code", Code)
def test_every_code_is_advised_and_graded(code: Code) -> None:
    """Each code has advice of one sentence and one of three severities."""
    sentence = advice(code)

    assert is_one_readable_line(sentence)
    assert sentence[0].isupper()
    assert sentence.endswith((".", "?"))
    assert severity(code) in {"error", "finding", "note"}


@pytest.mark.parametrize("code", Code)
def test_a_code_is_its_own_name(code: Code) -> None:
    """Programs match on the value, which is the name, and on a plain string."""
    assert code.value == code.name
    assert code == code.name
    assert Code(code.name) is code


def test_advice_is_written_for_codes_that_exist() -> None:
    """No advice stands under a name that is no code."""
    assert set(module._ADVISED_BY_NAME) <= {code.value for code in Code}


def test_only_trace_rules_share_their_advice() -> None:
    """A code without advice of its own is one of the nesting rules."""
    names = [code.name for code in Code]
    first, last = names.index("SEQ_NOT_INCREASING"), names.index("CALL_UNANSWERED")

    assert set(names) - set(module._ADVISED_BY_NAME) == set(names[first : last + 1])


@pytest.mark.parametrize("danger", HOSTILE)
def test_a_strangers_text_is_made_safe(danger: str) -> None:
    """Whatever stands in a type, key, id or class name, a sentence stays one readable line."""
    text = HOSTILE[danger]

    met = hostile_rejections(text)

    assert [str(fault) for fault in met if not is_one_readable_line(str(fault))] == []
    assert max(len(fault.message) for fault in met) < 1000


def constructors() -> dict[str, Callable[..., Rejection]]:
    """The functions of the module that make rejections."""
    return {
        name: made
        for name, made in inspect.getmembers(module, inspect.isfunction)
        if made.__module__ == module.__name__
        and not name.startswith("_")
        and inspect.signature(made).return_annotation == "Rejection"
    }


def argument(name: str, parameter: inspect.Parameter, text: str) -> Any:
    """A hostile value of the type that a constructor asks for."""
    match str(parameter.annotation):
        case "str" | "str | None":
            return text
        case "int" | "int | None" | "float":
            return 7
        case "object":
            return text
        case "Code":
            return Code.TURN_NUMBER
        case "Rejection":
            return Rejection(Code.TURN_NUMBER, "a breach", seq=7)
        case "tuple[int, ...]":
            return tuple(range(50))
        case "tuple[str, ...]":
            return (text, text)
        case "Fact":
            return text
        case other:
            raise AssertionError(f"{name} takes a {other}: say here what a hostile one is")


# Phrases that the calling module writes, or has made safe already.
OUR_OWN_WORDS = {"what", "message", "path", "field", "cause"}


@pytest.mark.parametrize("name", constructors())
def test_every_constructor_writes_one_readable_line(name: str) -> None:
    """A constructor makes safe whatever text it is handed, but for phrases of our own."""
    made = constructors()[name]

    def sentence(text: str) -> str:
        arguments: dict[str, Any] = {}
        for key, parameter in inspect.signature(made).parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                arguments["reason"] = "torn-line"
            elif key in OUR_OWN_WORDS:
                arguments[key] = "plain words"
            else:
                arguments[key] = argument(name, parameter, text)
        return made(**arguments).message

    sentences = {danger: sentence(text) for danger, text in HOSTILE.items()}

    assert {danger for danger, said in sentences.items() if not is_one_readable_line(said)} == set()
    assert max(map(len, sentences.values())) < 1000


@pytest.mark.parametrize("danger", HOSTILE)
def test_a_hostile_file_name_stays_on_its_line(danger: str) -> None:
    """The whole text of a rejection is one readable line, whatever the file is called."""
    fault = EXAMPLES[0].meet().at(file=f"logs/{HOSTILE[danger]}.jsonl", line_number=3)

    assert is_one_readable_line(str(fault))


def test_shown_text_is_cut_and_escaped() -> None:
    """Printable text is quoted as it is, other text escaped, long text cut."""
    assert shown("plain ä") == "'plain ä'"
    assert shown("a\nb") == r"'a\nb'"
    assert shown("Grünkohl\nalt") == r"'Grünkohl\nalt'"
    assert shown("a\u202eb\ud800") == r"'a\u202eb\ud800'"
    assert shown("x" * 100) == f"'{'x' * 60}'…"


def test_more_of_the_place_can_be_added() -> None:
    """`at` answers the same fault with more known; what is not given stays."""
    fault = EXAMPLES[0].meet()

    placed = fault.at(seq=4, file="a.jsonl").at(line_number=6, byte_offset=99)

    assert (placed.seq, placed.file, placed.line_number, placed.byte_offset) == (
        4,
        "a.jsonl",
        6,
        99,
    )
    assert (placed.code, placed.message, placed.data) == (fault.code, fault.message, fault.data)
    assert fault.seq is None
    assert "a.jsonl" in str(placed)
    assert "line 6" in str(placed)
    assert "seq 4" in str(placed)


def test_a_rejection_is_a_value() -> None:
    """Frozen, equal by content, hashable, picklable; its data is a fresh dict each time."""
    one, other = EXAMPLES[0].meet(), EXAMPLES[0].meet()

    with pytest.raises(AttributeError):
        one.seq = 5  # type: ignore[misc]  # that is the point
    one.data["position"] = "changed"

    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.data == {"position": 3}


def test_every_example_can_be_pickled_and_hashed() -> None:
    """Facts are immutable values, so rejections go into sets and other processes."""
    met = [example.meet() for example in EXAMPLES]

    assert pickle.loads(pickle.dumps(met)) == met
    assert len(set(met)) == len(EXAMPLES)
