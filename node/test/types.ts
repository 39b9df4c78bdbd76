// Compiled, never run: what the types promise to a program in strict mode.

import {
  connect,
  Guard,
  LockLostError,
  LockTimeoutError,
  Owner,
  startTestServer,
  TestServer,
  ZoolockError,
  type Contender,
  type GuardState,
  type SessionState,
  type TestServerSession
} from 'zoolock'

export async function everything(): Promise<bigint> {
  await using session = await connect('127.0.0.1:2181', {
    sessionTimeoutMs: 15000,
    connectTimeoutMs: 10000,
    auth: [['digest', 'user:password'], { scheme: 'digest', credentials: new Uint8Array([1]) }],
    acl: [{ permissions: 31, scheme: 'world', id: 'anyone' }, [1, 'world', 'anyone']],
    identity: 'billing/7',
    exclusive: true,
    backoff: { exponential: { baseMs: 50, maxMs: 1000, retries: 3 } },
    leaseConfirmation: 'write'
  })
  session.on('state', (state: SessionState) => console.log(state))
  const id: bigint = session.sessionId

  const mutex = session.mutex('/locks/order/user-123', { naming: 'kazoo', data: 'x', acl: 'open' })
  const total: number = await mutex.withLock({ timeoutMs: 3000 }, async (held) => {
    await fetch('http://127.0.0.1/', { signal: held.signal })
    return 7
  })
  const text: string = await mutex.withLock((held) => held.nodePath)

  const maybe: Guard | null = await mutex.tryLock()
  await maybe?.release()
  await using held = await mutex.lock({ timeoutMs: 1, signal: AbortSignal.timeout(10) })
  const state: GuardState = held.state
  held.ensureHeld()

  const owner = new Owner()
  const twice = await session.reentrantMutex('/locks/a').lock({ owner })
  const rw = session.rwLock('/locks/b')
  await rw.read.withLock({ owner }, () => rw.write.tryLock({ owner }))
  const queue: Contender[] = await rw.contenders()

  // @ts-expect-error a plain mutex takes no owner
  await mutex.lock({ owner })
  // @ts-expect-error there is no such option
  await connect('127.0.0.1:2181', { sessionTimeout: 3 })
  // @ts-expect-error guards are granted, not made
  new Guard()
  // @ts-expect-error an owner is no plain object
  await rw.read.lock({ owner: {} })

  try {
    await session.close(2000)
  } catch (error) {
    if (error instanceof LockLostError) {
      const code: 'ERR_ZOOLOCK_LOCK_LOST' = error.code
      console.log(code, error.path?.length)
    } else if (error instanceof LockTimeoutError || error instanceof ZoolockError) {
      console.log(error.operation, error.code)
    }
  }
  console.log(id, total, text, state, queue, twice.held)
  return held.fencingToken
}

export async function testServer(): Promise<string> {
  await using server = await startTestServer({
    port: 0,
    address: '127.0.0.1',
    tickMs: 50,
    minSessionTimeoutMs: 100,
    maxSessionTimeoutMs: 1000,
    containerCheckMs: undefined
  })
  const known: TestServerSession[] = server.sessions()
  for (const { id, timeoutMs, connected, ephemerals } of known) {
    const text: [number, boolean, string] = [timeoutMs, connected, ephemerals.join()]
    const done: boolean =
      server.expireSession(id) ||
      server.cutSession(id) ||
      server.freezeSession(id) ||
      server.thawSession(id)
    console.log(text, done)
  }
  const count: number = server.expireAll() + server.cutAll()
  server.freezeAll()
  server.thawAll()
  server.delayAnswers(100)
  server.refuseConnections()
  server.acceptConnections()
  const same: TestServer = server.unref().ref()
  const stopped: Promise<void> = server.stop()
  await stopped
  console.log(same.hosts)

  // @ts-expect-error ids are bigints
  server.expireSession(count)
  // @ts-expect-error there is no such option
  await startTestServer({ tick: 50 })
  // @ts-expect-error servers are started, not made
  new TestServer()
  return server.hosts
}
