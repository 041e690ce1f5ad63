-- +goose Up
-- The passphrase by which a person is known: one row, or none while none was ever set.
CREATE TABLE passphrase (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    hash     TEXT NOT NULL, -- argon2id; empty: none is set
    set_at   INTEGER,
    reset_at INTEGER,       -- when one was given up that was lost
    may_stop INTEGER NOT NULL CHECK (may_stop IN (0, 1)) -- a person agreed that agents_may_stop has effect
) STRICT;

-- +goose Down
DROP TABLE passphrase;
