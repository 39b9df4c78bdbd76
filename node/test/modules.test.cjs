'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { test } = require('node:test')
const zoolock = require('zoolock')
const native = require('../native.js')

test('import and require give the same classes and functions', async () => {
  const imported = await import('zoolock')
  const names = Object.keys(zoolock)
  assert.ok(names.includes('connect') && names.includes('LockLostError'))
  assert.deepEqual(Object.keys(imported).filter((name) => name !== 'default').sort(), names.sort())
  for (const name of names) assert.equal(imported[name], zoolock[name], name)
  assert.equal(imported.default, zoolock)
})

test('every kind of error has its class, under ZoolockError', () => {
  const { ZoolockError, ...others } = zoolock
  const classes = Object.entries(others).filter(([name]) => name.endsWith('Error'))
  assert.equal(classes.length, native.errorKinds().length)
  for (const [name, Class] of classes) {
    const error = new Class('message', { operation: 'lock', path: '/locks/a' })
    assert.ok(error instanceof ZoolockError && error instanceof Error)
    assert.equal(error.name, name)
    assert.equal(Class.name, name)
    assert.match(error.code, /^ERR_ZOOLOCK_[A-Z_]+$/)
    assert.ok(String(error).startsWith(`${name}: `))
  }
})

test('the package loaded twice in one thread works in both copies', async (t) => {
  const cached = Object.keys(require.cache)
  const kept = Object.fromEntries(cached.map((file) => [file, require.cache[file]]))
  for (const file of cached) delete require.cache[file]
  const other = require('zoolock')
  Object.assign(require.cache, kept)
  assert.notEqual(other.connect, zoolock.connect)

  const server = await other.startTestServer()
  t.after(() => server.stop())
  for (const copy of [zoolock, other, zoolock]) {
    const session = await copy.connect(server.hosts)
    await session.mutex('/locks/a').withLock((held) => assert.ok(held instanceof copy.Guard))
    await session.rwLock('/locks/b').write.withLock({ owner: new copy.Owner() }, () => {})
    assert.throws(() => session.mutex('bad'), copy.InvalidArgumentError)
    await assert.rejects(session.mutex('/locks/a').lock({ timeoutMs: NaN }), copy.InvalidArgumentError)
    await session.close()
  }
  const session = await other.connect(server.hosts)
  const owner = new zoolock.Owner()
  await assert.rejects(session.reentrantMutex('/locks/a').lock({ owner }), other.InvalidArgumentError)
  await session.close()
})

test('what caused a failure is the cause of its error', () => {
  const { fromFailure } = require('../lib/errors.js')
  const down = { kind: 'UNAVAILABLE', operation: 'connect', message: 'no server', source: 'refused' }
  const late = { kind: 'TIMEOUT', operation: 'lock', path: '/a', message: 'late', source: 'x', cause: down }
  const error = fromFailure(late)
  assert.ok(error instanceof zoolock.LockTimeoutError)
  assert.ok(error.cause instanceof zoolock.UnavailableError)
  assert.equal(error.cause.cause.message, 'refused')
  assert.equal(Object.hasOwn(fromFailure({ kind: 'CLOSED', operation: 'lock', message: 'it is' }), 'cause'), false)
})

test('objects that are granted or opened cannot be made', () => {
  const made = ['Session', 'Mutex', 'ReentrantMutex', 'RwLock', 'RwLockSide', 'Guard', 'TestServer']
  for (const name of made) {
    assert.throws(() => new zoolock[name](), { name: 'TypeError', message: 'Illegal constructor' })
  }
})

test('Symbol.asyncDispose exists, also where Node has none', () => {
  const program = `
    delete Symbol.asyncDispose
    require(${JSON.stringify(require.resolve('zoolock'))})
    if (typeof Symbol.asyncDispose !== 'symbol') process.exit(1)`
  // On versions that have it, it cannot be deleted, and is theirs.
  const { status, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.equal(typeof zoolock.Guard.prototype[Symbol.asyncDispose], 'function')
  assert.equal(typeof zoolock.Session.prototype[Symbol.asyncDispose], 'function')
  assert.equal(typeof zoolock.TestServer.prototype[Symbol.asyncDispose], 'function')
})

test('loading the package starts nothing', () => {
  const program = `require(${JSON.stringify(require.resolve('zoolock'))})`
  const { status } = spawnSync(process.execPath, ['-e', program])
  assert.equal(status, 0)
})
