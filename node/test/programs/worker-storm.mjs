// Worker threads that come and go in every way, while the main thread holds a lock. Arguments: how
// many of each. Prints what is left of them as JSON, and fails if anything is.

import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { connect, startTestServer } from 'zoolock'

const AT_ONCE = 4
const times = Number(process.argv[2])
const index = fileURLToPath(new URL('../../index.cjs', import.meta.url))
const server = await startTestServer()
const { hosts } = server

const connected = `
  globalThis.session = await connect(hosts, { exclusive })
  const own = session.mutex(ownPath)
  const shared = session.reentrantMutex(path)`
const holding = `${connected}
  globalThis.held = await own.lock()
  globalThis.waiting = [shared.lock(), shared.withLock(() => {}), own.lock({ timeoutMs: 60000 })]`
const listening = `${holding}
  session.on('state', () => {})
  held.signal.addEventListener('abort', () => {})
  setLogger(() => {}, { level: 'debug' })`
const ready = 'parentPort.postMessage("ready")'

const terminate = async (thread) => {
  await once(thread, 'message')
  await thread.terminate()
}
// Not by `once`, which rejects for the event `error`.
const exit = (thread) => new Promise((resolve) => thread.once('exit', resolve))
const ended = (expected) => async (thread) => {
  const code = await exit(thread)
  if (code !== expected) throw new Error(`a worker ended with ${code} and not ${expected}`)
}

/** What a worker does, and how it ends. */
const lives = {
  waiting: [`${connected}; globalThis.waiting = shared.lock(); ${ready}`, terminate],
  holding: [`${holding}; ${ready}`, terminate],
  listening: [`${listening}; ${ready}`, terminate],
  blocked: [`${holding}; ${ready}; for (;;);`, terminate],
  serving: [
    `globalThis.server = await startTestServer()
     globalThis.there = await connect(server.hosts)
     globalThis.heldThere = await there.mutex('/locks/a').lock()
     ${holding}
     ${ready}`,
    terminate
  ],
  // Terminated wherever it is.
  busy: [
    `${connected}
     ${ready}
     for (;;) {
       await Promise.all([own.withLock(() => {}), own.withLock(() => {}), shared.tryLock()])
     }`,
    async (thread, round) => {
      await once(thread, 'message')
      await sleep(round % 5)
      await thread.terminate()
    }
  ],
  // Terminated while it loads the package or connects.
  early: [
    `globalThis.held = await (await connect(hosts, { exclusive })).mutex(ownPath).lock()`,
    async (thread, round) => {
      await once(thread, 'online')
      await sleep(round % 12)
      await thread.terminate()
    }
  ],
  finished: [
    `${connected}
     await own.withLock(() => shared.tryLock())
     await session.close()`,
    ended(0)
  ],
  idle: [`${connected}; globalThis.held = await own.lock()`, ended(0)],
  exiting: [`${holding}; process.exit(7)`, ended(7)],
  throwing: [
    `${holding}; throw new Error('business')`,
    async (thread) => {
      let failure
      thread.on('error', (error) => (failure = error))
      await ended(1)(thread)
      if (failure?.message !== 'business') throw new Error(`another failure: ${failure}`)
    }
  ]
}

let number = 0

async function live(source, end, round) {
  const data = { hosts, path: '/locks/main', ownPath: `/locks/worker-${++number}`, exclusive: round % 3 === 0 }
  const thread = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads')
     const { connect, setLogger, startTestServer } = require(${JSON.stringify(index)})
     const { hosts, path, ownPath, exclusive } = workerData
     ;(async () => { ${source} })()`,
    { eval: true, workerData: data }
  )
  thread.on('error', () => {})
  await end(thread, round)
}

async function storm(rounds) {
  const left = []
  for (let round = 0; round < rounds; round++) {
    for (const [source, end] of Object.values(lives)) left.push(() => live(source, end, round))
  }
  const total = left.length
  const lane = async () => {
    for (let next; (next = left.shift()); ) await next()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  return total
}

const used = () => {
  global.gc()
  return {
    files: readdirSync('/proc/self/fd').length,
    threads: readdirSync('/proc/self/task').length,
    megabytes: Math.round(process.memoryUsage.rss() / 2 ** 20)
  }
}

/** Waits for what has no event of its own. */
async function eventually(condition, complaint) {
  const until = performance.now() + 20000
  while (!condition()) {
    if (performance.now() > until) throw new Error(complaint())
    await sleep(10)
  }
}

/** Nothing is left at the server but the main thread's lock. */
async function settled() {
  const nodes = () => server.sessions().map(({ ephemerals }) => ephemerals)
  await eventually(
    () => server.sessions().length === 1 && String(nodes()) === held.nodePath,
    () => `left at the server: ${JSON.stringify(nodes())}`
  )
}

const session = await connect(hosts)
const mutex = session.reentrantMutex('/locks/main')
const held = await mutex.lock()

await storm(2)
await settled()
const before = used()
const workers = await storm(times)
await settled()
// Threads that resolve names end a second after their last use.
let after
await eventually(
  () => {
    after = used()
    return after.files <= before.files && after.threads <= before.threads
  },
  () => `left in the process: ${JSON.stringify({ before, after })}`
)

const wentOn = held.held
await held.release()
await mutex.withLock(() => {})
await session.close()
console.log(JSON.stringify({ workers, wentOn, before, after }))
await server.stop()
