import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startEnsemble } from './support/ensemble.mjs'

const ensemble = await startEnsemble()
const session = await ensemble.connect()

/** Runs an example: what it printed, and its status. */
async function run(name, args, env) {
  const file = fileURLToPath(new URL(`../examples/${name}`, import.meta.url))
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ZOOLOCK_HOSTS: ensemble.hosts, ...env }
  })
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit')
  ])
  return { out, err, status }
}

/** Runs an example; what it printed, without the line's end. */
async function example(name, args, env) {
  const { out, err } = await run(name, args, env)
  assert.equal(err, '')
  return out.trim()
}

test('the example of testing for a lost lock', async () => {
  const file = fileURLToPath(new URL('../examples/lost-lock.test.mjs', import.meta.url))
  const { NODE_TEST_CONTEXT, ...env } = process.env
  assert.notEqual(NODE_TEST_CONTEXT, undefined, 'tests are run by node --test')
  const child = spawn(process.execPath, ['--test-reporter=tap', file], { env })
  const printed = await text(child.stdout)
  assert.match(printed, /^# pass 3$/m, printed)
  assert.match(printed, /^# fail 0$/m)
})

async function temporary(t) {
  const directory = await mkdtemp(join(tmpdir(), 'zoolock-node-'))
  t.after(() => rm(directory, { recursive: true }))
  return directory
}

test('the order service places one order of a user at a time', async (t) => {
  const env = { ORDERS_DIR: await temporary(t) }
  const printed = await Promise.all(
    ['tea', 'milk', 'sugar'].map((item) => example('order-service.mjs', ['user-1', item], env))
  )
  for (const line of printed) assert.match(line, /^order placed, token \d+$/)
  const orders = JSON.parse(await readFile(join(env.ORDERS_DIR, 'user-1.json'), 'utf8'))
  assert.deepEqual(orders.map(({ item }) => item).sort(), ['milk', 'sugar', 'tea'])
})

test('the order service says "order in progress" after 3 seconds', async (t) => {
  const env = { ORDERS_DIR: await temporary(t) }
  await session.mutex('/locks/order/user-2').withLock(async () => {
    const busy = example('order-service.mjs', ['user-2', 'tea'], env)
    const other = example('order-service.mjs', ['user-3', 'tea'], env)
    assert.match(await other, /^order placed/)
    assert.equal(await busy, 'order in progress')
  })
})

test('the scheduled job is done once, and skipped while another instance is at it', async (t) => {
  const env = { JOBS_DIR: await temporary(t), JOB_PATIENCE_MS: '10000' }
  const printed = await Promise.all(
    [1, 2, 3].map(() => example('scheduled-job.mjs', ['monday'], env))
  )
  assert.deepEqual(printed.sort(), ['done', 'was done before', 'was done before'])

  await session.mutex('/locks/job/nightly').withLock(async () => {
    const impatient = { ...env, JOB_PATIENCE_MS: '100' }
    const line = await example('scheduled-job.mjs', ['tuesday'], impatient)
    assert.equal(line, 'skipped: another instance is at it')
  })
})

test('an outage is not taken for the lock of somebody else', async (t) => {
  const directory = await temporary(t)
  // Nothing listens there.
  const env = { ZOOLOCK_HOSTS: '127.0.0.1:1', ORDERS_DIR: directory, JOBS_DIR: directory }
  const outages = await Promise.all([
    run('order-service.mjs', ['ann', 'tea'], env),
    run('scheduled-job.mjs', ['friday'], env)
  ])
  for (const { out, err, status } of outages) {
    assert.deepEqual({ out, status }, { out: '', status: 1 })
    assert.match(err, /^connect: no server/)
  }
})

test('wrong arguments are answered by the usage', async () => {
  for (const name of ['order-service.mjs', 'scheduled-job.mjs']) {
    for (const args of [[], ['one', 'two', 'three']]) {
      const { out, err, status } = await run(name, args, {})
      assert.deepEqual({ out, status }, { out: '', status: 2 })
      assert.ok(err.startsWith(`usage: ${name} `), err)
    }
  }
})
