'use strict'

// A program that waits for nothing but an event of an object has no root of its own: without this
// the object, and with it the wait, could be collected as garbage.

const { getEventListeners } = require('node:events')

const kept = new Set()

/** Keeps `owner` as long as somebody listens for the abort of its `signal`, until `letGo(owner)`. */
function keepWhileSignalIsHeard(owner, signal) {
  const { addEventListener, removeEventListener } = signal
  const update = () => {
    if (!signal.aborted && getEventListeners(signal, 'abort').length > 0) kept.add(owner)
    else kept.delete(owner)
  }
  const followed = (method) => ({
    configurable: true,
    writable: true,
    value(...given) {
      method.apply(this, given)
      update()
    },
  })
  Object.defineProperties(signal, {
    addEventListener: followed(addEventListener),
    removeEventListener: followed(removeEventListener),
  })
}

/** Keeps `emitter` as long as somebody listens for `event`, until `letGo(emitter)`. */
function keepWhileEventIsHeard(emitter, event) {
  emitter.on('newListener', (name) => {
    if (name === event) kept.add(emitter)
  })
  emitter.on('removeListener', () => {
    if (emitter.listenerCount(event) === 0) kept.delete(emitter)
  })
}

function letGo(owner) {
  kept.delete(owner)
}

module.exports = { keepWhileSignalIsHeard, keepWhileEventIsHeard, letGo }
