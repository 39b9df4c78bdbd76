// An order service: one order of a user at a time, on however many instances it runs.
//
//     node order-service.mjs USER ITEM
//
// Tries for 3 seconds to get the user's lock, and says "order in progress" if somebody else has it.
// That is no answer to an outage, which is told apart. The servers come from ZOOLOCK_HOSTS, the directory of orders from ORDERS_DIR.

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, LockTimeoutError, UnavailableError } from 'zoolock'

const PATIENCE_MS = 3000

class OrderInProgressError extends Error {}

class OrderService {
  #session
  #directory

  constructor(session, directory) {
    this.#session = session
    this.#directory = directory
  }

  /**
   * Places an order; its fencing token. Rejects OrderInProgressError, UnavailableError, or
   * LockLostError.
   */
  async place(user, item) {
    const mutex = this.#session.mutex(`/locks/order/${user}`)
    try {
      return await mutex.withLock({ timeoutMs: PATIENCE_MS }, (held) =>
        this.#store(user, item, held)
      )
    } catch (error) {
      if (!(error instanceof LockTimeoutError)) throw error
      if (error.cause instanceof UnavailableError) throw error.cause
      throw new OrderInProgressError(user, { cause: error })
    }
  }

  // A database would refuse an old token in the same statement that stores the order: whoever was
  // stopped, and continued after others had the lock, must change nothing.
  async #store(user, item, held) {
    await mkdir(this.#directory, { recursive: true })
    const file = join(this.#directory, `${user}.json`)
    const orders = await readOrders(file)
    if (orders.some(({ token }) => BigInt(token) >= held.fencingToken)) {
      throw new Error('a later order of the user was placed meanwhile')
    }
    orders.push({ item, token: String(held.fencingToken) })
    await writeFile(`${file}.new`, JSON.stringify(orders))
    held.ensureHeld()
    await rename(`${file}.new`, file)
    return held.fencingToken
  }
}

async function readOrders(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

async function main(user, item) {
  const session = await connect()
  try {
    const orders = new OrderService(session, process.env.ORDERS_DIR ?? 'orders')
    console.log(`order placed, token ${await orders.place(user, item)}`)
  } finally {
    await session.close()
  }
}

const args = process.argv.slice(2)
if (args.length !== 2) {
  console.error('usage: order-service.mjs USER ITEM')
  process.exit(2)
}
try {
  await main(...args)
} catch (error) {
  process.exitCode = 1
  if (error instanceof OrderInProgressError) console.log('order in progress')
  else if (error instanceof UnavailableError) console.error(error.message)
  else throw error
}
