"""Running the laws on an implementation, without a test runner.

A law is a function under `@given`; here the function inside is wrapped, so that what it is
tried on is seen, and hypothesis draws, runs and shrinks as ever. The same cases are drawn each
time unless a seed is given.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import wraps
from importlib import import_module
from time import monotonic
from typing import Any, Final
from unittest import SkipTest

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.errors import (
    HypothesisException,
    InvalidArgument,
    Unsatisfiable,
    UnsatisfiedAssumption,
)

from property_specs import profiles
from property_specs.cases import cases_of
from property_specs.conforming.counterexamples import Counterexample, counterexample, size_of
from property_specs.conforming.doors import Door, WideDoor
from property_specs.conforming.foreign import Foreign
from property_specs.conforming.protocol import FEATURES, OPERATIONS, VERSION, NotOffered
from property_specs.conforming.recording import Watched
from property_specs.conforming.shrinking import smaller
from property_specs.core import Core
from property_specs.corpus import Saved, fits, fitting
from property_specs.laws import Law, all_laws

EXAMPLES: Final = profiles.EXAMPLES
NIGHTLY_EXAMPLES: Final = 30 * EXAMPLES
SHRINKING_SECONDS: Final = 20.0
_DRAWS_FOR_A_SAVED_LOG: Final = 3
_SMALL_ENOUGH: Final = 3

HELD: Final = "held"
BROKEN: Final = "broken"
NOT_ASKED: Final = "not asked"

NO_QUESTION: Final = f"version {VERSION} of the protocol has no question for it"

# Laws that ask for this library's own objects, whatever is judged.
OF_THIS_LIBRARY: Final = frozenset({"certificate", "minimising", "strategy"})
# Laws that compare two ways of going through a session: a whole log handed over for each
# question is one way only, and they would hold of anything.
_OF_ROUTES: Final = frozenset(
    {
        "fold_splits_anywhere",
        "bulk_fold_equals_reduce",
        "append_equals_extend_equals_replay",
        "at_equals_replayed_prefix",
        "large_histories_answer_alike",
        "fork_leaves_parent_alone",
        "branches_do_not_see_each_other",
        "the_log_is_apart_from_what_it_was_made_of",
        "a_session_takes_copies",
    }
)
# Laws on what happens to the caller's own lists and dicts, which no process ever gets.
_OF_OBJECTS: Final = frozenset(
    {
        "what_is_handed_over_comes_back_unchanged",
        "headers_come_back_unchanged",
    }
)


@dataclass(frozen=True)
class Verdict:
    """What came of one law or vector.

    `why` says what was not offered, or what did not hold; `left_out` counts cases that no
    JSON text stands for; `partly` names those of a law's parameters that were not asked.
    """

    name: str
    topic: str
    sentence: str
    verdict: str
    why: str = ""
    counterexample: Counterexample | None = None
    left_out: int = 0
    partly: tuple[str, ...] = ()


@dataclass(frozen=True)
class Effort:
    """How hard to try: examples for a law of the usual cost, a seed, and when to stop.

    Units:   `until` is a time of the monotonic clock, `shrinking` is in seconds.
    """

    examples: int = EXAMPLES
    seed: int | None = None
    until: float = float("inf")
    shrinking: float = SHRINKING_SECONDS
    with_saved_logs: bool = True


class OutOfTime(SkipTest):
    """The time for all laws together is used up."""


class _Enough(SkipTest):
    """A law was seen to break, and making its case smaller took long enough."""


@dataclass
class _Trial:
    """One law's run: its smallest failing case so far."""

    watched: Watched
    effort: Effort
    smallest: Counterexample | None = None
    case: dict[str, Any] = field(default_factory=dict)
    size: tuple[int, int] = (0, 0)
    shrink_until: float = field(default=float("inf"))

    def run(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        """The function inside a law, watched."""

        @wraps(inner)
        def run(*given: Any, **case: Any) -> Any:
            now = monotonic()
            if now > self.shrink_until:
                raise _Enough("it is small enough")
            if now > self.effort.until:
                raise OutOfTime("the time was used up")
            self.watched.forget()
            try:
                return inner(*given, **case)
            except (SkipTest, HypothesisException):
                raise
            except Exception as fault:
                self.failed(case, fault)
                raise

        return run

    def make_smaller(self, function: Any, parameters: Mapping[str, Any]) -> None:
        """Leave events out of the failing case, where it is a log that can be had again."""
        name, could_draw = fits(function)
        log = self.case.get(name)
        given_too = self.case.keys() - parameters.keys() - {name}
        if not isinstance(log, list) or len(log) < _SMALL_ENOUGH:
            return
        wanted = set(function.hypothesis._given_kwargs) - {name}
        if given_too != wanted or monotonic() > self.effort.until:
            return
        self.shrink_until = monotonic() + self.effort.shrinking
        run, case = self.run(function.hypothesis.inner_test), dict(self.case)

        def fails(shorter: list[Any]) -> bool:
            try:
                run(self.watched, **{**parameters, **case, name: shorter})
            except (_Enough, OutOfTime, HypothesisException):
                return False
            except Exception:  # noqa: BLE001  # a law may break in any way at all
                return True
            return False

        smaller(log, could_draw, fails)

    def failed(self, case: Mapping[str, Any], fault: BaseException) -> None:
        """Keep a failing case when it is the smallest so far."""
        if self.smallest is None:
            self.shrink_until = monotonic() + self.effort.shrinking
        shown = {
            name: value
            for name, value in case.items()
            if name != "core" and isinstance(value, bool | int | float | str | list | dict | tuple)
        }
        size = size_of(shown, self.watched.log)
        if self.smallest is None or size < self.size:
            calls = list(self.watched.calls)
            self.case = copy.deepcopy(shown)
            self.smallest = counterexample(shown, self.watched.log, calls, fault)
            self.size = size


def judged_laws() -> tuple[Law, ...]:
    """The laws that take any implementation; the others are about this library's own objects."""
    return tuple(law for law in all_laws() if "core" in law.parameters)


def topic_of(law: Law) -> str:
    """The topic that a law belongs to."""
    return law.file.removeprefix("test_").removesuffix("_laws.py").replace("_", " ")


def judge(door: Door, laws: tuple[Law, ...], effort: Effort) -> Iterator[Verdict]:
    """The verdict on each law, as it comes."""
    core = door.core if isinstance(door, WideDoor) else Foreign(door)
    for law in laws:
        why = _void(law, door)
        if why:
            yield _verdict(law, NOT_ASKED, why)
        elif monotonic() > effort.until:
            yield _verdict(law, NOT_ASKED, "the time was used up")
        else:
            yield _judged(law, core, effort)


def _void(law: Law, door: Door) -> str:
    name = law.name
    if isinstance(door, WideDoor):
        return ""
    if topic_of(law) in OF_THIS_LIBRARY:
        return "it is about this library's own objects"
    if name in _OF_ROUTES:
        return "asked with a whole log each time, it would hold of anything"
    if name in _OF_OBJECTS and door.kind == "process":
        return "a process never gets the caller's own objects"
    return ""


def _verdict(law: Law, verdict: str, why: str = "", **more: Any) -> Verdict:
    return Verdict(law.name, topic_of(law), law.sentence, verdict, why, **more)


def _judged(law: Law, core: Core | Foreign, effort: Effort) -> Verdict:
    try:
        function = function_of(law)
    except ImportError as missing:
        return _verdict(law, NOT_ASKED, f"it needs the package {missing.name}")
    before = getattr(core, "left_out", 0)
    parts = [
        (label, _part(function, core, parameters, effort))
        for label, parameters in cases_of(function)
    ]
    left_out = getattr(core, "left_out", 0) - before
    for label, (verdict, why, found) in parts:
        if verdict == BROKEN:
            told = f"{label}: {why}" if label else why
            return _verdict(law, BROKEN, told, counterexample=found, left_out=left_out)
    unasked = [(label, why) for label, (verdict, why, _) in parts if verdict == NOT_ASKED]
    if len(unasked) == len(parts):
        return _verdict(law, NOT_ASKED, unasked[0][1], left_out=left_out)
    partly = tuple(label for label, _ in unasked)
    return _verdict(law, HELD, left_out=left_out, partly=partly)


def function_of(law: Law) -> Callable[..., Any]:
    """The function of a law."""
    try:
        settings.get_profile("laws")
    except InvalidArgument:
        profiles.register()
    module = import_module(f"property_specs.{law.file.removesuffix('.py')}")
    function: Callable[..., Any] = getattr(module, f"test_{law.name}")
    return function


Part = tuple[str, str, Counterexample | None]


def _part(
    function: Callable[..., Any],
    core: Core | Foreign,
    parameters: Mapping[str, Any],
    effort: Effort,
) -> Part:
    """The verdict on a law for one of its parameters."""
    trial = _Trial(Watched(core), effort)
    try:
        try:
            _run(function, trial, parameters, effort)
        finally:
            trial.make_smaller(function, parameters)
    except NotOffered as missing:
        if trial.smallest is None:
            is_known = str(missing) in OPERATIONS or str(missing) in FEATURES
            why = f"not offered: {missing}" if is_known else NO_QUESTION
            return NOT_ASKED, why, None
    except (OutOfTime, _Enough):
        if trial.smallest is None:
            return NOT_ASKED, "the time was used up", None
    except Unsatisfiable:
        if trial.smallest is None:
            return NOT_ASKED, "no case of it can be written as JSON", None
    except ImportError as missing:
        return NOT_ASKED, f"it needs the package {missing.name}", None
    except Exception:  # a law may break in any way at all
        if trial.smallest is None:  # nothing that was judged did it
            raise
    if trial.smallest is None:
        return HELD, "", None
    return BROKEN, trial.smallest.why, trial.smallest


def _run(function: Any, trial: _Trial, parameters: Mapping[str, Any], effort: Effort) -> None:
    handle = getattr(function, "hypothesis", None)
    if handle is None:  # a stateful law, which runs its machine itself
        with _as_default(effort):
            trial.run(function)(core=trial.watched, **parameters)
        return
    inner = handle.inner_test
    if effort.with_saved_logs:
        _replay(function, inner, trial, parameters, effort)
    own = function._hypothesis_internal_use_settings
    seed = function._hypothesis_internal_use_seed
    handle.inner_test = trial.run(inner)
    usual = settings.get_profile("laws") if own is None else own
    try:
        function._hypothesis_internal_use_settings = _settings(usual, effort)
        if effort.seed is not None:
            seeded(effort.seed)(function)
        function(core=trial.watched, **parameters)
    finally:
        handle.inner_test = inner
        function._hypothesis_internal_use_settings = own
        function._hypothesis_internal_use_seed = seed


def on_saved_logs(function: Callable[..., Any], core: Core) -> None:
    """Try a law on each saved log that its generators could have drawn; raises where it breaks."""
    trial = _Trial(Watched(core), Effort())
    for _, parameters in cases_of(function):
        _replay(function, function.hypothesis.inner_test, trial, parameters, trial.effort)  # type: ignore[attr-defined]


def _replay(
    function: Any, inner: Any, trial: _Trial, parameters: Mapping[str, Any], effort: Effort
) -> None:
    """The law on each log of the corpus that its generators could have drawn."""
    name, logs = fitting(function)
    rest = {
        each: value for each, value in function.hypothesis._given_kwargs.items() if each != name
    }
    run = trial.run(inner)
    for saved in logs:
        if not rest:
            with suppress(UnsatisfiedAssumption, InvalidArgument):
                run(trial.watched, **{name: saved.log()}, **parameters)
            continue

        few = _settings(
            settings(max_examples=_DRAWS_FOR_A_SAVED_LOG), replace(effort, examples=EXAMPLES)
        )
        with suppress(Unsatisfiable, InvalidArgument):  # of a case that is none for this law
            few(given(**rest)(_on(run, name, saved)))(trial.watched, **parameters)


def _on(run: Callable[..., Any], name: str, saved: Saved) -> Callable[..., Any]:
    """A law on one saved log, whatever else it is given."""

    def tried(core: Any, **case: Any) -> None:
        run(core, **{name: saved.log()}, **case)

    return tried


def _settings(usual: settings, effort: Effort) -> settings:
    wanted = max(1, round(usual.max_examples * effort.examples / EXAMPLES))
    return settings(
        usual,
        max_examples=wanted,
        deadline=None,
        derandomize=effort.seed is None,
        database=None,
        report_multiple_bugs=False,
        print_blob=False,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


class _as_default:  # noqa: N801  # reads as a word where it is used
    """The effort as the profile in force, for laws that bring their own settings."""

    def __init__(self, effort: Effort) -> None:
        self._effort = effort
        self._former = "laws"

    def __enter__(self) -> None:
        self._former = settings.get_current_profile_name()
        made = _settings(settings.get_profile("laws"), self._effort)
        settings.register_profile("conform", made)
        settings.load_profile("conform")
        if self._effort.seed is not None:
            random.seed(self._effort.seed)

    def __exit__(self, *exception: object) -> None:
        settings.load_profile(self._former)
