'use strict'

require('./dispose.js')
const { EventEmitter } = require('node:events')
const native = require('../native.js')
const { lockOptions, number, sessionOptions, string } = require('./arguments.js')
const { call, listen } = require('./calls.js')
const { unwrap } = require('./errors.js')
const { describe, inspected } = require('./inspect.js')
const { checkKey, key } = require('./internal.js')
const { keepWhileEventIsHeard, letGo } = require('./listened.js')
const { Mutex, ReentrantMutex, RwLock } = require('./lock.js')

/** A handle on a session with an ensemble. */
class Session extends EventEmitter {
  #native
  #tell

  constructor(given, opened) {
    checkKey(given)
    super()
    this.#native = opened
    // On the next tick, so that a listener that throws disturbs no delivery of other outcomes.
    this.#tell = ({ state }) =>
      process.nextTick(() => {
        if (state === 'closed') letGo(this)
        this.emit('state', state)
      })
    keepWhileEventIsHeard(this, 'state')
    listen(this, this.#tell, (calls, session) => opened.watchState(calls, session))
  }

  get state() {
    return this.#native.state
  }

  get sessionId() {
    return this.#native.sessionId
  }

  get negotiatedTimeoutMs() {
    return this.#native.negotiatedTimeoutMs
  }

  mutex(path, options) {
    const lock = this.#make('mutex', path, options)
    return new Mutex(key, lock, this, path)
  }

  reentrantMutex(path, options) {
    const lock = this.#make('reentrantMutex', path, options)
    return new ReentrantMutex(key, lock, this, path)
  }

  rwLock(path, options) {
    const sides = this.#make('rwLock', path, options)
    return new RwLock(key, sides, this, path)
  }

  async close(timeoutMs) {
    const byDefault = timeoutMs === undefined || timeoutMs === null
    const limit = byDefault ? undefined : number('close', 'timeoutMs', timeoutMs)
    return await call((calls, id) => this.#native.close(calls, id, limit), () => undefined)
  }

  async [Symbol.asyncDispose]() {
    await this.close()
  }

  [inspected](depth, options, inspect) {
    const { state, sessionId, negotiatedTimeoutMs } = this
    return describe(this, { state, sessionId, negotiatedTimeoutMs }, depth, options, inspect)
  }

  #make(operation, path, options) {
    string(operation, 'path', path)
    return unwrap(this.#native[operation](path, lockOptions(operation, options)))
  }
}

/** Connects; without hosts to those in `ZOOLOCK_HOSTS`, else to `127.0.0.1:2181`. */
async function connect(hosts, options) {
  const converted = sessionOptions(options)
  const byDefault = hosts === undefined || hosts === null
  const given = byDefault ? undefined : string('connect', 'hosts', hosts)
  return await call(
    (calls, id) => native.connect(calls, id, given, converted),
    ({ opened }) => new Session(key, opened)
  )
}

module.exports = { Session, connect }
