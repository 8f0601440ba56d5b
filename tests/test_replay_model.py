"""A recorded session in place of a model: sync and async, alone and nested."""

from __future__ import annotations

import asyncio
import copy
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from dsh_fp import Code, Rejected, Session, assemble, past_requests, read, thaw, to_text, unwrap
from dsh_fp.core.endings import Ending, parse_endings
from dsh_fp.core.replay import Replay
from dsh_fp.core.script import Answer, script_of
from dsh_fp.replay_model import Diverged, ModelThrew, NeverEnded, ReplayModel
from tests.core.making import (
    asking,
    assistant,
    event,
    header,
    replayed,
    step_end,
    step_start,
    text,
    turn_end,
    turn_start,
    user,
)
from tests.shared import REPOSITORY

GARDEN = REPOSITORY / "examples" / "garden.jsonl"


def garden() -> Session:
    return unwrap(read(GARDEN)).session


def endings(*lines: str) -> tuple[Ending, ...]:
    return unwrap(parse_endings(lines))


def cut(**reason: Any) -> Session:
    """One call that gave a chunk, then the turn ended."""
    chunk = {"type": "text-delta", "index": 0, "text": "No"}
    wires = [turn_start(0), header(1), user(2), step_start(3)]
    wires.append(event("assistant/chunk", 4, {"turn": 1, "step": 1, "chunk": chunk}))
    wires += [step_end(5), event("turn/end", 6, {"turn": 1, "reason": reason})]
    return replayed(*wires)


def recorded(name: str, *words: str, **meta: Any) -> Session:
    """A session whose model said these words, a step each."""
    events: list[dict[str, Any]] = [header(0)]
    for number, said in enumerate(words, start=1):
        seq = len(events)
        events += [step_start(seq, step=number), assistant(seq + 1, text(said), step=number)]
    return unwrap(Session.replay(events, {"id": name, "createdAt": 0, **meta}))


def words_of(answer: Answer) -> str:
    words: str = answer.content[0]["text"]
    return words


# ---- an agent loop -----------------------------------------------------------------------------


def run_agent(model: ReplayModel, tools: Any, prompts: list[str]) -> list[Any]:
    """A small agent: it sends what it has, and looks things up until the model is done."""
    messages: list[Any] = []
    for prompt in prompts:
        messages.append({"role": "user", "content": [text(prompt)]})
        while True:
            answer = model.complete({"model": "m-1", "messages": messages})
            messages.append({"role": "assistant", "content": answer.content})
            results = [tools(block) for block in answer.content if block["type"] == "tool-call"]
            if not results:
                break
            messages += results
    return messages


def look(block: Any) -> Any:
    """What the recorded tool said."""
    told = {"type": "tool-result", "toolCallId": block["id"], "content": [text("seen")]}
    return {"role": "user", "content": [{**told, "isError": False}]}


def looked_up() -> Session:
    """The record of such an agent: one call of a tool, then an answer, then another turn."""
    result = {"turn": 1, "step": 1, "callId": "c1", "content": [text("seen")], "isError": False}
    return replayed(
        turn_start(0),
        user(1, "Rain?"),
        step_start(2),
        header(3),
        assistant(4, asking("c1")),
        event("tool/result", 5, result, surfaceOp="append"),
        step_end(6),
        step_start(7, step=2),
        assistant(8, text("No."), step=2),
        step_end(9, step=2),
        turn_end(10),
        turn_start(11, turn=2),
        user(12, "Sure?"),
        step_start(13, turn=2),
        assistant(14, text("Yes."), turn=2),
        step_end(15, turn=2),
        turn_end(16, turn=2),
    )


def test_an_agent_lives_through_its_recorded_run_again() -> None:
    """It ends up with the recorded messages, and each of its requests was the recorded one."""
    session = looked_up()
    model = ReplayModel(session, check=True)

    messages = run_agent(model, look, ["Rain?", "Sure?"])

    assert [to_text(each) for each in messages] == list(map(to_text, unwrap(session.messages())))
    assert model.left() == ()


def test_an_agent_that_changed_is_stopped_at_its_first_other_request() -> None:
    """The report names the request, the message and the event; the model stays stopped."""
    model = ReplayModel(looked_up(), check=True)

    with pytest.raises(Diverged) as stopped:
        run_agent(model, look, ["Rain?", "Sure!"])

    fault = stopped.value.rejection
    assert (fault.code, fault.seq) == (Code.REPLAY_DIVERGED, 13)
    assert fault.path == "$.messages[4].content[0].text"
    assert fault.data == {"message": 4, "event": 12}
    assert "what seq 12, user/message, put there" in str(stopped.value)
    assert "'Sure!'" in str(stopped.value)
    assert stopped.value.difference.first_message == 4
    for again in (model.complete, model.stream, model.call):
        with pytest.raises(Diverged) as same:
            again(unwrap(past_requests(looked_up())[2].request))
        assert same.value.rejection == fault
    assert len(model.left()) == 1


def test_the_first_request_is_checked_too() -> None:
    """A tool that was described otherwise is found before anything is answered."""
    session = garden()
    live = thaw(unwrap(past_requests(session)[0].request))
    live["tools"][1]["description"] += "!"

    with pytest.raises(Diverged) as stopped:
        ReplayModel(session, check=True).stream(live)

    assert stopped.value.rejection.path == "$.tools[1].description"
    assert stopped.value.rejection.data == {"event": 3}


def test_a_check_needs_the_request() -> None:
    """Forgetting it is a slip of the program, not a divergence."""
    model = ReplayModel(garden(), check=True)

    with pytest.raises(TypeError, match="check=True"):
        model.complete()
    with pytest.raises(Rejected) as refused:
        model.complete({"messages": {1}})

    assert refused.value.rejection.code is Code.NOT_JSON
    assert len(model.left()) == 7


# ---- streams and answers -----------------------------------------------------------------------


def test_the_streams_of_the_garden_assemble_to_its_messages() -> None:
    """A loop over chunks hears the same as one over whole answers."""
    session = garden()
    model = ReplayModel(session)

    heard = [unwrap(assemble(model.stream())).message_content() for _ in script_of(session).steps]

    said = [answer.content for answer in ReplayModel(session)]
    logged = [each.data["content"] for each in session if each.type == "assistant/message"]
    assert heard == said == logged


async def hear_all(session: Session) -> list[str]:
    """Everything an asyncio caller is given, as text."""
    model, whole = ReplayModel(session), ReplayModel(session)
    heard = []
    for _ in script_of(session).steps:
        heard.append(to_text([chunk async for chunk in model.astream()]))
        answer = await whole.acomplete()
        heard.append(to_text([answer.content, answer.usage, answer.finish]))
    return heard


def test_async_and_sync_give_the_same() -> None:
    """Chunk for chunk, answer for answer."""
    session = garden()
    model, whole = ReplayModel(session), ReplayModel(session)
    heard = []
    for _ in script_of(session).steps:
        heard.append(to_text(list(model.stream())))
        answer = whole.complete()
        heard.append(to_text([answer.content, answer.usage, answer.finish]))

    assert asyncio.run(hear_all(session)) == heard


def test_an_async_stream_lets_others_run_before_each_chunk() -> None:
    """As a real one does, so that it can be cancelled in between."""

    async def hear() -> list[str]:
        heard = []
        others = ReplayModel(garden())

        async def listen(name: str, model: ReplayModel) -> None:
            async for _ in model.astream():
                heard.append(name)  # noqa: PERF401  # in turns with the other

        await asyncio.gather(listen("a", ReplayModel(garden())), listen("b", others))
        return heard

    assert asyncio.run(hear()) == ["a", "b"] * 11


def test_it_is_an_iterator_over_answers() -> None:
    """Sync and async; it ends where the record does."""

    async def gather(model: ReplayModel) -> list[str]:
        return [words_of(answer) async for answer in model]

    session = recorded("a", "One.", "Two.")

    assert [words_of(answer) for answer in ReplayModel(session)] == ["One.", "Two."]
    assert asyncio.run(gather(ReplayModel(session))) == ["One.", "Two."]


def test_an_iteration_raises_what_is_no_end() -> None:
    """No session at all is not a run at its end."""

    async def first(model: ReplayModel) -> Answer:
        return await anext(model)

    with pytest.raises(Rejected, match="REPLAY_NO_SESSION"):
        next(ReplayModel([]))
    with pytest.raises(Rejected, match="REPLAY_NO_SESSION"):
        asyncio.run(first(ReplayModel([])))


def test_asking_beyond_the_end_raises() -> None:
    """A typed miss, at the call and not at the first chunk."""
    model = ReplayModel(recorded("a", "One."))
    model.complete()

    for ask in (model.complete, model.stream, model.astream, model.call):
        with pytest.raises(Rejected) as missed:
            ask()
        assert missed.value.rejection.code is Code.REPLAY_EXHAUSTED


def test_a_stream_takes_its_call_when_it_is_made() -> None:
    """Two streams read in the other order are two calls all the same."""
    model = ReplayModel(recorded("a", "One.", "Two."))
    first, second = model.stream(), model.stream()

    later, earlier = (unwrap(assemble(each)).blocks for each in (second, first))

    assert earlier == [text("One.")]
    assert later == [text("Two.")]


def test_chunks_can_be_made_from_the_messages() -> None:
    """For a log whose chunks do not amount to its messages."""
    chunk = {"type": "text-delta", "index": 0, "text": "No"}
    session = replayed(
        header(0),
        step_start(1),
        event("assistant/chunk", 2, {"turn": 1, "step": 1, "chunk": chunk}),
        assistant(3, text("Noon.")),
    )

    as_recorded = list(ReplayModel(session).stream())
    made = list(ReplayModel(session, from_messages=True).stream())

    assert as_recorded == [chunk]
    assert unwrap(assemble(made)).blocks == [text("Noon.")]


def test_compactions_are_asked_for_by_their_purpose() -> None:
    """Their requests are in no log, so that none is checked."""
    model = ReplayModel(garden(), check=True)

    answer = model.complete({"messages": []}, purpose="compaction")

    assert answer.content == garden().events[76].data["summary"]


# ---- calls without an answer -------------------------------------------------------------------


def test_a_call_that_threw_throws_after_its_chunks() -> None:
    """With the message and code of the log; a name comes from a side file."""
    session = cut(kind="error", step=1, message="overloaded", code="529")
    line = '{"turn":1,"step":1,"error":{"name":"Overloaded","message":"later"},"after_chunks":0}'
    stream = ReplayModel(session).stream()

    heard = [next(stream)]
    with pytest.raises(ModelThrew) as threw:
        next(stream)
    with pytest.raises(ModelThrew, match=r"^Overloaded: later \(recorded in turn 1, step 1 \("):
        list(ReplayModel(session, endings=endings(line)).stream())
    with pytest.raises(ModelThrew):
        ReplayModel(session).complete()

    assert [chunk["text"] for chunk in heard] == ["No"]
    assert threw.value.error == {"message": "overloaded", "code": "529"}


def test_a_call_that_threw_throws_the_same_for_asyncio() -> None:
    """After its chunks; a whole answer there is none."""
    session = cut(kind="error", step=1, message="overloaded")

    async def hear() -> list[Any]:
        stream = ReplayModel(session).astream()
        heard = [await anext(stream)]
        with pytest.raises(ModelThrew, match="overloaded"):
            await anext(stream)
        with pytest.raises(ModelThrew, match="overloaded"):
            await ReplayModel(session).acomplete()
        return heard

    assert len(asyncio.run(hear())) == 1


def test_a_call_that_never_ended_is_said_to_a_sync_caller() -> None:
    """It would hang, and nobody could cancel it. The next call is the next."""
    session = cut(kind="aborted")

    with pytest.raises(NeverEnded, match="turn 1, step 1"):
        list(ReplayModel(session).stream())
    with pytest.raises(NeverEnded, match="never ended"):
        ReplayModel(session).complete()


def test_a_call_that_never_ended_waits_until_it_is_cancelled() -> None:
    """Its chunks come; then asyncio's cancelling is the only way out, as it was."""
    session = cut(kind="aborted")

    async def hear() -> list[Any]:
        heard: list[Any] = []
        model = ReplayModel([session, recorded("next", "One.")])

        async def listen() -> None:
            async for chunk in model.astream(session="session"):
                heard.append(chunk)  # noqa: PERF401  # as it comes, for it is cut

        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(listen())]
        tasks.append(asyncio.create_task(_complete(ReplayModel(session))))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not any(task.done() for task in tasks)
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(each) for each in ended] == [asyncio.CancelledError] * 2
        assert words_of(await model.acomplete(session="other")) == "One."
        return heard

    assert len(asyncio.run(hear())) == 1


async def _complete(model: ReplayModel) -> Answer:
    return await model.acomplete()


def test_an_ending_that_names_no_call_is_refused_at_once() -> None:
    """A slip in the side file would go unnoticed otherwise."""
    sessions = [recorded("a", "One."), recorded("b", "One.", "Two.")]
    here = endings('{"turn":1,"step":2,"never_ends":true}')
    nowhere = endings("", '{"turn":9,"step":1,"never_ends":true}')
    stranger = endings('{"session":"c","turn":1,"step":1,"never_ends":true}')

    ReplayModel(sessions, endings=here)
    for told in (nowhere, stranger):
        with pytest.raises(Rejected) as refused:
            ReplayModel(sessions, endings=told)
        assert refused.value.rejection.code is Code.ENDING_INVALID
        assert refused.value.rejection.line_number == told[0].line_number


def test_endings_that_clash_are_refused_at_once() -> None:
    """Two for one call, or one after more chunks than it has; of a script that was given too."""
    session = recorded("a", "One.")
    named = ('{"turn":1,"step":1,"never_ends":true}', '{"session":"a","turn":1,"step":1,')
    twice = endings(named[0], named[1] + '"never_ends":true}')
    too_many = endings("", '{"turn":1,"step":1,"never_ends":true,"after_chunks":99}')

    for told in (twice, too_many):
        script = script_of(session, told)
        for given, more in ((session, told), (script, ())):
            with pytest.raises(Rejected) as refused:
                ReplayModel(given, endings=more)
            assert refused.value.rejection.code is Code.ENDING_INVALID
            assert refused.value.rejection.line_number == 2


# ---- several sessions --------------------------------------------------------------------------


def test_nested_agents_have_a_cursor_each() -> None:
    """The first call under a new key binds it, the parent's first."""
    sessions = [
        recorded("kid", "K1.", "K2.", parentSession="top", createdAt=1),
        recorded("top", "T1.", "T2.", createdAt=2),
    ]
    model = ReplayModel(sessions)

    heard = [words_of(model.complete(session=key)) for key in ("p", "c", "p", "c")]

    assert heard == ["T1.", "K1.", "T2.", "K2."]


def test_a_fork_is_asked_only_for_what_is_its_own() -> None:
    """What it inherited was asked by its parent; `inherited` gives it all the same."""
    parent = replayed(
        turn_start(0), header(1), step_start(2), assistant(3), step_end(4), turn_end(5)
    )
    child = unwrap(parent.fork(id="child"))
    own = (turn_start(6, turn=2), step_start(7, turn=2), assistant(8, text("Own."), turn=2))
    child = unwrap(child.extend(own))

    assert words_of(ReplayModel(child).complete()) == "Own."
    assert words_of(ReplayModel(child, inherited=True).complete()) == "Yes"


def test_threads_do_not_mix_up_their_sessions() -> None:
    """Each thread hears its own session in order, whoever comes first."""
    count, calls = 8, 50
    names = [f"s{number}" for number in range(count)]
    sessions = [recorded(name, *(f"{name}.{at}" for at in range(calls))) for name in names]
    model, barrier = ReplayModel(sessions), threading.Barrier(count)
    heard: dict[str, list[str]] = {}

    def ask(name: str) -> None:
        barrier.wait()
        heard[name] = [words_of(model.complete(session=name)) for _ in range(calls)]

    threads = [threading.Thread(target=ask, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert heard == {name: [f"{name}.{at}" for at in range(calls)] for name in names}


def test_threads_that_share_a_session_take_each_call_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No call is given twice and none is lost, however often the threads take turns."""
    model = ReplayModel(recorded("a", *(str(number) for number in range(200))))
    heard: list[str] = []

    def ask() -> None:
        for _ in range(50):
            heard.append(words_of(model.complete()))  # noqa: PERF401  # in turns with others

    given = Replay.next

    def slow_next(*args: Any) -> Any:
        answer = given(*args)
        time.sleep(0)  # another thread's turn, between looking and taking
        return answer

    monkeypatch.setattr(Replay, "next", slow_next)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(heard, key=int) == [str(number) for number in range(200)]


# ---- the rest ----------------------------------------------------------------------------------


def test_it_takes_sessions_and_scripts() -> None:
    """A log file has a session."""
    script = script_of(recorded("a", "One."))

    assert words_of(ReplayModel(script).complete()) == "One."
    assert words_of(ReplayModel([script]).complete()) == "One."
    log = read(GARDEN)
    wrong: list[Any] = [log, log.map(lambda read: read.session), read("missing.jsonl")]
    wrong += [unwrap(log), [log], [unwrap(log)], 5, "garden", [recorded("a"), None]]
    for given in wrong:
        with pytest.raises(TypeError, match=r"^ReplayModel takes .*of a LogFile \.session, of a"):
            ReplayModel(given)
    with pytest.raises(TypeError, match=r"of a LogFile \.session, of a Result first unwrap"):
        script_of(unwrap(log))  # type: ignore[arg-type]  # what is wrong


def test_the_exceptions_are_whole_after_pickling() -> None:
    """A test runner sends them between processes."""
    for session in (cut(kind="error", step=1, message="m"), cut(kind="aborted")):
        with pytest.raises((ModelThrew, NeverEnded)) as raised:
            ReplayModel(session).complete()
        for twin in (pickle.loads(pickle.dumps(raised.value)), copy.copy(raised.value)):
            assert str(twin) == str(raised.value)
    with pytest.raises(Diverged) as stopped:
        ReplayModel(garden(), check=True).complete({"messages": []})
    twin = pickle.loads(pickle.dumps(stopped.value))
    assert (str(twin), twin.rejection) == (str(stopped.value), stopped.value.rejection)


REPLAY = """
import asyncio, sys
from dsh_fp import past_requests, read, to_text, unwrap
from dsh_fp.replay_model import Diverged, ReplayModel
session = unwrap(read(sys.argv[1])).session
requests = [unwrap(past.request) for past in past_requests(session)]
model = ReplayModel([session], check=True)
for request in requests:
    print(to_text(request))
    print(to_text(list(model.stream(request))))
print([call.name for call in model.left()])
async def ask():
    model = ReplayModel(session)
    async for answer in model:
        print(to_text(answer.content), to_text(answer.usage), to_text(answer.finish))
asyncio.run(ask())
try:
    ReplayModel(session, check=True).complete({**requests[0], "system": "Be terse."})
except Diverged as stopped:
    print(ascii(str(stopped)))
"""


def test_the_same_log_and_calls_give_the_same_bytes_everywhere(tmp_path: Path) -> None:
    """Whatever the hash seed, the time zone, the locale and the working folder are."""
    written = set()
    for seed, zone, locale, folder in (
        ("0", "UTC", "C.UTF-8", REPOSITORY),
        ("1", "Asia/Tokyo", "C", tmp_path),
        ("4242", "America/Caracas", "de_DE.UTF-8", Path("/")),
    ):
        more = {"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale, "PYTHONUTF8": "1"}
        ran = subprocess.run(
            [sys.executable, "-c", REPLAY, str(GARDEN)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), **more},
            capture_output=True,
            check=True,
        )
        written.add(ran.stdout)

    assert len(written) == 1
    assert "Grünkohl".encode() in written.pop()
