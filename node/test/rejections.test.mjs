// A rejection is the caller's, once, and nobody else's.

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { Guard } from 'zoolock'
import { eventually } from './support/ensemble.mjs'
import { run } from './support/program.mjs'
import { start } from './support/test-server.mjs'

const imports = `
  import { setTimeout as sleep } from 'node:timers/promises'
  import { connect, Owner, startTestServer } from ${JSON.stringify(new URL('../index.mjs', import.meta.url).href)}
  const server = await startTestServer()
  const session = await connect(server.hosts, { exclusive: true })
  const mutex = session.mutex('/locks/a')
  const reentrant = session.reentrantMutex('/locks/b')
  const { read, write } = session.rwLock('/locks/c')`

/** Every way in which a call fails, each as the promise of a caller. */
const failing = `
  const failing = {
    bad: () => mutex.lock(7),
    badConnect: () => connect(7),
    owner: () => mutex.lock({ owner: new Owner() }),
    forged: () => read.lock({ owner: Object.create(Owner.prototype) }),
    aborted: () => mutex.lock({ signal: AbortSignal.abort() }),
    abortedTry: () => mutex.tryLock({ signal: AbortSignal.abort() }),
    abortedWithLock: () => mutex.withLock({ signal: AbortSignal.abort() }, () => {}),
    abortedSoon: () => {
      const abort = new AbortController()
      const call = mutex.lock({ signal: abort.signal })
      abort.abort()
      return call
    },
    abortedOnTheNextTick: () => {
      const abort = new AbortController()
      process.nextTick(() => abort.abort())
      return mutex.lock({ signal: abort.signal })
    },
    abortedLater: () => mutex.lock({ signal: AbortSignal.timeout(5) }),
    late: () => mutex.lock({ timeoutMs: 5 }),
    lateWithLock: () => mutex.withLock({ timeoutMs: 5 }, () => {}),
    zero: () => mutex.lock({ timeoutMs: 0 }),
    deadlock: () => read.withLock(() => write.lock()),
    business: () => reentrant.withLock(() => { throw new Error('business') }),
    nested: () => reentrant.withLock(() => reentrant.withLock(() => Promise.reject(new Error('business')))),
    twice: async () => {
      const held = await reentrant.lock()
      await held.release()
      await held.release()
    },
    unreachable: () => connect('127.0.0.1:1', { connectTimeoutMs: 20 }),
    retried: () => connect('127.0.0.1:1', { backoff: { fixed: { delayMs: 1, retries: 1 } } }),
    refused: () => startTestServer({ port: Number(server.hosts.split(':')[1]) }),
    badClose: () => session.close(NaN)
  }`

test('a call that fails rejects its own promise, and no other: under --unhandled-rejections=strict', async () => {
  const { printed, code } = await run(
    `${failing}
     await mutex.withLock(async () => {
       for (const [name, call] of Object.entries(failing)) {
         const error = await call().then(() => undefined, (error) => error)
         if (!(error instanceof Error)) throw new Error(name + ' did not reject with an error')
       }
       // Handled later than it was made, and before it rejects.
       const late = mutex.lock({ timeoutMs: 50 })
       await sleep(10)
       await late.catch(() => {})
     })
     // Losses that nobody awaits, but those told to the caller.
     const lost = mutex.withLock((held) => new Promise((resolve) => {
       held.signal.addEventListener('abort', resolve)
       server.expireAll()
     })).catch(({ code }) => code)
     if (await lost !== 'ERR_ZOOLOCK_LOCK_LOST') throw new Error('not lost')
     const held = await mutex.lock()
     const waiting = [mutex.lock(), mutex.withLock(() => {}), mutex.lock({ signal: AbortSignal.timeout(60000) })]
     const settled = Promise.allSettled(waiting)
     await session.close()
     await settled
     await held.release().catch(() => {})
     await server.stop()
     console.log('done')`,
    { hosts: '', imports, options: ['--unhandled-rejections=strict'] }
  )
  assert.deepEqual(printed, ['done'])
  assert.equal(code, 0)
})

test('who never handles a rejection hears of that promise, once', async () => {
  const { printed, code } = await run(
    `${failing}
     const unhandled = []
     process.on('unhandledRejection', (error, promise) => unhandled.push(promise))
     const held = await mutex.lock()
     const calls = new Map()
     for (const [name, call] of Object.entries(failing)) calls.set(call(), name)
     while (unhandled.length < calls.size) await sleep(10)
     // Nothing more comes when all is closed.
     await held.release()
     await session.close()
     await server.stop()
     await sleep(0)
     const counted = unhandled.map((promise) => calls.get(promise) ?? 'not the caller\\'s').sort()
     console.log(String(counted.join() === [...calls.values()].sort().join()), unhandled.length)`,
    { hosts: '', imports }
  )
  assert.equal(printed.length, 1)
  assert.match(printed[0], /^true \d+$/)
  assert.equal(code, 0)
})

test('R05 a signal that lives long is used many times: no listener, no warning, no memory is left', async () => {
  const { printed, code } = await run(
    `import { getEventListeners } from 'node:events'
     process.on('warning', (warning) => console.log(warning.name))
     const { signal } = new AbortController()
     const heap = () => {
       for (let round = 0; round < 4; round++) gc()
       return process.memoryUsage().heapUsed
     }
     const many = async (times) => {
       for (let round = 0; round < times; round++) {
         const calls = Array.from({ length: 100 }, (_, at) =>
           at % 2 ? mutex.tryLock({ signal }) : mutex.lock({ signal, timeoutMs: 0 }).catch(() => null))
         for (const held of await Promise.all(calls)) await held?.release()
       }
     }
     await many(20)
     const before = heap()
     await many(100)
     const grown = heap() - before
     console.log(String(getEventListeners(signal, 'abort').length), String(grown < 500_000), String(grown))
     await session.close()
     await server.stop()`,
    { hosts: '', imports, options: ['--expose-gc'] }
  )
  assert.equal(code, 0)
  assert.match(printed.join('\n'), /^0 true -?\d+$/)
})

test('R05 an abort in the tick of the grant, behind it, leaves the guard to the caller', async (t) => {
  const { server, open } = await start(t)
  const session = await open()
  const mutexes = ['/locks/a', '/locks/b'].map((path) => session.mutex(path))
  for (const mutex of mutexes) await mutex.withLock(() => {})
  const abort = new AbortController()
  const first = mutexes[0].lock({ signal: abort.signal }).then((held) => {
    abort.abort()
    return held
  })
  const second = mutexes[1].lock({ signal: abort.signal })
  // The event loop stands still, so both grants are delivered in one tick.
  const nodes = () => server.sessions().flatMap(({ ephemerals }) => ephemerals).length
  while (nodes() < 2);
  const wait = new Int32Array(new SharedArrayBuffer(4))
  Atomics.wait(wait, 0, 0, 100)
  for (const call of [first, second]) {
    const held = await call
    assert.ok(held instanceof Guard)
    assert.equal(held.held, true)
    await held.release()
  }
  assert.equal(getEventListeners(abort.signal, 'abort').length, 0)
  await eventually('free', () => nodes() === 0)
})
