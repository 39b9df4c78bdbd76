import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { LockLostError } from 'zoolock'
import { eventually } from './support/ensemble.mjs'
import { run } from './support/program.mjs'
import { start } from './support/test-server.mjs'

const imports = `
  import { once } from 'node:events'
  import { connect, startTestServer } from ${JSON.stringify(new URL('../index.mjs', import.meta.url).href)}`

test('R16 on, once and off: each listener is told of what it asked for', async (t) => {
  const { server, open } = await start(t)
  const session = await open()
  const told = { on: [], once: [], off: [] }
  session.on('state', (state) => told.on.push(state))
  session.once('state', (state) => told.once.push(state))
  const off = (state) => told.off.push(state)
  session.on('state', off)
  session.off('state', off)

  server.cutAll()
  await eventually('connected again', () => told.on.at(-1) === 'connected')
  await session.close()
  await eventually('closed', () => told.on.at(-1) === 'closed')
  assert.deepEqual(told, {
    on: ['suspended', 'connected', 'closed'],
    once: ['suspended'],
    off: []
  })
  assert.equal(session.listenerCount('state'), 1)
})

test('events.once and a signal of the caller work with a session', async (t) => {
  const { server, open } = await start(t)
  const session = await open()
  const abort = new AbortController()
  const given = once(session, 'state', { signal: abort.signal })
  abort.abort()
  await assert.rejects(given, { name: 'AbortError' })
  const told = once(session, 'state')
  server.cutAll()
  assert.deepEqual(await told, ['suspended'])
})

test('what a listener throws is an uncaught exception, and disturbs no other outcome', async () => {
  const { printed, code } = await run(
    `const server = await startTestServer()
     const session = await connect(server.hosts)
     const caught = []
     process.on('uncaughtException', (error) => caught.push(error.message))
     session.on('state', () => { throw new Error('listener') })
     const held = await session.mutex('/locks/a').lock()
     held.signal.addEventListener('abort', () => { throw new Error('abort listener') })
     const told = once(held.signal, 'abort')
     const waiting = session.mutex('/locks/b').lock()
     server.expireAll()
     await told
     // It may have been granted, and lost, before.
     await (await waiting).release().catch(() => {})
     // A listener that throws keeps the later ones of its event from being told, as in all emitters.
     while (session.state !== 'connected') await new Promise(setImmediate)
     await session.close()
     await server.stop()
     console.log([...new Set(caught)].sort().join())`,
    { hosts: '', imports }
  )
  assert.deepEqual(printed, ['abort listener,listener'])
  assert.equal(code, 0)
})

test('R04 every listener of a signal is told once, the late ones at once', async (t) => {
  const { server, open } = await start(t)
  const session = await open()
  const held = await session.mutex('/locks/a').lock()
  let told = 0
  for (let listener = 0; listener < 5; listener++) {
    held.signal.addEventListener('abort', () => (told += 1))
  }
  const removed = () => assert.fail('was removed')
  held.signal.addEventListener('abort', removed)
  held.signal.removeEventListener('abort', removed)
  const [event] = await Promise.all([
    once(held.signal, 'abort'),
    Promise.resolve(server.expireSession(session.sessionId))
  ])
  assert.equal(event[0].type, 'abort')
  assert.equal(told, 5)
  assert.throws(() => held.signal.throwIfAborted(), LockLostError)
  assert.equal(AbortSignal.any([held.signal]).reason, held.signal.reason)
})
