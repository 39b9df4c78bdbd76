import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, InvalidArgumentError, Owner, UnavailableError } from 'zoolock'
import { newPath, startEnsemble } from './support/ensemble.mjs'

const ensemble = await startEnsemble()
const session = await ensemble.connect()
const { hosts } = ensemble

const naming = (argument, operation, path) => (error) => {
  assert.ok(error instanceof InvalidArgumentError, String(error))
  assert.ok(error instanceof Error)
  assert.equal(error.code, 'ERR_ZOOLOCK_INVALID_ARGUMENT')
  assert.equal(error.operation, operation)
  assert.equal(error.path, path)
  if (path !== undefined) assert.ok(error.message.startsWith(`${operation} ${path}: `))
  assert.ok(error.message.includes(argument), error.message)
  return true
}

const badConnects = [
  ['hosts', [7]],
  ['hosts', [{}]],
  ['hosts', ['']],
  ['hosts', ['host:port']],
  ['hosts', ['a:2181/chroot/']],
  ['hosts', ['a:99999']],
  ['options', [hosts, 7]],
  ['options', [hosts, []]],
  ['options', [hosts, () => {}]],
  ['sessionTimeout', [hosts, { sessionTimeout: 3000 }]],
  ['sessionTimeoutMs', [hosts, { sessionTimeoutMs: '3000' }]],
  ['sessionTimeoutMs', [hosts, { sessionTimeoutMs: 3000n }]],
  ['sessionTimeoutMs', [hosts, { sessionTimeoutMs: NaN }]],
  ['sessionTimeoutMs', [hosts, { sessionTimeoutMs: -1 }]],
  ['sessionTimeoutMs', [hosts, { sessionTimeoutMs: 0 }]],
  ['sessionTimeoutMs', [hosts, { sessionTimeoutMs: Infinity }]],
  ['sessionTimeoutMs', [hosts, { sessionTimeoutMs: 2 ** 31 }]],
  ['connectTimeoutMs', [hosts, { connectTimeoutMs: 0 }]],
  ['connectTimeoutMs', [hosts, { connectTimeoutMs: NaN }]],
  ['connectTimeoutMs', [hosts, { connectTimeoutMs: 4e11 }]],
  ['auth', [hosts, { auth: 'digest' }]],
  ['auth[0]', [hosts, { auth: ['digest'] }]],
  ['auth[0]', [hosts, { auth: [['digest']] }]],
  ['auth[1].credentials', [hosts, { auth: [['digest', 'a:b'], ['digest', 7]] }]],
  ['auth[0].scheme', [hosts, { auth: [{ credentials: 'a:b' }] }]],
  ['auth', [hosts, { auth: [['', 'a:b']] }]],
  ['tls', [hosts, { tls: true }]],
  ['tls.certificate', [hosts, { tls: { certificate: 'x' } }]],
  ['tls.checkServerName', [hosts, { tls: { checkServerName: 1 } }]],
  ['acl', [hosts, { acl: 'everybody' }]],
  ['acl', [hosts, { acl: 'creator' }]],
  ['acl', [hosts, { acl: [] }]],
  ['acl', [hosts, { acl: 7 }]],
  ['acl[0].permissions', [hosts, { acl: [[1.5, 'world', 'anyone']] }]],
  ['acl', [hosts, { acl: [[32, 'world', 'anyone']] }]],
  ['identity', [hosts, { identity: 7 }]],
  ['identity', [hosts, { identity: '\ud800' }]],
  ['exclusive', [hosts, { exclusive: 1 }]],
  ['backoff', [hosts, { backoff: 3 }]],
  ['backoff', [hosts, { backoff: {} }]],
  ['backoff.linear', [hosts, { backoff: { linear: {} } }]],
  ['backoff.fixed.delayMs', [hosts, { backoff: { fixed: {} } }]],
  ['backoff.fixed.delayMs', [hosts, { backoff: { fixed: { delayMs: -1 } } }]],
  ['backoff.fixed.retries', [hosts, { backoff: { fixed: { delayMs: 1, retries: -1 } } }]],
  ['backoff.exponential.maxMs', [hosts, { backoff: { exponential: { baseMs: 1 } } }]],
  [
    'backoff: the first pause must be more than 0, and at most the longest',
    [hosts, { backoff: { exponential: { baseMs: 2, maxMs: 1 } } }]
  ],
  ['leaseConfirmation', [hosts, { leaseConfirmation: 'ping' }]]
]

test('R20 bad arguments of connect reject InvalidArgumentError, and nothing is sent', async () => {
  await ensemble.command('log', 'clear')
  for (const [argument, given] of badConnects) {
    let call
    assert.doesNotThrow(() => (call = connect(...given)))
    await assert.rejects(call, naming(argument, 'connect'))
  }
  const { log } = await ensemble.command('log', 'show', 'connect')
  assert.deepEqual(log, [])
})

const badPaths = [undefined, null, 7, '', 'locks/a', '/', '/locks/', '/locks//a', '/a/../b', '/a\0b', '/\ud800']
const badLockOptions = [
  ['options', 7],
  ['timeoutMs', { timeoutMs: 3 }],
  ['naming', { naming: 'zookeeper' }],
  ['naming', { naming: 7 }],
  ['data', { data: 7 }],
  ['data', { data: Buffer.alloc(600 * 1024) }],
  ['acl', { acl: 'creator' }],
  ['acl', { acl: [{ permissions: 0, scheme: 'world', id: 'anyone' }] }]
]

for (const make of ['mutex', 'reentrantMutex', 'rwLock']) {
  test(`R20 ${make} throws InvalidArgumentError for bad paths and options`, () => {
    for (const path of badPaths) {
      assert.throws(() => session[make](path), naming('path', make))
    }
    for (const [argument, options] of badLockOptions) {
      assert.throws(() => session[make]('/locks/a', options), naming(argument, make))
    }
  })
}

const badCalls = [
  ['options', 7],
  ['options', []],
  ['timeout', { timeout: 3 }],
  ['timeoutMs', { timeoutMs: '3' }],
  ['timeoutMs', { timeoutMs: NaN }],
  ['timeoutMs', { timeoutMs: -1 }],
  ['timeoutMs', { timeoutMs: Infinity }],
  ['timeoutMs', { timeoutMs: 4e11 }],
  ['signal', { signal: {} }],
  ['signal', { signal: new AbortController() }],
  ['owner', { owner: {} }],
  ['owner', { owner: 'me' }],
  ['owner', { owner: Object.create(Owner.prototype) }],
  ['owner', { owner: Owner }],
  ['owner', { owner: new Proxy(new Owner(), {}) }]
]

test('R20 bad options of calls reject InvalidArgumentError, and nothing is sent', async () => {
  const path = newPath()
  const { read, write } = session.rwLock(path)
  for (const lock of [session.mutex(path), session.reentrantMutex(path), read, write]) {
    for (const [argument, options] of badCalls) {
      const calls = [
        [() => lock.lock(options), 'lock'],
        [() => lock.withLock(options, assert.fail), 'withLock'],
        [() => lock.tryLock(options), 'tryLock']
      ]
      for (const [call, operation] of calls) {
        let made
        assert.doesNotThrow(() => (made = call()))
        await assert.rejects(made, (error) => {
          // What a number of milliseconds means is judged where all languages' calls are.
          const where = operation === 'withLock' && error.operation === 'lock' ? 'lock' : operation
          return naming(argument, where, path)(error)
        })
      }
    }
  }
  await assert.rejects(session.mutex(path).lock({ owner: new Owner() }), naming('owner', 'lock', path))
  await assert.rejects(session.close('soon'), naming('timeoutMs', 'close'))
  await assert.rejects(session.close(NaN), naming('timeoutMs', 'close'))
  assert.equal(session.state, 'connected')
  assert.equal((await ensemble.command('exists', path)).exists, false)
})

test('options that are undefined or null are left out', async () => {
  const own = await ensemble.connect({ auth: undefined, acl: null, backoff: undefined, tls: null })
  const mutex = own.mutex(newPath(), null)
  await (await mutex.lock({ timeoutMs: undefined, signal: null })).release()
  assert.equal(await mutex.withLock(undefined, () => 'fine'), 'fine')
})

test('options reach the core', async () => {
  const own = await ensemble.connect({
    sessionTimeoutMs: 4000,
    identity: 'billing/7',
    exclusive: true,
    backoff: { exponential: { baseMs: 10, maxMs: 20, retries: 5 } },
    leaseConfirmation: 'write'
  })
  assert.equal(own.negotiatedTimeoutMs, 4000)
  assert.notEqual(own.sessionId, session.sessionId)
  await own.mutex(newPath(), { naming: 'kazoo' }).withLock(async (held) => {
    assert.match(held.nodePath, /\/[0-9a-f]{32}__lock__[0-9]{10}$/)
    assert.equal((await ensemble.command('get', held.nodePath)).data, 'billing/7')
  })
  await own.mutex(newPath(), { data: new Uint8Array([104, 105]) }).withLock(async (held) => {
    assert.equal((await ensemble.command('get', held.nodePath)).data, 'hi')
  })
})

test('R20 files of tls are named', async () => {
  const wrong = (argument) => ({ name: 'InvalidArgumentError', message: new RegExp(`${argument}:`) })
  await assert.rejects(connect(hosts, { tls: { ca: '/missing.pem' } }), wrong('tls.ca'))
  await assert.rejects(connect(hosts, { tls: { cert: '/missing.pem' } }), wrong('tls.key'))
})

test('R06 connect rejects UnavailableError at its time-out, or when its retries are used up', async () => {
  const nobody = '127.0.0.1:1'
  await assert.rejects(connect(nobody, { connectTimeoutMs: 100 }), UnavailableError)
  await assert.rejects(connect(nobody, { backoff: { fixed: { delayMs: 1, retries: 2 } } }), {
    code: 'ERR_ZOOLOCK_UNAVAILABLE',
    operation: 'connect'
  })
})
