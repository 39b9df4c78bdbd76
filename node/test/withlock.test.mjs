import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Guard, InvalidArgumentError } from 'zoolock'
import { newPath, startEnsemble } from './support/ensemble.mjs'

const ensemble = await startEnsemble()
const session = await ensemble.connect()

const kinds = {
  mutex: (path) => session.mutex(path),
  reentrantMutex: (path) => session.reentrantMutex(path),
  'rwLock.read': (path) => session.rwLock(path).read,
  'rwLock.write': (path) => session.rwLock(path).write
}

for (const [kind, make] of Object.entries(kinds)) {
  test(`${kind}: withLock holds while its function runs, and resolves to its result`, async () => {
    const path = newPath()
    const lock = make(path)
    let held
    const result = await lock.withLock(async (guard) => {
      held = guard
      assert.ok(guard instanceof Guard)
      assert.equal(guard.held, true)
      assert.equal((await lock.contenders())[0].nodePath, guard.nodePath)
      return { some: 'result' }
    })
    assert.deepEqual(result, { some: 'result' })
    assert.equal(held.state, 'released')
    assert.deepEqual(await lock.contenders(), [])
    assert.equal(await lock.withLock({ timeoutMs: 1000 }, () => 'not a promise'), 'not a promise')
  })

  test(`${kind}: what the function throws comes out, and the lock is released`, async () => {
    const lock = make(newPath())
    const failure = new Error('business')
    const rejected = (error) => {
      assert.equal(error, failure)
      return true
    }
    await assert.rejects(lock.withLock(() => Promise.reject(failure)), rejected)
    await assert.rejects(
      lock.withLock(() => {
        throw failure
      }),
      rejected
    )
    assert.deepEqual(await lock.contenders(), [])
  })
}

test('a function may release early', async () => {
  const mutex = session.mutex(newPath())
  assert.equal(
    await mutex.withLock(async (held) => {
      await held.release()
      return 'early'
    }),
    'early'
  )
})

test('R20 without a function nothing is locked', async () => {
  const path = newPath()
  await assert.rejects(session.mutex(path).withLock(), InvalidArgumentError)
  await assert.rejects(session.mutex(path).withLock({ timeoutMs: 3 }), InvalidArgumentError)
  await assert.rejects(session.mutex(path).withLock({}, 'text'), /fn/)
  assert.equal((await ensemble.command('exists', path)).exists, false)
})
