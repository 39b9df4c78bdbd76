// Worker threads: many, and their ends.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { Owner } from 'zoolock'
import { eventually } from './support/ensemble.mjs'
import { run } from './support/program.mjs'
import { start } from './support/test-server.mjs'

const index = fileURLToPath(new URL('../index.cjs', import.meta.url))
const imports = `
  import { Worker } from 'node:worker_threads'
  import { connect, startTestServer } from ${JSON.stringify(new URL('../index.mjs', import.meta.url).href)}`

/**
 * A worker thread whose body is `source`, with `hosts` and `path` in scope. Its `ended` resolves at
 * its exit, which may come before a test waits for it.
 */
function worker(hosts, path, source) {
  const thread = new Worker(
    `const { parentPort, workerData: { hosts, path } } = require('node:worker_threads')
     const { connect, Owner } = require(${JSON.stringify(index)})
     ;(async () => { ${source} })()`,
    { eval: true, workerData: { hosts, path } }
  )
  thread.ended = new Promise((resolve) => thread.once('exit', resolve))
  return thread
}

// Of each kind of life. Fewer on the other versions of Node, which run beside each other.
const ROUNDS = process.env.ZOOLOCK_TEST_SUITE === undefined ? 20 : 5

test('R05 hundreds of worker threads that end in every way leave nothing, and R17 free their locks', async () => {
  const program = fileURLToPath(new URL('programs/worker-storm.mjs', import.meta.url))
  const child = spawn(process.execPath, ['--expose-gc', program, String(ROUNDS)], {
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const [out, err, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit')
  ])
  assert.deepEqual({ code, signal, err }, { code: 0, signal: null, err: '' })
  const { workers, wentOn, before, after } = JSON.parse(out)
  assert.equal(workers, 11 * ROUNDS)
  assert.equal(wentOn, true)
  assert.ok(after.files <= before.files)
  assert.ok(after.threads <= before.threads)
  // The heap of a thread that stayed would be some megabytes.
  assert.ok(after.megabytes - before.megabytes < 10 + workers / 4, JSON.stringify({ before, after }))
})

test('R17 process.exit while worker threads hold, wait and connect frees all', async (t) => {
  const { server } = await start(t)
  const { code } = await run(
    `const source = \`
       const { parentPort, workerData } = require('node:worker_threads')
       const { connect } = require(\${JSON.stringify(args[0])})
       connect('127.0.0.1:1')
       connect(workerData.hosts).then(async (session) => {
         globalThis.held = await session.mutex(workerData.path + '-' + workerData.number).lock()
         globalThis.calls = [session.mutex(workerData.path).lock(), session.mutex(workerData.path).lock()]
         parentPort.postMessage('ready')
       })\`
     const ready = []
     for (let number = 0; number < 4; number++) {
       const thread = new Worker(source, { eval: true, execArgv: [], workerData: { hosts, path, number } })
       ready.push(new Promise((resolve) => thread.once('message', resolve)))
     }
     await Promise.all(ready)
     process.exit(7)`,
    { hosts: server.hosts, path: '/locks/a', args: [index], imports }
  )
  assert.equal(code, 7)
  assert.deepEqual(server.sessions(), [])
})

test('the locks of a worker thread exclude those of the main thread, in one session', async (t) => {
  const { server, open } = await start(t)
  const session = await open({ exclusive: false })
  const mutex = session.reentrantMutex('/locks/a')
  const thread = worker(
    server.hosts,
    '/locks/a',
    `const session = await connect(hosts)
     globalThis.held = await session.reentrantMutex(path).lock()
     parentPort.postMessage(session.sessionId)
     parentPort.once('message', () => held.release().then(() => session.close()))`
  )
  assert.equal((await once(thread, 'message'))[0], session.sessionId)
  assert.equal(await mutex.tryLock(), null)
  const waiting = mutex.lock()
  thread.postMessage('release')
  await (await waiting).release()
  await thread.ended
  assert.equal(session.state, 'connected')
})

test('an error of a worker thread has its code in the main thread', async (t) => {
  const { server, open } = await start(t)
  const held = await (await open()).mutex('/locks/a').lock()
  const thread = worker(
    server.hosts,
    '/locks/a',
    `const session = await connect(hosts)
     await session.mutex(path).lock({ timeoutMs: 1 })`
  )
  const [error] = await once(thread, 'error')
  const { code, operation, path } = error
  assert.deepEqual(
    { code, operation, path },
    { code: 'ERR_ZOOLOCK_TIMEOUT', operation: 'lock', path: '/locks/a' }
  )
  assert.ok(error instanceof Error)

  // As the README says of what is sent by hand.
  const other = worker(
    server.hosts,
    '/locks/a',
    `const session = await connect(hosts)
     const error = await session.mutex(path).lock({ timeoutMs: 1 }).catch((error) => error)
     parentPort.postMessage({ error, code: error.code })
     await session.close()`
  )
  const [sent] = await once(other, 'message')
  assert.equal(sent.code, 'ERR_ZOOLOCK_TIMEOUT')
  assert.equal(sent.error.code, undefined)
  assert.match(sent.error.message, /^lock \/locks\/a: /)
  await other.ended
  await held.release()
})

test('an owner cannot be sent to another thread', async (t) => {
  const { server } = await start(t)
  const thread = worker(
    server.hosts,
    '/locks/a',
    `const session = await connect(hosts)
     parentPort.once('message', (owner) => {
       session.reentrantMutex(path).lock({ owner }).catch(({ code }) => parentPort.postMessage(code))
         .finally(() => session.close())
     })`
  )
  const { Owner } = await import('zoolock')
  thread.postMessage(new Owner())
  assert.equal((await once(thread, 'message'))[0], 'ERR_ZOOLOCK_INVALID_ARGUMENT')
  await thread.ended
})

test('a guard of a worker thread that has ended is held no longer', async (t) => {
  const { server, open } = await start(t)
  const mutex = (await open()).mutex('/locks/a')
  for (const end of ['terminate', 'exit']) {
    const thread = worker(
      server.hosts,
      '/locks/a',
      `globalThis.held = await (await connect(hosts, { sessionTimeoutMs: 60000 })).mutex(path).lock()
       parentPort.postMessage('held')
       parentPort.once('message', () => process.exit())`
    )
    await once(thread, 'message')
    assert.equal(await mutex.tryLock(), null)
    const waiting = mutex.lock()
    await eventually('it queues', async () => (await mutex.contenders()).length === 2)
    if (end === 'terminate') await thread.terminate()
    else thread.postMessage('end')
    await (await waiting).release()
  }
})
