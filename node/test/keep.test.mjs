import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidArgumentError } from 'zoolock'
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

test('R20 a bad keepMs is refused, and a read-write lock is not kept', () => {
  for (const keepMs of [0, -1, NaN, 90_000_000]) {
    assert.throws(() => session.mutex('/locks/a', { keepMs }), InvalidArgumentError)
  }
  assert.throws(() => session.rwLock('/locks/a', { keepMs: 5000 }), InvalidArgumentError)
})
