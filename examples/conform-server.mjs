// An example server for `dsh-fp conform`: the session model in plain JavaScript.
//
//     dsh-fp conform -- node examples/conform-server.mjs
//
// It shares nothing with the Python library: each answer is computed from the log in the
// request, slowly and plainly. Values are what JSON.parse made of them and are never changed.

import { createInterface } from 'node:readline'

/** Thrown where the answer is a refusal. */
class Refused extends Error {
  constructor(code, place = {}) {
    super(code)
    this.wire = { code, ...place }
  }
}

// ---- what a value is -------------------------------------------------------------------------

const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)
const isSeq = value => Number.isSafeInteger(value) && value >= 0
const has = (object, key) => Object.hasOwn(object, key)
const text = value => JSON.stringify(value)

/** Equality of JSON values that are no containers; an absent one equals an absent one only. */
const sameScalar = (one, other) => one === other

// ---- acceptance and the surface --------------------------------------------------------------

const SURFACE_TYPES = new Set([
  'user/message',
  'assistant/message',
  'tool/result',
  'context/message',
  'steering/message'
])
const REQUIRED = ['type', 'seq', 'time', 'data']
const ENVELOPE = new Set([...REQUIRED, 'surfaceOp', 'sourceEventSeqs'])

const isEnvelope = event =>
  isObject(event) &&
  REQUIRED.every(key => has(event, key)) &&
  Object.keys(event).every(key => ENVELOPE.has(key)) &&
  typeof event.type === 'string' &&
  isSeq(event.seq) &&
  isSeq(event.time)

const isReplacement = op =>
  isObject(op) &&
  Object.keys(op).sort().join() === 'end,op,start' &&
  op.op === 'replace' &&
  isSeq(op.start) &&
  isSeq(op.end)

/** A log as it grows: its events, the seqs on the surface, and what was replaced. */
class Book {
  events = []
  surface = []
  replacements = []

  /** `bare`: seqs are taken as they come. */
  constructor(bare = false) {
    this.bare = bare
  }

  /** What is refused of an event, or undefined: a code, or one with the values at fault. */
  fault(event) {
    if (!isEnvelope(event)) return 'BAD_ENVELOPE'
    if (!this.bare && event.seq !== this.events.length) return 'SEQ_GAP'
    if (!SURFACE_TYPES.has(event.type)) {
      if (has(event, 'surfaceOp')) return 'SURFACE_OP_FORBIDDEN'
      return has(event, 'sourceEventSeqs') ? 'SOURCES_FORBIDDEN' : undefined
    }
    return this.markerFault(event) ?? this.rangeFault(event.surfaceOp) ?? this.sourcesFault(event)
  }

  markerFault(event) {
    if (!has(event, 'surfaceOp')) return 'SURFACE_OP_MISSING'
    if (event.surfaceOp !== 'append' && !isReplacement(event.surfaceOp)) return 'SURFACE_OP_INVALID'
    if (!has(event, 'sourceEventSeqs')) return undefined
    const sources = event.sourceEventSeqs
    return Array.isArray(sources) && sources.every(isSeq) ? undefined : 'SOURCES_INVALID'
  }

  rangeFault(op) {
    if (op === 'append') return undefined
    const [start, end] = [this.surface.indexOf(op.start), this.surface.indexOf(op.end)]
    if (start < 0) return 'REPLACE_START_UNKNOWN'
    if (end < 0) return 'REPLACE_END_UNKNOWN'
    return start > end ? 'REPLACE_REVERSED' : undefined
  }

  sourcesFault(event) {
    const sources = event.sourceEventSeqs ?? []
    if (has(event, 'sourceEventSeqs')) {
      if (sources.length === 0) return 'SOURCES_EMPTY'
      if (new Set(sources).size < sources.length) return 'SOURCES_DUPLICATE'
      const known = new Set(this.events.map(earlier => earlier.seq))
      for (const source of sources) {
        if (source >= event.seq) return 'SOURCES_NOT_EARLIER'
        if (!known.has(source)) return 'SOURCES_UNKNOWN'
      }
    }
    if (event.surfaceOp === 'append') return undefined
    const missing = this.shadowed(event.surfaceOp).filter(seq => !sources.includes(seq))
    return missing.length > 0 ? { code: 'REPLACE_UNCITED', data: { missing } } : undefined
  }

  /** The nodes that a replacement takes away, in surface order. */
  shadowed({ start, end }) {
    return this.surface.slice(this.surface.indexOf(start), this.surface.indexOf(end) + 1)
  }

  take(event) {
    this.events.push(event)
    const op = event.surfaceOp
    if (op === 'append') this.surface.push(event.seq)
    else if (op !== undefined) {
      const gone = this.shadowed(op)
      this.surface.splice(this.surface.indexOf(op.start), gone.length, event.seq)
      const { start, end } = op
      this.replacements.push({ seq: event.seq, start, end, shadowedSeqs: gone })
    }
  }

  get nodes() {
    return this.surface.map(seq => this.events.find(event => event.seq === seq))
  }
}

/** The book of a whole log; refused at its first fault. */
function accepted(log, bare = false) {
  const book = new Book(bare)
  log.forEach((event, index) => {
    const fault = book.fault(event)
    if (typeof fault === 'string') throw new Refused(fault, { index })
    if (fault !== undefined) throw new Refused(fault.code, { index, data: fault.data })
    book.take(event)
  })
  return book
}

// ---- messages --------------------------------------------------------------------------------

/** The message of a surface event, or undefined when it makes none. */
function message(event) {
  const { type, seq, data } = event
  const invalid = () => new Refused('PAYLOAD_INVALID', { seq })
  if (!isObject(data) || !Array.isArray(data.content)) throw invalid()
  const { content } = data
  switch (type) {
    case 'user/message':
      return { role: 'user', content }
    case 'assistant/message':
      return content.length > 0 ? { role: 'assistant', content } : undefined
    case 'tool/result': {
      if (!has(data, 'callId')) throw invalid()
      const block = { type: 'tool-result', toolCallId: data.callId, content }
      if (has(data, 'isError')) block.isError = data.isError
      return { role: 'user', content: [block] }
    }
    default: {
      if (!isObject(data.source)) throw invalid()
      const tag = type.split('/')[0]
      const opening = { type: 'text', text: `<${tag} source=${text(data.source.kind)}>` }
      return { role: 'user', content: [opening, ...content, { type: 'text', text: `</${tag}>` }] }
    }
  }
}

const messages = book => book.nodes.map(message).filter(made => made !== undefined)

// ---- the request header ----------------------------------------------------------------------

const unfoldable = () => new Refused('HEADER_INVALID')
const areTools = tools =>
  Array.isArray(tools) && tools.every(tool => isObject(tool) && typeof tool.name === 'string')

function check(header) {
  const sound =
    isObject(header) &&
    isObject(header.config) &&
    (!has(header, 'system') || typeof header.system === 'string') &&
    (!has(header, 'tools') || areTools(header.tools)) &&
    (!has(header, 'messagePrefix') || Array.isArray(header.messagePrefix))
  if (!sound) throw unfoldable()
}

/** Config, system, tools and messagePrefix, empty ones left out. */
function canonical(header) {
  check(header)
  const made = { config: header.config }
  for (const key of ['system', 'tools', 'messagePrefix']) {
    if (has(header, key) && header[key].length > 0) made[key] = header[key]
  }
  return made
}

const linesOf = header => (has(header, 'system') ? header.system.split('\n') : [])

function applyLines(lines, change) {
  const sound =
    isObject(change) &&
    typeof change.keepStart === 'number' &&
    typeof change.keepEnd === 'number' &&
    Array.isArray(change.insert) &&
    change.insert.every(line => typeof line === 'string')
  if (!sound) throw unfoldable()
  const kept = lines.slice(0, change.keepStart)
  const rest = lines.slice(lines.length - change.keepEnd)
  return [...kept, ...change.insert, ...rest]
}

function applyTools(tools, change) {
  const sound =
    isObject(change) &&
    areTools(change.added) &&
    areTools(change.changed) &&
    Array.isArray(change.removed)
  if (!sound) throw unfoldable()
  const changed = new Map(change.changed.map(tool => [tool.name, tool]))
  return tools
    .filter(tool => !change.removed.includes(tool.name))
    .map(tool => changed.get(tool.name) ?? tool)
    .concat(change.added)
}

function apply(prev, delta) {
  check(prev)
  if (!isObject(delta)) throw unfoldable()
  const next = { ...prev }
  const given = key => has(delta, key) && delta[key] !== null
  if (given('system')) next.system = applyLines(linesOf(prev), delta.system).join('\n')
  if (given('tools')) next.tools = applyTools(prev.tools ?? [], delta.tools)
  if (given('config')) next.config = delta.config
  if (given('messagePrefix')) next.messagePrefix = delta.messagePrefix
  return canonical(next)
}

/** What is in force after events: a header, null for none, or the Refused that stands for it. */
function headerAfter(events) {
  let force = null
  for (const { type, data } of events) {
    try {
      if (type === 'request/header') force = canonical(isObject(data) ? data.header : undefined)
      else if (type === 'request/header-delta') {
        if (force === null) throw new Refused('HEADER_DELTA_WITHOUT_SNAPSHOT')
        if (!(force instanceof Refused)) force = apply(force, data)
      }
    } catch (fault) {
      if (!(fault instanceof Refused)) throw fault
      force = fault
    }
  }
  return force
}

const CONFIG_FIELDS = ['model', 'temperature', 'maxTokens', 'stop']
const sameText = (one, other) => text(one ?? []) === text(other ?? [])
const sameStop = (one, other) => one === other || (one !== undefined && other !== undefined && text(one) === text(other))
const sameConfig = (one, other) =>
  CONFIG_FIELDS.every(key => (key === 'stop' ? sameStop : sameScalar)(one[key], other[key]))

/** The delta between two headers, null when they are equal. */
function diff(prev, next) {
  check(prev)
  check(next)
  const delta = {}
  if (!sameScalar(prev.system, next.system)) delta.system = diffLines(linesOf(prev), linesOf(next))
  if (!sameText(prev.tools, next.tools)) delta.tools = diffTools(prev.tools ?? [], next.tools ?? [])
  if (!sameConfig(prev.config, next.config)) delta.config = next.config
  if (!sameText(prev.messagePrefix, next.messagePrefix)) delta.messagePrefix = next.messagePrefix ?? []
  return Object.keys(delta).length > 0 ? delta : null
}

function diffLines(old, lines) {
  const shorter = Math.min(old.length, lines.length)
  let start = 0
  while (start < shorter && old[start] === lines[start]) start += 1
  let end = 0
  while (end < shorter - start && old[old.length - 1 - end] === lines[lines.length - 1 - end]) end += 1
  return { keepStart: start, keepEnd: end, insert: lines.slice(start, lines.length - end) }
}

function diffTools(old, tools) {
  const before = new Map(old.map(tool => [tool.name, tool]))
  const names = new Set(tools.map(tool => tool.name))
  return {
    added: tools.filter(tool => !before.has(tool.name)),
    removed: [...before.keys()].filter(name => !names.has(name)),
    changed: tools.filter(tool => before.has(tool.name) && text(before.get(tool.name)) !== text(tool))
  }
}

// ---- past requests ---------------------------------------------------------------------------

const isOutput = ({ type }) =>
  type === 'step/end' || type.startsWith('assistant/') || type.startsWith('tool/')

function request(log, seq) {
  const output = log.findIndex((event, place) => place > seq && isOutput(event))
  const force = headerAfter(output < 0 ? log : log.slice(0, output))
  if (force === null) return { seq, fault: 'NO_REQUEST_HEADER' }
  if (force instanceof Refused) return { seq, fault: force.wire.code }
  const made = {}
  for (const key of CONFIG_FIELDS) if (has(force.config, key)) made[key] = force.config[key]
  for (const key of ['system', 'tools']) if (has(force, key)) made[key] = force[key]
  try {
    made.messages = [...(force.messagePrefix ?? []), ...messages(accepted(log.slice(0, seq)))]
  } catch (fault) {
    if (!(fault instanceof Refused)) throw fault
    return { seq, fault: fault.wire.code }
  }
  return { seq, request: made, text: text(made) }
}

// ---- repair ----------------------------------------------------------------------------------

const INTERRUPTED = 'Tool call interrupted by a crash; no result was recorded.'

/** The events that close the last turn, should it be open. */
function closers(log) {
  let turn
  let step
  let pending = new Map() // by call id, in order of asking: the step, and the seq of the call
  for (const { type, seq, data } of log) {
    if (type === 'turn/start' || type === 'turn/end' || type === 'step/end') {
      if (type !== 'step/end') turn = type === 'turn/start' ? data.turn : undefined
      step = undefined
      pending = new Map()
    } else if (type === 'step/start') step = data.step
    else if (type === 'assistant/message') {
      for (const block of data.content) {
        if (block.type === 'tool-call') pending.set(block.id, { step: data.step })
      }
    } else if (type === 'tool/call') {
      if (pending.has(data.callId)) pending.get(data.callId).call = seq
    } else if (type === 'tool/result') pending.delete(data.callId)
  }
  if (turn === undefined) return []
  const made = []
  const add = (type, data, more = {}) => {
    const last = log[log.length - 1]
    made.push({ type, seq: log.length + made.length, time: last.time, data, ...more })
  }
  for (const [callId, asked] of pending) {
    const data = {
      turn,
      step: asked.step,
      callId,
      content: [{ type: 'text', text: INTERRUPTED }],
      isError: true,
      error: { name: 'InterruptedError', code: 'interrupted' }
    }
    const cited = asked.call === undefined ? {} : { sourceEventSeqs: [asked.call] }
    add('tool/result', data, { surfaceOp: 'append', ...cited })
  }
  if (step !== undefined) add('step/end', { turn, step })
  add('turn/end', { turn, reason: { kind: 'interrupted' } })
  return made
}

// ---- forks, cuts -----------------------------------------------------------------------------

function fork({ log, header = { id: 'session' }, ...more }) {
  accepted(log)
  const boundary = has(more, 'boundary') ? more.boundary : log.length - 1
  if (has(more, 'boundary') && !(isSeq(boundary) && boundary < log.length)) {
    throw new Refused('INVALID_BOUNDARY')
  }
  if (log.length > 0 && log[boundary].type !== 'turn/end') throw new Refused('OPEN_TURN')
  const cwd = has(header, 'cwd') ? { cwd: header.cwd } : {}
  const child = { version: 0, id: 'fork', createdAt: 0, ...cwd }
  const length = boundary + 1
  return { header: { ...child, parentSession: header.id, seedLength: length }, length }
}

function balanced(book, before) {
  let waiting = 0
  for (const { type, seq, data } of book.nodes) {
    if (seq === before) break
    if (type === 'tool/result') waiting -= 1
    else if (type === 'assistant/message' && isObject(data) && Array.isArray(data.content)) {
      waiting += data.content.filter(block => isObject(block) && block.type === 'tool-call').length
    }
    if (waiting < 0) throw new Refused('PAIRING_CORRUPT')
  }
  return waiting === 0
}

// ---- the protocol ----------------------------------------------------------------------------

const ANSWERS = {
  accept: ({ log }) => ({ length: accepted(log).events.length }),
  surface: ({ log }) => {
    const { surface, replacements } = accepted(log)
    return { seqs: surface, generation: replacements.length }
  },
  messages: ({ log }) => messages(accepted(log)),
  header: ({ log }) => {
    const force = headerAfter(accepted(log).events)
    if (force instanceof Refused) throw force
    return force
  },
  requests: ({ log }) =>
    accepted(log).events.filter(event => event.type === 'step/start').map(event => request(log, event.seq)),
  closers: ({ log }) => closers(log),
  fork,
  events: ({ log }) => accepted(log).events,
  fold_surface: ({ events }) => {
    const { surface, replacements } = accepted(events, true)
    const nodes = surface.map((seq, place) => ({
      seq,
      prev: surface[place - 1] ?? null,
      next: surface[place + 1] ?? null
    }))
    return { nodes, replacements }
  },
  balanced: ({ log, before }) => balanced(accepted(log), before),
  canonical: ({ header }) => canonical(header),
  equal: ({ one, other }) => diff(one, other) === null,
  diff: ({ prev, next }) => diff(prev, next),
  apply: ({ prev, delta }) => apply(prev, delta),
  text: ({ value }) => text(value)
}

function answer({ op, ...asked }) {
  if (op === 'hello') {
    const capabilities = [...Object.keys(ANSWERS), 'request_texts', 'refusal_data']
    return { answer: { protocol: 'dsh_fp conform', version: 1, name: 'plain JavaScript', capabilities } }
  }
  try {
    return { answer: ANSWERS[op](asked) }
  } catch (fault) {
    return fault instanceof Refused ? { refused: fault.wire } : { error: String(fault) }
  }
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { id, ...asked } = JSON.parse(line)
  process.stdout.write(`${text({ id, ...answer(asked) })}\n`)
}
