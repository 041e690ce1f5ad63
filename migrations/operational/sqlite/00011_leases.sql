-- +goose Up
-- Leases say who works on which files of a project. When a holder was heard of last is known of the agent, so that
-- a heartbeat writes nothing here.
CREATE TABLE leases (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id    TEXT NOT NULL,
    project     TEXT NOT NULL,
    patterns    TEXT NOT NULL,            -- a JSON list
    shared      INTEGER NOT NULL,
    why         TEXT NOT NULL,
    folder      TEXT NOT NULL,
    ttl_seconds INTEGER NOT NULL,
    taken_at    INTEGER NOT NULL,
    renewed_at  INTEGER NOT NULL,
    ended_at    INTEGER,                  -- NULL: it is held
    ended       TEXT NOT NULL DEFAULT '',
    ended_by    TEXT NOT NULL DEFAULT '',
    told        INTEGER NOT NULL DEFAULT 0 -- its holder was told that it ended
) STRICT;
CREATE INDEX leases_ended ON leases(ended_at);

-- +goose Down
DROP TABLE leases;
