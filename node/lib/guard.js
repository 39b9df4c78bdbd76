'use strict'

require('./dispose.js')
const { begin, listen, outcome } = require('./calls.js')
const { fromFailure } = require('./errors.js')
const { describe, inspected } = require('./inspect.js')
const { checkKey } = require('./internal.js')
const { keepWhileSignalIsHeard, letGo } = require('./listened.js')

/** A lock that was granted. Released in the background when it is garbage-collected (R10). */
class Guard {
  #native
  // Keeps the session open that the lock belongs to.
  #lock
  #abort
  #lost

  constructor(key, native, lock) {
    checkKey(key)
    this.#native = native
    this.#lock = lock
  }

  get fencingToken() {
    return this.#native.fencingToken
  }

  get grantCount() {
    return this.#native.grantCount
  }

  get nodePath() {
    return this.#native.nodePath
  }

  get path() {
    return this.#lock.path
  }

  get held() {
    return this.#native.held
  }

  get state() {
    return this.#native.state
  }

  get signal() {
    if (this.#abort === undefined) this.#watch()
    if (this.#native.state === 'lost') this.#lost()
    return this.#abort.signal
  }

  ensureHeld() {
    const failure = this.#native.ensureHeld()
    if (failure) throw fromFailure(failure)
  }

  async release() {
    letGo(this)
    const event = begin((calls, number) => this.#native.release(calls, number))
    outcome(event instanceof Promise ? await event : event, () => undefined)
  }

  [inspected](depth, options, inspect) {
    const { state, path, nodePath, fencingToken } = this
    return describe(this, { state, path, nodePath, fencingToken }, depth, options, inspect)
  }

  async [Symbol.asyncDispose]() {
    if (this.state !== 'released') await this.release()
  }

  #watch() {
    const abort = new AbortController()
    const native = this.#native
    this.#abort = abort
    this.#lost = () => {
      if (!abort.signal.aborted) abort.abort(lostError(native))
      letGo(this)
    }
    keepWhileSignalIsHeard(this, abort.signal)
    listen(this, this.#lost, (calls, number) => native.watchLost(calls, number))
  }
}

function lostError(native) {
  const failure = native.lostBecause()
  return failure ? fromFailure(failure) : undefined
}

module.exports = { Guard }
