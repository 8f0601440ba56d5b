"""For every law one deliberate break of the library, on which the law is seen to fail.

A break is one text put in place of another in one module. `python -m property_specs.see_fail`
applies each to a copy and demands that its law fails there; the law's `Broken:` line says in
words what the break does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Break:
    """One text of a module, found there exactly once, and what is put in its place."""

    module: str
    old: str
    new: str


SNAPSHOT: Final = "dsh_fp/core/lossless/snapshot.py"
FROZEN: Final = "dsh_fp/core/lossless/frozen.py"
READING: Final = "dsh_fp/core/lossless/reading.py"
WRITING: Final = "dsh_fp/core/lossless/writing.py"
EVENTS: Final = "dsh_fp/core/events.py"
SURFACE: Final = "dsh_fp/core/surface.py"
HEADER: Final = "dsh_fp/core/header.py"
PROJECTION: Final = "dsh_fp/core/projection.py"
REDUCER: Final = "dsh_fp/core/reducer.py"
GROWING: Final = "dsh_fp/core/growing.py"
LOG: Final = "dsh_fp/core/log.py"
HISTORY: Final = "dsh_fp/core/history.py"
SESSION: Final = "dsh_fp/core/session.py"
TRACE: Final = "dsh_fp/core/trace.py"
REPAIR: Final = "dsh_fp/core/repair.py"
PAIRING: Final = "dsh_fp/core/pairing.py"
ASSEMBLY: Final = "dsh_fp/core/assembly.py"
REQUESTS: Final = "dsh_fp/core/requests.py"
DIGESTS: Final = "dsh_fp/core/digests.py"
CHAINS: Final = "dsh_fp/core/chains.py"
CONTENT: Final = "dsh_fp/core/content.py"
LINES: Final = "dsh_fp/storage/lines.py"
JSONL: Final = "dsh_fp/storage/jsonl.py"
FINDINGS: Final = "dsh_fp/storage/findings.py"
PATHS: Final = "dsh_fp/storage/paths.py"
JSONL_BACKEND: Final = "dsh_fp/storage/jsonl_backend.py"
SQLITE_BACKEND: Final = "dsh_fp/storage/sqlite_backend.py"

BREAKS: Final[dict[str, Break]] = {
    # JSON values and text
    "snapshot_keeps_the_value": Break(
        SNAPSHOT, "int(value) if value.is_integer() else value", "value"
    ),
    "snapshot_leaves_its_input_alone": Break(
        SNAPSHOT, "items = list(value)", "items = value if kind is list else list(value)"
    ),
    "lossy_values_are_refused_by_path": Break(SNAPSHOT, "not math.isfinite(value) or (", "("),
    "integers_are_kept_exactly_or_refused": Break(
        SNAPSHOT, "if not from_text and nearest != value:", "if False:"
    ),
    "depth_has_one_limit": Break(SNAPSHOT, "if depth > limit:", "if depth >= limit:"),
    "text_is_read_to_the_letter": Break(READING, "return -0.0", "return 0"),
    "parse_agrees_with_the_standard_library": Break(
        READING,
        "json.JSONDecoder(parse_int",
        ("json.JSONDecoder(object_pairs_hook=lambda pairs: dict(pairs[::-1]), parse_int"),
    ),
    "parse_inverts_text": Break(
        READING,
        "return int(literal) if len(literal) < 17",
        "return int(literal[:15]) if len(literal) < 17",
    ),
    "halves_survive_writing": Break(SNAPSHOT, "return _PAIR.sub(", "return text or _PAIR.sub("),
    "text_is_what_script_writes": Break(WRITING, 'if b"e-6" in encoded', 'if b"e-9" in encoded'),
    "numbers_are_written_as_script_does": Break(
        WRITING, "if 0 < point <= 21:", "if 0 < point <= 20:"
    ),
    "text_is_canonical_where_keys_are_sorted": Break(
        WRITING, "return encoded.decode()", 'return encoded.decode().replace("\\x7f", "\\\\u007f")'
    ),
    "index_keys_come_first": Break(SNAPSHOT, "= 2**32 - 2", "= 2**32 - 1"),
    # frozen values
    "no_operation_changes_an_object": Break(FROZEN, "    setdefault = _refuse\n", ""),
    "no_operation_changes_an_array": Break(FROZEN, "    __iadd__ = _refuse\n", ""),
    "frozen_all_the_way_down": Break(
        FROZEN, "json_array(item) if isinstance(index, slice) else item", "item"
    ),
    "a_snapshot_stands_apart_from_its_input": Break(
        SNAPSHOT,
        ("kind = type(root)\n    if kind is JsonObject"),
        ("kind = type(root)\n    if root == [] or kind is JsonObject"),
    ),
    "thawed_values_are_plain_and_apart": Break(
        FROZEN, "        return items\n", "        return tuple(items)\n"
    ),
    "equality_is_that_of_json_values": Break(
        FROZEN,
        "elif isinstance(a, bool) or isinstance(b, bool):",
        "elif isinstance(a, bool) and isinstance(b, str):",
    ),
    "equal_values_hash_alike": Break(FROZEN, "hash(frozenset(zip(", "hash(tuple(zip("),
    "copies_are_the_value": Break(
        READING, "return parse_value(text, MAX_DEPTH + 1)", "return parse_value(text, 1_000)"
    ),
    "depth_costs_no_recursion": Break(
        FROZEN, "JsonArray({_shown(self)})", "JsonArray({list(self)!r})"
    ),
    "repr_shows_the_content": Break(
        FROZEN, '_Text(", " if place else "")]', '_Text("," if place else "")]'
    ),
    "cycles_are_refused": Break(
        SNAPSHOT,
        'return not_json(_path(entries, parent, key), "a cycle")',
        "return too_deep(limit)",
    ),
    "text_and_value_freeze_to_the_same": Break(
        SNAPSHOT,
        "int(value) if value.is_integer() else value",
        "int(value) if value.is_integer() and not from_text else value",
    ),
    # events
    "event_decode_inverts_encode": Break(EVENTS, "order=tuple(value),", "order=ENVELOPE,"),
    "envelopes_are_judged_alike": Break(
        EVENTS, "if key not in ENVELOPE:", 'if key not in (*ENVELOPE, "x"):'
    ),
    "events_equal_by_content": Break(EVENTS, "and json_equal(self.data, other.data)", ""),
    "session_headers_are_judged_alike": Break(EVENTS, 'and value.startswith("/")', ""),
    "session_header_decode_inverts_encode": Break(EVENTS, '"seedLength": self.seed_length,', ""),
    # acceptance
    "valid_logs_are_accepted": Break(
        SURFACE,
        "return (start, end) if is_seq(start)",
        "return (start, end) if start <= end and is_seq(start)",
    ),
    "prefix_of_accepted_is_accepted": Break(
        REDUCER,
        "return State(seq, surface.appended_all(tail), header), fault",
        ("return State(seq + (seq == 3), surface.appended_all(tail), header), fault"),
    ),
    "first_fault_wins": Break(
        SURFACE,
        "    if event.stored_op is not UNSET:\n        return surface_op_forbidden",
        "    if event.stored_op is not UNSET and not event.has_sources:\n"
        "        return surface_op_forbidden",
    ),
    "each_code_is_answered": Break(SURFACE, "if len(set(sources)) != len(sources):", "if False:"),
    "every_uncited_node_is_named": Break(
        SURFACE, "return replace_uncited(seq, missing)", "return replace_uncited(seq, missing[:1])"
    ),
    "refusal_changes_nothing": Break(
        SURFACE,
        "return replace_start_unknown(event.seq, start)",
        (
            'return object.__setattr__(surface, "generation", 9) or '
            "replace_start_unknown(event.seq, start)"
        ),
    ),
    "bulk_fold_equals_reduce": Break(
        REDUCER,
        "if event.stored_op is not UNSET or event.stored_sources is not UNSET:",
        "if event.stored_op is not UNSET:",
    ),
    "fold_splits_anywhere": Break(
        REDUCER,
        "seq, surface, header = state.next_seq, state.surface, state.header",
        ("seq, surface, header = state.next_seq, state.surface, EMPTY_STATE.header"),
    ),
    "log_only_event_shares_everything": Break(
        REDUCER,
        "return State(state.next_seq + 1, state.surface, state.header)",
        ("return State(state.next_seq + 1, attrs.evolve(state.surface), state.header)"),
    ),
    "append_equals_extend_equals_replay": Break(
        SESSION, "history = changes.history", "history = self.history"
    ),
    "what_is_handed_over_comes_back_unchanged": Break(
        SNAPSHOT, "items = list(value)", "items = value if type(value) is list else list(value)"
    ),
    "the_log_is_apart_from_what_it_was_made_of": Break(
        EVENTS,
        ("event_of(freeze(given, limit=MAX_DEPTH + 1))\n\n\ndef event_of"),
        ("event_of(json_object(given))\n\n\ndef event_of"),
    ),
    # surface
    "surface_matches_list_surgery": Break(
        SURFACE, "splice(first, last + 1, seq)", "splice(first, max(last, first + 1), seq)"
    ),
    "generation_counts_replacements": Break(
        SURFACE, "len(order), self.generation + 1)", "len(order), self.generation + (first < last))"
    ),
    "replacements_say_what_they_shadowed": Break(
        SURFACE,
        "gone = event.surface_op, surface.shadowed(*span)",
        "gone = event.surface_op, tuple(sorted(surface.shadowed(*span)))",
    ),
    "bare_fold_takes_gaps": Break(
        SURFACE, "if known is not None and source not in known:", "if False:"
    ),
    "bare_fold_refuses_what_acceptance_does": Break(
        SURFACE,
        "            fault = check_bare(event)",
        ("            fault = check_bare(event) if event.has_surface_op else None"),
    ),
    "every_node_is_found_where_it_stands": Break(
        SURFACE, "place = self._places.get(start, start)", "place = seq"
    ),
    # request headers
    "canonical_is_the_one_form": Break(HEADER, "if header.get(key):", "if key in header:"),
    "canonical_is_idempotent": Break(
        HEADER,
        'for key in ("system", "tools", "messagePrefix"):\n        if header.get',
        "for key in reversed([*header][1:]):\n        if header.get",
    ),
    "headers_equal_as_they_stand": Break(
        HEADER,
        '_same_scalar(one.get("system", _ABSENT), other.get("system", _ABSENT))',
        '_same_scalar(one.get("system", ""), other.get("system", ""))',
    ),
    "diff_says_what_changed": Break(
        HEADER, "while end < shorter - start and", "while end < shorter and"
    ),
    "apply_inverts_diff": Break(HEADER, '[*kept, *change["added"]]', '[*change["added"], *kept]'),
    "odd_deltas_are_applied_as_slices": Break(
        HEADER, "return max(length + whole, 0) if whole < 0", "return 0 if whole < 0"
    ),
    "writer_deltas_round_trip": Break(
        HEADER,
        "if isinstance(applied, Rejection) or not _equal(applied, new):",
        "if isinstance(applied, Rejection):",
    ),
    "writer_prefers_deltas": Break(
        HEADER, "if isinstance(applied, Rejection) or not _equal(applied, new):", "if applied:"
    ),
    "a_header_fault_stands_until_the_next_snapshot": Break(
        HEADER,
        ("return folded.at(seq=event.seq) if isinstance(folded, Rejection) else folded"),
        "return header if isinstance(folded, Rejection) else folded",
    ),
    "folding_headers_answers_the_first_fault": Break(
        HEADER,
        ("return Failure(header.at(index=index))\n    return"),
        ("header = None\n    return"),
    ),
    "headers_come_back_unchanged": Break(
        HEADER,
        "return _wrap(_canonical(freeze(header)))",
        (
            'header.pop("x-unknown", None)  # type: ignore\n'
            "    return _wrap(_canonical(freeze(header)))"
        ),
    ),
    # messages
    "messages_match_model": Break(PROJECTION, "if rule.drop_empty and not content:", "if False:"),
    "message_content_is_shared": Break(
        PROJECTION, "    return content\n", "    return json_array(content)\n"
    ),
    "each_node_is_projected_once": Break(
        PROJECTION, "if memo is None or memo[0] is not rule:", "if True:"
    ),
    "log_only_events_make_no_message": Break(
        REDUCER,
        "        if role is None:\n",
        ("        if role is None:\n            del tail[-1:]\n"),
    ),
    # sessions
    "at_equals_replayed_prefix": Break(HISTORY, "if not count:", "if count < 2:"),
    "large_histories_answer_alike": Break(
        HISTORY, "in range(start, length)]", "in range(start + 1, length)]"
    ),
    "what_is_no_seq_is_no_boundary": Break(
        EVENTS,
        "return type(value) is int and 0 <= value <= MAX_SEQ",
        "return isinstance(value, int) and 0 <= value <= MAX_SEQ",
    ),
    "forks_end_at_closed_turns": Break(
        SESSION, 'if length and self.events[boundary].type != "turn/end":', "if False:"
    ),
    "a_fork_knows_its_parent": Break(
        SESSION, '"seedLength": boundary + 1,', '"seedLength": boundary,'
    ),
    "fork_leaves_parent_alone": Break(
        SESSION,
        "return attrs.evolve(self, header=header)",
        ('object.__setattr__(self, "header", header)\n        return self'),
    ),
    "fork_then_append_equals_replay": Break(
        HISTORY, "if following == len(self.replaced):", "if following >= 0:"
    ),
    "branches_do_not_see_each_other": Break(
        GROWING,
        "return Growing(self._vector.set(self._length, item), self._length + 1)",
        "return Growing(self._vector, self._length + 1)",
    ),
    "todos_are_the_last_written": Break(
        SESSION, "range(len(self.events) - 1, -1, -1)", "range(len(self.events))"
    ),
    "usage_sums_every_call": Break(
        SESSION, "if event.seq < seed_length:", "if event.seq <= seed_length:"
    ),
    "a_session_takes_copies": Break(
        SNAPSHOT, "items = list(value)", "items = value if type(value) is list else list(value)"
    ),
    # turns and steps
    "first_breach_matches_model": Break(TRACE, "+ 1, pending=_NONE_PENDING)", "+ 1)"),
    "sound_logs_have_no_breach": Break(
        TRACE,
        '"assistant/chunk": _IN_STEP,',
        ('"assistant/chunk": _IN_STEP,\n        "todo/write": _IN_STEP,'),
    ),
    "breaches_come_once_and_in_order": Break(
        TRACE, "found.append(breach.at(index=index))", "found.append(breach.at(index=index + 1))"
    ),
    "read_events_are_judged_like_values": Break(
        TRACE, " or event.seq <= state.last_seq:\n        return None", ":\n        return None"
    ),
    "strict_refuses_what_no_sound_writer_writes": Break(
        TRACE, "fault = check_payload(event.type, event.seq, data, vocabulary)", "fault = None"
    ),
    # repair
    "closers_match_model": Break(
        REPAIR,
        "sources = UNSET if asked.call_seq is None else",
        "sources = UNSET if asked.call_seq != 0 else",
    ),
    "repair_closes_any_cut": Break(REPAIR, "if walk.in_step:", "if False:"),
    "closers_are_accepted": Break(REPAIR, "closer.event(first + place,", "closer.event(first,"),
    "repairing_twice_adds_nothing": Break(REPAIR, '_Closer("turn/end",', '_Closer("turn/ended",'),
    "closed_logs_need_no_repair": Break(
        REPAIR, "self._forget(in_turn=False)", "self._forget(in_turn=True)"
    ),
    # tool pairing
    "cuts_are_balanced_by_counting": Break(
        PAIRING, "return Success(waiting == 0)", "return Success(waiting <= 1)"
    ),
    "damage_behind_a_cut_does_not_matter": Break(
        PAIRING, "            break\n", "            continue\n"
    ),
    "regions_collapse_between_balanced_cuts": Break(PAIRING, "at_start and at_end)", "at_start)"),
    # chunk assembly
    "blocks_match_model": Break(
        ASSEMBLY,
        "            return self, None",
        ("            return self._with(attrs.evolve(block, done=finished)), None"),
    ),
    "the_last_usage_and_finish_count": Break(
        ASSEMBLY, "finish: AnyJson = STOP", "finish: AnyJson = None"
    ),
    "a_finished_block_is_handed_back_once": Break(
        ASSEMBLY, "            return self, None", "            return self, finished"
    ),
    "a_message_cut_short_asks_for_no_tools": Break(
        ASSEMBLY, 'block.get("type") == "tool-call"', 'block.get("type") == "tool"'
    ),
    "an_assembly_is_a_value": Break(
        ASSEMBLY,
        "return Assembly(self._blocks.set(key, block), order,",
        (
            'object.__setattr__(self, "_blocks", self._blocks.set(key, block))\n'
            "        return Assembly(self._blocks, order,"
        ),
    ),
    # past requests
    "requests_match_refolded_prefixes": Break(
        REQUESTS, "bisect_left(header_seqs, seq)", "bisect_left(header_seqs, waiting[0])"
    ),
    "request_json_is_the_text_of_the_request": Break(
        REQUESTS, "else to_text(request.unwrap())", 'else to_text(request.unwrap()["messages"])'
    ),
    "what_was_sent_stays_sent": Break(
        REQUESTS,
        "epoch = self._session.epoch_at(seq)",
        "epoch = self._session.epoch_at(len(self._session))",
    ),
    # files
    "scan_matches_the_slow_scanner": Break(JSONL, "if fault.turn_end_follows:", "if False:"),
    "read_matches_the_slow_reader": Break(
        JSONL, 'if judge_version and fields["version"] != 0:', "if False:"
    ),
    "fast_lines_equal_slow": Break(
        LINES, "in _MINUS_ZERO.finditer(piece)", 'in _MINUS_ZERO.finditer(b"")'
    ),
    "pieces_do_not_matter": Break(
        LINES,
        ("            waiting.append(piece)\n            continue"),
        ("            waiting = [piece]\n            continue"),
    ),
    "good_prefix_survives_any_cut": Break(
        LINES, 'piece.rfind(b"\\n") + 1', 'piece[:-1].rfind(b"\\n") + 1'
    ),
    "reading_any_bytes_answers": Break(
        LINES, 'text = line.decode(errors="replace")', "text = line.decode()"
    ),
    "path_bytes_and_stream_read_alike": Break(
        JSONL, "in_pieces(bytes(source))", "in_pieces(bytes(source)[:-1])"
    ),
    "log_decode_inverts_encode": Break(
        EVENTS,
        ('"version": self.version,\n            "id": self.id,'),
        ('"id": self.id,\n            "version": self.version,'),
    ),
    "findings_point_at_their_lines": Break(
        FINDINGS, "finding.at(line_number=seq + 2,", "finding.at(line_number=seq + 1,"
    ),
    "damage_before_a_closed_turn_is_corrupt": Break(
        LINES, "any(map(_is_turn_end, lines))", "any(map(_is_turn_end, lines[:1]))"
    ),
    "lines_are_accepted_like_values": Break(
        EVENTS, "max(seqs) < self.seq", "max(seqs) <= self.seq"
    ),
    "reading_needs_no_luck": Break(
        LINES, "self.position = self.starts.pop()", "self.position = self.starts.pop() - 1"
    ),
    # file names
    "segments_match_model": Break(PATHS, ":04X}", ":04x}"),
    "segment_decode_inverts_encode": Break(
        PATHS,
        '_KEPT: Final = re.compile(r"[A-Za-z0-9._-]")',
        '_KEPT: Final = re.compile(r"[A-Za-z0-9._~-]")',
    ),
    "only_encoded_segments_decode": Break(
        PATHS, "if encode_segment(session_id) != Success(segment):", "if False:"
    ),
    "no_id_leaves_its_folder": Break(PATHS, 'if session_id in (".", ".."):', "if False:"),
    # whole histories
    "any_history_matches_the_list_model": Break(
        LOG, "len(tail) == last.length < _TAIL", "last.length < _TAIL"
    ),
    # durable storage
    "backends_agree": Break(SQLITE_BACKEND, "            writer.write(stored.closers)\n", ""),
    "no_flushed_event_is_lost": Break(
        JSONL_BACKEND,
        "        if behind:\n            files.truncate(",
        "        if behind and not tail.stored:\n            files.truncate(",
    ),
    "no_seq_twice": Break(
        JSONL_BACKEND,
        "            self._clean(descriptor)\n            self._tail",
        "            self._tail",
    ),
    # Digests
    "request_digests_are_those_of_the_expanded_request": Break(
        CHAINS, "del self._chain[kept + 1 :]", "del self._chain[len(self._seqs) + 1 :]"
    ),
    "equal_digests_mean_equal_texts": Break(
        CHAINS, "request_digest(parts, messages)", "request_digest(parts, parts)"
    ),
    "event_digests_ignore_spelling": Break(
        EVENTS, "{key: stored[key] for key in ENVELOPE if key in stored}", "stored"
    ),
    "event_digests_tell_values_apart": Break(
        DIGESTS, "event.fixed_text().encode()", "bytes(sorted(event.fixed_text().encode()))"
    ),
    "content_ignores_clock_and_names": Break(
        CONTENT, "calls_renamed(event.type, data, number)", "data"
    ),
    "content_leaves_out_the_pieces_of_a_stream": Break(
        CONTENT,
        'listed_renumbered(stored["sourceEventSeqs"], places.get)',
        'stored["sourceEventSeqs"]',
    ),
}
"""By the name of the law."""
