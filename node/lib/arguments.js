'use strict'

// Types are checked here, since only JavaScript knows them; what values mean is the core's to
// judge. Messages never show a value, which might be a secret (R19).

const { isUint8Array } = require('node:util/types')
const { invalidArgument } = require('./errors.js')
const { nativeOf } = require('./owner.js')

const SESSION_OPTIONS = {
  sessionTimeoutMs: number,
  connectTimeoutMs: number,
  auth: listOf(credentials),
  tls: record({ ca: string, cert: string, key: string, checkServerName: boolean }),
  acl,
  identity: string,
  exclusive: boolean,
  backoff,
  leaseConfirmation: string
}
const LOCK_OPTIONS = { naming: string, data: bytes, acl, keepMs: number }
const TEST_SERVER_OPTIONS = {
  port: count,
  address: string,
  tickMs: number,
  minSessionTimeoutMs: number,
  maxSessionTimeoutMs: number,
  containerCheckMs: number
}
const LOG_OPTIONS = { level: oneOf(['error', 'warn', 'info', 'debug']) }
const TRY_OPTIONS = { signal: abortSignal, owner }
const CALL_OPTIONS = { timeoutMs: number, ...TRY_OPTIONS }

const EXPONENTIAL = record({ baseMs: required(number), maxMs: required(number), retries: count })
const FIXED = record({ delayMs: required(number), retries: count })

// `operation`, which errors name, may be an object of operation and path.

/** Checks and converts; an option that is `undefined` or `null` is left out. */
function options(operation, given, known) {
  if (given === undefined || given === null) return {}
  return fields(operation, 'options', given, known, '')
}

const sessionOptions = (given) => options('connect', given, SESSION_OPTIONS)
const testServerOptions = (given) => options('startTestServer', given, TEST_SERVER_OPTIONS)
const logOptions = (given) => options('setLogger', given, LOG_OPTIONS)
const lockOptions = (operation, given) => options(operation, given, LOCK_OPTIONS)

function callOptions(operation, given, takesOwner) {
  return owned(operation, options(operation, given, CALL_OPTIONS), takesOwner)
}

function tryOptions(operation, given, takesOwner) {
  return owned(operation, options(operation, given, TRY_OPTIONS), takesOwner)
}

function owned(operation, converted, takesOwner) {
  if (converted.owner !== undefined && !takesOwner) {
    throw invalidArgument(operation, 'owner', 'a plain mutex is not re-entrant and takes no owner')
  }
  return converted
}

function fields(operation, argument, given, known, prefix) {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidArgument(operation, argument, 'must be an object')
  }
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(known, name)) {
      throw invalidArgument(operation, prefix + name, 'is no option here')
    }
  }
  const converted = {}
  for (const [name, convert] of Object.entries(known)) {
    const value = given[name]
    const present = value !== undefined && value !== null
    if (present || convert.required) {
      converted[name] = convert(operation, prefix + name, value)
    }
  }
  return converted
}

function record(known) {
  return (operation, argument, value) =>
    fields(operation, argument, value, known, `${argument}.`)
}

function required(convert) {
  return Object.assign((...of) => convert(...of), { required: true })
}

function listOf(convert) {
  return (operation, argument, value) => {
    if (!Array.isArray(value)) throw invalidArgument(operation, argument, 'must be an array')
    return value.map((item, index) => convert(operation, `${argument}[${index}]`, item))
  }
}

function oneOf(names) {
  return (operation, argument, value) => {
    if (!names.includes(value)) {
      throw invalidArgument(operation, argument, `must be one of ${names.join(', ')}`)
    }
    return value
  }
}

function ofType(type, article) {
  return (operation, argument, value) => {
    if (typeof value !== type) {
      throw invalidArgument(operation, argument, `must be ${article} ${type}`)
    }
    return value
  }
}

function number(operation, argument, value) {
  return ofType('number', 'a')(operation, argument, value)
}

function boolean(operation, argument, value) {
  return ofType('boolean', 'a')(operation, argument, value)
}

function string(operation, argument, value) {
  ofType('string', 'a')(operation, argument, value)
  if (!value.isWellFormed()) {
    // On the way to UTF-8 a lone surrogate would silently become another character.
    throw invalidArgument(operation, argument, 'holds half of a surrogate pair')
  }
  return value
}

function count(operation, argument, value) {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
    throw invalidArgument(operation, argument, 'must be a whole number, not negative')
  }
  return value
}

function sessionId(operation, argument, value) {
  ofType('bigint', 'a')(operation, argument, value)
  if (BigInt.asIntN(64, value) !== value) {
    throw invalidArgument(operation, argument, 'must be a signed 64-bit number')
  }
  return value
}

function bytes(operation, argument, value) {
  if (typeof value === 'string') return Buffer.from(string(operation, argument, value))
  if (isUint8Array(value)) return Buffer.from(value)
  throw invalidArgument(operation, argument, 'must be a string or a Uint8Array')
}

function credentials(operation, argument, value) {
  const [scheme, secret] = Array.isArray(value)
    ? tuple(operation, argument, value, 2)
    : byName(operation, argument, value, ['scheme', 'credentials'])
  return {
    scheme: string(operation, `${argument}.scheme`, scheme),
    credentials: bytes(operation, `${argument}.credentials`, secret)
  }
}

function aclEntry(operation, argument, value) {
  const [permissions, scheme, id] = Array.isArray(value)
    ? tuple(operation, argument, value, 3)
    : byName(operation, argument, value, ['permissions', 'scheme', 'id'])
  return {
    permissions: count(operation, `${argument}.permissions`, permissions),
    scheme: string(operation, `${argument}.scheme`, scheme),
    id: string(operation, `${argument}.id`, id)
  }
}

function tuple(operation, argument, value, length) {
  if (value.length !== length) {
    throw invalidArgument(operation, argument, `must have ${length} items`)
  }
  return value
}

function byName(operation, argument, value, names) {
  const any = (_operation, _argument, given) => given
  const known = Object.fromEntries(names.map((name) => [name, any]))
  const given = fields(operation, argument, value, known, `${argument}.`)
  return names.map((name) => given[name])
}

function acl(operation, argument, value) {
  if (Array.isArray(value)) return { entries: listOf(aclEntry)(operation, argument, value) }
  if (typeof value === 'string') return { preset: string(operation, argument, value) }
  throw invalidArgument(operation, argument, "must be 'open', 'creator' or a list")
}

function backoff(operation, argument, value) {
  const { exponential, fixed } = record({ exponential: EXPONENTIAL, fixed: FIXED })(
    operation,
    argument,
    value
  )
  if ((exponential === undefined) === (fixed === undefined)) {
    throw invalidArgument(operation, argument, 'must be either exponential or fixed')
  }
  return exponential ?? fixed
}

// Not by `instanceof`: test runners have realms of their own.
function abortSignal(operation, argument, value) {
  const isOne =
    typeof value === 'object' &&
    typeof value.aborted === 'boolean' &&
    typeof value.addEventListener === 'function'
  if (!isOne) {
    throw invalidArgument(operation, argument, 'must be an AbortSignal')
  }
  return value
}

function owner(operation, argument, value) {
  const native = nativeOf(value)
  if (native === undefined) throw invalidArgument(operation, argument, 'must be an Owner')
  return native
}

function callback(operation, argument, value) {
  return ofType('function', 'a')(operation, argument, value)
}

module.exports = {
  sessionOptions,
  testServerOptions,
  logOptions,
  lockOptions,
  callOptions,
  tryOptions,
  string,
  number,
  sessionId,
  callback
}
