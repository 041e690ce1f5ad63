-- +goose Up
-- What was before a change that can be taken back: a delete keeps its rows here, all others the columns that they changed. It is purged after 30 days.
CREATE TABLE changes (
    num       INTEGER PRIMARY KEY AUTOINCREMENT,
    operation TEXT NOT NULL CHECK (operation IN ('delete', 'edit', 'merge', 'retire', 'decline', 'accept')),
    kind      TEXT NOT NULL,
    ref       TEXT NOT NULL,               -- what the memory is known by among its kind
    title     TEXT NOT NULL,
    project   TEXT NOT NULL,
    by_agent  TEXT NOT NULL,               -- who made it; a person begins with @
    author    TEXT NOT NULL,               -- who wrote the memory
    row_number TEXT NOT NULL,               -- that people may call it by; empty: none
    at        INTEGER NOT NULL,            -- Unix milliseconds
    rows_before TEXT NOT NULL CHECK (json_valid(rows_before)) -- a JSON list of learning.RowWas
) STRICT;
CREATE INDEX changes_of ON changes(kind, ref);
CREATE INDEX changes_by ON changes(by_agent, num);
CREATE INDEX changes_at ON changes(at);

-- +goose Down
DROP TABLE changes;
