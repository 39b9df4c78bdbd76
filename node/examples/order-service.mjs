// An order service: one order of a user at a time, on however many instances it runs.
//
//     node order-service.mjs USER ITEM
//
// Tries for 3 seconds to get the user's lock, and says "order in progress" if somebody else has it.
// The servers come from ZOOLOCK_HOSTS, the directory of orders from ORDERS_DIR.

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, LockTimeoutError } from 'zoolock'

const PATIENCE_MS = 3000

class OrderInProgressError extends Error {}

class OrderService {
  #session
  #directory

  constructor(session, directory) {
    this.#session = session
    this.#directory = directory
  }

  /** Places an order; its fencing token. Rejects OrderInProgressError, or LockLostError. */
  async place(user, item) {
    const mutex = this.#session.mutex(`/locks/order/${user}`)
    try {
      return await mutex.withLock({ timeoutMs: PATIENCE_MS }, (held) =>
        this.#store(user, item, held)
      )
    } catch (error) {
      if (error instanceof LockTimeoutError) throw new OrderInProgressError(user, { cause: error })
      throw error
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

const [user, item] = process.argv.slice(2)
const session = await connect()
try {
  const orders = new OrderService(session, process.env.ORDERS_DIR ?? 'orders')
  const token = await orders.place(user, item)
  console.log(`order placed, token ${token}`)
} catch (error) {
  if (!(error instanceof OrderInProgressError)) throw error
  console.log('order in progress')
  process.exitCode = 1
} finally {
  await session.close()
}
