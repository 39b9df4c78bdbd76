// Takes a lock again and again until it is told to stop, and reports each hold.
// worker.mjs HOSTS LOCK_PATH WITNESS; the time to stop comes on standard input.

import { readlinkSync, symlinkSync, unlinkSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { setTimeout as sleep } from 'node:timers/promises'

import { connect, LockLostError, LockTimeoutError } from 'zoolock'

const now = () => process.hrtime.bigint()

const [hosts, path, witness] = process.argv.slice(2)
const session = await connect(hosts)
const mutex = session.mutex(path)
console.log('ready')
const end = BigInt(await createInterface({ input: process.stdin }).question(''))

for (let asked = now(); asked < end; asked = now()) {
  let report
  try {
    await mutex.withLock({ timeoutMs: Number(end - asked) / 1e6 }, async (held) => {
      report = await work(held, asked)
    })
  } catch (error) {
    if (error instanceof LockTimeoutError) break
    if (!(error instanceof LockLostError)) throw error // of a loss the report tells too
  }
  console.log(report)
}
await session.close()

/** The critical section. Whoever is alone in it can make the witness, a link that names its holder's token. */
async function work (held, asked) {
  const entered = now()
  const token = held.fencingToken
  let met = 'none'
  try {
    symlinkSync(String(token), witness)
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    met = readlinkSync(witness)
  }
  await sleep(30 + Number(asked / 1000n % 100n))
  if (met === 'none') unlinkSync(witness)
  const left = now()
  const state = held.held ? 'held' : 'lost'
  return `hold token=${token} asked=${asked} entered=${entered} left=${left} state=${state} met=${met}`
}
