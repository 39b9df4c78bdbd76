// How to test what a program does when its lock is lost: `node --test lost-lock.test.mjs`.
//
// The servers come with zoolock, and run in the test's own process.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { connect, LockLostError, LockTimeoutError, startTestServer } from 'zoolock'

// The program.
async function copy(session, rows, store, timeoutMs = 10_000) {
  try {
    await session.mutex('/locks/job/copy').withLock({ timeoutMs }, async (held) => {
      for (const row of rows) {
        held.ensureHeld() // throws LockLostError: another instance may be at it by now
        await store(row, held) // with held.fencingToken, for what is on its way already
      }
    })
  } catch (error) {
    if (error instanceof LockTimeoutError) return 'skipped: another instance is at it'
    if (error instanceof LockLostError) return `stopped: ${error.message}`
    throw error
  }
  return 'done'
}

// Its tests.
/** A server of the test's own, and a function that connects to it. */
async function start(t) {
  const server = await startTestServer()
  const sessions = []
  t.after(async () => {
    await Promise.all(sessions.map((session) => session.close()))
    await server.stop()
  })
  const open = async (options) => {
    const session = await connect(server.hosts, options)
    sessions.push(session)
    return session
  }
  return { server, open }
}

test('it stops when its session expires', async (t) => {
  const { server, open } = await start(t)
  const session = await open()
  const stored = []
  const store = async (row, held) => {
    stored.push(row)
    if (row !== 'second') return
    const lost = once(held.signal, 'abort')
    server.expireSession(session.sessionId)
    // The client learns it a moment later; a test should not depend on when.
    await lost
    assert.ok(held.signal.reason instanceof LockLostError)
  }
  const outcome = await copy(session, ['first', 'second', 'third'], store)
  assert.equal(outcome, 'stopped: ensureHeld /locks/job/copy: the lock was lost')
  assert.deepEqual(stored, ['first', 'second'])
})

test('it stops when it is cut off, and another instance goes on', async (t) => {
  const { server, open } = await start(t)
  // Short, since the test waits for the end of its lease.
  const session = await open({ sessionTimeoutMs: 2000, exclusive: true })
  const other = await open()
  const tokens = {}
  const store = async (row, held) => {
    tokens[row] = held.fencingToken
    const lost = once(held.signal, 'abort')
    server.freezeSession(session.sessionId)
    // The lease ends before the server can give the lock to anyone else.
    await lost
  }
  assert.match(await copy(session, ['first', 'second'], store), /^stopped/)
  await other.mutex('/locks/job/copy').withLock((held) => (tokens.other = held.fencingToken))
  server.thawAll()

  assert.ok(tokens.other > tokens.first)
  assert.equal(tokens.second, undefined)
})

test('it skips its turn when no server answers', async (t) => {
  const { server, open } = await start(t)
  const session = await open()
  server.freezeAll()
  const outcome = await copy(session, ['first'], assert.fail, 200)
  server.thawAll()
  assert.equal(outcome, 'skipped: another instance is at it')
})
