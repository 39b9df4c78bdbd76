'use strict'

require('./dispose.js')
const { isMainThread } = require('node:worker_threads')
const native = require('../native.js')
const { number, sessionId, testServerOptions } = require('./arguments.js')
const { call, hold, letGo } = require('./calls.js')
const { unwrap } = require('./errors.js')
const { checkKey, key } = require('./internal.js')

/** Those that are not stopped: one of which only the `hosts` are in use must not be collected. */
const running = new Set()

/**
 * A ZooKeeper server in this process. As other servers do it keeps the process alive: who waits for
 * a lock to be lost waits for nothing else that would.
 */
class TestServer {
  #native

  constructor(given, started) {
    checkKey(given)
    this.#native = started
    running.add(this)
    hold(this)
  }

  get hosts() {
    return this.#native.hosts
  }

  sessions() {
    return unwrap(this.#native.sessions())
  }

  expireSession(id) {
    return unwrap(this.#native.expireSession(sessionId('expireSession', 'id', id)))
  }

  expireAll() {
    return unwrap(this.#native.expireAll())
  }

  cutSession(id) {
    return unwrap(this.#native.cutSession(sessionId('cutSession', 'id', id)))
  }

  cutAll() {
    return unwrap(this.#native.cutAll())
  }

  freezeSession(id) {
    return unwrap(this.#native.freezeSession(sessionId('freezeSession', 'id', id)))
  }

  thawSession(id) {
    return unwrap(this.#native.thawSession(sessionId('thawSession', 'id', id)))
  }

  freezeAll() {
    unwrap(this.#native.freezeAll())
  }

  thawAll() {
    unwrap(this.#native.thawAll())
  }

  delayAnswers(delayMs) {
    unwrap(this.#native.delayAnswers(number('delayAnswers', 'delayMs', delayMs)))
  }

  refuseConnections() {
    unwrap(this.#native.refuseConnections())
  }

  acceptConnections() {
    unwrap(this.#native.acceptConnections())
  }

  ref() {
    if (running.has(this)) hold(this)
    return this
  }

  unref() {
    letGo(this)
    return this
  }

  async stop() {
    await call((calls, id) => this.#native.stop(calls, id), () => undefined)
    running.delete(this)
    letGo(this)
  }

  async [Symbol.asyncDispose]() {
    await this.stop()
  }
}

/** Starts a server in this process. */
async function startTestServer(options) {
  const converted = testServerOptions(options)
  return await call(
    (calls, id) => native.startTestServer(calls, id, converted, isMainThread),
    ({ started }) => new TestServer(key, started)
  )
}

module.exports = { TestServer, startTestServer }
