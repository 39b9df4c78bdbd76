'use strict'

// Who an asynchronous context is: the owner that the outermost `withLock` around it has made (R11).

const { AsyncLocalStorage } = require('node:async_hooks')
const native = require('../native.js')

const contexts = new AsyncLocalStorage()

/** The owner of the present context, if the `withLock` that made it still runs its function. */
function currentOwner() {
  const context = contexts.getStore()
  return context?.alive ? context.owner : undefined
}

/** The context in which a `withLock` that was given `owner`, or none, runs its function. */
function enter(owner) {
  const current = contexts.getStore()
  if (current?.alive && (owner === undefined || owner === current.owner)) {
    return { owner: current.owner, run: (fn) => fn() }
  }
  const context = { owner: owner ?? new native.Owner(), alive: true }
  return { owner: context.owner, run: (fn) => outermost(context, fn) }
}

/** What `fn` leaves behind, a timer for instance, finds the context dead and is a stranger. */
async function outermost(context, fn) {
  try {
    return await contexts.run(context, fn)
  } finally {
    context.alive = false
  }
}

module.exports = { currentOwner, enter }
