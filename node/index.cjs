'use strict'

const { fromFailure, unwrap, invalidArgument, ...errors } = require('./lib/errors.js')
const { Guard } = require('./lib/guard.js')
const { setLogger } = require('./lib/log.js')
const { Mutex, ReentrantMutex, RwLock, RwLockSide } = require('./lib/lock.js')
const { Owner } = require('./lib/owner.js')
const { Session, connect } = require('./lib/session.js')
const { TestServer, startTestServer } = require('./lib/testing.js')

module.exports = {
  connect,
  Session,
  Mutex,
  ReentrantMutex,
  RwLock,
  RwLockSide,
  Guard,
  Owner,
  setLogger,
  startTestServer,
  TestServer,
  ...errors
}
