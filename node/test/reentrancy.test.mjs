import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidArgumentError, LockTimeoutError, Owner } from 'zoolock'
import { newPath, startEnsemble } from './support/ensemble.mjs'

const ensemble = await startEnsemble()
const session = await ensemble.connect()

test('R11 a nested withLock re-enters at no request, with the same token', async () => {
  const path = newPath()
  const outer = session.reentrantMutex(path)
  const another = session.reentrantMutex(path)
  await outer.withLock(async (first) => {
    await ensemble.command('log', 'clear')
    await another.withLock(async (second) => {
      assert.equal(second.fencingToken, first.fencingToken)
      assert.equal(second.nodePath, first.nodePath)
      await outer.withLock((third) => assert.equal(third.fencingToken, first.fencingToken))
    })
    const { counts } = await ensemble.command('counts')
    assert.equal(counts.create2 ?? 0, 0)
    assert.equal(counts.delete ?? 0, 0)
    assert.equal(first.held, true)
    assert.equal((await outer.contenders()).length, 1)
  })
  assert.deepEqual(await outer.contenders(), [])
})

test('R11 inside withLock, lock and tryLock belong to its owner', async () => {
  const mutex = session.reentrantMutex(newPath())
  await mutex.withLock(async (held) => {
    const again = await mutex.lock({ timeoutMs: 1000 })
    const more = await mutex.tryLock()
    assert.equal(again.fencingToken, held.fencingToken)
    await more.release()
    await again.release()
    assert.equal(held.held, true)
  })
})

test('R11 outside withLock each call is an owner of its own', async () => {
  const mutex = session.reentrantMutex(newPath())
  const held = await mutex.lock()
  assert.equal(await mutex.tryLock(), null)
  await assert.rejects(mutex.lock({ timeoutMs: 20 }), LockTimeoutError)
  await assert.rejects(mutex.withLock({ timeoutMs: 20 }, assert.fail), LockTimeoutError)
  await held.release()
})

test('R11 the branches of Promise.all inside share the owner', async () => {
  const mutex = session.reentrantMutex(newPath())
  await mutex.withLock(async (held) => {
    const tokens = await Promise.all(
      [1, 2, 3].map(() => mutex.withLock({ timeoutMs: 2000 }, (inner) => inner.fencingToken))
    )
    assert.deepEqual(tokens, Array(3).fill(held.fencingToken))
  })
})

test('R11 the branches of Promise.all outside are strangers', async () => {
  const mutex = session.reentrantMutex(newPath())
  let inside = 0
  const tokens = await Promise.all(
    [1, 2, 3].map(() =>
      mutex.withLock(async (held) => {
        inside += 1
        assert.equal(inside, 1)
        await new Promise(setImmediate)
        inside -= 1
        return held.fencingToken
      })
    )
  )
  assert.equal(new Set(tokens).size, 3)
})

test('R11 a context left behind queues as a stranger', async () => {
  const mutex = session.reentrantMutex(newPath())
  const fire = withResolvers()
  let left
  const first = await mutex.withLock(async (held) => {
    // As a timer would: it runs in the context of withLock, after that has ended.
    left = fire.promise.then(() => mutex.tryLock())
    return held.fencingToken
  })
  await mutex.withLock(async (held) => {
    assert.notEqual(held.fencingToken, first)
    fire.resolve()
    assert.equal(await left, null)
  })
})

test('R11 a context left behind is no longer the owner of a hold that outlived withLock', async () => {
  const mutex = session.reentrantMutex(newPath())
  const fire = withResolvers()
  let left
  const kept = await mutex.withLock(async () => {
    left = fire.promise.then(() => mutex.tryLock())
    return await mutex.lock()
  })
  assert.equal(kept.held, true)
  fire.resolve()
  assert.equal(await left, null)
  await kept.release()
})

test('R11 an Owner given re-enters wherever it is given', async () => {
  const mutex = session.reentrantMutex(newPath())
  const owner = new Owner()
  const first = await mutex.lock({ owner })
  const second = await mutex.tryLock({ owner })
  assert.equal(second.fencingToken, first.fencingToken)
  assert.equal(await mutex.tryLock({ owner: new Owner() }), null)
  await mutex.withLock({ owner }, async (third) => {
    assert.equal(third.fencingToken, first.fencingToken)
    await mutex.withLock((fourth) => assert.equal(fourth.fencingToken, first.fencingToken))
  })
  await first.release()
  assert.equal(second.held, true)
  await second.release()
  assert.deepEqual(await mutex.contenders(), [])
})

test('R11 an Owner of a class derived from it is one', async () => {
  class Till extends Owner {
    number = 7
  }
  const mutex = session.reentrantMutex(newPath())
  const owner = new Till()
  const first = await mutex.lock({ owner })
  const second = await mutex.tryLock({ owner })
  assert.equal(second.fencingToken, first.fencingToken)
  await first.release()
  await second.release()
})

test('R11 one owner for all locks inside the outermost withLock, and none outside', async () => {
  const mutex = session.reentrantMutex(newPath())
  const other = session.reentrantMutex(newPath())
  const { read, write } = session.rwLock(newPath())
  await mutex.withLock(() =>
    write.withLock(async () => {
      // The inner withLock ends before the outer: what it leaves behind is still the outer's.
      let left
      await other.withLock(async () => {
        left = new Promise(setImmediate).then(() => mutex.tryLock())
      })
      await (await left).release()
      const kept = await read.lock({ timeoutMs: 1000 })
      await kept.release()
    })
  )
  const held = await mutex.lock()
  assert.equal(await mutex.tryLock(), null)
  await held.release()
})

test('R11 a branch of Promise.all that outlives withLock is a stranger from then on', async () => {
  const mutex = session.reentrantMutex(newPath())
  const failure = new Error('business')
  const fire = withResolvers()
  let left
  await assert.rejects(
    mutex.withLock(async () => {
      left = fire.promise.then(() => mutex.tryLock())
      await Promise.all([left, Promise.reject(failure)])
    }),
    failure
  )
  const held = await mutex.lock()
  fire.resolve()
  assert.equal(await left, null)
  await held.release()
})

test('R11 another owner inside a withLock is another owner', async () => {
  const mutex = session.reentrantMutex(newPath())
  await mutex.withLock(async () => {
    assert.equal(await mutex.tryLock({ owner: new Owner() }), null)
  })
})

test('R11 the plain mutex is not re-entrant and takes no owner', async () => {
  const mutex = session.mutex(newPath())
  await mutex.withLock(async () => {
    await assert.rejects(mutex.lock({ timeoutMs: 20 }), LockTimeoutError)
    assert.equal(await mutex.tryLock(), null)
  })
  await assert.rejects(mutex.lock({ owner: new Owner() }), InvalidArgumentError)
})

function withResolvers() {
  let resolve
  const promise = new Promise((fulfil) => {
    resolve = fulfil
  })
  return { promise, resolve }
}
