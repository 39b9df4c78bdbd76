'use strict'

const native = require('../native.js')

/** The base of all errors of this package. */
class ZoolockError extends Error {
  constructor(kind, message, { operation, path, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = `ERR_ZOOLOCK_${kind}`
    this.operation = operation
    this.path = path
  }
}

/** One class a kind; the kinds are the core's. */
const CLASS_NAMES = {
  INVALID_ARGUMENT: 'InvalidArgumentError',
  UNAVAILABLE: 'UnavailableError',
  TIMEOUT: 'LockTimeoutError',
  CANCELLED: 'CancelledError',
  LOCK_LOST: 'LockLostError',
  NOT_HELD: 'NotHeldError',
  WOULD_DEADLOCK: 'WouldDeadlockError',
  SEQUENCE_EXHAUSTED: 'SequenceExhaustedError',
  NO_AUTH: 'NoAuthError',
  AUTH_FAILED: 'AuthFailedError',
  SESSION_EXPIRED: 'SessionExpiredError',
  CLOSED: 'ClosedError',
  UNSUPPORTED: 'UnsupportedError',
  INTERNAL: 'InternalError'
}

/** What the core calls otherwise than this language does, but for the spelling. */
const OPERATIONS = {
  rwlock: 'rwLock',
  start: 'startTestServer'
}
const ARGUMENTS = {
  session_timeout: 'sessionTimeoutMs',
  connect_timeout: 'connectTimeoutMs',
  tick: 'tickMs',
  min_session_timeout: 'minSessionTimeoutMs',
  max_session_timeout: 'maxSessionTimeoutMs',
  container_check: 'containerCheckMs',
  delay: 'delayMs',
  keep: 'keepMs'
}
const spelled = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())

function define(kind, name) {
  const Class = {
    [name]: class extends ZoolockError {
      constructor(message, context) {
        super(kind, message, context)
      }
    }
  }[name]
  named(Class)
  return Class
}

// On the prototype, so that it shows in stack traces without being an own property of every error.
function named(Class) {
  Object.defineProperty(Class.prototype, 'name', {
    value: Class.name,
    writable: true,
    configurable: true
  })
}

named(ZoolockError)
const byKind = Object.fromEntries(
  native.errorKinds().map((kind) => [kind, define(kind, CLASS_NAMES[kind])])
)
const classes = Object.fromEntries(Object.values(byKind).map((Class) => [Class.name, Class]))

/** The error object for a native failure. */
function fromFailure(failure) {
  const operation = OPERATIONS[failure.operation] ?? spelled(failure.operation)
  const path = failure.path ?? undefined
  const reason = failure.message.replace(/^[a-z_]+(?=:)/, (name) => ARGUMENTS[name] ?? name)
  const about = path === undefined ? operation : `${operation} ${path}`
  return new byKind[failure.kind](`${about}: ${reason}`, { operation, path, cause: causeOf(failure) })
}

/** Our own error, or what a lower layer said. */
function causeOf({ cause, source }) {
  if (cause) return fromFailure(cause)
  return source ? new Error(source) : undefined
}

/**
 * Throws if it is a native failure. Not by `instanceof`: where the package is loaded twice, the
 * addon makes its objects of the class that was registered last.
 */
function unwrap(outcome) {
  if (typeof outcome === 'object' && outcome !== null && 'kind' in outcome) throw fromFailure(outcome)
  return outcome
}

/** `about` is the operation, or the operation and the path that it was called for. */
function invalidArgument(about, argument, problem) {
  const { operation, path } = typeof about === 'string' ? { operation: about } : about
  const where = path === undefined ? operation : `${operation} ${path}`
  return new byKind.INVALID_ARGUMENT(`${where}: ${argument}: ${problem}`, { operation, path })
}

module.exports = { ZoolockError, ...classes, fromFailure, unwrap, invalidArgument }
