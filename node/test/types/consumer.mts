// Compiled, never run: a program in ECMAScript modules.

import zoolock, { connect, setLogger, type LockStatistics, type LogRecord } from 'zoolock'
import * as everything from 'zoolock'

setLogger(({ level, message, fields, time }: LogRecord) => console[level](time, message, fields))
setLogger(null)
setLogger((record) => console.log(record.target), { level: 'debug' })
// @ts-expect-error there is no such level
setLogger(console.log, { level: 'verbose' })

export async function counted(): Promise<LockStatistics> {
  await using session = await connect()
  // The classes are the same, however they are reached.
  const owner: everything.Owner = new zoolock.Owner()
  const lock = session.rwLock('/locks/a')
  await lock.read.withLock({ owner }, (held) => held.signal.throwIfAborted())
  const { acquisitions, waitedMs }: LockStatistics = lock.read.statistics()
  console.log(acquisitions + waitedMs, session.mutex('/locks/a').statistics().heldMs)
  return lock.statistics()
}
