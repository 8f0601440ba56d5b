"""`dsh-fp cache`: how much of each prompt a cache can have kept, and what broke it."""

from __future__ import annotations

from pathlib import Path

from tests.cli.logs import GARDEN, Log, document, run, text, write
from tests.cli.test_strangers import evil_log


def test_every_request_has_a_row_and_every_break_a_line() -> None:
    """With the event that did it."""
    result = run("cache", GARDEN)

    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0] == 'session "garden": 6 requests, 2 changes of the prompt\'s beginning'
    assert lines[5].split() == [
        "3",
        "1",
        "35",
        "6",
        "0",
        "2,034",
        "152",
        "7",
        "49",
        "508",
        "-",
        "148",
    ]
    assert lines[10] == "  turn 3, step 1: system from line 4: event 36 request/header-delta"
    assert lines[11] == "  turn 3, step 1: the provider read 508 tokens, 49 predicted"
    assert lines[12].startswith("  turn 4, step 1: replacement at messages[0].content[0].text:")


def test_the_document_holds_it_all() -> None:
    """Counts, the break, the provider's report and the prediction."""
    first, second, third, *_ = document("cache", GARDEN)["requests"]

    assert first["kept_all"] is None
    assert (second["kept_all"], second["common_messages"]) == (True, 1)
    assert second["common_bytes"] == first["bytes"]
    assert third["broken_by"]["how"] == "system"
    assert third["broken_by"]["event"]["seq"] == 36
    assert third["broken_by"]["line"] == 4
    assert third["usage"] == {
        "input_tokens": 148,
        "cache_read_tokens": 508,
        "cache_write_tokens": None,
    }
    assert third["predicted_cache_read_tokens"] == round(656 * 152 / 2034)


def test_a_request_that_is_not_known_is_listed_with_its_fault(tmp_path: Path) -> None:
    """Exit code 1; the next one says that it stands behind one."""
    log = Log()
    log.open_step()
    log.close()
    log.open_step(turn=2, header=None)
    log.add("request/header", {"header": 5})
    log.close(turn=2)
    log.open_step(turn=3, header={"config": {"model": "heron"}})
    path = log.write(tmp_path)

    result = run("cache", path)
    assert result.exit_code == 1
    assert "turn 2, step 1: not known, HEADER_INVALID: " in result.stdout
    assert "turn 3, step 1: model: event" in result.stdout
    assert "behind 1 request not known" in " ".join(result.stdout.split())
    rows = document("cache", path)["requests"]
    assert [row["fault"] is None for row in rows] == [True, False, True]
    assert rows[1]["bytes"] is None
    assert rows[2]["unknown_before"] == 1


def test_a_read_far_from_the_prediction_has_a_line(tmp_path: Path) -> None:
    """More than twice it, or less than half of it; not where one of the two is not known."""
    reads = {1: None, 2: 10, 3: 0, 4: 1000}
    log = Log()
    for turn, read in reads.items():
        log.say(f"Question {turn}")
        log.open_step(turn=turn, header={"config": {"model": "heron"}} if turn == 1 else None)
        usage = (
            {"inputTokens": 10} if read is None else {"inputTokens": 10, "cacheReadTokens": read}
        )
        data = {"turn": turn, "step": 1, "content": text("x" * 40), "usage": usage}
        log.add("assistant/message", data, surface_op="append")
        log.close(turn=turn)
    path = log.write(tmp_path)

    rows = document("cache", path)["requests"]
    shares = [row["predicted_cache_read_tokens"] for row in rows]
    assert 5 < shares[1] < 20
    assert shares[2] > 0
    assert 500 < shares[3] < 1010
    told = run("cache", path).stdout
    assert f"turn 3, step 1: the provider read 0 tokens, {shares[2]} predicted" in told
    assert told.count("the provider read") == 1


def test_odd_usage_and_no_requests_are_no_trouble(tmp_path: Path) -> None:
    """Fractions are shown as they are, what is no number is not reported."""
    log = Log()
    log.open_step()
    usage = {"inputTokens": 1.5, "cacheReadTokens": "all"}
    data = {"turn": 1, "step": 1, "content": text("x"), "usage": usage}
    log.add("assistant/message", data, surface_op="append")
    path = log.write(tmp_path)

    assert run("cache", path).stdout.splitlines()[3].split()[-3:] == ["-", "-", "1.5"]
    assert (
        run("cache", Log().write(tmp_path)).stdout
        == 'session "harbour": 0 requests, 0 changes of the prompt\'s beginning\n'
    )


def test_strangers_reach_the_terminal_as_text(tmp_path: Path) -> None:
    """Models, reasons and paths alike."""
    log = evil_log()
    log.add("step/start", {"turn": 1, "step": 1})
    for options in ([], ["--json"]):
        result = run("cache", log.write(tmp_path), *options)
        assert [one for one in result.stdout if not one.isprintable() and one != "\n"] == []


def test_a_log_that_cannot_be_read_ends_with_three(tmp_path: Path) -> None:
    """As everywhere."""
    assert run("cache", write(tmp_path, b"no log\n")).exit_code == 3
