'use strict'

const native = require('../native.js')
const { fromFailure } = require('./errors.js')

/** Calls under way, by number: what each promise of this environment waits for. */
const waiting = new Map()
/** Who hears of events that come without a call, by number; held weakly. */
const listeners = new Map()
let lastNumber = 0

const calls = new native.Calls(deliver)

/**
 * A promise for a call that `start(calls, number)` begins; `convert` makes its value of the native
 * event. While it is pending the process stays alive.
 */
function call(start, convert) {
  return new Promise((resolve, reject) => begin(start, convert, resolve, reject))
}

/**
 * As `call`, for a call that can be withdrawn: when `signal` aborts, the promise rejects with its
 * reason at once, and what comes of the call afterwards goes to `discard`.
 */
function abortableCall(start, convert, signal, discard) {
  if (signal === undefined) return call(start, convert)
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const abort = () => {
      entry.convert = discard
      calls.cancel(number)
      reject(signal.reason)
    }
    const settled = (settle) => (value) => {
      signal.removeEventListener('abort', abort)
      settle(value)
    }
    signal.addEventListener('abort', abort, { once: true })
    const { number, entry } = begin(start, convert, settled(resolve), settled(reject))
  })
}

function begin(start, convert, resolve, reject) {
  const number = ++lastNumber
  const entry = { convert, resolve, reject }
  waiting.set(number, entry)
  if (waiting.size === 1) calls.keepAlive(true)
  try {
    start(calls, number)
  } catch (error) {
    forget(number)
    reject(error)
  }
  return { number, entry }
}

function forget(number) {
  waiting.delete(number)
  if (waiting.size === 0) calls.keepAlive(false)
}

function deliver() {
  for (const event of calls.take()) {
    if (event.call !== undefined) settle(event)
    else tell(event)
  }
}

function settle(event) {
  const entry = waiting.get(event.call)
  forget(event.call)
  if (event.failure) entry.reject(fromFailure(event.failure))
  else entry.resolve(entry.convert(event))
}

function tell(event) {
  listeners.get(event.session ?? event.guard)?.deref()?.(event)
}

const collected = new FinalizationRegistry((number) => listeners.delete(number))

/**
 * Lets `start(calls, number)` bring events to `listener`. The registration keeps `listener` alive
 * no longer than `owner`, which has to refer to it.
 */
function listen(owner, listener, start) {
  const number = ++lastNumber
  listeners.set(number, new WeakRef(listener))
  collected.register(owner, number)
  start(calls, number)
}

module.exports = { call, abortableCall, listen }
