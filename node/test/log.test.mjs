import assert from 'node:assert/strict'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { connect, InvalidArgumentError, setLogger } from 'zoolock'
import { eventually } from './support/ensemble.mjs'
import { run } from './support/program.mjs'
import { start } from './support/test-server.mjs'

const index = new URL('../index.mjs', import.meta.url).href
const imports = `
  import { once } from 'node:events'
  import { connect, setLogger, startTestServer } from ${JSON.stringify(index)}`

/** Collects this thread's log until the test is over. */
function collect(t, options) {
  const records = []
  setLogger((record) => records.push(record), options)
  t.after(() => setLogger(null))
  return records
}

const messages = (records) => records.map(({ message }) => message)

test('a logger gets records from its level on, until it is taken away', async (t) => {
  const { server, open } = await start(t)
  const session = await open()
  const records = collect(t, { level: 'info' })
  const before = Date.now()
  server.cutAll()
  await eventually('told', () => records.length > 0)
  const [{ time, ...record }] = records
  assert.equal(record.level, 'info')
  assert.equal(record.message, 'the connection is lost')
  assert.match(record.target, /^zoolock::/)
  assert.equal(typeof record.fields.server, 'number')
  assert.equal(typeof record.fields.why, 'string')
  assert.ok(time instanceof Date && time.getTime() >= before - 1 && time.getTime() <= Date.now() + 1)

  const warnings = collect(t, { level: 'warn' })
  records.length = 0
  server.expireSession(session.sessionId)
  await eventually('warned', () => messages(warnings).includes('the session is over'))
  assert.ok(warnings.every(({ level }) => level === 'warn' || level === 'error'))
  assert.deepEqual(records, [])

  await eventually('connected again', () => session.state === 'connected')
  setLogger()
  warnings.length = 0
  const lost = once(session, 'state')
  server.expireSession(session.sessionId)
  await lost
  await eventually('connected again', () => session.state === 'connected')
  assert.deepEqual(warnings, [])
})

test('who listens next gets nothing of what came before that is below its level', async (t) => {
  const { server, open } = await start(t)
  const session = await open()
  for (const level of ['warn', undefined]) {
    const records = collect(t, { level: 'info' })
    const changed = once(session, 'state')
    server.cutAll()
    // Nothing is delivered meanwhile, so it waits for whoever listens next.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    let next = []
    if (level === undefined) setLogger()
    else next = collect(t, { level })
    // Delivered behind the records.
    await changed
    await eventually('connected again', () => session.state === 'connected')
    assert.deepEqual(records, [])
    assert.deepEqual(next, [])
  }
})

test('R20 setLogger throws InvalidArgumentError for what is no logger or level', () => {
  for (const [argument, given] of [
    ['logger', ['console']],
    ['options', [console.log, 'debug']],
    ['level', [console.log, { level: 'verbose' }]],
    ['depth', [console.log, { depth: 3 }]]
  ]) {
    assert.throws(() => setLogger(...given), (error) => {
      assert.ok(error instanceof InvalidArgumentError)
      assert.equal(error.operation, 'setLogger')
      assert.ok(error.message.includes(`${argument}:`), error.message)
      return true
    })
  }
})

test('R19 no secret is in the log, at any level', async (t) => {
  const secret = 'hunter2-correct-horse'
  const { server, open } = await start(t)
  const records = collect(t, { level: 'debug' })
  const auth = [['digest', `till:${secret}`]]
  const session = await open({ auth })
  await session.mutex('/locks/a').withLock(() => server.cutAll())
  server.expireAll()
  await assert.rejects(connect('127.0.0.1:1', { auth, connectTimeoutMs: 50 }))
  await assert.rejects(open({ auth: [['no-such-scheme', secret]] }))
  await eventually('told', () => messages(records).includes('the session is over'))
  assert.ok(records.some(({ level }) => level === 'debug'))
  assert.doesNotMatch(JSON.stringify(records), new RegExp(secret))
})

test('each thread has its own logger and level', async (t) => {
  const { server, open } = await start(t)
  const records = collect(t)
  const session = await open({ exclusive: false })
  const thread = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads')
     const { connect, setLogger } = require(${JSON.stringify(fileURLToPath(new URL('../index.cjs', import.meta.url)))})
     setLogger(({ message }) => parentPort.postMessage(message), { level: 'warn' })
     connect(workerData).then(() => {
       parentPort.postMessage('ready')
       parentPort.once('message', () => process.exit())
     })`,
    { eval: true, workerData: server.hosts }
  )
  const told = []
  thread.on('message', (message) => told.push(message))
  await eventually('ready', () => told.includes('ready'))
  server.expireSession(session.sessionId)
  await eventually('both are told', () => told.includes('the session is over') && messages(records).includes('the session is over'))
  assert.ok(messages(records).includes('the connection is lost'))
  assert.ok(!told.includes('the connection is lost'))
  thread.postMessage('end')
  await once(thread, 'exit')
  records.length = 0
  await eventually('connected again', () => session.state === 'connected')
  server.cutAll()
  await eventually('still told here', () => records.length > 0)
})

test('a logger does not keep the process alive, and what it throws is an uncaught exception', async () => {
  const { printed, code } = await run(
    `const server = await startTestServer()
     process.on('uncaughtException', (error) => console.log(error.message))
     setLogger(() => { setLogger(null); throw new Error('logger') })
     const session = await connect(server.hosts)
     const cut = once(session, 'state')
     server.cutAll()
     await cut
     await session.mutex('/locks/a').withLock(() => {})
     setLogger(() => {}, { level: 'debug' })
     server.unref()`,
    { hosts: '', imports }
  )
  assert.deepEqual(printed, ['logger'])
  assert.equal(code, 0)
})

test('records that a busy thread does not take are dropped and counted', async (t) => {
  // Sessions that try to come back every few milliseconds.
  const { server, open } = await start(t, { tickMs: 50 })
  for (let number = 0; number < 40; number++) await open({ sessionTimeoutMs: 100 })
  const records = collect(t, { level: 'debug' })
  server.refuseConnections()
  server.cutAll()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000)
  const dropped = () => records.find(({ message }) => message === 'records of the log were dropped')
  await eventually('told', dropped)
  assert.equal(dropped().level, 'warn')
  assert.ok(dropped().fields.count > 0)
  assert.equal(records.indexOf(dropped()), 1000)
  server.acceptConnections()
})

test('NODE_DEBUG=zoolock prints the log to standard error, as for the modules of Node', async () => {
  const program = `
    ${imports}
    const server = await startTestServer()
    const session = await connect(server.hosts)
    const cut = once(session, 'state')
    server.cutAll()
    await cut
    await session.close()
    await server.stop()`
  const printed = {}
  for (const sections of ['zoolock', 'http']) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'inherit', 'pipe'],
      env: { ...process.env, NODE_DEBUG: sections }
    })
    printed[sections] = await text(child.stderr)
  }
  assert.match(printed.zoolock, /^ZOOLOCK \d+: info: the connection is lost \{.*why: '/m)
  assert.doesNotMatch(printed.http, /ZOOLOCK/)
})
