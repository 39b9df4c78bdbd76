'use strict'

const { callOptions, tryOptions, callback } = require('./arguments.js')
const { begin, call, outcome } = require('./calls.js')
const { currentOwner, enter } = require('./context.js')
const { Guard } = require('./guard.js')
const { describe, inspected } = require('./inspect.js')
const { checkKey, key } = require('./internal.js')

/** What all locks have. Without `reentrant` there are no owners. */
class Lock {
  #native
  // Keeps the session open while the lock is in use.
  #session
  #path
  #reentrant

  constructor(given, native, session, path, reentrant) {
    checkKey(given)
    this.#native = native
    this.#session = session
    this.#path = path
    this.#reentrant = reentrant
  }

  get path() {
    return this.#path
  }

  async lock(options) {
    const converted = callOptions(this.#call('lock'), options, this.#reentrant)
    const event = this.#lock(converted, currentOwner())
    return this.#granted(event instanceof Promise ? await event : event)
  }

  async tryLock(options) {
    const converted = tryOptions(this.#call('tryLock'), options, this.#reentrant)
    const { signal, owner = currentOwner() } = converted
    const who = this.#reentrant ? owner : undefined
    const start = (calls, number) => this.#native.tryLock(calls, number, who)
    const event = begin(start, signal, releaseUnwanted)
    return this.#granted(event instanceof Promise ? await event : event)
  }

  async withLock(...args) {
    const [given, fn] = args.length > 1 ? args : [undefined, args[0]]
    const about = this.#call('withLock')
    const options = callOptions(about, given, this.#reentrant)
    callback(about, 'fn', fn)
    if (!this.#reentrant) return await use(this.#granted(await this.#lock(options)), fn)
    const { owner, run } = enter(options.owner)
    const guard = this.#granted(await this.#lock(options, owner))
    return await use(guard, (held) => run(() => fn(held)))
  }

  async contenders() {
    return await call(
      (calls, number) => this.#native.contenders(calls, number),
      (event) => event.contenders
    )
  }

  statistics() {
    return this.#native.statistics()
  }

  [inspected](depth, options, inspect) {
    return describe(this, { path: this.path }, depth, options, inspect)
  }

  /** A call of this object, as errors name it. */
  #call(operation) {
    return { operation, path: this.#path }
  }

  /** The event of a lock call, or a promise of it. */
  #lock({ timeoutMs, signal, owner }, otherwise) {
    const who = this.#reentrant ? (owner ?? otherwise) : undefined
    const start = (calls, number) => this.#native.lock(calls, number, timeoutMs, who)
    return begin(start, signal, releaseUnwanted)
  }

  #granted(event) {
    return outcome(event, ({ granted }) => (granted ? new Guard(key, granted, this) : null))
  }
}

/** Runs `fn` with the guard and releases it; whatever `fn` throws comes before its loss. */
async function use(guard, fn) {
  let result
  try {
    result = await fn(guard)
  } catch (error) {
    // The business error is what the caller has to see; the loss is told by the guard.
    await release(guard).catch(() => {})
    throw error
  }
  await release(guard)
  return result
}

/** The function may have released the lock itself, early. */
async function release(guard) {
  if (guard.state !== 'released') await guard.release()
}

/** A grant that crossed an abort on its way. */
function releaseUnwanted({ granted }) {
  if (!granted) return
  // Nobody is left to be told of a failure, and the core goes on by itself (R5).
  call((calls, number) => granted.release(calls, number), () => undefined).catch(() => {})
}

class Mutex extends Lock {
  constructor(given, native, session, path) {
    super(given, native, session, path, false)
  }
}

class ReentrantMutex extends Lock {
  constructor(given, native, session, path) {
    super(given, native, session, path, true)
  }
}

/** One side of a read-write lock. */
class RwLockSide extends Lock {
  constructor(given, native, session, path) {
    super(given, native, session, path, true)
  }
}

class RwLock {
  #read
  #write

  constructor(given, sides, session, path) {
    checkKey(given)
    this.#read = new RwLockSide(given, sides.read, session, path)
    this.#write = new RwLockSide(given, sides.write, session, path)
  }

  get read() {
    return this.#read
  }

  get write() {
    return this.#write
  }

  get path() {
    return this.#read.path
  }

  async contenders() {
    return await this.#read.contenders()
  }

  statistics() {
    return this.#read.statistics()
  }

  [inspected](depth, options, inspect) {
    return describe(this, { path: this.path }, depth, options, inspect)
  }
}

module.exports = { Mutex, ReentrantMutex, RwLock, RwLockSide }
