-- +goose Up
-- Tellings are what the router told agents by itself, and failures that it was told of, known or not.
CREATE TABLE tellings (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id   TEXT NOT NULL DEFAULT '',
    project    TEXT NOT NULL DEFAULT '',
    session_id TEXT NOT NULL DEFAULT '', -- the agent's own
    moment     TEXT NOT NULL CHECK (moment IN ('start', 'prompt', 'failure', 'asked')),
    about      TEXT NOT NULL DEFAULT '', -- of a failure: the command, without secrets
    items      TEXT NOT NULL,            -- a JSON list
    tokens     INTEGER NOT NULL,
    at         INTEGER NOT NULL          -- Unix milliseconds
) STRICT;
CREATE INDEX tellings_agent ON tellings(agent_id, number);

-- +goose Down
DROP TABLE tellings;
