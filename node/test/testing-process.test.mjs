// The server for tests, and the ends of its process and of worker threads.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as openSocket } from 'node:net'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { connect, startTestServer } from 'zoolock'
import { eventually } from './support/ensemble.mjs'
import { run } from './support/program.mjs'
import { start } from './support/test-server.mjs'

const imports = `import { connect, startTestServer } from ${JSON.stringify(
  new URL('../index.mjs', import.meta.url).href
)}`

/** Whether somebody listens there. */
async function isOpen(hosts) {
  const [host, port] = hosts.split(':')
  const socket = openSocket(Number(port), host)
  try {
    await once(socket, 'connect')
    return true
  } catch (error) {
    assert.equal(error.code, 'ECONNREFUSED')
    return false
  } finally {
    socket.destroy()
  }
}

test('a server keeps the process alive until it is stopped', async () => {
  const { printed, code } = await run(
    `import { once } from 'node:events'
     const server = await startTestServer()
     const session = await connect(server.hosts)
     const { signal } = await session.mutex('/locks/a').lock()
     server.expireAll()
     // Nothing else keeps the process alive meanwhile.
     await once(signal, 'abort')
     console.log(signal.reason.code)
     await server.stop()
     server.ref()`,
    { hosts: '', imports }
  )
  assert.deepEqual(printed, ['ERR_ZOOLOCK_LOCK_LOST'])
  assert.equal(code, 0)
})

test('after unref a server does not keep the process alive, and ends with it', async () => {
  const { printed, code } = await run(
    `const server = await startTestServer()
     server.unref().ref().unref()
     console.log(server.hosts)`,
    { hosts: '', imports }
  )
  assert.equal(code, 0)
  assert.equal(await isOpen(printed[0]), false)
})

for (const way of ['process.exit()', 'server.unref()']) {
  test(`R17 a process ends at once with a server, a session and a lock: ${way}`, async () => {
    // Not after the second that closing a session takes whose server has gone before.
    const { printed, code } = await run(
      `const server = await startTestServer()
       const session = await connect(server.hosts)
       globalThis.held = await session.mutex('/locks/a').lock()
       console.log(String(process.hrtime.bigint()))
       ${way}`,
      { hosts: '', imports }
    )
    assert.equal(code, 0)
    assert.ok(process.hrtime.bigint() - BigInt(printed[0]) < 1_000_000_000n)
  })
}

for (const [end, status] of [
  ['process.exit(3)', 3],
  ['setImmediate(() => { throw new Error("business") })', 1],
  ['process.exitCode = 3; server.unref()', 3]
]) {
  test(`R17 an exit waits a second at most for a server that does not answer: ${end}`, async () => {
    // A call under way keeps a process from ending by itself.
    const pending = `
      mutex.lock()
      while ((await mutex.contenders()).length < 2);`
    const { printed, code } = await run(
      `const server = await startTestServer()
       const session = await connect(server.hosts)
       const mutex = session.mutex('/locks/a')
       globalThis.held = await mutex.lock()
       ${end.includes('unref') ? '' : pending}
       server.freezeAll()
       console.log(String(process.hrtime.bigint()))
       ${end}`,
      { hosts: '', imports, stderr: 'ignore' }
    )
    const took = Number(process.hrtime.bigint() - BigInt(printed[0])) / 1e9
    assert.equal(code, status)
    // Closing is given 1 s; the rest is what a loaded machine takes to end a process.
    assert.ok(took < 2.5, `${took} s`)
  })
}

test('a server of which only the hosts are in use is not collected', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const hosts = await startTestServer().then((server) => server.unref().hosts)
  for (let round = 0; round < 5; round++) {
    collect()
    await new Promise(setImmediate)
  }
  const session = await connect(hosts)
  await session.mutex('/locks/a').withLock((held) => assert.equal(held.held, true))
  await session.close()
})

test('other processes take turns on it', async (t) => {
  const { server } = await start(t)
  const program = `
    const session = await connect(hosts)
    await session.mutex(path).withLock((held) => console.log(String(held.fencingToken)))
    await session.close()`
  const about = { hosts: server.hosts, path: '/locks/a' }
  const ended = await Promise.all([1, 2, 3].map(() => run(program, about)))
  assert.equal(new Set(ended.map(({ printed }) => printed[0])).size, 3)
  assert.deepEqual(server.sessions(), [])
})

/** A worker thread that starts a server, says its hosts, and goes on as `source` says. */
function worker(source) {
  const index = fileURLToPath(new URL('../index.cjs', import.meta.url))
  return new Worker(
    `const { parentPort } = require('node:worker_threads')
     const { connect, startTestServer } = require(${JSON.stringify(index)})
     ;(async () => {
       const server = await startTestServer()
       parentPort.postMessage(server.hosts)
       ${source}
     })()`,
    { eval: true }
  )
}

test('a worker thread\'s server serves the others, and ends with the worker', async () => {
  const thread = worker('server.unref(); parentPort.once("message", () => {})')
  const [hosts] = await once(thread, 'message')
  const session = await connect(hosts)
  await session.mutex('/locks/a').withLock((held) => assert.equal(held.held, true))
  await session.close()
  thread.postMessage('end')
  const [code] = await once(thread, 'exit')
  assert.equal(code, 0)
  await eventually('it is gone', async () => !(await isOpen(hosts)))
})

test('a terminated worker thread\'s server ends, in use or stopping', async () => {
  for (const source of [
    'globalThis.session = await connect(server.hosts); await session.mutex("/a").lock()',
    'server.stop()'
  ]) {
    const thread = worker(source)
    const [hosts] = await once(thread, 'message')
    await thread.terminate()
    await eventually('it is gone', async () => !(await isOpen(hosts)))
  }
})
