"""What `dsh-fp conform` asks, answered by `own_core`; the how-to page explains it."""

from typing import Any, TypeAlias

from examples.own_core import Bad, Log

Json: TypeAlias = Any


class Judged:
    """The questions of the small protocol that own_core has an answer to."""

    def accept(self, log: list[Json]) -> Json:
        """How many events are taken, or the first fault."""
        try:
            return {"length": len(Log(log).events)}
        except Bad as bad:
            return {"refused": {"code": bad.code, "index": bad.place}}

    def surface(self, log: list[Json]) -> Json:
        """The nodes, and how many replacements there were."""
        made = Log(log)
        return {"seqs": made.surface, "generation": made.replacements}

    def messages(self, log: list[Json]) -> Json:
        """The messages, or the payload at fault."""
        try:
            return Log(log).chat()
        except Bad as bad:
            return {"refused": {"code": bad.code, "seq": bad.place}}
