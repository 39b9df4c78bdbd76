//! The shop's tables in PostgreSQL.

use postgres::{Client, IsolationLevel, NoTls, Transaction};

use crate::store::{Store, StoreError};

pub struct PostgresStore(Client);

impl PostgresStore {
    pub fn open(url: &str) -> Result<PostgresStore, StoreError> {
        Ok(PostgresStore(Client::connect(url, NoTls)?))
    }

    /// A transaction that is rolled back when it is dropped without a commit.
    fn transaction(&mut self) -> Result<Transaction<'_>, postgres::Error> {
        // READ COMMITTED is what the statements below are written for: one that has waited for
        // another transaction compares with what that one has committed. Under stricter levels it
        // fails with a serialization error instead, and writes nothing either.
        self.0
            .build_transaction()
            .isolation_level(IsolationLevel::ReadCommitted)
            .start()
    }
}

impl Store for PostgresStore {
    fn place(
        &mut self,
        order: &str,
        customer: &str,
        item: &str,
        token: i64,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.transaction()?;
        // First of all, in one statement: compare the token and leave it behind. The row stays locked
        // until the end of the transaction, so whatever is read after that, no older holder can
        // change any more.
        let claimed = transaction.execute(
            "INSERT INTO customers (name, fence) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET fence = excluded.fence
             WHERE customers.fence <= excluded.fence",
            &[&customer, &token],
        )?;
        if claimed == 0 {
            return Err(StoreError::Stale { token });
        }
        let stored = transaction.execute(
            "INSERT INTO orders (id, customer, item, token) VALUES ($1, $2, $3, $4)
             ON CONFLICT (id) DO NOTHING",
            &[&order, &customer, &item, &token],
        )?;
        transaction.commit()?;
        Ok(stored == 1)
    }

    fn bill(&mut self, batch: &str, token: i64) -> Result<bool, StoreError> {
        let mut transaction = self.transaction()?;
        let claimed = transaction.execute(
            "UPDATE jobs SET fence = $1 WHERE name = 'billing' AND fence <= $1",
            &[&token],
        )?;
        if claimed == 0 {
            return Err(StoreError::Stale { token });
        }
        // The key and the work are committed together: both, or neither.
        let begun = transaction.execute(
            "INSERT INTO batches (name, token) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
            &[&batch, &token],
        )?;
        if begun == 1 {
            transaction.execute("UPDATE customers SET invoices = invoices + 1", &[])?;
        }
        transaction.commit()?;
        Ok(begun == 1)
    }
}
