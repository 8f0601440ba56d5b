"""Operations on Python objects: immutability, copies, pickles, errors across processes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

from returns.result import Failure

import dsh_fp
from tests.cases.loads import rewritten
from tests.cases.verdicts import Ask, Finding, Findings, Known, by_key, holds, not_looked_at, same
from tests.conformance.asking import frozen, must
from tests.conformance.loading import json_of_text

PROTOCOLS: Final = (2, pickle.HIGHEST_PROTOCOL)
SECONDS: Final = 120


def walk_of_values(ask: Ask) -> Findings:
    """Derive, freeze, compare, copy, pickle and write again, whatever the depth."""
    log = must(ask.inputs.log(ask.path))
    findings = list(_walk(log))
    faults = [one.fault for one in findings if one.fault is not None]
    known: Known = {
        "result": lambda: "ok" if not faults else "; ".join(faults),
        "rewrite_same_bytes": lambda: rewritten(log) == ask.path.read_bytes(),
    }
    yield from by_key(ask.expect, known)


def _walk(log: Any) -> Iterator[Finding]:
    derived = must(log.session.messages())
    again = must(dsh_fp.snapshot(dsh_fp.thaw(derived)))
    yield holds("equality", derived == again and dsh_fp.json_equal(derived, again))
    yield holds("hash", hash(derived) == hash(again))
    yield holds("repr", bool(repr(derived)))
    yield holds("deepcopy", copy.deepcopy(derived) == derived)
    for protocol in PROTOCOLS:
        yield holds("pickle", pickle.loads(pickle.dumps(derived, protocol)) == derived)
    for event in log.session.events:
        yield holds("event deepcopy", copy.deepcopy(event) == event)
        yield holds("event pickle", pickle.loads(pickle.dumps(event)) == event)
        yield holds("event repr", bool(repr(event)))
    for message in derived:
        yield holds("immutability", _refuses_change(message))


def _refuses_change(value: Any) -> bool:
    try:
        value["added"] = 1
    except TypeError:
        return "added" not in value
    return False


def never_raises(ask: Ask) -> Findings:
    """Whether every input is read, or refused in the library's own way."""
    for path in ask.inputs.paths(ask.check):
        try:
            result = dsh_fp.read(path)
            if not isinstance(result, Failure):
                result.unwrap().session.messages()
        except Exception as error:  # noqa: BLE001 - any exception is what the check is about
            yield Finding(f"{path.name} raised {type(error).__name__}")
        else:
            yield Finding()


def pickle_error(ask: Ask) -> Findings:
    """Whether an error survives processes, pickles and copies with all that it says."""
    rejection = dsh_fp.read(ask.path).failure()
    error = dsh_fp.Rejected(rejection)
    expect = dict(ask.expect)
    if "steps" in expect:
        del expect["steps"]
        sentence = str(expect.pop("expect", ""))
        yield from _across_processes(ask.path, rejection, sentence)
    protocols = expect.pop("protocols", PROTOCOLS)
    if expect.pop("copy.copy and copy.deepcopy", None) is not None:
        for name, made in (("copy", copy.copy(error)), ("deepcopy", copy.deepcopy(error))):
            yield from _same_error(name, error, made)
    if expect.pop("every_public_error_class", False):
        for one in one_of_each_error(rejection):
            for protocol in protocols:
                made = pickle.loads(pickle.dumps(one, protocol))
                name = f"{type(one).__name__} by protocol {protocol}"
                yield holds(f"{name}: the same class", type(made) is type(one))
                mine, theirs = (getattr(each, "rejection", each.args) for each in (one, made))
                yield holds(f"{name}: the same fields", mine == theirs)
                yield same(f"{name}: text", str(one), str(made))
    known: Known = {"str_is_the_same": lambda: str(pickle.loads(pickle.dumps(error)))}
    if expect.get("str_is_the_same") is True:
        expect["str_is_the_same"] = str(error)
    yield from by_key(expect, known)


def one_of_each_error(rejection: Any) -> list[BaseException]:
    """An error of every exception class among the library's public names."""
    made: dict[type[BaseException], BaseException] = {
        dsh_fp.Rejected: dsh_fp.Rejected(rejection),
        dsh_fp.Diverged: _diverged(),
        dsh_fp.ModelThrew: dsh_fp.ModelThrew(frozen({"name": "E", "message": "no"}), "turn 1"),
        dsh_fp.NeverEnded: dsh_fp.NeverEnded("turn 1, step 1"),
    }
    values = [getattr(dsh_fp, name) for name in dsh_fp.__all__]
    kinds = [one for one in values if isinstance(one, type) and issubclass(one, BaseException)]
    return [made[kind] for kind in kinds]


def _diverged() -> BaseException:
    """What a replay raises at a request that is not the recorded one."""
    header = {"header": {"config": {"model": "m"}}, "reason": "initial"}
    session = must(dsh_fp.Session.create())
    for kind, data in (("step/start", {"turn": 1, "step": 1}), ("request/header", header)):
        session = must(session.append(kind, data, time=1))
    try:
        dsh_fp.ReplayModel(session, check=True).complete({"model": "other", "messages": []})
    except dsh_fp.Diverged as diverged:
        return diverged
    raise AssertionError("another request is not noticed")


def _same_error(name: str, error: Any, made: Any) -> Iterator[Finding]:
    yield holds(f"{name}: the same class", type(made) is type(error))
    yield holds(f"{name}: the same fields", made.rejection == error.rejection)
    yield holds(f"{name}: the same facts", made.rejection.data == error.rejection.data)
    yield same(f"{name}: text", str(error), str(made))


def _across_processes(path: Path, rejection: Any, sentence: str) -> Iterator[Finding]:
    # Spawned, not forked: a child that shares no memory has to unpickle everything.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        error = pool.submit(load_or_raise, str(path)).exception(timeout=SECONDS)
    yield from _same_error("across processes", dsh_fp.Rejected(rejection), error)
    yield holds("the reason is named", rejection.data.get("reason") is not None)
    yield holds("the file line is named", rejection.line_number is not None)
    for name, number in re.findall(r"(\w+_seq) (\d+)", sentence):
        yield same(name, int(number), rejection.data.get(name))


def load_or_raise(path: str) -> int:
    """The number of events in the log; raises the library's exception when it is refused."""
    return len(dsh_fp.unwrap(dsh_fp.read(Path(path))).session)


def error_text(ask: Ask) -> Findings:
    """Whether the text of an error names the place and quotes nothing of the log."""
    rejection = dsh_fp.read(ask.path).failure()
    text = str(dsh_fp.Rejected(rejection))
    expect = dict(ask.expect)
    places = {
        "file": ask.path.name,
        "line": str(rejection.line_number),
        "seq": str(rejection.seq),
    }
    for name in expect.pop("names", ()):
        if name in places:
            yield holds(f"names the {name}", places[name] in text)
        else:
            yield not_looked_at(f"names {name}")
    if expect.pop("contains_no", None) is not None:
        quoted = [one for one in _message_texts(ask.path) if one in text]
        yield same("quotes of the log", [], quoted)
    yield from by_key(expect, {})


def _message_texts(path: Path) -> set[str]:
    """Every text that stands in the content of a line of the log."""
    texts: set[str] = set()
    for line in path.read_bytes().split(b"\n")[1:]:
        try:
            waiting = [json_of_text(line.decode("utf-8")).get("data")]
        except (ValueError, AttributeError):
            continue
        while waiting:
            match waiting.pop():
                case dict() as value:
                    text = value.get("text")
                    texts |= {text} if isinstance(text, str) and text else set()
                    waiting.extend(value.values())
                case list() as members:
                    waiting.extend(members)
                case _:
                    pass
    return texts


OBJECTS: Final = {
    "derive-freeze-compare-copy-pickle-rewrite": walk_of_values,
    "any": never_raises,
    "pickle-error": pickle_error,
    "error-text": error_text,
}
