-- The tables of the shop, for SQLite and PostgreSQL.
--
-- `fence` is the highest fencing token that has written here. Whoever comes with a lower one is a holder that has
-- lost its lock, whether it knows that or not.

CREATE TABLE customers (
    name TEXT PRIMARY KEY,
    invoices BIGINT NOT NULL DEFAULT 0,
    fence BIGINT NOT NULL
);

-- The client that orders chooses the key, so that it can send an order again when no answer came.
CREATE TABLE orders (
    id TEXT PRIMARY KEY,
    customer TEXT NOT NULL REFERENCES customers (name),
    item TEXT NOT NULL,
    token BIGINT NOT NULL
);

CREATE TABLE jobs (
    name TEXT PRIMARY KEY,
    fence BIGINT NOT NULL DEFAULT 0
);

-- A batch is done once, whoever runs it, and when.
CREATE TABLE batches (
    name TEXT PRIMARY KEY,
    token BIGINT NOT NULL
);

INSERT INTO jobs (name) VALUES ('billing');
