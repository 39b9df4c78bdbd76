'use strict'

// The log of the core belongs to the process; each thread that asks for it gets its own copy.

const { debuglog } = require('node:util')
const { callback, logOptions } = require('./arguments.js')
const { listenToLog } = require('./calls.js')

/** Gives this thread's log to `logger`, from `level` on; to nobody without one. */
function setLogger(logger, options) {
  const { level = 'info' } = logOptions(options)
  if (logger === undefined || logger === null) {
    listenToLog(undefined)
    return
  }
  callback('setLogger', 'logger', logger)
  // On the next tick, so that a logger that throws disturbs no delivery of other outcomes.
  listenToLog(({ at, ...record }) => process.nextTick(logger, { ...record, time: new Date(at) }), level)
}

// `NODE_DEBUG=zoolock`, as Node's own modules have it: to standard error.
const debug = debuglog('zoolock')
if (debug.enabled) {
  setLogger(({ level, message, fields }) => debug('%s: %s %o', level, message, fields), {
    level: 'debug'
  })
}

module.exports = { setLogger }
