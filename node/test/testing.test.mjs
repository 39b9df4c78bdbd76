// The server for tests. No other server takes part here.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as openSocket } from 'node:net'
import { test } from 'node:test'
import {
  ClosedError,
  connect,
  InvalidArgumentError,
  LockLostError,
  LockTimeoutError,
  startTestServer,
  UnavailableError
} from 'zoolock'
import { eventually } from './support/ensemble.mjs'
import { start } from './support/test-server.mjs'

const unavailable = { backoff: { fixed: { delayMs: 10, retries: 1 } }, exclusive: true }

test('a server of the program\'s own', async (t) => {
  const { server, open } = await start(t)
  assert.match(server.hosts, /^127\.0\.0\.1:\d+$/)
  const session = await open()
  const mutex = session.mutex('/locks/order/user-123')
  const first = await mutex.withLock(async (held) => {
    assert.equal(held.held, true)
    assert.equal(await mutex.tryLock(), null)
    return held.fencingToken
  })
  await session.rwLock('/locks/catalogue').read.withLock(async () => {
    assert.equal((await session.rwLock('/locks/catalogue').contenders()).length, 1)
  })
  await mutex.withLock((held) => assert.ok(held.fencingToken > first))
})

test('its sessions are those of the clients', async (t) => {
  const { server, open } = await start(t)
  assert.deepEqual(server.sessions(), [])
  const one = await open({ sessionTimeoutMs: 5000 })
  const two = await open({ sessionTimeoutMs: 7000 })
  const held = await two.mutex('/locks/a').lock()
  const expected = [
    { id: one.sessionId, timeoutMs: 5000, connected: true, ephemerals: [] },
    { id: two.sessionId, timeoutMs: 7000, connected: true, ephemerals: [held.nodePath] }
  ]
  assert.deepEqual(server.sessions(), expected.sort((a, b) => (a.id < b.id ? -1 : 1)))
  await held.release()
  await one.close()
  assert.deepEqual(server.sessions(), [{ ...expected[1], ephemerals: [], id: two.sessionId, timeoutMs: 7000 }])
})

test('R04 an expired session has lost its locks, and its program is told why', async (t) => {
  const { server, open } = await start(t)
  const session = await open({ sessionTimeoutMs: 60000 })
  const states = []
  session.on('state', (state) => states.push(state))
  const before = session.sessionId
  let signal
  await assert.rejects(
    session.mutex('/locks/a').withLock(async (held) => {
      signal = held.signal
      assert.equal(server.expireSession(before), true)
      await once(signal, 'abort')
      assert.equal(held.state, 'lost')
      assert.throws(() => held.ensureHeld(), LockLostError)
    }),
    LockLostError
  )
  assert.ok(signal.reason instanceof LockLostError)
  assert.equal(signal.reason.path, '/locks/a')
  await eventually('a new session', () => states.at(-1) === 'connected')
  assert.ok(states.includes('expired'), String(states))
  assert.equal(server.expireSession(before), false)
  await session.mutex('/locks/a').withLock((held) => assert.equal(held.held, true))
  assert.notEqual(session.sessionId, before)
})

test('a waiter is granted what expired sessions held', async (t) => {
  const { server, open } = await start(t)
  const holders = [await open(), await open()]
  const guards = await Promise.all(
    holders.map((holder, index) => holder.mutex(`/locks/${index}`).lock())
  )
  const lost = guards.map(({ signal }) => once(signal, 'abort'))
  assert.equal(server.expireAll(), 2)
  await Promise.all(lost)
  const other = await open()
  await other.mutex('/locks/0').withLock((held) => {
    assert.ok(held.fencingToken > guards[0].fencingToken)
  })
})

for (const all of [false, true]) {
  test(`R16 a connection that is cut is made again (${all ? 'all' : 'one'})`, async (t) => {
    const { server, open } = await start(t)
    const session = await open({ sessionTimeoutMs: 60000 })
    const states = []
    session.on('state', (state) => states.push(state))
    const id = session.sessionId
    await session.mutex('/locks/a').withLock(async (held) => {
      assert.equal(all ? server.cutAll() : server.cutSession(id), all ? 1 : true)
      await eventually('it is back', () => states.length === 2)
      assert.deepEqual(states, ['suspended', 'connected'])
      assert.equal(held.held, true)
    })
    assert.equal(session.sessionId, id)
    assert.equal(server.cutSession(id + 1n), false)
  })
}

test('R03 a frozen session loses its locks, and others do not', async (t) => {
  const { server, open } = await start(t)
  const frozen = await open({ sessionTimeoutMs: 1000 })
  const other = await open({ sessionTimeoutMs: 60000 })
  const lost = await frozen.mutex('/locks/a').lock()
  const kept = await other.mutex('/locks/b').lock()
  const told = once(lost.signal, 'abort')
  assert.equal(server.freezeSession(frozen.sessionId), true)
  await told
  await other.mutex('/locks/a').withLock(() => {})
  assert.equal(kept.held, true)
  await kept.release()
})

test('what was frozen thaws', async (t) => {
  const { server, open } = await start(t)
  const session = await open({ sessionTimeoutMs: 60000 })
  const mutex = session.mutex('/locks/a')
  assert.equal(server.thawSession(session.sessionId), false)
  assert.equal(server.freezeSession(1n), false)
  assert.equal(server.freezeSession(session.sessionId), true)
  await assert.rejects(mutex.lock({ timeoutMs: 100 }), LockTimeoutError)
  assert.equal(server.thawSession(session.sessionId), true)
  await mutex.withLock(() => {})

  server.freezeAll()
  await assert.rejects(mutex.lock({ timeoutMs: 100 }), LockTimeoutError)
  await assert.rejects(connect(server.hosts, { connectTimeoutMs: 100 }), UnavailableError)
  server.thawAll()
  await mutex.withLock(() => {})
})

test('answers come late', async (t) => {
  const { server, open } = await start(t)
  const session = await open({ sessionTimeoutMs: 60000 })
  server.delayAnswers(200)
  const began = performance.now()
  const held = await session.mutex('/locks/a').lock()
  assert.ok(performance.now() - began >= 200)
  server.delayAnswers(0)
  await held.release()
})

test('connections are refused, and accepted again', async (t) => {
  const { server, open } = await start(t)
  const session = await open({ sessionTimeoutMs: 60000 })
  server.refuseConnections()
  await assert.rejects(connect(server.hosts, unavailable), UnavailableError)
  await session.mutex('/locks/a').withLock(() => {})
  server.acceptConnections()
  await open(unavailable)
})

test('a stopped server is gone', async () => {
  const server = await startTestServer()
  const { hosts } = server
  await Promise.all([server.stop(), server.stop(), server[Symbol.asyncDispose]()])
  const [host, port] = hosts.split(':')
  const [error] = await once(openSocket(Number(port), host), 'error')
  assert.equal(error.code, 'ECONNREFUSED')
  const calls = {
    sessions: [],
    expireSession: [1n],
    expireAll: [],
    cutSession: [1n],
    cutAll: [],
    freezeSession: [1n],
    thawSession: [1n],
    freezeAll: [],
    thawAll: [],
    delayAnswers: [1],
    refuseConnections: [],
    acceptConnections: []
  }
  for (const [operation, args] of Object.entries(calls)) {
    assert.throws(
      () => server[operation](...args),
      (error) => {
        assert.ok(error instanceof ClosedError, `${operation}: ${error}`)
        assert.equal(error.operation, operation)
        return true
      }
    )
  }
  assert.equal(server.hosts, hosts)
})

test('all options are taken', async (t) => {
  const { open } = await start(t, {
    port: 0,
    address: '127.0.0.1',
    tickMs: 50,
    minSessionTimeoutMs: 200,
    maxSessionTimeoutMs: 400,
    containerCheckMs: 10
  })
  const longest = await open({ sessionTimeoutMs: 60000 })
  const shortest = await open({ sessionTimeoutMs: 100 })
  assert.deepEqual([shortest.negotiatedTimeoutMs, longest.negotiatedTimeoutMs], [200, 400])
})

test('a port or an address that cannot be had is UnavailableError', async (t) => {
  const { server } = await start(t)
  const port = Number(server.hosts.split(':')[1])
  // The second one is reserved for documentation.
  for (const options of [{ port }, { address: '192.0.2.1' }]) {
    await assert.rejects(startTestServer(options), (error) => {
      assert.ok(error instanceof UnavailableError)
      assert.equal(error.operation, 'startTestServer')
      return true
    })
  }
})

const naming = (argument, operation) => (error) => {
  assert.ok(error instanceof InvalidArgumentError, String(error))
  assert.ok(error.message.includes(argument), error.message)
  assert.equal(error.operation, operation)
  return true
}

test('R20 bad options of a server', async () => {
  const bad = [
    ['options', 7],
    ['tick', { tick: 50 }],
    ['port', { port: -1 }],
    ['port', { port: 65536 }],
    ['port', { port: 1.5 }],
    ['port', { port: '2181' }],
    ['address', { address: 'localhost' }],
    ['address', { address: 7 }],
    ['tickMs', { tickMs: 0 }],
    ['tickMs', { tickMs: -1 }],
    ['tickMs', { tickMs: NaN }],
    ['tickMs', { tickMs: 61_000 }],
    ['tickMs', { tickMs: '50' }],
    ['minSessionTimeoutMs', { minSessionTimeoutMs: 500 }],
    ['maxSessionTimeoutMs', { maxSessionTimeoutMs: 500 }],
    ['containerCheckMs', { containerCheckMs: 0 }]
  ]
  for (const [argument, options] of bad) {
    await assert.rejects(startTestServer(options), naming(argument, 'startTestServer'))
  }
})

test('R20 bad arguments of a server', async (t) => {
  const { server } = await start(t)
  for (const operation of ['expireSession', 'cutSession', 'freezeSession', 'thawSession']) {
    for (const id of [undefined, 7, '7', 2n ** 63n, -(2n ** 63n) - 1n]) {
      assert.throws(() => server[operation](id), naming('id', operation))
    }
  }
  for (const delay of [undefined, '7', 7n, -1, NaN, 3_600_001, Infinity]) {
    assert.throws(() => server.delayAnswers(delay), naming('delayMs', 'delayAnswers'))
  }
})
