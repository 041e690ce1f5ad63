-- +goose Up
-- Rows of a log have a link, the hash of the link before it, of the row's number and of what it holds. NULL: the row is of
-- before there were any.
ALTER TABLE events ADD COLUMN link BLOB;
-- What the router signed of its chains.
CREATE TABLE ledger_marks (
    chain     TEXT NOT NULL,    -- the table whose rows are chained
    kind      TEXT NOT NULL CHECK (kind IN ('start', 'head', 'cut', 'forgotten')),
    number    INTEGER NOT NULL, -- of a row: the last of before the chain, the newest, the last that was removed for its age, one whose text was cut out
    hash      BLOB NOT NULL,    -- the row's link; of a forgotten one the hash of what it held
    since     BLOB,             -- of a forgotten one: the hash of what it holds since
    at        INTEGER NOT NULL,
    key       BLOB NOT NULL,    -- which key signed this
    signature BLOB NOT NULL,
    PRIMARY KEY (chain, kind, number)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE ledger_marks;
ALTER TABLE events DROP COLUMN link;
