-- +goose Up
-- Imports and what each added, so that it can be taken back. What was there already is not in it.
CREATE TABLE imports (
    num       INTEGER PRIMARY KEY AUTOINCREMENT,
    id        TEXT NOT NULL UNIQUE,
    source    TEXT NOT NULL,               -- what was read, in the caller's words
    agent_id  TEXT NOT NULL,
    stored    INTEGER NOT NULL,            -- how many it added
    at        INTEGER NOT NULL,            -- times are Unix milliseconds
    undone_at INTEGER
) STRICT;

-- Rows go as their memories are taken back.
CREATE TABLE imported (
    num       INTEGER PRIMARY KEY AUTOINCREMENT,
    import_id TEXT NOT NULL,
    kind      TEXT NOT NULL,
    ref       TEXT NOT NULL,               -- what the memory is known by among its kind
    mark      TEXT NOT NULL                -- a hash of how it was stored: one that was changed or used since has another
) STRICT;
CREATE INDEX imported_import ON imported(import_id, num);

-- +goose Down
DROP TABLE imported;
DROP TABLE imports;
