'use strict'

const { Owner } = require('./native.js')
const { fromFailure, unwrap, invalidArgument, ...errors } = require('./lib/errors.js')
const { Guard } = require('./lib/guard.js')
const { Mutex, ReentrantMutex, RwLock, RwLockSide } = require('./lib/lock.js')
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
  startTestServer,
  TestServer,
  ...errors
}
