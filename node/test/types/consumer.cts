// Compiled, never run: a program in CommonJS.

import zoolock = require('zoolock')
import { LockLostError, type Guard } from 'zoolock'

export async function stamp(held: Guard): Promise<bigint> {
  const session: zoolock.Session = await zoolock.connect('127.0.0.1:2181')
  const same: typeof LockLostError = zoolock.LockLostError
  try {
    held.ensureHeld()
  } catch (error) {
    if (error instanceof same) console.log(error.path, error.cause)
    else throw error
  }
  await session.close()
  return held.fencingToken
}
