import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { newPath, startEnsemble } from './support/ensemble.mjs'

const ensemble = await startEnsemble()
const session = await ensemble.connect()

test('handles show what matters of them', async () => {
  const path = newPath()
  const rwLock = session.rwLock(path)
  assert.equal(inspect(session.mutex(path)), `Mutex { path: '${path}' }`)
  assert.equal(inspect(session.reentrantMutex(path)), `ReentrantMutex { path: '${path}' }`)
  assert.equal(inspect(rwLock), `RwLock { path: '${path}' }`)
  assert.equal(inspect(rwLock.write), `RwLockSide { path: '${path}' }`)
  assert.match(
    inspect(session, { breakLength: Infinity }),
    /^Session \{ state: 'connected', sessionId: -?[0-9]+n, negotiatedTimeoutMs: [0-9]+ \}$/
  )
  const held = await session.mutex(path).lock()
  const shown = inspect(held, { breakLength: Infinity })
  assert.ok(shown.startsWith(`Guard { state: 'held', path: '${path}', nodePath: '${held.nodePath}'`))
  assert.ok(shown.endsWith(`fencingToken: ${held.fencingToken}n }`), shown)
  await held.release()
  assert.match(inspect(held), /state: 'released'/)
  assert.equal(inspect({ deep: { held } }, { depth: 0 }), '{ deep: [Object] }')
  assert.equal(inspect({ held }, { depth: 0 }), '{ held: [Guard] }')
})
