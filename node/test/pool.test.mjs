// libuv's pool of threads: no call of ours waits there, and none of ours needs it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from './support/program.mjs'
import { start } from './support/test-server.mjs'

const env = { UV_THREADPOOL_SIZE: '1' }

test('1,000 pending locks take no thread, and files, names and hashes are served as without them', async (t) => {
  const { server } = await start(t)
  const { printed, code } = await run(
    `import { pbkdf2, randomBytes } from 'node:crypto'
     import { lookup } from 'node:dns/promises'
     import { readdirSync } from 'node:fs'
     import { readFile } from 'node:fs/promises'
     import { promisify } from 'node:util'
     import { deflate } from 'node:zlib'
     const served = async () => {
       const requests = Array.from({ length: 40 }, () => [
         readFile(process.execPath.replace(/[^/]*$/, '') + '../LICENSE').catch(() => readFile('/etc/passwd')),
         lookup('localhost'),
         promisify(pbkdf2)('a', 'b', 100, 32, 'sha256'),
         promisify(randomBytes)(16),
         promisify(deflate)('text')
       ]).flat()
       return (await Promise.all(requests)).length
     }
     const threads = () => readdirSync('/proc/self/task').length
     const session = await connect(hosts)
     const mutex = session.mutex(path)
     const held = await mutex.lock()
     const without = { served: await served(), threads: threads() }
     const abort = new AbortController()
     let settled = 0
     const calls = Array.from({ length: 1000 }, () =>
       mutex.lock({ signal: abort.signal }).catch(() => {}).finally(() => (settled += 1)))
     while ((await mutex.contenders()).length < 1001);
     const pending = { served: await served(), threads: threads() }
     console.log(JSON.stringify({ without, pending, settled, held: held.held }))
     abort.abort()
     await Promise.all(calls)
     await session.close()`,
    { hosts: server.hosts, path: '/locks/a', env }
  )
  assert.equal(code, 0)
  const { without, pending, settled, held } = JSON.parse(printed[0])
  assert.equal(without.served, 200)
  // No call had been settled when all requests were.
  assert.deepEqual({ pending, settled, held }, { pending: without, settled: 0, held: true })
})

test('connect, lock and release need no thread of the pool: its only one is blocked meanwhile', async (t) => {
  const { server } = await start(t)
  const { printed, code } = await run(
    `import { spawnSync } from 'node:child_process'
     import { mkdtempSync, openSync, readFile, rmSync } from 'node:fs'
     import { tmpdir } from 'node:os'
     import { join } from 'node:path'
     const directory = mkdtempSync(join(tmpdir(), 'zoolock-node-'))
     const pipe = join(directory, 'pipe')
     spawnSync('mkfifo', [pipe])
     let read = false
     // Until somebody opens it for writing.
     const blocked = new Promise((resolve) => readFile(pipe, () => { read = true; resolve() }))
     const session = await connect(hosts.replace('127.0.0.1', 'localhost'))
     const mutex = session.mutex(path)
     await mutex.withLock(async () => { await mutex.lock({ timeoutMs: 10 }).catch(() => {}) })
     await session.close()
     console.log(String(read))
     const { closeSync } = await import('node:fs')
     closeSync(openSync(pipe, 'w'))
     await blocked
     rmSync(directory, { recursive: true })`,
    { hosts: server.hosts, path: '/locks/a', env }
  )
  assert.deepEqual(printed, ['false'])
  assert.equal(code, 0)
})
