//! What the stores have in common.

/// The shop's tables. Every write brings the fencing token of the lock that it is made under.
pub trait Store {
    /// Stores an order; false if it is stored already.
    fn place(
        &mut self,
        order: &str,
        customer: &str,
        item: &str,
        token: i64,
    ) -> Result<bool, StoreError>;

    /// Bills every customer; false if the batch was done before.
    fn bill(&mut self, batch: &str, token: i64) -> Result<bool, StoreError>;
}

/// Why a write did not happen.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database has seen a higher token: another holder came after us.
    #[error("refused: a later holder has written, and token {token} is old")]
    Stale { token: i64 },
    #[error("{0}")]
    Database(String),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        StoreError::Database(error.to_string())
    }
}

impl From<postgres::Error> for StoreError {
    fn from(error: postgres::Error) -> StoreError {
        StoreError::Database(error.to_string())
    }
}
