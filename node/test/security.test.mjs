import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { connect, NoAuthError, UnavailableError } from 'zoolock'
import { newPath, startEnsemble } from './support/ensemble.mjs'

const ensemble = await startEnsemble()
const SECRET = 'hunter2-correct-horse'
const auth = [['digest', `till:${SECRET}`]]

test('R20 with credentials the nodes are the creator\'s, and a stranger gets NoAuthError', async () => {
  const path = newPath()
  const owner = await ensemble.connect({ auth, exclusive: true })
  const held = await owner.mutex(path).lock()

  const { acl } = await ensemble.command('acl', held.nodePath)
  assert.match(JSON.stringify(acl), /"till:.*digest/)
  assert.match(JSON.stringify(acl), /world/)
  await assert.rejects(ensemble.command('acl', path), /NoAuth/)

  const stranger = await ensemble.connect({ exclusive: true })
  await assert.rejects(stranger.mutex(path).lock(), (error) => {
    assert.ok(error instanceof NoAuthError)
    assert.equal(error.code, 'ERR_ZOOLOCK_NO_AUTH')
    assert.ok(error.message.includes(path))
    return true
  })

  const same = await ensemble.connect({
    auth: [{ scheme: 'digest', credentials: new TextEncoder().encode(`till:${SECRET}`) }],
    exclusive: true
  })
  assert.equal(await same.mutex(path).tryLock(), null)
  await held.release()
  const again = await same.mutex(path).tryLock()
  assert.equal(again.held, true)
  await again.release()
})

test('an ACL can be given for a session and for a lock', async () => {
  const path = newPath()
  const session = await ensemble.connect({
    auth,
    acl: [{ permissions: 31, scheme: 'world', id: 'anyone' }],
    exclusive: true
  })
  await session.mutex(path).withLock(async (held) => {
    const { acl } = await ensemble.command('acl', held.nodePath)
    assert.doesNotMatch(JSON.stringify(acl), /digest/)
  })
  await session.mutex(path, { acl: [[1, 'world', 'anyone'], [31, 'auth', '']] }).withLock(
    async (held) => {
      const { acl } = await ensemble.command('acl', held.nodePath)
      assert.match(JSON.stringify(acl), /digest/)
    }
  )
})

test('R19 credentials are in no error and no inspection', async () => {
  const options = { auth, exclusive: true }
  const session = await ensemble.connect(options)
  const mutex = session.mutex(newPath())
  const held = await mutex.lock()
  const failures = await Promise.all([
    failure(connect('127.0.0.1:1', { ...options, connectTimeoutMs: 200 })),
    failure(connect(ensemble.hosts, { auth: [['digest', SECRET, 'third']] })),
    failure(connect(ensemble.hosts, { auth: [{ scheme: 'digest', credentials: 7 }] })),
    failure(connect(ensemble.hosts, { auth: SECRET })),
    failure(connect(ensemble.hosts, { auth: [[SECRET]] })),
    failure(mutex.lock({ timeoutMs: 0 }))
  ])
  assert.ok(failures[0] instanceof UnavailableError)
  const shown = [session, mutex, held, ...failures]
    .map((thing) => inspect(thing, { depth: 10, showHidden: true }) + String(thing.stack))
    .join('\n')
  assert.doesNotMatch(shown, new RegExp(SECRET))
  await held.release()
})

test('wrong credentials of an unknown scheme reject AuthFailedError at once', async () => {
  await assert.rejects(connect(ensemble.hosts, { auth: [['no-such-scheme', SECRET]] }), (error) => {
    assert.equal(error.code, 'ERR_ZOOLOCK_AUTH_FAILED')
    assert.doesNotMatch(inspect(error), new RegExp(SECRET))
    return true
  })
})

async function failure(call) {
  try {
    await call
  } catch (error) {
    return error
  }
  return assert.fail('did not reject')
}
