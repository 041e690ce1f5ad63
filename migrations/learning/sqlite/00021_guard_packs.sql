-- +goose Up
-- What a captain said of the guard's packs. A pack without a row is in the mode that the program gives it.
CREATE TABLE guard_packs (
    name TEXT PRIMARY KEY,
    mode TEXT NOT NULL CHECK (mode IN ('off', 'warn', 'block')),
    changed_by TEXT NOT NULL DEFAULT '',
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE guard_packs;
