// The uncontended cycle in Node: cycle.mjs HOSTS LOCK_PATH.
// For each number on standard input, that many cycles, and one line of times (nanoseconds) and fencing tokens.

import { createInterface } from 'node:readline'

import { connect } from 'zoolock'

const [hosts, path] = process.argv.slice(2)
const session = await connect(hosts)
const mutex = session.mutex(path)
console.log('ready')

for await (const line of createInterface({ input: process.stdin })) {
  const nanos = []
  const tokens = []
  for (let left = Number(line); left > 0; left--) {
    const start = process.hrtime.bigint()
    const held = await mutex.lock()
    tokens.push(held.fencingToken)
    await held.release()
    nanos.push(process.hrtime.bigint() - start)
  }
  console.log(`{"nanos":[${nanos}],"tokens":[${tokens}]}`)
}
await session.close()
