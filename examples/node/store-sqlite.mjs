// The shop's tables in SQLite. Every write brings the fencing token of the lock that it is made under.
//
// node:sqlite needs Node 22.13 or newer. On Node 20 the package better-sqlite3, version 12, has the
// same `exec` and `prepare(…).run(…)`.

import { DatabaseSync } from 'node:sqlite'
import { StaleTokenError } from './stale.mjs'

export class SqliteStore {
  #database

  constructor(file) {
    this.#database = new DatabaseSync(file)
    // How long to wait for another writer. The wait blocks the event loop: with many writers, use a
    // worker thread, or PostgreSQL.
    this.#database.exec('PRAGMA busy_timeout = 10000')
    this.#database.exec('PRAGMA foreign_keys = ON')
  }

  #transaction(write) {
    // IMMEDIATE takes the write lock before anything is read. A transaction that reads first and
    // writes later fails with SQLITE_BUSY if somebody wrote in between.
    this.#database.exec('BEGIN IMMEDIATE')
    let result
    try {
      result = write()
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    }
    this.#database.exec('COMMIT')
    return result
  }

  /** How many rows a statement changed. */
  #run(statement, ...values) {
    return Number(this.#database.prepare(statement).run(...values).changes)
  }

  /** Stores an order; false if it is stored already. Rejects with `StaleTokenError`. */
  async place(order, customer, item, token) {
    return this.#transaction(() => {
      // First of all, in one statement: compare the token and leave it behind. Whatever this
      // transaction reads after that, no older holder can change any more.
      const claimed = this.#run(
        `INSERT INTO customers (name, fence) VALUES (?, ?)
         ON CONFLICT (name) DO UPDATE SET fence = excluded.fence
         WHERE customers.fence <= excluded.fence`,
        customer,
        token
      )
      if (claimed === 0) throw new StaleTokenError(token)
      const stored = this.#run(
        `INSERT INTO orders (id, customer, item, token) VALUES (?, ?, ?, ?)
         ON CONFLICT (id) DO NOTHING`,
        order,
        customer,
        item,
        token
      )
      return stored === 1
    })
  }

  /** Bills every customer; false if the batch was done before. Rejects with `StaleTokenError`. */
  async bill(batch, token) {
    return this.#transaction(() => {
      const claimed = this.#run(
        `UPDATE jobs SET fence = ? WHERE name = 'billing' AND fence <= ?`,
        token,
        token
      )
      if (claimed === 0) throw new StaleTokenError(token)
      // The key and the work are committed together: both, or neither.
      const begun = this.#run(
        'INSERT INTO batches (name, token) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
        batch,
        token
      )
      if (begun === 0) return false
      this.#run('UPDATE customers SET invoices = invoices + 1')
      return true
    })
  }

  async close() {
    this.#database.close()
  }
}
