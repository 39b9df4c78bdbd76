/** The database has seen a higher token: another holder came after us. Nothing was written. */
export class StaleTokenError extends Error {
  constructor(token) {
    super(`refused: a later holder has written, and token ${token} is old`)
  }
}
