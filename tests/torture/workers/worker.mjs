// Does the jobs that the runner hands out, several at once, and reports everything that it sees of its locks.
// worker.mjs HOSTS RESOURCE NAME SESSION_TIMEOUT_MS TASKS ROOT; ends when its standard input does. The README has the
// protocol.

import { once } from 'node:events'
import { createConnection } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

import { connect, Owner, ZoolockError } from 'zoolock'

// Longer than any outage that the runner makes.
const CONNECT_MS = 120_000

const now = () => process.hrtime.bigint()

/** A connection to the runner. */
class Line {
  static async open (resource, name, part) {
    const line = new Line()
    const [host, port] = resource.split(':')
    line.socket = createConnection({ host, port: Number(port), noDelay: true })
    await once(line.socket, 'connect')
    line.answers = createInterface({ input: line.socket })[Symbol.asyncIterator]()
    line.say('hello', name, part)
    return line
  }

  say (...words) {
    this.socket.write(words.join(' ') + '\n')
  }

  async ask (...words) {
    this.say(...words)
    const { value } = await this.answers.next()
    return value
  }

  /** The value, undefined if the resource refuses. */
  async askValue (...words) {
    const [outcome, value] = (await this.ask(...words)).split(' ')
    return outcome === 'ok' ? BigInt(value) : undefined
  }
}

/** A job of one task's. */
class Job {
  constructor (line, told, id, pauseMs) {
    this.line = line
    this.told = told
    this.id = id
    this.pauseMs = Number(pauseMs)
  }

  async take (name, lock) {
    this.line.say('asked', this.id, name, now())
    try {
      const guard = await lock()
      const granted = now()
      if (guard === null) {
        this.line.say('denied', this.id, name, 'BUSY', granted)
        return null
      }
      this.line.say('granted', this.id, name, guard.fencingToken, granted, guard.nodePath)
      const tell = () => this.told.say('told', this.id, name, now())
      const { signal } = guard
      if (signal.aborted) tell()
      else signal.addEventListener('abort', tell)
      return guard
    } catch (error) {
      if (!(error instanceof ZoolockError)) throw error
      this.line.say('denied', this.id, name, kind(error), now(), error.message)
      return null
    }
  }

  check (name, guard) {
    const before = now()
    const held = guard.held
    const after = now()
    this.line.say('check', this.id, name, Number(held), before, after)
    return held
  }

  /** Adds one to the fenced register and to the counter; stops as soon as the lock is lost. */
  async write (name, guard) {
    const about = [this.id, name]
    const token = guard.fencingToken
    if (!this.check(name, guard)) return
    const fenced = await this.line.askValue('fread', ...about, token)
    if (fenced === undefined) {
      this.check(name, guard)
      return
    }
    // Without another look: whoever is stopped here is the fence's affair.
    await sleep(this.pauseMs / 2)
    const written = await this.line.askValue('fwrite', ...about, token, fenced + 1n)
    if (!this.check(name, guard) || written === undefined) return
    const value = await this.line.askValue('read', ...about)
    await sleep(this.pauseMs / 2)
    if (this.check(name, guard)) {
      await this.line.ask('write', ...about, value + 1n)
      this.check(name, guard)
    }
  }

  /** Looks twice at what no writer may change meanwhile. */
  async read (name, guard) {
    if (!this.check(name, guard)) return
    await this.line.ask('look', this.id, name, guard.fencingToken)
    await this.line.ask('read', this.id, name)
    await sleep(this.pauseMs)
    await this.line.ask('read', this.id, name)
    this.check(name, guard)
  }

  async release (name, guard) {
    let outcome = 'OK'
    const before = now()
    try {
      await guard.release()
    } catch (error) {
      if (!(error instanceof ZoolockError)) throw error
      outcome = kind(error)
    }
    this.line.say('released', this.id, name, outcome, before, now())
  }

  async exclusive (lock) {
    const guard = await this.take('a', lock)
    if (guard === null) return
    await this.write('a', guard)
    await this.release('a', guard)
  }

  async reentrant (lock) {
    const outer = await this.take('a', lock)
    if (outer === null) return
    await this.write('a', outer)
    const inner = await this.take('b', lock)
    if (inner !== null) {
      await this.write('b', inner)
      await this.release('b', inner)
    }
    await this.write('a', outer)
    await this.release('a', outer)
  }

  async shared (lock) {
    const guard = await this.take('a', lock)
    if (guard === null) return
    await this.read('a', guard)
    await this.release('a', guard)
  }

  async downgrade (write, read) {
    const writer = await this.take('a', write)
    if (writer === null) return
    await this.write('a', writer)
    const reader = await this.take('b', read)
    await this.release('a', writer)
    if (reader === null) return
    await this.read('b', reader)
    await this.release('b', reader)
  }
}

const kind = (error) => error.code.replace('ERR_ZOOLOCK_', '')

function taking (lock, timeoutMs, owner) {
  if (timeoutMs === 0) return () => lock.tryLock({ owner })
  return () => lock.lock({ owner, timeoutMs: timeoutMs < 0 ? undefined : timeoutMs })
}

async function work (line, told, session, root) {
  const mutex = session.mutex(`${root}/mutex`)
  const reentrant = session.reentrantMutex(`${root}/reentrant`)
  const rw = session.rwLock(`${root}/rw`)
  for (let order = await line.ask('next'); order !== 'stop'; order = await line.ask('next')) {
    const [, id, recipe, timeout, pauseMs] = order.split(' ')
    const timeoutMs = Number(timeout)
    const owner = new Owner()
    const job = new Job(line, told, id, pauseMs)
    if (recipe === 'mutex') await job.exclusive(taking(mutex, timeoutMs))
    else if (recipe === 'reentrant') await job.reentrant(taking(reentrant, timeoutMs, owner))
    else if (recipe === 'write') await job.exclusive(taking(rw.write, timeoutMs, owner))
    else if (recipe === 'read') await job.shared(taking(rw.read, timeoutMs, owner))
    else if (recipe === 'downgrade') {
      await job.downgrade(taking(rw.write, timeoutMs, owner), taking(rw.read, timeoutMs, owner))
    } else throw new Error(`no recipe is called ${recipe}`)
  }
}

const [hosts, resource, name, timeoutMs, tasks, root] = process.argv.slice(2)
const ended = once(process.stdin.resume(), 'end')
const session = await connect(hosts, {
  sessionTimeoutMs: Number(timeoutMs),
  connectTimeoutMs: CONNECT_MS,
  identity: name
})
const told = await Line.open(resource, name, 'told')
const lines = await Promise.all(
  Array.from({ length: Number(tasks) }, (_, number) => Line.open(resource, name, number))
)
await Promise.all(lines.map((line) => work(line, told, session, root)))
// The session stays open until the runner has looked at what is left of it.
await ended
await session.close()
for (const line of [told, ...lines]) line.socket.end()
