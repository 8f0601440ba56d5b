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
CALL_SPANS: Final = "dsh_fp/core/call_spans.py"
SCRIPT: Final = "dsh_fp/core/script.py"
REPLAY: Final = "dsh_fp/core/replay.py"
DIGESTS: Final = "dsh_fp/core/digests.py"
CHAINS: Final = "dsh_fp/core/chains.py"
CONTENT: Final = "dsh_fp/core/content.py"
MERKLE: Final = "dsh_fp/core/merkle.py"
CERTIFICATES: Final = "dsh_fp/core/certificates.py"
VERIFYING: Final = "dsh_fp/core/verifying.py"
PROOFS: Final = "dsh_fp/core/proofs.py"
WHAT_IF: Final = "dsh_fp/core/what_if/asking.py"
EDITS: Final = "dsh_fp/core/what_if/edits.py"
CARRYING: Final = "dsh_fp/core/what_if/carrying.py"
EFFECTS: Final = "dsh_fp/core/what_if/effects.py"
REFERENCES: Final = "dsh_fp/core/references.py"
BISECTING: Final = "dsh_fp/core/bisecting.py"
JSON_VALUE_PATHS: Final = "dsh_fp/core/json_paths.py"
RUNS: Final = "dsh_fp/core/runs.py"
ORIGINS: Final = "dsh_fp/core/origins.py"
DIFFERENCES: Final = "dsh_fp/core/differences.py"
SESSION_DIFFERENCES: Final = "dsh_fp/core/session_differences.py"
CACHING: Final = "dsh_fp/core/caching.py"
READINGS: Final = "dsh_fp/core/redaction/readings.py"
LITERALS: Final = "dsh_fp/core/redaction/literals.py"
LINES: Final = "dsh_fp/storage/lines.py"
PACKED: Final = "dsh_fp/core/packed.py"
NESTING: Final = "dsh_fp/core/nesting.py"
GENERATIONS: Final = "dsh_fp/core/generations.py"
MIGRATING: Final = "dsh_fp/core/migration/migrating.py"
V2_TO_V3: Final = "dsh_fp/core/migration/v2_to_v3.py"
FRAMES: Final = "dsh_fp/formats/frames.py"
CONTAINERS: Final = "dsh_fp/formats/containers.py"
FORMAT_NAMES: Final = "dsh_fp/formats/names.py"
JSONL: Final = "dsh_fp/storage/jsonl.py"
FINDINGS: Final = "dsh_fp/storage/findings.py"
PATHS: Final = "dsh_fp/storage/paths.py"
JSONL_BACKEND: Final = "dsh_fp/storage/jsonl_backend.py"
ALIGNING: Final = "dsh_fp/wire/aligning.py"
SETTLING: Final = "dsh_fp/wire/settling.py"
MESSAGES_API: Final = "dsh_fp/wire/messages_api.py"
CHAT_COMPLETIONS: Final = "dsh_fp/wire/chat_completions.py"
COMPACTION: Final = "dsh_fp/wire/compaction.py"
EXPORTS: Final = "dsh_fp/wire/exports.py"
MATCHING: Final = "dsh_fp/wire/matching.py"
SQLITE_BACKEND: Final = "dsh_fp/storage/sqlite_backend.py"
MINIMISING: Final = "dsh_fp/testing/minimising.py"
CUTTING: Final = "dsh_fp/testing/cutting.py"
UNITS: Final = "dsh_fp/testing/units.py"
SCRUBBING: Final = "dsh_fp/testing/scrubbing.py"
STRATEGIES: Final = "dsh_fp/testing/strategies.py"
COMPARING: Final = "dsh_fp/testing/comparing.py"

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
    "event_decode_inverts_encode": Break(
        EVENTS,
        "text: AnyJson = text_of(value)\n    made",
        "text: AnyJson = text_of({key: value[key] for key in ENVELOPE if key in value})\n    made",
    ),
    "envelopes_are_judged_alike": Break(
        EVENTS, "if key not in envelope.keys:", 'if key not in (*envelope.keys, "x"):'
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
        "return State(seq, surface, header), fault",
        ("return State(seq + (seq == 3), surface, header), fault"),
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
        "event.stored_op is UNSET and event.stored_sources is UNSET",
        "event.stored_op is UNSET",
    ),
    "fold_splits_anywhere": Break(
        REDUCER,
        "header: AnyHeader = state.held_header",
        "header: AnyHeader = EMPTY_STATE.held_header",
    ),
    "log_only_event_shares_everything": Break(
        REDUCER,
        "return State(state.next_seq + 1, state.surface, state.held_header)",
        ("return State(state.next_seq + 1, attrs.evolve(state.surface), state.held_header)"),
    ),
    "append_equals_extend_equals_replay": Break(
        SESSION, "history = changes.history", "history = self.history"
    ),
    "what_is_handed_over_comes_back_unchanged": Break(
        SNAPSHOT, "items = list(value)", "items = value if type(value) is list else list(value)"
    ),
    "the_log_is_apart_from_what_it_was_made_of": Break(
        EVENTS,
        "event_of(freeze(given, limit=MAX_DEPTH + 1), envelope or JULY)",
        "event_of(json_object(given), envelope or JULY)",
    ),
    # surface
    "surface_matches_list_surgery": Break(
        SURFACE, "splice(first, last + 1, seq)", "splice(first, max(last, first + 1), seq)"
    ),
    "generation_counts_replacements": Break(
        SURFACE, "len(order), self.generation + 1,", "len(order), self.generation + (first < last),"
    ),
    "replacements_say_what_they_shadowed": Break(
        SURFACE,
        "gone = surface.shadowed(*span)\n                replacements",
        "gone = tuple(sorted(surface.shadowed(*span)))\n                replacements",
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
        SESSION, "if seq < inherited_length:", "if seq <= inherited_length:"
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
    # replay
    "scripts_hold_every_call": Break(
        CALL_SPANS,
        "    def step_end(self, _: Event) -> None:\n        self.step = None",
        "    def step_end(self, _: Event) -> None:\n        pass",
    ),
    "replaying_gives_each_call_once": Break(
        REPLAY,
        "        if taken >= len(calls):\n",
        "        taken = min(taken, len(calls) - 1) if calls else taken\n"
        "        if taken >= len(calls):\n",
    ),
    "chunks_made_of_a_message_amount_to_it": Break(
        SCRIPT, '{"type": "block-end", "index": index,', '{"type": "block-end", "index": 0,'
    ),
    "divergence_is_found_iff_texts_differ": Break(
        REPLAY, "if text_of(made.unwrap()) == text_of(got):", "if made.unwrap() == got:"
    ),
    # edited logs, and searches along a log
    "no_edits_leave_a_log_alone": Break(
        EFFECTS,
        "if old.digests != new.digests:",
        "if old.digests is None or old.digests != new.digests:",
    ),
    "edited_logs_match_list_edits": Break(
        CARRYING, "waiting += reversed(self._takes.get(seq, ()))", "waiting += ()"
    ),
    "dropping_an_insertion_gives_the_log_back": Break(
        CARRYING, "if self._seq == event.seq and not self._moves:", "if self._seq == event.seq - 1:"
    ),
    "references_point_at_what_they_pointed_at": Break(
        REFERENCES,
        "sources = listed_renumbered(named, renumber)",
        "sources = named",
    ),
    "request_changes_match_expanded_requests": Break(
        EFFECTS, "removed[-1] + (was and not stays)", "removed[-1] + (not stays)"
    ),
    "breaches_told_are_new": Break(
        WHAT_IF,
        "(self.old_seq(fault.index), fault.code) not in had",
        "(fault.index, fault.code) not in had",
    ),
    "blamed_edits_are_refused_without_the_others": Break(
        WHAT_IF, "size = len(together) // 2", "size = 0"
    ),
    "edits_that_make_no_sense_are_refused_first": Break(EDITS, "    touched.add(seq)\n", ""),
    "bisect_equals_linear_search": Break(
        BISECTING, "if not predicate(session.prefix(lengths[-1])):", "if False:"
    ),
    "skips_leave_what_they_hide": Break(
        BISECTING,
        "return attrs.evolve(self, skipped=grown)",
        "return attrs.evolve(self, good=max(self.good, place), skipped=grown)",
    ),
    # files
    "scan_matches_the_slow_scanner": Break(JSONL, "if fault.turn_end_follows:", "if False:"),
    "read_matches_the_slow_reader": Break(
        JSONL, "return session if lines.refused is None else lines.refused", "return session"
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
        JSONL,
        "fault.at(line_number=place + 2, byte_offset=lines.starts[place]))",
        "fault.at(line_number=place + 1, byte_offset=lines.starts[place]))",
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
        CONTENT, "calls_renamed(event.type, data, number, released=released)", "data"
    ),
    "content_leaves_out_the_pieces_of_a_stream": Break(
        CONTENT,
        "sources = listed_renumbered(named, places.get)",
        "sources = named",
    ),
    # certificates and proofs
    "merkle_roots_match_the_recursive_tree": Break(
        MERKLE, "above.append(level[-1])", "above.append(node_of(level[-1], level[-1]))"
    ),
    "merkle_paths_prove_their_leaf_alone": Break(
        MERKLE, "            return None  # longer than the tree is high", "            break"
    ),
    "merkle_consistency_holds_for_prefixes_alone": Break(
        MERKLE, "last == 0 and old == old_root and new", "last == 0 and new"
    ),
    "certificates_match_their_definition": Break(
        CERTIFICATES, "for tree in (events, requests):", "for tree in (events,):"
    ),
    "certificate_survives_respelling": Break(
        CERTIFICATES,
        "[event_digest(event) for event in session.events]",
        '[digest("event", event.line or event.to_text().encode()) for event in session.events]',
    ),
    "any_change_breaks_the_certificate": Break(
        VERIFYING, "if own == certificate:", "if own.marks.startswith(certificate.marks):"
    ),
    "changes_are_named": Break(
        VERIFYING,
        "for now, then in zip(own, certified, strict=False):",
        "for now, then in [*zip(own, certified, strict=False)][::-1]:",
    ),
    "certificate_decode_inverts_encode": Break(
        CERTIFICATES, "if root_of([step.leaf for step in steps]).hex() != made", "if not made"
    ),
    "proofs_hold_for_their_request_alone": Break(
        PROOFS,
        "if log_root(bytes.fromhex(proof.session), events, requests) != proof.root:",
        "if 0:",
    ),
    "extensions_are_proved_and_nothing_else": Break(
        PROOFS,
        "if not is_consistent(old.events.size, old_root, new.events.size, new_root, path):",
        "if old.events.size > new.events.size:",
    ),
    # differences
    "first_difference_is_the_first_in_text": Break(
        JSON_VALUE_PATHS, "text_of(one) == text_of(other)", "one == other"
    ),
    "runs_turn_old_into_new": Break(
        RUNS, "at_old, at_new = place + 1, its + 1", "at_old, at_new = place + 1, its"
    ),
    "difference_tells_requests_apart": Break(
        DIFFERENCES,
        "first = first_difference(old.request, new.request)",
        """first = first_difference({**old.request, "tools": 0}, {**new.request, "tools": 0})""",
    ),
    "message_runs_turn_old_messages_into_new": Break(
        DIFFERENCES, "ours = range(start + run.old_start,", "ours = range(run.old_start,"
    ),
    "origins_match_refolded_headers": Break(
        ORIGINS,
        "if delta.get(carried[part]) is not None",
        "if carried[part] in delta",
    ),
    "cache_prefix_is_the_common_bytes": Break(
        CACHING, "min(self._alike, count)", "max(self._alike, count)"
    ),
    "sessions_differ_where_their_requests_do": Break(
        SESSION_DIFFERENCES,
        "return None if one is None or other is None else one == other",
        "return None if one is None or other is None else one.messages == other.messages",
    ),
    "call_ids_and_clocks_are_no_difference": Break(
        REFERENCES, 'frozenset({"tool/call", "tool/result"})', 'frozenset({"tool/call"})'
    ),
    # provider bodies
    "chat_bodies_match_model": Break(
        CHAT_COMPLETIONS, 'nothing = "" if calls or rules.released else None', 'nothing = ""'
    ),
    "released_chat_bodies_match_model": Break(
        CHAT_COMPLETIONS, "if calls or rules.every_reasoning:", "if calls:"
    ),
    "messages_bodies_match_model": Break(MESSAGES_API, "blocks.sort(key=_after_results)", "pass"),
    "every_part_of_a_body_leads_to_its_part_of_the_request": Break(
        CHAT_COMPLETIONS, "owners += [place] * len(made)", "owners.append(place)"
    ),
    "transcripts_match_model": Break(
        COMPACTION, 'lines[opened] += "" if first else ": "', 'lines[opened] += ": "'
    ),
    "exports_have_the_documented_shapes": Break(
        EXPORTS, 'if block["text"].strip():', 'if block["text"] is not None:'
    ),
    "a_faithful_capture_is_equal_throughout": Break(
        SETTLING, "return None, sketch.bare, sketch.at", "return None, sketch.at < 0"
    ),
    "a_planted_change_is_found_where_it_is": Break(
        ALIGNING,
        "first = self._requests[place - 1] + 1 if place else 0",
        "first = self._requests[place - 1] + 2 if place else 1",
    ),
    # redaction
    "redacting_matches_text_surgery": Break(
        READINGS, "streams.setdefault(leaf.group, []).append(piece)", "yield _joined([piece], '')"
    ),
    "redacting_nothing_changes_nothing": Break(
        LITERALS, "text[start : start + length] in self._texts", "length"
    ),
    "redacting_keeps_structure": Break(
        READINGS, "is_ours = name in KEYS or (header and trail is None)", "is_ours = header"
    ),
    "redacting_leaves_no_secret": Break(
        READINGS,
        "elif leaf.group is None:",
        'elif leaf.kind == "key":\n            pass\n        elif leaf.group is None:',
    ),
    # What tests of others build on
    "minimised_logs_hold_and_are_minimal": Break(UNITS, '("events", singles),', ""),
    "minimising_keeps_logs_sound": Break(CUTTING, "return faults.named <= had", "return True"),
    "minimising_gives_the_same_each_time": Break(
        MINIMISING,
        "in self._refused:\n            return False",
        "in self._refused:\n            return True",
    ),
    "a_predicate_that_never_holds_is_refused": Break(
        MINIMISING, 'if not self._holds(self.best, "the whole log"):', "if False:"
    ),
    "scrubbing_keeps_the_shape_of_a_log": Break(
        SCRUBBING, "counts[hint] = counts.get(hint, 0) + 1", "counts[hint] = 1"
    ),
    "broken_logs_are_refused_with_their_code": Break(
        STRATEGIES, "_broken(name) if name in _REFUSED", '_broken("SEQ_GAP") if name'
    ),
    "strict_logs_are_taken_by_strict_sessions": Break(
        STRATEGIES, "logs.turned_logs(max_moves) if strict", "logs.valid_logs(max_moves) if strict"
    ),
    "events_fit_behind_their_log": Break(STRATEGIES, "accepted(list(after))", "accepted([])"),
    "payloads_have_the_shape_of_their_type": Break(
        STRATEGIES, "return known[type]", "return st.one_of(*known.values())"
    ),
    "compactions_take_nodes_away": Break(
        STRATEGIES, "return _compacted()", "return _compacted() | _crashed()"
    ),
    "types_have_their_strategies": Break(
        "dsh_fp/testing/hypothesis_hook.py",
        "st.register_type_strategy(getattr(module, name), strategy_for)",
        "strategy_for",
    ),
    "assertions_agree_with_texts": Break(
        COMPARING, "if text_of(left) != text_of(right):", "if left != right:"
    ),
    # released generations
    "packed_rows_stand_for_their_events": Break(
        PACKED,
        "is_same_step = all(one[key] == other[key] for key in _PLACE_KEYS)",
        "is_same_step = True",
    ),
    "packed_logs_equal_unpacked_ones": Break(
        PACKED, "(last.count if isinstance(last, PackedRun) else 1)", "1"
    ),
    "stream_records_stand_for_their_chunks": Break(
        PACKED, "name is not None and _joins(run[-1], timed)", "False"
    ),
    "frames_are_found_wherever_a_file_is_cut": Break(
        FRAMES, "end = place + (4 if checksum else 0)", "end = place"
    ),
    "released_logs_match_the_list_model": Break(
        GENERATIONS,
        'if event.type == "system/message" and span == (0, 0):\n        return None',
        "if span == (0, 0):\n        return None",
    ),
    "nesting_matches_the_list_model": Break(
        NESTING, "self.rules.matches_calls and (self.asked or self.started)", "False"
    ),
    "fast_rows_equal_slow": Break(
        PACKED, "if not count or len(data.dt) != count - 1 or", "if not count or"
    ),
    "any_cut_of_a_compressed_log_keeps_whole_frames": Break(
        CONTAINERS, "if tail.code is not Code.TORN_TAIL:", "if True:"
    ),
    "migration_keeps_every_request": Break(
        V2_TO_V3, "if text == self.text:", "if self.text or text == self.text:"
    ),
    "migration_goes_by_steps": Break(
        MIGRATING,
        "range(form.version, to.form.version)",
        "range(form.version, min(form.version + 2, to.form.version))",
    ),
    "project_segments_match_the_slow_walk": Break(
        FORMAT_NAMES, "(units.lstrip('-') or 'root')", "(units.removeprefix('-') or 'root')"
    ),
}
"""By the name of the law."""
