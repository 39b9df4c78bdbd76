// The shop's tables in PostgreSQL. Every write brings the fencing token of the lock that it is made under.

import pg from 'pg'
import { StaleTokenError } from './stale.mjs'

export class PostgresStore {
  #pool

  constructor(url) {
    this.#pool = new pg.Pool({ connectionString: url })
  }

  // A transaction has a connection of its own: `pool.query` would send each statement on any.
  async #transaction(write) {
    const client = await this.#pool.connect()
    let broken
    try {
      // READ COMMITTED is what the statements below are written for: one that has waited for another
      // transaction compares with what that one has committed. Under stricter levels it fails with a
      // serialization error instead, and writes nothing either.
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
      const result = await write(client)
      await client.query('COMMIT')
      return result
    } catch (error) {
      // A connection on which even that fails does not go back to the pool.
      await client.query('ROLLBACK').catch((reason) => (broken = reason))
      throw error
    } finally {
      client.release(broken)
    }
  }

  /** Stores an order; false if it is stored already. Rejects with `StaleTokenError`. */
  async place(order, customer, item, token) {
    return await this.#transaction(async (client) => {
      // First of all, in one statement: compare the token and leave it behind. The row stays locked
      // until the end of the transaction, so whatever is read after that, no older holder can change
      // any more.
      const claimed = await client.query(
        `INSERT INTO customers (name, fence) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET fence = excluded.fence
         WHERE customers.fence <= excluded.fence`,
        [customer, token]
      )
      if (claimed.rowCount === 0) throw new StaleTokenError(token)
      const stored = await client.query(
        `INSERT INTO orders (id, customer, item, token) VALUES ($1, $2, $3, $4)
         ON CONFLICT (id) DO NOTHING`,
        [order, customer, item, token]
      )
      return stored.rowCount === 1
    })
  }

  /** Bills every customer; false if the batch was done before. Rejects with `StaleTokenError`. */
  async bill(batch, token) {
    return await this.#transaction(async (client) => {
      const claimed = await client.query(
        `UPDATE jobs SET fence = $1 WHERE name = 'billing' AND fence <= $1`,
        [token]
      )
      if (claimed.rowCount === 0) throw new StaleTokenError(token)
      // The key and the work are committed together: both, or neither.
      const begun = await client.query(
        'INSERT INTO batches (name, token) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING',
        [batch, token]
      )
      if (begun.rowCount === 0) return false
      await client.query('UPDATE customers SET invoices = invoices + 1')
      return true
    })
  }

  async close() {
    await this.#pool.end()
  }
}
