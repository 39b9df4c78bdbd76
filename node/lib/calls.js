'use strict'

const native = require('../native.js')
const { onAbort } = require('./aborts.js')
const { fromFailure } = require('./errors.js')

/** Who hears how a call under way ended, by its number. */
const waiting = new Map()
/** Who hears of other events, by number; held weakly. */
const listeners = new Map()
/** What keeps the process alive beside calls under way. */
const holders = new Set()
let alive = false
let lastNumber = 0
/** Who hears the log. */
let logger

const calls = new native.Calls(deliver)

/**
 * Makes a call that `start(calls, number)` begins; `convert` makes its value of the native event.
 * While it is pending the process stays alive.
 *
 * Failures are thrown here, after an `await`, so that stack traces name the caller.
 */
async function call(start, convert) {
  return outcome(await new Promise((resolve, reject) => begin(start, resolve, reject)), convert)
}

/**
 * As `call`, for a call that can be withdrawn: when `signal` aborts, the promise rejects with its
 * reason at once, and the event that settles the call afterwards goes to `discard`.
 */
async function abortableCall(start, convert, signal, discard) {
  if (signal === undefined) return await call(start, convert)
  if (signal.aborted) throw signal.reason
  return outcome(await untilAborted(start, signal, discard), convert)
}

function outcome(event, convert) {
  if (event.failure) throw fromFailure(event.failure)
  return convert(event)
}

function untilAborted(start, signal, discard) {
  return new Promise((resolve, reject) => {
    const unhook = onAbort(signal, () => {
      waiting.set(number, discard)
      calls.cancel(number)
      reject(signal.reason)
    })
    const unhooked = (settle) => (value) => {
      unhook()
      settle(value)
    }
    const number = begin(start, unhooked(resolve), unhooked(reject))
  })
}

function begin(start, resolve, reject) {
  const number = ++lastNumber
  waiting.set(number, resolve)
  updateAlive()
  try {
    start(calls, number)
  } catch (error) {
    forget(number)
    reject(error)
  }
  return number
}

function forget(number) {
  waiting.delete(number)
  updateAlive()
}

/** Keeps the process alive, and `holder`, until `letGo(holder)`. */
function hold(holder) {
  holders.add(holder)
  updateAlive()
}

function letGo(holder) {
  holders.delete(holder)
  updateAlive()
}

function updateAlive() {
  const wanted = waiting.size > 0 || holders.size > 0
  if (wanted === alive) return
  alive = wanted
  calls.keepAlive(wanted)
}

function deliver() {
  for (const event of calls.take()) {
    if (event.call !== undefined) settle(event)
    else tell(event)
  }
}

function settle(event) {
  const resolve = waiting.get(event.call)
  forget(event.call)
  resolve(event)
}

function tell(event) {
  if (event.record) logger?.(event.record)
  else listeners.get(event.session ?? event.guard)?.deref()?.(event)
}

/** Lets `listener` have the log's records from `level` on, in the place of who had them; or nobody. */
function listenToLog(listener, level) {
  logger = listener
  calls.log(listener === undefined ? undefined : level)
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

module.exports = { call, abortableCall, listen, listenToLog, hold, letGo }
