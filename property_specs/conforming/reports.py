"""What came of a judgement: files for each broken law, a summary, JUnit XML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from property_specs.conforming.counterexamples import as_json
from property_specs.conforming.doors import Door
from property_specs.conforming.judging import BROKEN, HELD, NOT_ASKED, Verdict
from property_specs.conforming.protocol import SMALL, VERSION

_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")


def saved(verdict: Verdict, folder: Path) -> dict[str, str]:
    """Write a broken law's counterexample; the paths of its files."""
    found = verdict.counterexample
    if found is None:
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    stem = _NO_NAME.sub("-", verdict.name)
    log, record = folder / f"{stem}.jsonl", folder / f"{stem}.json"
    told = {"law": verdict.name, "sentence": verdict.sentence, **found.wire()}
    record.write_text(as_json(told), encoding="utf-8")
    if not found.log:
        return {"record": str(record)}
    log.write_text(found.text(), encoding="utf-8")
    return {"log": str(log), "record": str(record)}


def summary(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """How many held, broke, and were not asked."""
    counts = Counter(verdict.verdict for verdict in verdicts)
    return {"held": counts[HELD], "broken": counts[BROKEN], "not_asked": counts[NOT_ASKED]}


def wire_of(verdict: Verdict, files: dict[str, str]) -> dict[str, Any]:
    """One verdict as JSON."""
    wire: dict[str, Any] = {
        "name": verdict.name,
        "topic": verdict.topic,
        "sentence": verdict.sentence,
        "verdict": verdict.verdict,
        "left_out": verdict.left_out,
        "partly": list(verdict.partly),
    }
    if verdict.why:
        wire["why"] = verdict.why
    if verdict.counterexample is not None:
        wire["counterexample"] = {"events": verdict.counterexample.events, "files": files}
    return wire


def implementation(door: Door) -> dict[str, Any]:
    """What was judged, as JSON."""
    return {
        "name": door.name,
        "door": door.kind,
        "protocol_version": VERSION,
        "capabilities": sorted(door.capabilities),
        "lacks_of_the_small_protocol": [each for each in SMALL if each not in door.capabilities],
    }


def junit(name: str, verdicts: Sequence[Verdict]) -> bytes:
    """The verdicts as JUnit XML: a suite for each topic, a case for each law."""
    root = ElementTree.Element("testsuites", _counts("dsh-fp conform", verdicts))
    for topic in dict.fromkeys(verdict.topic for verdict in verdicts):
        of_topic = [verdict for verdict in verdicts if verdict.topic == topic]
        suite = ElementTree.SubElement(root, "testsuite", _counts(topic, of_topic))
        for verdict in of_topic:
            names = {"classname": _xml(f"{name}.{topic}"), "name": _xml(verdict.name), "time": "0"}
            case = ElementTree.SubElement(suite, "testcase", names)
            message = {"message": _xml(verdict.sentence)}
            if verdict.verdict == BROKEN:
                told = ElementTree.SubElement(case, "failure", {**message, "type": "law"})
                told.text = _xml(_told(verdict))
            elif verdict.verdict == NOT_ASKED:
                ElementTree.SubElement(case, "skipped", {"message": _xml(verdict.why)})
    ElementTree.indent(root)
    whole: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return whole + b"\n"


def _counts(name: str, verdicts: Sequence[Verdict]) -> dict[str, str]:
    counts = summary(verdicts)
    return {
        "name": _xml(name),
        "tests": str(len(verdicts)),
        "failures": str(counts["broken"]),
        "errors": "0",
        "skipped": str(counts["not_asked"]),
        "time": "0",
    }


def _told(verdict: Verdict) -> str:
    found = verdict.counterexample
    return verdict.why if found is None else f"{verdict.why}\n\n{found.text()}"


def _xml(text: str) -> str:
    """Text that XML can hold: what it has no character for is named."""
    return _NO_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
