import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { connect, LockLostError, UnavailableError } from 'zoolock'
import { eventually, newPath, startEnsemble } from './support/ensemble.mjs'

const ensemble = await startEnsemble()

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

/** Ends a session for good, with the network left well, and waits until its guard has been told. */
async function lose(session, held) {
  const told = held && once(held.signal, 'abort')
  await ensemble.command('expire', `0x${BigInt.asUintN(64, session.sessionId).toString(16)}`)
  await told
}

test('R04 a frozen link loses the lock: the signal aborts with LockLostError', async () => {
  const session = await ensemble.connect({ exclusive: true })
  const path = newPath()
  const held = await session.mutex(path).lock()
  const { signal } = held
  assert.equal(signal, held.signal)
  assert.equal(signal.aborted, false)
  let told = 0
  signal.addEventListener('abort', () => (told += 1))

  await ensemble.command('freeze', 'client', 'all')
  await once(signal, 'abort')
  assert.equal(held.held, false)
  assert.equal(held.state, 'lost')
  assert.ok(signal.reason instanceof LockLostError)
  assert.equal(signal.reason.code, 'ERR_ZOOLOCK_LOCK_LOST')
  assert.equal(signal.reason.path, path)
  assert.equal(signal.reason.message, `hold ${path}: the lock was lost`)
  assert.equal(signal.reason.cause.code, 'ERR_ZOOLOCK_UNAVAILABLE', 'the lease ran out')
  assert.throws(() => held.ensureHeld(), LockLostError)

  await ensemble.command('heal', 'client', 'all')
  await eventually('connected again', () => session.state === 'connected')
  await assert.rejects(held.release(), LockLostError)
  assert.equal(told, 1)
  assert.equal(held.state, 'lost')
})

test('R04 who waits for nothing but a signal, or a state, is told', async () => {
  const sessions = []
  const told = []
  const wait = async (what, event) => {
    // Not through the ensemble's helper, which keeps its sessions.
    const session = await connect(ensemble.hosts, { exclusive: true })
    sessions.push(session.sessionId)
    const held = await session.mutex(newPath()).lock()
    await event(session, held)
    told.push(what)
  }
  const waits = [
    ['once', (session, held) => once(held.signal, 'abort')],
    ['onabort', (session, held) => new Promise((resolve) => (held.signal.onabort = resolve))],
    ['timer', (session, held) => sleep(1e8, undefined, { signal: held.signal }).catch(() => {})],
    ['state', (session) => once(session, 'state')],
  ]
  for (const [what, event] of waits) wait(what, event)
  await eventually('all wait', () => sessions.length === waits.length)
  for (let round = 0; round < 20; round++) {
    collectGarbage()
    await sleep(10)
  }
  for (const id of sessions) {
    await ensemble.command('expire', `0x${BigInt.asUintN(64, id).toString(16)}`)
  }
  await eventually('all are told', () => told.length === waits.length)
})

test('R04 a signal asked for after the loss has aborted', async () => {
  const session = await ensemble.connect({ exclusive: true })
  const held = await session.mutex(newPath()).lock()
  await lose(session)
  await eventually('lost', () => !held.held)
  assert.equal(held.signal.aborted, true)
  assert.ok(held.signal.reason instanceof LockLostError)
})

test('withLock rejects LockLostError if the lock was lost and its function did not throw', async () => {
  const session = await ensemble.connect({ exclusive: true })
  let result
  await assert.rejects(
    session.mutex(newPath()).withLock(async (held) => {
      await lose(session, held)
      result = 'done without noticing'
    }),
    LockLostError
  )
  assert.equal(result, 'done without noticing')
})

test('the business error comes out of withLock though the lock was lost', async () => {
  const session = await ensemble.connect({ exclusive: true })
  const failure = new Error('business')
  await assert.rejects(
    session.mutex(newPath()).withLock(async (held) => {
      await lose(session, held)
      throw failure
    }),
    (error) => error === failure
  )
})

test('R11 re-entering a lost lock rejects LockLostError', async () => {
  const session = await ensemble.connect({ exclusive: true })
  const mutex = session.reentrantMutex(newPath())
  await assert.rejects(
    mutex.withLock(async (held) => {
      await lose(session, held)
      await mutex.withLock(assert.fail)
    }),
    LockLostError
  )
  await mutex.withLock((held) => assert.equal(held.held, true))
})

test('R16 the event state tells every change', async () => {
  const session = await ensemble.connect({ exclusive: true })
  assert.equal(session.state, 'connected')
  const states = []
  const listener = (state) => states.push(state)
  session.on('state', listener)
  const unwanted = () => assert.fail('was taken off')
  session.on('state', unwanted)
  session.off('state', unwanted)

  await lose(session)
  await eventually('connected anew', () => states.includes('connected'))
  assert.deepEqual(states.slice(0, 2), ['suspended', 'expired'])
  assert.equal(session.state, 'connected')

  const closed = once(session, 'state')
  await session.close()
  assert.deepEqual(await closed, ['closed'])
})

test('R09 a waiter is granted though its session expires meanwhile', async () => {
  const holder = await ensemble.connect()
  const waiter = await ensemble.connect({ exclusive: true })
  const path = newPath()
  const held = await holder.mutex(path).lock()
  const waiting = waiter.mutex(path).lock()
  await eventually('it queues', async () => (await ensemble.children(path)).length === 2)
  await lose(waiter)
  await eventually('it queues anew', async () => {
    const queue = await holder.mutex(path).contenders()
    return queue.length === 2 && queue[1].sequence === 2
  })
  await held.release()
  await (await waiting).release()
})

test('R06 calls with a time-out end in time though no server answers', async () => {
  const session = await ensemble.connect({ exclusive: true })
  const path = newPath()
  await session.mutex(path).withLock(() => {})
  await ensemble.command('freeze', 'client', 'all')
  try {
    for (const timeoutMs of [100, 700]) {
      // A timer of the same event loop is the clock, so that a loaded machine delays both.
      const late = new Promise((resolve) => setTimeout(resolve, timeoutMs + 50, 'too late'))
      const call = session.mutex(path).lock({ timeoutMs }).catch((error) => error)
      const first = await Promise.race([call, late])
      assert.notEqual(first, 'too late')
      assert.equal(first.code, 'ERR_ZOOLOCK_TIMEOUT')
    }
    const closing = new Promise((resolve) => setTimeout(resolve, 250, 'too late'))
    assert.equal(await Promise.race([session.close(200), closing]), undefined)
  } finally {
    await ensemble.command('heal', 'client', 'all')
  }
  await eventually('no contender is left', async () => (await ensemble.children(path)).length === 0)
})

test('R06 a time-out in an outage is told from one because of another holder', async () => {
  const session = await ensemble.connect({ exclusive: true })
  const mutex = session.mutex(newPath())
  await mutex.withLock(() =>
    assert.rejects(mutex.lock({ timeoutMs: 1000 }), (error) => {
      assert.equal(error.code, 'ERR_ZOOLOCK_TIMEOUT')
      return !Object.hasOwn(error, 'cause')
    })
  )
  await ensemble.command('freeze', 'client', 'all')
  try {
    await eventually('suspended', () => session.state === 'suspended')
    await assert.rejects(mutex.lock({ timeoutMs: 300 }), (error) => {
      assert.equal(error.code, 'ERR_ZOOLOCK_TIMEOUT')
      assert.ok(error.cause instanceof UnavailableError)
      return true
    })
  } finally {
    await ensemble.command('heal', 'client', 'all')
  }
})
