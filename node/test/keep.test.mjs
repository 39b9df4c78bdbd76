import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { InvalidArgumentError, LockTimeoutError } from 'zoolock'
import { newPath, startEnsemble } from './support/ensemble.mjs'

const ensemble = await startEnsemble()
const session = await ensemble.connect()

test('R02 a kept contender is granted again, and the pair rises', async () => {
  const path = newPath()
  const mutex = session.mutex(path, { keepMs: 60_000 })
  let token
  for (let count = 1n; count <= 100n; count++) {
    await mutex.withLock((held) => {
      token ??= held.fencingToken
      assert.deepEqual([held.fencingToken, held.grantCount], [token, count])
    })
  }
  assert.equal((await mutex.contenders()).length, 1)

  const other = await ensemble.connect({ exclusive: true })
  await other.mutex(path).withLock((held) => {
    assert.ok(held.fencingToken > token)
    assert.equal(held.grantCount, 1n)
  })
  await other.close()
})

test('R07 calls of one process are served in order from what is kept', async () => {
  const mutex = session.reentrantMutex(newPath(), { keepMs: 60_000 })
  await mutex.withLock(() => undefined)
  const order = []
  const calls = Array.from({ length: 20 }, (_, at) =>
    mutex.withLock((held) => order.push([at, held.grantCount]))
  )
  await Promise.all(calls)
  assert.deepEqual(order, Array.from({ length: 20 }, (_, at) => [at, BigInt(at) + 2n]))
})

test('R05 aborted calls leave a kept contender to the others', async () => {
  const mutex = session.mutex(newPath(), { keepMs: 60_000 })
  await mutex.withLock(() => undefined)
  const held = await mutex.lock()
  const abort = new AbortController()
  const leaving = [1, 2, 3].map(() => mutex.lock({ signal: abort.signal }))
  const late = mutex.lock({ timeoutMs: 20 })
  const staying = mutex.lock()
  abort.abort(new Error('enough'))
  for (const call of leaving) await assert.rejects(call, /enough/)
  await assert.rejects(late, LockTimeoutError)
  await assert.rejects(mutex.lock({ signal: abort.signal }), /enough/)
  await held.release()
  const next = await staying
  assert.deepEqual([next.fencingToken, next.grantCount], [held.fencingToken, 3n])
  await next.release()
  // A signal that has nothing to abort is let go.
  const unused = new AbortController()
  await (await mutex.lock({ signal: unused.signal })).release()
  assert.equal(getEventListeners(unused.signal, 'abort').length, 0)
  assert.equal((await mutex.contenders()).length, 1)
})

test('R07 a kept lock is taken again without another turn of the event loop', async () => {
  const mutex = session.mutex(newPath(), { keepMs: 60_000 })
  await mutex.withLock(() => undefined)
  let turned = false
  setImmediate(() => {
    turned = true
  })
  await mutex.withLock((held) => assert.equal(held.grantCount, 2n))
  assert.equal(turned, false)
})

const namesTheOption = (error) => error instanceof InvalidArgumentError && error.message.includes(': keepMs: ')

test('R20 a bad keepMs is refused, and a read-write lock is not kept', () => {
  for (const keepMs of [0, -1, NaN, 90_000_000]) {
    assert.throws(() => session.mutex('/locks/a', { keepMs }), namesTheOption)
  }
  assert.throws(() => session.rwLock('/locks/a', { keepMs: 5000 }), namesTheOption)
})
