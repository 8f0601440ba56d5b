"""Verdicts: what held, what broke on which case, and what was not asked and why."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from examples.own_adapter import Judged
from property_specs.conforming import judging
from property_specs.conforming.choosing import chosen, object_door
from property_specs.conforming.doors import BadAnswer, Door, ObjectDoor, Unusable, WideDoor
from property_specs.conforming.fixed import judge_vectors
from property_specs.conforming.foreign import Foreign
from property_specs.conforming.judging import (
    BROKEN,
    HELD,
    NOT_ASKED,
    Effort,
    Verdict,
    judge,
    judged_laws,
)
from property_specs.conforming.process import ProcessDoor
from property_specs.conforming.protocol import OPERATIONS, SMALL, NotOffered
from property_specs.core import DSH_FP, Refused
from property_specs.vectors.questions import log, note
from tests.conform.servers import script

FEW = Effort(examples=20, with_saved_logs=False)


def verdicts(door: Door, *names: str, effort: Effort = FEW) -> list[Verdict]:
    """The verdicts on laws and vectors of these names."""
    laws, vectors = chosen(names)
    return [*judge(door, laws, effort), *judge_vectors(door, vectors, effort)]


def verdict(made: Any, name: str, effort: Effort = FEW) -> Verdict:
    """The verdict on one law for an object."""
    (only,) = verdicts(ObjectDoor(made, "ours"), name, effort=effort)
    return only


class Takes:
    """Takes any log whatever."""

    def accept(self, log: list[Any]) -> Any:
        return {"length": len(log)}


# ---- what holds and what is not asked ----------------------------------------------------------


def test_an_own_implementation_is_held_to_what_it_offers() -> None:
    """Laws that ask for more than that are not asked, and say what for."""
    found = {
        each.name: each
        for each in verdicts(ObjectDoor(Judged(), "ours"), "messages_match_model", "acceptance")
    }

    assert found["messages_match_model"].verdict == HELD
    assert found["first_fault_wins"].verdict == HELD
    assert [each for each in found.values() if each.verdict == BROKEN] == []
    assert verdict(Takes(), "messages_match_model").why == "not offered: messages"


def test_nothing_is_passed_that_was_not_asked() -> None:
    """Of an implementation that only takes logs nothing but acceptance is said to hold."""
    held = {
        each.name for each in verdicts(ObjectDoor(Takes(), "ours"), "laws") if each.verdict == HELD
    }

    assert held <= {
        "valid_logs_are_accepted",
        "prefix_of_accepted_is_accepted",
        "what_is_handed_over_comes_back_unchanged",
    }


def test_laws_of_routes_are_not_asked_of_whole_logs() -> None:
    """They would hold of anything, so they are told as not asked."""
    assert verdict(Judged(), "fold_splits_anywhere").verdict == NOT_ASKED


def test_a_parameter_that_cannot_be_asked_is_named() -> None:
    """Values that JSON has no text for are left out, and that is told."""
    only = verdict(Judged(), "each_code_is_answered")

    assert (only.verdict, only.partly) == (HELD, ("NOT_JSON",))


def test_every_law_of_the_whole_protocol_is_asked_of_our_own_core() -> None:
    """The library stands behind the wide door: no law is left out for want of a question."""
    door = object_door("property_specs.core:DSH_FP")

    assert isinstance(door, WideDoor)
    assert set(SMALL) <= door.capabilities
    few = [law for law in judged_laws() if law.file == "test_repair_laws.py"]
    assert {each.verdict for each in judge(door, tuple(few), FEW)} == {HELD}


@pytest.mark.parametrize("only", ["vectors"])
def test_our_own_core_passes_the_vectors(only: str) -> None:
    """Through its own methods, every vector asked."""
    assert {each.verdict for each in verdicts(WideDoor(DSH_FP, "ours"), only)} == {HELD}


# ---- what breaks -------------------------------------------------------------------------------


class CountsTrue(Judged):
    """Breaks one rule: an empty answer is a message."""

    def messages(self, log: list[Any]) -> Any:
        made = super().messages(log)
        empty = [
            e for e in log if e["type"] == "assistant/message" and e["data"] == {"content": []}
        ]
        return [*made, {"role": "assistant", "content": []}] if empty else made


class Raises(Judged):
    """Raises where a log has a replacement."""

    def surface(self, log: list[Any]) -> Any:
        if any(isinstance(event.get("surfaceOp"), dict) for event in log):
            raise RuntimeError("not done yet")
        return super().surface(log)


def test_a_broken_law_has_its_smallest_case() -> None:
    """The case is a log, and what did not hold is told with its values."""

    class ForgetsOrder(Judged):
        def surface(self, log: list[Any]) -> Any:
            made = super().surface(log)
            return {**made, "seqs": sorted(made["seqs"])}

    only = verdict(ForgetsOrder(), "surface_matches_list_surgery", Effort(examples=80))

    assert only.verdict == BROKEN
    assert only.counterexample is not None
    assert 3 <= only.counterexample.events <= 5
    assert 'core.look(state)["nodes"] == book.nodes' in only.why
    assert only.counterexample.text().startswith('{"type":"session"')


def test_an_exception_of_the_implementation_breaks_the_law() -> None:
    """It is told in its own words, with the log that brings it about."""
    only = verdict(Raises(), "surface_matches_list_surgery")

    assert only.verdict == BROKEN
    assert "surface raised RuntimeError: not done yet" in only.why
    assert only.counterexample is not None
    assert only.counterexample.events == 2


@pytest.mark.parametrize(
    "answer",
    [None, 1, {}, {"length": "2"}, {"refused": {}}, {"refused": {"code": "X", "index": "1"}}],
)
def test_a_malformed_answer_is_no_answer(answer: Any) -> None:
    """Whatever comes back instead."""

    class Odd:
        def accept(self, log: list[Any]) -> Any:
            return answer

    assert verdict(Odd(), "prefix_of_accepted_is_accepted").verdict == BROKEN


def test_a_vector_that_breaks_shows_both_answers() -> None:
    """What was expected and what came."""
    found = verdicts(ObjectDoor(Takes(), "ours"), "vectors/acceptance/gap")

    assert [each.verdict for each in found] == [BROKEN]
    assert "SEQ_GAP" in found[0].why
    assert "{'length': 2}" in found[0].why


def test_an_answer_whose_keys_are_ours_is_compared_in_any_order_and_by_value() -> None:
    """Seqs that are others break the vector; keys that are turned do not."""

    class Turned(Judged):
        def surface(self, log: list[Any]) -> Any:
            return dict(reversed(super().surface(log).items()))

    class Off(Judged):
        def surface(self, log: list[Any]) -> Any:
            return {**super().surface(log), "generation": 7}

    name = "vectors/surface/first"

    assert [each.verdict for each in verdicts(ObjectDoor(Turned(), "ours"), name)] == [HELD]
    assert [each.verdict for each in verdicts(ObjectDoor(Off(), "ours"), name)] == [BROKEN]


def test_a_refusal_behind_a_state_counts_from_there() -> None:
    """As a fold that goes on does; the seq is that of the whole log."""
    core = Foreign(ObjectDoor(Judged(), "ours"))
    state: Any = core.fold(log(note(), note()))

    refused = core.fold([{**log(note())[0], "seq": 2}, note()], state)

    assert isinstance(refused, Refused)
    assert (refused.code, refused.index, refused.seq) == ("BAD_ENVELOPE", 1, 3)


def test_a_process_that_dies_on_a_log_breaks_the_law(tmp_path: Path) -> None:
    """With the smallest log that it dies on, and it is started anew meanwhile."""
    body = """
        for ask in asks():
            if any(event["type"] == "turn/end" for event in ask["log"]):
                raise SystemExit("oh no")
            say(ask, answer={"length": len(ask["log"])})
    """
    door = ProcessDoor(script(tmp_path, body))
    try:
        (only,) = verdicts(door, "valid_logs_are_accepted", effort=Effort(examples=30, shrinking=5))
    finally:
        door.close()

    assert only.verdict == BROKEN
    assert "stderr: oh no" in only.why
    assert only.counterexample is not None
    assert only.counterexample.events == 1


# ---- how long, and which cases -----------------------------------------------------------------


def test_the_same_cases_are_asked_each_time_and_others_with_a_seed() -> None:
    """What an implementation is asked depends on nothing but seed and number of examples."""

    def asked(effort: Effort) -> list[str]:
        class Listens(Takes):
            logs: list[str] = []  # noqa: RUF012  # made anew for each run

            def accept(self, log: list[Any]) -> Any:
                self.logs.append(repr(log))
                return super().accept(log)

        verdict(Listens(), "valid_logs_are_accepted", effort)
        return Listens.logs

    usual = asked(FEW)

    assert asked(FEW) == usual
    assert asked(Effort(20, seed=1)) == asked(Effort(20, seed=1)) != usual
    assert len(asked(Effort(40))) > len(usual)


def test_what_is_not_asked_in_time_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A law that was begun and not finished does not hold either."""
    clock = itertools.count()
    monkeypatch.setattr(judging, "monotonic", lambda: next(clock))
    late, begun = Effort(until=-1), Effort(until=10)

    assert verdict(Judged(), "messages_match_model", late).why == "the time was used up"
    found = verdict(Judged(), "messages_match_model", begun)
    assert (found.verdict, found.why) == (NOT_ASKED, "the time was used up")
    assert next(clock) > 10


# ---- objects -----------------------------------------------------------------------------------


def test_an_object_may_say_what_it_can() -> None:
    """A list, or a method that answers one; what it leaves out is not asked."""

    class Says(Judged):
        capabilities = ("accept",)

    class Tells(Judged):
        def capabilities(self) -> list[str]:
            return ["accept", "messages"]

    assert ObjectDoor(Says(), "ours").capabilities == {"accept"}
    assert ObjectDoor(Tells(), "ours").capabilities == {"accept", "messages"}


@pytest.mark.parametrize(
    "claimed", [["messages"], ["accept", "fly"], ["accept", "fork"], "accept", [1]]
)
def test_an_object_that_claims_what_cannot_be_is_unusable(claimed: Any) -> None:
    """No accept, an unknown capability, a method that is not there."""

    class Claims(Judged):
        capabilities = claimed

    with pytest.raises(Unusable):
        ObjectDoor(Claims(), "ours")


def test_optional_arguments_go_to_methods_that_name_them() -> None:
    """A fork that knows no boundary is not asked about one."""

    class Forks(Takes):
        def fork(self, log: list[Any]) -> Any:
            return {"header": {"id": "fork"}, "length": len(log)}

    door = ObjectDoor(Forks(), "ours")

    assert door.ask("fork", {"log": [1], "header": {"id": "p"}})["length"] == 1
    with pytest.raises(NotOffered, match="boundary"):
        door.ask("fork", {"log": [1], "boundary": 0})


@pytest.mark.parametrize(
    "target", ["", "x", ":y", "no_such_module_at_all:x", "json:nothing", "json:loads", "json:dumps"]
)
def test_a_target_that_is_nothing_is_unusable(target: str) -> None:
    """Told in words, whatever importing it raises."""
    with pytest.raises(Unusable):
        object_door(target)


def test_a_class_an_object_and_a_factory_will_do() -> None:
    """What has no accept is called once."""
    for target in ("examples.own_adapter:Judged", "property_specs.core:DshFp"):
        assert object_door(target).ask("accept", {"log": []}) == {"length": 0}


def test_a_refusal_is_a_dict_of_that_one_key() -> None:
    """A header that has a key `refused` among others is a header."""

    class Odd(Takes):
        def header(self, log: list[Any]) -> Any:
            return {"refused": {"code": "X"}} if log else {"refused": 1, "config": {}}

    door = ObjectDoor(Odd(), "ours")

    assert door.ask("header", {"log": []}) == {"refused": 1, "config": {}}
    assert door.ask("header", {"log": [1]}) == Refused("X")
    with pytest.raises(BadAnswer):
        ObjectDoor(Takes(), "ours").ask("accept", {"log": None})


def test_names_choose_laws_topics_and_vectors() -> None:
    """A law, a topic, all laws, a folder of vectors; an unknown name is refused."""
    assert [law.name for law in chosen(["closers_match_model"])[0]] == ["closers_match_model"]
    assert len(chosen(["repair"])[0]) == 5
    assert chosen(["laws"])[1] == ()
    assert {each.topic for each in chosen(["vectors/forks"])[1]} == {"forks"}
    with pytest.raises(KeyError):
        chosen(["vectors/fork"])


def test_vectors_ask_the_whole_small_protocol() -> None:
    """Each of its questions, and nothing that is no question."""
    asked = {each.operation for each in chosen([])[1]}

    assert set(SMALL) <= asked <= set(OPERATIONS)
