// The workloads in Node: zoolock.mjs HOSTS LOCK_PATH.
// Obeys commands on standard input, one a line, and answers each with one line of JSON. See the README for the commands.

import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

import { connect } from 'zoolock'

const [hosts, path] = process.argv.slice(2)
const now = () => process.hrtime.bigint()
const session = await connect(hosts)
const mutex = session.mutex(path)
// Longer than others' blocks take.
const keeping = session.mutex(path, { keepMs: 3_600_000 })
const mutexes = new Map()
const objects = []
let waiters = []

const cycle = async (mutex) => {
  const held = await mutex.lock()
  await held.release()
  return held.fencingToken
}

const wait = async () => {
  const held = await mutex.lock()
  const granted = now()
  await held.release()
  return { granted, token: held.fencingToken }
}

const commands = {
  async cycles(count) {
    const nanos = []
    const tokens = []
    for (let left = count; left > 0; left--) {
      const start = now()
      tokens.push(await cycle(mutex))
      nanos.push(now() - start)
    }
    return { nanos, tokens }
  },

  async kept(count) {
    const nanos = []
    const acquires = []
    const tokens = []
    for (let left = count; left > 0; left--) {
      const start = now()
      const held = await keeping.lock()
      const acquired = now()
      await held.release()
      nanos.push(now() - start)
      acquires.push(acquired - start)
      tokens.push([held.fencingToken, held.grantCount])
    }
    return { nanos, acquires, tokens }
  },

  async paths(paths, cycles) {
    for (let number = 0; number < paths; number++) {
      if (!mutexes.has(number)) mutexes.set(number, session.mutex(`${path}/${number}`))
    }
    const one = async (mutex) => {
      const tokens = []
      for (let left = cycles; left > 0; left--) tokens.push(await cycle(mutex))
      return tokens
    }
    const start = now()
    const tokens = await Promise.all([...mutexes.values()].slice(0, paths).map(one))
    return { nanos: now() - start, tokens }
  },

  async share(millis, pauseMicros) {
    const answer = { begins: [], grants: [], releases: [], tokens: [] }
    const end = now() + BigInt(millis) * 1_000_000n
    while (now() < end) {
      answer.begins.push(now())
      const held = await mutex.lock()
      answer.grants.push(now())
      answer.tokens.push(held.fencingToken)
      if (pauseMicros > 0) await pause(pauseMicros / 1000)
      answer.releases.push(now())
      await held.release()
    }
    return answer
  },

  async queue(count) {
    waiters = Array.from({ length: count }, wait)
    return { queued: count }
  },

  // As many functions that wait for something else.
  async objects(count) {
    const waiting = async () => {
      const resolve = await new Promise((resolve) => objects.push(resolve))
      return { granted: now(), token: resolve }
    }
    for (let left = count; left > 0; left--) objects.push(waiting())
    return { queued: count }
  },

  async drain() {
    const start = now()
    const got = await Promise.all(waiters)
    waiters = []
    got.sort((a, b) => (a.granted < b.granted ? -1 : 1))
    return { nanos: now() - start, tokens: got.map((one) => one.token) }
  },
}

// Tokens and times are more than a double holds.
const json = (value) => {
  if (Array.isArray(value)) return `[${value.map(json)}]`
  if (typeof value !== 'object') return String(value)
  return `{${Object.entries(value).map(([name, part]) => `"${name}":${json(part)}`)}}`
}

console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...words] = line.split(' ')
  console.log(json(await commands[name](...words.map(Number))))
}
await session.close()
