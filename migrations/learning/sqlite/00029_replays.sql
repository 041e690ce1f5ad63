-- +goose Up
-- The replay of somebody's records that was handed over last, to be looked at.
CREATE TABLE replays (
    name TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE replays;
