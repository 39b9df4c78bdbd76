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
 * Makes a call that `start(calls, number)` begins. Returns the native event that settles it, if there was nothing to
 * wait for, or a promise of that. While it is pending the process stays alive.
 *
 * When `signal` aborts, the promise rejects with its reason at once, and the event that settles the call afterwards
 * goes to `discard`.
 */
function begin(start, signal, discard) {
  if (signal?.aborted) throw signal.reason
  const number = ++lastNumber
  return start(calls, number) ?? settled(number, signal, discard)
}

/** What `convert` makes of a call's event; a failure is thrown, in the caller's function so that stack traces name it. */
function outcome(event, convert) {
  if (event.failure) throw fromFailure(event.failure)
  return convert(event)
}

/** As `begin` and `outcome`. Where thousands wait, each `await` on the way weighs: those calls do both themselves. */
async function call(start, convert) {
  const event = begin(start)
  return outcome(event instanceof Promise ? await event : event, convert)
}

function settled(number, signal, discard) {
  if (signal !== undefined) return untilAborted(number, signal, discard)
  return new Promise((resolve) => expect(number, resolve))
}

function untilAborted(number, signal, discard) {
  return new Promise((resolve, reject) => {
    const unhook = onAbort(signal, () => {
      waiting.set(number, discard)
      calls.cancel(number)
      reject(signal.reason)
    })
    expect(number, (event) => {
      unhook()
      resolve(event)
    })
  })
}

// In the turn of the event loop in which the call began: none of its events has been taken yet.
function expect(number, resolve) {
  waiting.set(number, resolve)
  updateAlive()
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

module.exports = { begin, outcome, call, listen, listenToLog, hold, letGo }
