// A job that a scheduler starts on several instances and that one of them does.
//
//     node scheduled-job.mjs BATCH
//
// Waits 10 seconds (or JOB_PATIENCE_MS) for the lock, else skips the round; that ZooKeeper cannot be
// reached is a failure. The servers come from ZOOLOCK_HOSTS, the directory of what is done from
// JOBS_DIR. A batch is done once, whoever comes when: its name is unique there.

import { access, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, LockTimeoutError, UnavailableError } from 'zoolock'

const patienceMs = Number(process.env.JOB_PATIENCE_MS ?? 10_000)
const directory = process.env.JOBS_DIR ?? 'jobs'

/** Does the batch; false if it was done before. */
async function run(batch, held) {
  await mkdir(directory, { recursive: true })
  const done = join(directory, batch)
  if (await exists(done)) return false
  for (let step = 0; step < 10; step++) {
    // Every step ends early if the lock is lost: with an AbortError, whose cause is the signal's
    // reason, a LockLostError.
    await delay(1, undefined, { signal: held.signal })
    held.ensureHeld()
  }
  await writeFile(done, String(held.fencingToken), { flag: 'wx' })
  return true
}

async function exists(file) {
  return await access(file).then(
    () => true,
    () => false
  )
}

async function main(batch) {
  const session = await connect()
  try {
    const did = await session
      .mutex('/locks/job/nightly')
      .withLock({ timeoutMs: patienceMs }, (held) => run(batch, held))
    console.log(did ? 'done' : 'was done before')
  } catch (error) {
    if (!(error instanceof LockTimeoutError)) throw error
    if (error.cause instanceof UnavailableError) throw error.cause
    console.log('skipped: another instance is at it')
  } finally {
    await session.close()
  }
}

const args = process.argv.slice(2)
if (args.length !== 1) {
  console.error('usage: scheduled-job.mjs BATCH')
  process.exit(2)
}
try {
  await main(...args)
} catch (error) {
  if (!(error instanceof UnavailableError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
