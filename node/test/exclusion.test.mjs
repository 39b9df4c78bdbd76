import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Guard, LockTimeoutError } from 'zoolock'
import { eventually, newPath, startEnsemble } from './support/ensemble.mjs'
import { run } from './support/program.mjs'

const ensemble = await startEnsemble()
const session = await ensemble.connect()

test('R01 processes take turns at a file, and R02 their tokens rise', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'zoolock-node-'))
  t.after(() => rm(directory, { recursive: true }))
  const counter = join(directory, 'counter')
  await writeFile(counter, '0 0')
  const path = newPath()

  const incrementing = `
    import { readFile, writeFile } from 'node:fs/promises'
    const session = await connect(hosts)
    const mutex = session.mutex(path)
    for (let round = 0; round < 25; round++) {
      await mutex.withLock(async (held) => {
        const [count, token] = (await readFile(args[0], 'utf8')).split(' ')
        if (held.fencingToken <= BigInt(token)) throw new Error('the token did not rise')
        await writeFile(args[0], (Number(count) + 1) + ' ' + held.fencingToken)
      })
    }
    await session.close()`
  const processes = Array.from({ length: 4 }, () =>
    run(incrementing, { hosts: ensemble.hosts, path, args: [counter] })
  )
  for (const { code } of await Promise.all(processes)) assert.equal(code, 0)

  const [count] = (await readFile(counter, 'utf8')).split(' ')
  assert.equal(count, '100')
})

test('R02 a token is a positive bigint, and the czxid of the contender', async () => {
  const mutex = session.mutex(newPath())
  const first = await mutex.lock()
  assert.equal(typeof first.fencingToken, 'bigint')
  const { stat } = await ensemble.command('exists', first.nodePath)
  assert.equal(first.fencingToken, BigInt(stat.czxid))
  await first.release()

  const second = await mutex.lock()
  assert.ok(second.fencingToken > first.fencingToken)
  await second.release()
})

test('R07 waiters are granted in the order of their calls', async () => {
  const mutex = session.mutex(newPath())
  const holder = await mutex.lock()
  const granted = []
  const waiters = Array.from({ length: 8 }, (_, index) =>
    mutex.withLock(() => granted.push(index))
  )
  await eventually('all queue', async () => (await mutex.contenders()).length === 9)
  await holder.release()
  await Promise.all(waiters)
  assert.deepEqual(granted, [0, 1, 2, 3, 4, 5, 6, 7])
})

test('R06 tryLock is null while somebody holds it, and a guard when nobody does', async () => {
  const mutex = session.mutex(newPath())
  const held = await mutex.tryLock()
  assert.ok(held instanceof Guard)
  assert.equal(held.held, true)
  assert.equal(held.state, 'held')
  assert.equal(await mutex.tryLock(), null)
  await held.release()
  assert.equal(held.held, false)
  assert.equal(held.state, 'released')
})

test('R06 a time-out rejects with LockTimeoutError, and R05 leaves no contender', async () => {
  const path = newPath()
  const mutex = session.mutex(path)
  const held = await mutex.lock()
  for (const timeoutMs of [0, 50]) {
    await assert.rejects(mutex.lock({ timeoutMs }), (error) => {
      assert.ok(error instanceof LockTimeoutError)
      assert.equal(error.name, 'LockTimeoutError')
      assert.equal(error.code, 'ERR_ZOOLOCK_TIMEOUT')
      assert.equal(error.operation, 'lock')
      assert.equal(error.path, path)
      return true
    })
    await assert.rejects(
      mutex.withLock({ timeoutMs }, () => assert.fail('ran without the lock')),
      LockTimeoutError
    )
  }
  await eventually('the holder is alone', async () => (await ensemble.children(path)).length === 1)
  await held.release()
})

test('the stack of a failure names the caller', async () => {
  const mutex = session.mutex(newPath())
  const held = await mutex.lock()
  async function theCaller() {
    await mutex.lock({ timeoutMs: 0 })
  }
  await assert.rejects(theCaller(), ({ stack }) => /async theCaller/.test(stack))
  await held.release()
})

test('contenders are told in order, with who they are', async () => {
  const path = newPath()
  const named = await ensemble.connect({ identity: 'till 7' })
  const held = await named.mutex(path).lock()
  const waiting = session.mutex(path, { data: 'the second' }).lock()
  const mutex = session.mutex(path)
  await eventually('both queue', async () => (await mutex.contenders()).length === 2)

  const [first, second] = await mutex.contenders()
  assert.deepEqual(first, {
    nodePath: held.nodePath,
    sequence: 0,
    identity: 'till 7',
    sessionId: named.sessionId,
    holds: true
  })
  assert.equal(second.identity, 'the second')
  assert.equal(second.holds, false)
  await named.close()
  await (await waiting).release()
})
