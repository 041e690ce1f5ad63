-- +goose Up
-- What kind of question a query to the router is, in somebody's word. One agent
-- has one word on one query; seq is the order in which they came.
CREATE TABLE query_feedback (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    query      TEXT NOT NULL,                 -- without secrets
    query_type TEXT NOT NULL CHECK (query_type IN ('knowledge', 'episode', 'operational', 'recon')),
    negated    INTEGER NOT NULL DEFAULT 0 CHECK (negated IN (0, 1)), -- it is not of that type
    note       TEXT NOT NULL DEFAULT '',
    agent_id   TEXT NOT NULL DEFAULT '',      -- empty: a captain
    created_at INTEGER NOT NULL,              -- Unix milliseconds
    UNIQUE (agent_id, query)
) STRICT;

-- +goose Down
DROP TABLE query_feedback;
