//! The shop's tables in SQLite.

use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::store::{Store, StoreError};

pub struct SqliteStore(Connection);

impl SqliteStore {
    pub fn open(file: &str) -> Result<SqliteStore, StoreError> {
        let database = Connection::open(file)?;
        // How long to wait for another writer.
        database.busy_timeout(Duration::from_secs(10))?;
        database.pragma_update(None, "foreign_keys", true)?;
        Ok(SqliteStore(database))
    }

    /// A transaction that is rolled back when it is dropped without a commit.
    fn transaction(&mut self) -> rusqlite::Result<Transaction<'_>> {
        // IMMEDIATE takes the write lock before anything is read. A transaction that reads first and
        // writes later fails with SQLITE_BUSY if somebody wrote in between.
        self.0
            .transaction_with_behavior(TransactionBehavior::Immediate)
    }
}

impl Store for SqliteStore {
    fn place(
        &mut self,
        order: &str,
        customer: &str,
        item: &str,
        token: i64,
    ) -> Result<bool, StoreError> {
        let transaction = self.transaction()?;
        // First of all, in one statement: compare the token and leave it behind. Whatever this
        // transaction reads after that, no older holder can change any more.
        let claimed = transaction.execute(
            "INSERT INTO customers (name, fence) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET fence = excluded.fence
             WHERE customers.fence <= excluded.fence",
            params![customer, token],
        )?;
        if claimed == 0 {
            return Err(StoreError::Stale { token });
        }
        let stored = transaction.execute(
            "INSERT INTO orders (id, customer, item, token) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (id) DO NOTHING",
            params![order, customer, item, token],
        )?;
        transaction.commit()?;
        Ok(stored == 1)
    }

    fn bill(&mut self, batch: &str, token: i64) -> Result<bool, StoreError> {
        let transaction = self.transaction()?;
        let claimed = transaction.execute(
            "UPDATE jobs SET fence = ?1 WHERE name = 'billing' AND fence <= ?1",
            params![token],
        )?;
        if claimed == 0 {
            return Err(StoreError::Stale { token });
        }
        // The key and the work are committed together: both, or neither.
        let begun = transaction.execute(
            "INSERT INTO batches (name, token) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING",
            params![batch, token],
        )?;
        if begun == 1 {
            transaction.execute("UPDATE customers SET invoices = invoices + 1", [])?;
        }
        transaction.commit()?;
        Ok(begun == 1)
    }
}
