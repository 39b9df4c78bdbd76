import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LockTimeoutError, Owner, WouldDeadlockError } from 'zoolock'
import { eventually, newPath, startEnsemble } from './support/ensemble.mjs'

const ensemble = await startEnsemble()
const session = await ensemble.connect()

test('R12 readers share, a writer excludes', async () => {
  const { read, write } = session.rwLock(newPath())
  const readers = await Promise.all([read.lock(), read.lock(), read.lock()])
  assert.ok(readers.every((reader) => reader.held))
  assert.equal(await write.tryLock(), null)
  for (const reader of readers) await reader.release()

  const writer = await write.lock()
  assert.equal(await read.tryLock(), null)
  assert.equal(await write.tryLock(), null)
  await writer.release()
})

test('R07 a queued writer is not overtaken by later readers', async () => {
  const lock = session.rwLock(newPath())
  const { read, write } = lock
  const order = []
  const reader = await read.lock()
  const writer = write.withLock(() => order.push('writer'))
  await eventually('the writer queues', async () => (await lock.contenders()).length === 2)
  const late = read.withLock(() => order.push('late reader'))
  assert.equal(await read.tryLock(), null)
  await reader.release()
  await Promise.all([writer, late])
  assert.deepEqual(order, ['writer', 'late reader'])
})

test('R12 a writer downgrades without letting a queued writer in between', async () => {
  const lock = session.rwLock(newPath())
  const { read, write } = lock
  const owner = new Owner()
  const writer = await write.lock({ owner })
  let granted = false
  const queued = write.lock().then((held) => {
    granted = true
    return held
  })
  await eventually('a writer queues', async () => (await lock.contenders()).length === 2)

  const reader = await read.lock({ owner })
  assert.equal(reader.fencingToken, writer.fencingToken)
  await writer.release()
  assert.equal(reader.held, true)
  assert.equal(granted, false)
  assert.equal(await write.tryLock(), null)

  await reader.release()
  await (await queued).release()
})

test('R12 the owner of only a read lock gets WouldDeadlock for the write lock', async () => {
  const { read, write } = session.rwLock(newPath())
  await read.withLock(async (held) => {
    await assert.rejects(write.lock(), WouldDeadlockError)
    await assert.rejects(write.tryLock(), { code: 'ERR_ZOOLOCK_WOULD_DEADLOCK' })
    await assert.rejects(write.withLock(assert.fail), WouldDeadlockError)
    assert.equal(held.held, true)
  })
})

test('R11 each side is re-entrant through nested withLock', async () => {
  const { read, write } = session.rwLock(newPath())
  await write.withLock(async (first) => {
    await write.withLock((second) => assert.equal(second.fencingToken, first.fencingToken))
    await read.withLock((downgraded) => assert.equal(downgraded.fencingToken, first.fencingToken))
  })
  await read.withLock(async (first) => {
    await read.withLock((second) => assert.equal(second.nodePath, first.nodePath))
  })
})

test('a read-write lock and its sides tell the same path and contenders', async () => {
  const path = newPath()
  const lock = session.rwLock(path)
  assert.deepEqual([lock.path, lock.read.path, lock.write.path], [path, path, path])
  await lock.read.withLock(async () => {
    await assert.rejects(lock.write.lock({ timeoutMs: 20, owner: new Owner() }), LockTimeoutError)
    await eventually('the reader is alone', async () => (await lock.contenders()).length === 1)
    assert.deepEqual(await lock.write.contenders(), await lock.contenders())
  })
})
