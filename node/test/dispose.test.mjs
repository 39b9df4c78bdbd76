// `await using`: as it is where Node has it, and as TypeScript translates it for where it has not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import typescript from 'typescript'
import * as zoolock from 'zoolock'
import { start } from './support/test-server.mjs'

const AsyncFunction = (async () => {}).constructor

/** The source as `await using` has to be written for this version of Node. */
function runnable(source) {
  try {
    AsyncFunction(source)
    return source
  } catch (error) {
    assert.ok(error instanceof SyntaxError)
    assert.ok(Number(process.versions.node.split('.')[0]) < 24)
  }
  return translated(source)
}

function translated(source) {
  const { outputText } = typescript.transpileModule(`async function body() { ${source} }`, {
    compilerOptions: { target: typescript.ScriptTarget.ES2022 }
  })
  return `${outputText}; return await body()`
}

const source = `
  await using session = await open()
  {
    await using held = await session.mutex('/locks/a').lock()
    seen.push(held.state, (await session.mutex('/locks/a').contenders()).length)
  }
  seen.push((await session.mutex('/locks/a').contenders()).length)
  return session`

for (const [how, written] of [['Node', runnable(source)], ['TypeScript', translated(source)]]) {
  test(`await using releases a guard and closes a session: ${how}`, async (t) => {
    const { open } = await start(t)
    const seen = []
    const session = await AsyncFunction('open', 'seen', written)(open, seen)
    assert.deepEqual(seen, ['held', 1, 0])
    assert.equal(session.state, 'closed')
  })

  test(`await using of a lost guard throws LockLostError: ${how}`, async (t) => {
    const { server, open } = await start(t)
    const session = await open()
    const body = AsyncFunction(
      'session',
      'lose',
      how === 'Node'
        ? runnable("await using held = await session.mutex('/locks/a').lock(); await lose(held)")
        : translated("await using held = await session.mutex('/locks/a').lock(); await lose(held)")
    )
    const lose = (held) =>
      new Promise((resolve) => {
        held.signal.addEventListener('abort', resolve)
        server.expireAll()
      })
    await assert.rejects(body(session, lose), zoolock.LockLostError)
  })
}

test('await using stops a test server', async () => {
  const body = AsyncFunction(
    'startTestServer',
    runnable('await using server = await startTestServer(); return server')
  )
  const server = await body(zoolock.startTestServer)
  assert.throws(() => server.sessions(), zoolock.ClosedError)
})
