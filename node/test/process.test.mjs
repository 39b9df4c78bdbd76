import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { eventually, newPath, SESSION_TIMEOUT_MS, startEnsemble } from './support/ensemble.mjs'
import { run, start } from './support/program.mjs'

const ensemble = await startEnsemble()
const session = await ensemble.connect()
const { hosts } = ensemble

/** The sessions that the server knows, without the tests' own. */
async function othersSessions() {
  const { sessions } = await ensemble.command('sessions')
  return sessions.length
}

test('an idle session does not keep the process alive, and ends with it', async () => {
  const before = await othersSessions()
  const { printed, code } = await run(
    `const session = await connect(hosts)
     session.on('state', () => {})
     const held = await session.mutex(path).lock()
     held.signal.addEventListener('abort', () => {})
     await held.release()
     process.on('exit', () => console.log(session.state))`,
    { hosts, path: newPath() }
  )
  assert.deepEqual(printed, ['connected'])
  assert.equal(code, 0)
  assert.equal(await othersSessions(), before)
})

test('R17 a process that ends while it holds a lock frees it', async () => {
  const path = newPath()
  const { printed, code } = await run(
    `const session = await connect(hosts, { sessionTimeoutMs: 60000 })
     const held = await session.mutex(path).lock()
     console.log(held.state)`,
    { hosts, path }
  )
  assert.deepEqual(printed, ['held'])
  assert.equal(code, 0)
  assert.deepEqual(await ensemble.children(path), [])
})

test('R17 process.exit with a lock held and calls pending frees all', async () => {
  const path = newPath()
  const { code } = await run(
    `const session = await connect(hosts, { sessionTimeoutMs: 60000 })
     const mutex = session.mutex(path)
     await mutex.lock()
     mutex.lock()
     mutex.lock({ timeoutMs: 60000 })
     connect('127.0.0.1:1')
     while ((await mutex.contenders()).length < 3);
     process.exit(7)`,
    { hosts, path }
  )
  assert.equal(code, 7)
  assert.deepEqual(await ensemble.children(path), [])
})

test('R17 a process that an exception ends frees its locks', async () => {
  const path = newPath()
  const { printed, code } = await run(
    `const session = await connect(hosts, { sessionTimeoutMs: 60000 })
     process.on('uncaughtExceptionMonitor', (error) => console.log(error.message))
     await session.mutex(path).lock()
     setImmediate(() => { throw new Error('business') })`,
    { hosts, path }
  )
  assert.deepEqual(printed, ['business'])
  assert.notEqual(code, 0)
  assert.deepEqual(await ensemble.children(path), [])
})

test('R17 a handler of SIGINT that exits frees all, and one that closes ends the process', async () => {
  for (const [handler, status] of [
    ['process.exit(130)', 130],
    ['session.close()', 0]
  ]) {
    const path = newPath()
    const program = start(
      `const session = await connect(hosts, { sessionTimeoutMs: 60000, exclusive: true })
       const mutex = session.mutex(path)
       await mutex.lock()
       mutex.lock().catch(() => {})
       process.once('SIGINT', () => { ${handler} })
       while ((await mutex.contenders()).length < 2);
       console.log('ready')`,
      { hosts, path }
    )
    assert.equal(await program.line(), 'ready')
    program.kill('SIGINT')
    assert.deepEqual(await program.ended, { code: status, signal: null })
    assert.deepEqual(await ensemble.children(path), [])
  }
})

test('a pending call keeps the process alive', async () => {
  const path = newPath()
  const held = await session.mutex(path).lock()
  const waiting = run(
    `const session = await connect(hosts)
     const held = await session.mutex(path).lock()
     console.log(String(held.fencingToken > BigInt(args[0])))`,
    { hosts, path, args: [String(held.fencingToken)] }
  )
  const first = () => ensemble.children(path)
  await eventually('it queues', async () => (await first()).length === 2)
  await held.release()
  const { printed, code } = await waiting
  assert.deepEqual(printed, ['true'])
  assert.equal(code, 0)
})

test('an aborted call no longer keeps the process alive', async () => {
  const path = newPath()
  const held = await session.mutex(path).lock()
  const { printed, code } = await run(
    `const session = await connect(hosts)
     const abort = new AbortController()
     const call = session.mutex(path).lock({ signal: abort.signal })
     while ((await session.mutex(path).contenders()).length < 2);
     abort.abort()
     await call.catch((error) => console.log(error.name))`,
    { hosts, path }
  )
  assert.deepEqual(printed, ['AbortError'])
  assert.equal(code, 0)
  await held.release()
})

test('R17 a killed process frees its lock after its session timeout', async () => {
  const path = newPath()
  const holder = start(
    `const session = await connect(hosts, { sessionTimeoutMs: ${SESSION_TIMEOUT_MS} })
     const held = await session.mutex(path).lock()
     console.log(String(held.fencingToken))
     setInterval(() => {}, 1000)`,
    { hosts, path }
  )
  const token = BigInt(await holder.line())
  const mutex = session.mutex(path)
  assert.equal(await mutex.tryLock(), null)
  const waiting = mutex.lock()
  holder.kill('SIGKILL')
  assert.equal((await holder.ended).signal, 'SIGKILL')
  const held = await waiting
  assert.ok(held.fencingToken > token)
  await held.release()
})

test('a rejection that nobody handles is the caller\'s, and none is ours', async () => {
  const path = newPath()
  const { printed, code } = await run(
    `process.on('unhandledRejection', (error) => console.log('unhandled', error.code))
     const session = await connect(hosts)
     const mutex = session.mutex(path)
     await mutex.withLock(async () => {
       await mutex.lock({ timeoutMs: 10 }).catch(() => {})
       await mutex.lock({ signal: AbortSignal.timeout(10) }).catch(() => {})
       await mutex.withLock({ timeoutMs: 10 }, () => {}).catch(() => {})
       await mutex.tryLock()
     })
     await mutex.withLock(() => { throw new Error('business') }).catch(() => {})
     await session.close()
     await mutex.lock().catch(() => {})`,
    { hosts, path }
  )
  assert.deepEqual(printed, [])
  assert.equal(code, 0)
})

test('1,000 pending locks do not delay a file, nor does their one signal warn', async (t) => {
  const warnings = []
  const warn = (warning) => warnings.push(warning)
  process.on('warning', warn)
  t.after(() => process.off('warning', warn))
  const path = newPath()
  const mutex = session.mutex(path)
  const held = await mutex.lock()
  const abort = new AbortController()
  const calls = Array.from({ length: 1000 }, () => mutex.lock({ signal: abort.signal }))
  const settled = Promise.allSettled(calls)
  assert.equal(getEventListeners(abort.signal, 'abort').length, 1)
  await eventually('all queue', async () => (await ensemble.children(path)).length === 1001)

  // With any wait on libuv's four threads this would not end before a lock is granted.
  const text = await readFile(fileURLToPath(import.meta.url), 'utf8')
  assert.ok(text.includes('1,000 pending locks'))
  assert.equal(held.held, true)

  abort.abort()
  for (const { reason } of await settled) assert.equal(reason, abort.signal.reason)
  await eventually('they have left', async () => (await ensemble.children(path)).length === 1)
  assert.equal(getEventListeners(abort.signal, 'abort').length, 0)
  assert.deepEqual(warnings, [])
  await held.release()
})

/** A worker thread whose body is `source`. */
function worker(source, path) {
  const index = new URL('../index.cjs', import.meta.url)
  return new Worker(
    `const { parentPort, workerData } = require('node:worker_threads')
     const { connect } = require(${JSON.stringify(fileURLToPath(index))})
     const { hosts, path } = workerData
     ;(async () => { ${source} })()`,
    { eval: true, workerData: { hosts, path } }
  )
}

const exit = (thread) => new Promise((resolve) => thread.on('exit', resolve))
const message = (thread) =>
  new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject))

test('a worker thread connects, locks and ends', async () => {
  const path = newPath()
  for (let round = 0; round < 3; round++) {
    const thread = worker(
      `const session = await connect(hosts)
       await session.mutex(path).withLock((held) => parentPort.postMessage(held.fencingToken))
       await session.close()`,
      path
    )
    const ended = exit(thread)
    assert.equal(typeof (await message(thread)), 'bigint')
    assert.equal(await ended, 0)
  }
  assert.deepEqual(await ensemble.children(path), [])
})

test('a worker thread that ends with an idle session and a held lock frees it', async () => {
  const path = newPath()
  const thread = worker(
    `const session = await connect(hosts, { sessionTimeoutMs: 60000 })
     globalThis.held = await session.mutex(path).lock()`,
    path
  )
  assert.equal(await exit(thread), 0)
  await eventually('it is free', async () => (await ensemble.children(path)).length === 0)
})

test('a worker thread that is terminated withdraws its calls and frees its locks', async () => {
  const path = newPath()
  const held = await session.mutex(path).lock()
  const thread = worker(
    `const session = await connect(hosts, { sessionTimeoutMs: 60000 })
     globalThis.held = await session.mutex(path + '-own').lock()
     globalThis.calls = [session.mutex(path).lock(), session.mutex(path).lock({ timeoutMs: 60000 })]
     parentPort.postMessage('locked')`,
    path
  )
  await message(thread)
  await eventually('it queues', async () => (await ensemble.children(path)).length === 3)
  await thread.terminate()
  await eventually('it has left', async () => (await ensemble.children(path)).length === 1)
  await eventually('its own', async () => (await ensemble.children(`${path}-own`)).length === 0)
  await held.release()
})

test('a process outlives worker threads that alone used the package', async () => {
  const path = newPath()
  const { printed, code } = await run(
    `import { once } from 'node:events'
     import { Worker } from 'node:worker_threads'
     const source = \`
       const { parentPort, workerData } = require('node:worker_threads')
       const { connect } = require(workerData.index)
       connect(workerData.hosts).then(async (session) => {
         globalThis.held = await session.mutex(workerData.path).lock()
         globalThis.call = session.mutex(workerData.path).lock()
         parentPort.postMessage('locked')
       })\`
     const workerData = { hosts, path, index: args[0] }
     const options = { eval: true, execArgv: [], workerData }
     for (let round = 0; round < 3; round++) {
       const thread = new Worker(source, options)
       await once(thread, 'message')
       await thread.terminate()
     }
     console.log('alive')`,
    {
      hosts,
      path,
      args: [fileURLToPath(new URL('../index.cjs', import.meta.url))],
      imports: ''
    }
  )
  assert.deepEqual(printed, ['alive'])
  assert.equal(code, 0)
  assert.deepEqual(await ensemble.children(path), [])
})
