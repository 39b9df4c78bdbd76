import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { Guard } from 'zoolock'
import { eventually, newPath, startEnsemble } from './support/ensemble.mjs'

const ensemble = await startEnsemble()
const session = await ensemble.connect()

const rejectsWith = (promise, reason) =>
  assert.rejects(promise, (error) => {
    assert.equal(error, reason)
    return true
  })

test('R05 a signal that has aborted rejects at once, and nothing is sent', async () => {
  const path = newPath()
  const reason = new Error('too late')
  const signal = AbortSignal.abort(reason)
  await rejectsWith(session.mutex(path).lock({ signal }), reason)
  await rejectsWith(session.mutex(path).tryLock({ signal }), reason)
  await rejectsWith(session.reentrantMutex(path).withLock({ signal }, assert.fail), reason)
  const { exists } = await ensemble.command('exists', path)
  assert.equal(exists, false)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('R05 an abort while waiting rejects with its reason and leaves no contender', async () => {
  const path = newPath()
  const mutex = session.mutex(path)
  const held = await mutex.lock()
  const abort = new AbortController()
  const waiting = mutex.lock({ signal: abort.signal })
  await eventually('it queues', async () => (await ensemble.children(path)).length === 2)

  const reason = { not: 'even an error' }
  abort.abort(reason)
  await rejectsWith(waiting, reason)
  await eventually('it has left', async () => (await ensemble.children(path)).length === 1)
  assert.equal(getEventListeners(abort.signal, 'abort').length, 0)
  await held.release()
})

test('R05 AbortSignal.timeout rejects with its TimeoutError', async () => {
  const mutex = session.mutex(newPath())
  const held = await mutex.lock()
  await assert.rejects(mutex.lock({ signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' })
  await held.release()
})

test('an abort after the grant changes nothing, and no listener is left', async () => {
  const abort = new AbortController()
  const { signal } = abort
  const mutex = session.mutex(newPath())
  const held = await mutex.lock({ signal })
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  await assert.rejects(mutex.lock({ signal, timeoutMs: 20 }), { code: 'ERR_ZOOLOCK_TIMEOUT' })
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  abort.abort()
  assert.equal(held.held, true)
  await held.release()
})

test('R05 a grant that comes to an aborted call is given back', async () => {
  const path = newPath()
  const mutex = session.mutex(path)
  await mutex.withLock(() => {})
  const abort = new AbortController()
  const call = mutex.lock({ signal: abort.signal })
  // The event loop stands still, so the grant waits to be delivered when the signal aborts.
  while (ensemble.commandAtOnce('children', path).children.length === 0);
  abort.abort()
  await rejectsWith(call, abort.signal.reason)
  await eventually('it is free', async () => (await ensemble.children(path)).length === 0)
})

test('R05 an abort that crosses the grant leaves either a guard or nothing', async () => {
  const path = newPath()
  const mutex = session.mutex(path)
  const outcomes = new Set()
  for (let round = 0; round < 60; round++) {
    const abort = new AbortController()
    const call = mutex.lock({ signal: abort.signal }).catch((error) => error)
    for (let turn = 0; turn < round % 6; turn++) await new Promise(setImmediate)
    abort.abort()
    const outcome = await call
    outcomes.add(outcome.constructor.name)
    if (outcome instanceof Guard) await outcome.release()
    else assert.equal(outcome, abort.signal.reason)
  }
  assert.ok(outcomes.has('DOMException'))
  // Granted only when everything that was sent before it is gone.
  await mutex.withLock(async (held) => {
    assert.deepEqual(await ensemble.children(path), [held.nodePath.slice(path.length + 1)])
  })
})
