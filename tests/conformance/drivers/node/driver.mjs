// The driver for Node: everything on the one thread; a logical thread is an Owner.

import { createInterface } from 'node:readline'
import { resolve } from 'node:path'
import { inspect } from 'node:util'
import { pathToFileURL } from 'node:url'

const folder = process.env.ZOOLOCK_NODE ?? new URL('../../../../node', import.meta.url).pathname
const zoolock = await import(pathToFileURL(resolve(folder, 'index.mjs')).href)

const KINDS = {
  InvalidArgument: zoolock.InvalidArgumentError,
  Unavailable: zoolock.UnavailableError,
  Timeout: zoolock.LockTimeoutError,
  LockLost: zoolock.LockLostError,
  NotHeld: zoolock.NotHeldError,
  WouldDeadlock: zoolock.WouldDeadlockError,
  SequenceExhausted: zoolock.SequenceExhaustedError,
  NoAuth: zoolock.NoAuthError,
  AuthFailed: zoolock.AuthFailedError,
  SessionExpired: zoolock.SessionExpiredError,
  Closed: zoolock.ClosedError,
  Unsupported: zoolock.UnsupportedError,
  Internal: zoolock.InternalError
}

const sessions = new Map()
const locks = new Map()
const guards = new Map()
const owners = new Map()
const cancels = new Map()
/** How options and errors show themselves to who debugs. */
const shown = []
const everything = { depth: Infinity, showHidden: true, maxStringLength: null, maxArrayLength: null }

function tell(id, word, fields = []) {
  const values = fields.map(([key, value]) => ` ${key}=${encodeURIComponent(value)}`)
  process.stdout.write(`${id} ${word}${values.join('')}\n`)
}

function find(map, name) {
  if (!map.has(name)) throw new Error(`there is no ${name}`)
  return map.get(name)
}

function madeOnce(map, name, make) {
  if (!map.has(name)) map.set(name, make())
  return map.get(name)
}

const number = (text) => (text === undefined ? undefined : Number(text.replace('inf', 'Infinity')))

/** `open`, `creator`, or entries such as `31 digest user:hash;1 world anyone`. */
function acl(text) {
  if (text === undefined || text === 'open' || text === 'creator') return text
  return text.split(';').map((entry) => {
    const [permissions, scheme, ...id] = entry.split(' ')
    return { permissions: Number(permissions), scheme, id: id.join(' ') }
  })
}

function tls(fields) {
  if (fields.tls === undefined) return undefined
  const files = { ca: fields.tls_ca, cert: fields.tls_cert, key: fields.tls_key }
  return { ...files, checkServerName: fields.tls_any_name === undefined }
}

async function connect(fields) {
  const session = await zoolock.connect(fields.hosts, {
    sessionTimeoutMs: number(fields.session_timeout_ms),
    connectTimeoutMs: number(fields.connect_timeout_ms),
    identity: fields.identity,
    auth: fields.auth && [{ scheme: fields.auth_scheme ?? 'digest', credentials: fields.auth }],
    exclusive: fields.exclusive && true,
    tls: tls(fields),
    acl: acl(fields.acl)
  })
  session.on('state', (state) => tell('!', 'state', [['state', state]]))
  sessions.set(fields.session, session)
  return []
}

function open(verb) {
  return (fields) => {
    const session = find(sessions, fields.session)
    const options = {
      naming: fields.naming,
      data: fields.data,
      acl: acl(fields.acl),
      keepMs: number(fields.keep_ms)
    }
    const make = {
      mutex: () => session.mutex(fields.path, options),
      reentrant: () => session.reentrantMutex(fields.path, options),
      read: () => session.rwLock(fields.path, options).read,
      write: () => session.rwLock(fields.path, options).write
    }
    locks.set(fields.lock, make[verb]())
    return []
  }
}

function ownerOf(lock, thread) {
  if (lock instanceof zoolock.Mutex || thread === undefined) return undefined
  return madeOnce(owners, thread, () => new zoolock.Owner())
}

const cancelNamed = (name) => name && madeOnce(cancels, name, () => new AbortController())

async function lock(fields) {
  const lock = find(locks, fields.lock)
  return granted(
    fields,
    await lock.lock({
      timeoutMs: number(fields.timeout_ms),
      signal: cancelNamed(fields.cancel)?.signal,
      owner: ownerOf(lock, fields.thread)
    })
  )
}

async function tryLock(fields) {
  const lock = find(locks, fields.lock)
  const guard = await lock.tryLock({ owner: ownerOf(lock, fields.thread) })
  return guard === null ? null : granted(fields, guard)
}

function granted(fields, guard) {
  const told = () => {
    const reason = guard.signal.reason
    if (!(reason instanceof zoolock.LockLostError)) throw new Error(`lost because of ${reason}`)
    tell('!', 'lost', [['guard', fields.guard]])
  }
  if (guard.signal.aborted) told()
  else guard.signal.addEventListener('abort', told)
  guards.set(fields.guard, guard)
  if (typeof guard.fencingToken !== 'bigint') throw new Error('the token is no bigint')
  return [
    ['token', guard.fencingToken],
    ['count', guard.grantCount],
    ['node', guard.nodePath]
  ]
}

async function release(fields) {
  await find(guards, fields.guard).release()
  return []
}

// JavaScript lets go of objects when it likes; this is what `await using` does at the end of a block.
async function drop(fields) {
  await find(guards, fields.guard)[Symbol.asyncDispose]()
  return []
}

function state(fields) {
  const guard = find(guards, fields.guard)
  return [
    ['held', guard.held ? 'yes' : 'no'],
    ['state', guard.state]
  ]
}

async function contenders(fields) {
  const list = await find(locks, fields.lock).contenders()
  return list.map((one) => {
    const holds = one.holds ? 'holds' : 'waits'
    return ['contender', [holds, one.sequence, one.sessionId, one.nodePath, one.identity].join(',')]
  })
}

/** How everything shows itself to who debugs. */
function show() {
  return [['text', shown.join(' ') + inspect([sessions, locks, guards, owners], everything)]]
}

async function close(fields) {
  await find(sessions, fields.session).close(number(fields.timeout_ms))
  return []
}

const VERBS = {
  connect,
  mutex: open('mutex'),
  reentrant: open('reentrant'),
  read: open('read'),
  write: open('write'),
  lock,
  try: tryLock,
  cancel(fields) {
    const reason = new Error('the caller has had enough')
    cancelNamed(fields.cancel).abort(reason)
    return []
  },
  release,
  drop,
  state,
  session_state: (fields) => [['state', find(sessions, fields.session).state]],
  contenders,
  close,
  show
}

/** A call that was aborted rejects with the very reason of its signal. */
function kindOf(error, fields) {
  const signal = fields.cancel && cancels.get(fields.cancel)?.signal
  if (signal?.aborted && error === signal.reason) return 'Cancelled'
  const known = Object.entries(KINDS).find(([, Class]) => error.constructor === Class)
  return known?.[0]
}

async function obey(id, verb, fields) {
  try {
    const answer = await VERBS[verb](fields)
    tell(id, answer === null ? 'none' : 'ok', answer ?? [])
  } catch (error) {
    const kind = kindOf(error, fields)
    shown.push(inspect(error, everything), String(error), JSON.stringify(error))
    if (kind === undefined) tell(id, 'misunderstood', [['message', String(error?.stack ?? error)]])
    else {
      const about = ['operation', 'path'].map((key) => [key, error[key] ?? ''])
      tell(id, 'error', [['kind', kind], ...about, ['message', error.message]])
    }
  }
}

const lines = createInterface({ input: process.stdin })
lines.on('close', () => process.exit())
lines.on('line', (line) => {
  const [id, verb, ...words] = line.split(' ')
  if (verb === 'exit') {
    lines.close()
    return
  }
  const fields = {}
  for (const word of words) {
    const at = word.indexOf('=')
    fields[word.slice(0, at)] = decodeURIComponent(word.slice(at + 1))
  }
  void obey(id, verb, fields)
})
