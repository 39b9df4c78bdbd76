// A shop on several instances: orders of a customer one at a time, and a billing job done once.
//
//     node shop.mjs place ORDER CUSTOMER ITEM
//     node shop.mjs bill BATCH
//
// The servers come from ZOOLOCK_HOSTS, the database from SHOP_DB: a PostgreSQL URL, or SQLite's file.
// The lock keeps instances apart. The database refuses one that has lost its lock without knowing:
// see the stores.

import { connect, LockLostError, LockTimeoutError, UnavailableError } from 'zoolock'
import { StaleTokenError } from './stale.mjs'

/** How long a customer waits for an order of theirs that is being placed elsewhere. */
const ORDER_PATIENCE_MS = 3000
/** After this an instance leaves a round to another. */
const JOB_PATIENCE_MS = 10_000

/** Somebody else had the lock for the whole time. */
class BusyError extends Error {}

// Imported here, so that one needs only the driver of the database that one has.
async function openStore(database) {
  if (database.startsWith('postgresql://')) {
    const { PostgresStore } = await import('./store-postgres.mjs')
    return new PostgresStore(database)
  }
  const { SqliteStore } = await import('./store-sqlite.mjs')
  return new SqliteStore(database)
}

/** Runs `write` with a fencing token; what it resolves to. */
async function underLock(mutex, timeoutMs, write) {
  let wrote
  try {
    await mutex.withLock({ timeoutMs }, async (held) => {
      wrote = await write(held.fencingToken)
    })
  } catch (error) {
    if (error instanceof LockTimeoutError) {
      // An outage is not somebody else's lock.
      if (error.cause instanceof UnavailableError) throw error.cause
      throw new BusyError('busy', { cause: error })
    }
    // Told at the end, when `write` has resolved. The database had the last word: it took the token,
    // so what it committed stands. Work that no fence guards would have to stop at the loss: see
    // `held.signal`.
    if (!(error instanceof LockLostError)) throw error
  }
  return wrote
}

async function place(session, store, order, customer, item) {
  const placed = await underLock(
    session.mutex(`/locks/order/${customer}`),
    ORDER_PATIENCE_MS,
    (token) => store.place(order, customer, item, token)
  )
  console.log(placed ? 'order placed' : 'was placed before')
}

async function bill(session, store, batch) {
  const done = await underLock(session.mutex('/locks/job/billing'), JOB_PATIENCE_MS, (token) =>
    store.bill(batch, token)
  )
  console.log(done ? 'done' : 'was done before')
}

async function main(command, args) {
  const store = await openStore(process.env.SHOP_DB ?? 'shop.db')
  try {
    const session = await connect()
    try {
      await (command === 'place' ? place : bill)(session, store, ...args)
    } finally {
      await session.close()
    }
  } finally {
    await store.close()
  }
}

const [command, ...args] = process.argv.slice(2)
// A slash would make a lock path of the name.
const isPlace = command === 'place' && args.length === 3 && !args[1].includes('/')
if (!isPlace && !(command === 'bill' && args.length === 1)) {
  console.error('usage: shop.mjs place ORDER CUSTOMER ITEM | bill BATCH')
  process.exit(2)
}
try {
  await main(command, args)
} catch (error) {
  if (error instanceof BusyError) {
    console.log(command === 'place' ? 'order in progress' : 'skipped: another instance is at it')
    process.exitCode = command === 'place' ? 1 : 0
  } else if (error instanceof StaleTokenError) {
    console.error(error.message)
    process.exitCode = 3
  } else if (error instanceof UnavailableError) {
    console.error(error.message)
    process.exitCode = 1
  } else throw error
}
