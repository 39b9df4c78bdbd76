import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LockTimeoutError } from 'zoolock'
import { eventually } from './support/ensemble.mjs'
import { start } from './support/test-server.mjs'

const nothing = { acquisitions: 0, contended: 0, timeouts: 0, losses: 0, waitedMs: 0, heldMs: 0 }

test('a lock counts its grants, waits, time-outs and losses', async (t) => {
  const { server, open } = await start(t)
  const session = await open()
  const mutex = session.mutex('/locks/a')
  assert.deepEqual(mutex.statistics(), nothing)

  const held = await mutex.lock()
  await assert.rejects(mutex.lock({ timeoutMs: 20 }), LockTimeoutError)
  const waiting = mutex.lock()
  await eventually('it queues', async () => (await mutex.contenders()).length === 2)
  await held.release()
  const second = await waiting
  const counted = mutex.statistics()
  const { acquisitions, contended, timeouts, losses, waitedMs, heldMs } = counted
  assert.deepEqual([acquisitions, contended, timeouts, losses], [2, 1, 1, 0])
  assert.ok(waitedMs > 0 && heldMs > 20, JSON.stringify(counted))

  server.expireAll()
  await eventually('lost', () => second.state === 'lost')
  await eventually('counted', () => mutex.statistics().losses === 1)
  // Each object counts for itself.
  assert.deepEqual(session.mutex('/locks/a').statistics(), nothing)
})

test('re-entrant and read-write locks count too, the latter both sides together', async (t) => {
  const { open } = await start(t)
  const session = await open()
  const reentrant = session.reentrantMutex('/locks/a')
  await reentrant.withLock(() => reentrant.withLock(() => {}))
  assert.equal(reentrant.statistics().acquisitions, 2)

  const lock = session.rwLock('/locks/b')
  await lock.read.withLock(() => {})
  await lock.write.withLock(() => {})
  assert.equal(lock.statistics().acquisitions, 2)
  assert.deepEqual(lock.read.statistics(), lock.statistics())
  assert.deepEqual(lock.write.statistics(), lock.statistics())
})
