"""An agent session as an immutable value: a pure reducer core and a thin shell.

Public names are loaded on first use, so that the command starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dsh_fp.core.assembly import EMPTY_ASSEMBLY, Assembled, Assembly, assemble
    from dsh_fp.core.bisecting import bisect, boundaries
    from dsh_fp.core.caching import PromptCaching, prompt_caching
    from dsh_fp.core.certificates import Certificate, CertifiedStep, certificate_of, certify
    from dsh_fp.core.chains import RequestDigests
    from dsh_fp.core.changes import RequestDifference
    from dsh_fp.core.content import ContentDigests, content_digests
    from dsh_fp.core.differences import diff_requests
    from dsh_fp.core.digests import event_digest, message_digest, session_digest
    from dsh_fp.core.endings import Ending, parse_endings
    from dsh_fp.core.events import (
        Event,
        SessionHeader,
        decode_event,
        decode_event_text,
        session_header,
    )
    from dsh_fp.core.header import (
        HeaderEvent,
        apply_delta,
        canonical_header,
        diff_headers,
        fold_header,
        headers_equal,
        next_header_event,
    )
    from dsh_fp.core.json_paths import Difference, first_difference
    from dsh_fp.core.log import EventLog
    from dsh_fp.core.lossless import (
        MAX_DEPTH,
        Json,
        JsonArray,
        JsonObject,
        json_equal,
        parse,
        snapshot,
        thaw,
        to_text,
    )
    from dsh_fp.core.origins import Origins, SessionOrigins, request_origins
    from dsh_fp.core.pairing import can_collapse, is_balanced_cut
    from dsh_fp.core.projection import derive_messages, project
    from dsh_fp.core.proofs import (
        Checked,
        ConsistencyProof,
        InclusionProof,
        check_proof,
        prove_extension,
        prove_request,
    )
    from dsh_fp.core.reducer import CHECKS, State, fold, reduce
    from dsh_fp.core.rejection import Code, Rejection
    from dsh_fp.core.repair import interrupted_turn_closers
    from dsh_fp.core.replay import Divergence, Replay
    from dsh_fp.core.requests import PastRequest, past_requests
    from dsh_fp.core.script import ModelCall, Script, script_of
    from dsh_fp.core.session import Guard, Session, Tokens, Usage
    from dsh_fp.core.session_differences import SessionDifference, diff_sessions
    from dsh_fp.core.surface import Node, Replacement, Surface, SurfaceFold, fold_surface
    from dsh_fp.core.trace import TraceState, fold_trace, strict, trace_violations
    from dsh_fp.core.verifying import Comparison, Mismatch, compare_certificate
    from dsh_fp.core.vocabulary import (
        STANDARD,
        Field,
        Frame,
        Kind,
        MessageRule,
        Role,
        TypeRule,
        Vocabulary,
    )
    from dsh_fp.core.what_if import Drop, Insert, Replace, RequestChange, WhatIf, what_if
    from dsh_fp.formats.reading import read
    from dsh_fp.rejected import Rejected, unwrap
    from dsh_fp.replay_model import Diverged, ModelThrew, NeverEnded, ReplayModel
    from dsh_fp.storage.backend import Backend, Listing, Stored, Writer
    from dsh_fp.storage.following import follow
    from dsh_fp.storage.jsonl import LogFile, encode_log, scan_log
    from dsh_fp.storage.jsonl_backend import JsonlBackend
    from dsh_fp.storage.memory_backend import MemoryBackend
    from dsh_fp.storage.paths import bucket_name, decode_segment, encode_segment, log_path
    from dsh_fp.storage.recorder import AtFlush, Batches, EachEvent, Recorder
    from dsh_fp.storage.sqlite_backend import SqliteBackend
    from dsh_fp.store.notices import Contained
    from dsh_fp.store.sessions import LiveSession, Owner, SessionStore

_HOMES = {
    "dsh_fp.core.lossless": (
        "Json JsonArray JsonObject MAX_DEPTH json_equal parse snapshot thaw to_text"
    ),
    "dsh_fp.core.rejection": "Code Rejection",
    "dsh_fp.core.events": "Event SessionHeader decode_event decode_event_text session_header",
    "dsh_fp.core.vocabulary": "STANDARD Field Frame Kind MessageRule Role TypeRule Vocabulary",
    "dsh_fp.core.surface": "Node Replacement Surface SurfaceFold fold_surface",
    "dsh_fp.core.header": (
        "HeaderEvent apply_delta canonical_header diff_headers fold_header headers_equal"
        " next_header_event"
    ),
    "dsh_fp.core.projection": "derive_messages project",
    "dsh_fp.core.pairing": "can_collapse is_balanced_cut",
    "dsh_fp.core.reducer": "CHECKS State fold reduce",
    "dsh_fp.core.log": "EventLog",
    "dsh_fp.core.session": "Guard Session Tokens Usage",
    "dsh_fp.core.trace": "TraceState fold_trace strict trace_violations",
    "dsh_fp.core.repair": "interrupted_turn_closers",
    "dsh_fp.core.assembly": "EMPTY_ASSEMBLY Assembled Assembly assemble",
    "dsh_fp.core.digests": "event_digest message_digest session_digest",
    "dsh_fp.core.chains": "RequestDigests",
    "dsh_fp.core.content": "ContentDigests content_digests",
    "dsh_fp.core.requests": "PastRequest past_requests",
    "dsh_fp.formats.reading": "read",
    "dsh_fp.storage.jsonl": "LogFile encode_log scan_log",
    "dsh_fp.storage.paths": "bucket_name decode_segment encode_segment log_path",
    "dsh_fp.storage.backend": "Backend Listing Stored Writer",
    "dsh_fp.storage.following": "follow",
    "dsh_fp.storage.jsonl_backend": "JsonlBackend",
    "dsh_fp.storage.memory_backend": "MemoryBackend",
    "dsh_fp.storage.recorder": "AtFlush Batches EachEvent Recorder",
    "dsh_fp.storage.sqlite_backend": "SqliteBackend",
    "dsh_fp.store.notices": "Contained",
    "dsh_fp.store.sessions": "LiveSession Owner SessionStore",
    "dsh_fp.core.json_paths": "Difference first_difference",
    "dsh_fp.core.origins": "Origins SessionOrigins request_origins",
    "dsh_fp.core.changes": "RequestDifference",
    "dsh_fp.core.differences": "diff_requests",
    "dsh_fp.core.session_differences": "SessionDifference diff_sessions",
    "dsh_fp.core.caching": "PromptCaching prompt_caching",
    "dsh_fp.core.certificates": "Certificate CertifiedStep certificate_of certify",
    "dsh_fp.core.verifying": "Comparison Mismatch compare_certificate",
    "dsh_fp.core.proofs": (
        "Checked ConsistencyProof InclusionProof check_proof prove_extension prove_request"
    ),
    "dsh_fp.core.script": "ModelCall Script script_of",
    "dsh_fp.core.endings": "Ending parse_endings",
    "dsh_fp.core.replay": "Divergence Replay",
    "dsh_fp.replay_model": "Diverged ModelThrew NeverEnded ReplayModel",
    "dsh_fp.core.what_if": "Drop Insert Replace RequestChange WhatIf what_if",
    "dsh_fp.core.bisecting": "bisect boundaries",
    "dsh_fp.rejected": "Rejected unwrap",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Assembled",
    "Assembly",
    "AtFlush",
    "Backend",
    "Batches",
    "CHECKS",
    "Certificate",
    "CertifiedStep",
    "Checked",
    "Code",
    "Comparison",
    "ConsistencyProof",
    "Contained",
    "ContentDigests",
    "Difference",
    "Diverged",
    "Divergence",
    "Drop",
    "EMPTY_ASSEMBLY",
    "EachEvent",
    "Ending",
    "Event",
    "EventLog",
    "Field",
    "Frame",
    "Guard",
    "HeaderEvent",
    "InclusionProof",
    "Insert",
    "Json",
    "JsonArray",
    "JsonObject",
    "JsonlBackend",
    "Kind",
    "Listing",
    "LiveSession",
    "LogFile",
    "MAX_DEPTH",
    "MemoryBackend",
    "MessageRule",
    "Mismatch",
    "ModelCall",
    "ModelThrew",
    "NeverEnded",
    "Node",
    "Origins",
    "Owner",
    "PastRequest",
    "PromptCaching",
    "Recorder",
    "Rejected",
    "Rejection",
    "Replace",
    "Replacement",
    "Replay",
    "ReplayModel",
    "RequestChange",
    "RequestDifference",
    "RequestDigests",
    "Role",
    "STANDARD",
    "Script",
    "Session",
    "SessionDifference",
    "SessionHeader",
    "SessionOrigins",
    "SessionStore",
    "SqliteBackend",
    "State",
    "Stored",
    "Surface",
    "SurfaceFold",
    "Tokens",
    "TraceState",
    "TypeRule",
    "Usage",
    "Vocabulary",
    "WhatIf",
    "Writer",
    "apply_delta",
    "assemble",
    "bisect",
    "boundaries",
    "bucket_name",
    "can_collapse",
    "canonical_header",
    "certificate_of",
    "certify",
    "check_proof",
    "compare_certificate",
    "content_digests",
    "decode_event",
    "decode_event_text",
    "decode_segment",
    "derive_messages",
    "diff_headers",
    "diff_requests",
    "diff_sessions",
    "encode_log",
    "encode_segment",
    "event_digest",
    "first_difference",
    "fold",
    "fold_header",
    "fold_surface",
    "fold_trace",
    "follow",
    "headers_equal",
    "interrupted_turn_closers",
    "is_balanced_cut",
    "json_equal",
    "log_path",
    "message_digest",
    "next_header_event",
    "parse",
    "parse_endings",
    "past_requests",
    "project",
    "prompt_caching",
    "prove_extension",
    "prove_request",
    "read",
    "reduce",
    "request_origins",
    "scan_log",
    "script_of",
    "session_digest",
    "session_header",
    "snapshot",
    "strict",
    "thaw",
    "to_text",
    "trace_violations",
    "unwrap",
    "what_if",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'dsh_fp' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
