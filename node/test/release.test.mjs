import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ClosedError, connect, LockLostError, NotHeldError } from 'zoolock'
import { eventually, newPath, startEnsemble } from './support/ensemble.mjs'

const ensemble = await startEnsemble()
const session = await ensemble.connect()

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

test('R10 a second release rejects NotHeldError', async () => {
  const held = await session.mutex(newPath()).lock()
  const first = held.release()
  assert.equal(held.held, false)
  await first
  await assert.rejects(held.release(), NotHeldError)
  assert.throws(() => held.ensureHeld(), { code: 'ERR_ZOOLOCK_NOT_HELD', operation: 'ensureHeld' })
  assert.equal(held.signal.aborted, false)
})

test('R10 a release frees exactly its own contender', async () => {
  const path = newPath()
  const mutex = session.mutex(path)
  const first = await mutex.lock()
  await first.release()
  const second = await mutex.lock()
  await assert.rejects(first.release(), NotHeldError)
  assert.equal(second.held, true)
  assert.deepEqual(await ensemble.children(path), [second.nodePath.slice(path.length + 1)])
  await second.release()
})

test('R10 a guard that is garbage-collected is released', async () => {
  const path = newPath()
  const mutex = session.mutex(path)
  await (async () => {
    const held = await mutex.lock()
    assert.equal(held.signal.aborted, false)
  })()
  await eventually('it is free', async () => {
    collectGarbage()
    return (await ensemble.children(path)).length === 0
  })
})

test('a guard keeps its session open', async () => {
  const held = await (async () => {
    // Not through the ensemble's helper, which keeps its sessions.
    const own = await connect(ensemble.hosts, { exclusive: true })
    return await own.mutex(newPath()).lock()
  })()
  for (let round = 0; round < 20; round++) {
    collectGarbage()
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  assert.equal(held.held, true)
  await held.release()
})

test('asyncDispose of a guard releases it, and does nothing more after a release', async () => {
  const mutex = session.mutex(newPath())
  const held = await mutex.lock()
  await held[Symbol.asyncDispose]()
  assert.equal(held.state, 'released')
  await held[Symbol.asyncDispose]()
  assert.deepEqual(await mutex.contenders(), [])
})

test('asyncDispose of a session closes it', async () => {
  const own = await ensemble.connect({ exclusive: true })
  await own[Symbol.asyncDispose]()
  assert.equal(own.state, 'closed')
})

test('R17 close makes guards lost, and frees them', async () => {
  const own = await ensemble.connect({ exclusive: true })
  const path = newPath()
  const held = await own.mutex(path).lock()
  const { signal } = held
  const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
  const closing = own.close()
  assert.equal(own.state, 'closed')
  await closing
  assert.equal(held.state, 'lost')
  await aborted
  assert.ok(signal.reason instanceof LockLostError)
  await assert.rejects(held.release(), LockLostError)
  assert.deepEqual(await ensemble.children(path), [])
})

test('R17 close rejects waiting calls with ClosedError, and leaves no contender', async () => {
  const own = await ensemble.connect({ exclusive: true })
  const path = newPath()
  const held = await session.mutex(path).lock()
  const waiting = Promise.allSettled([
    own.mutex(path).lock(),
    own.mutex(path).lock({ timeoutMs: 60000 }),
    own.mutex(path).withLock(assert.fail)
  ])
  await eventually('all queue', async () => (await ensemble.children(path)).length === 4)
  await own.close()
  for (const { reason } of await waiting) {
    assert.ok(reason instanceof ClosedError)
    assert.equal(reason.path, path)
  }
  await eventually('the holder is alone', async () => (await ensemble.children(path)).length === 1)
  await held.release()
})

test('R17 a closed session says so to every call, and closes again', async () => {
  const own = await ensemble.connect({ exclusive: true })
  const mutex = own.mutex(newPath())
  await Promise.all([own.close(), own.close(100)])
  await own.close()
  await assert.rejects(mutex.lock(), ClosedError)
  await assert.rejects(mutex.tryLock(), ClosedError)
  await assert.rejects(mutex.withLock(assert.fail), ClosedError)
  await assert.rejects(mutex.contenders(), ClosedError)
  assert.throws(() => own.mutex('/locks/a'), ClosedError)
  assert.throws(() => own.reentrantMutex('/locks/a'), { operation: 'reentrantMutex' })
  assert.throws(() => own.rwLock('/locks/a'), { operation: 'rwLock' })
})

test('R17 closing one handle leaves another of the same session alone', async () => {
  const one = await ensemble.connect()
  const other = await ensemble.connect()
  assert.equal(one.sessionId, other.sessionId)
  const path = newPath()
  const lost = await one.mutex(path).lock()
  const waiting = other.mutex(path).lock()
  await one.close()
  assert.equal(lost.state, 'lost')
  const held = await waiting
  assert.equal(held.held, true)
  await held.release()
})
