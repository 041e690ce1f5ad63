-- +goose Up
CREATE TABLE facts (
    version       INTEGER PRIMARY KEY AUTOINCREMENT, -- a new one with each write of a key, and never one twice
    persona       TEXT NOT NULL,
    key           TEXT NOT NULL,
    category      TEXT NOT NULL,
    value         TEXT NOT NULL CHECK (json_valid(value)),
    ttl           INTEGER NOT NULL CHECK (ttl >= 0), -- seconds; 0: for ever
    expires_at    INTEGER,                           -- times are Unix milliseconds
    expired       INTEGER NOT NULL DEFAULT 0 CHECK (expired IN (0, 1)), -- its event has been written
    probe         TEXT NOT NULL DEFAULT '',
    source        TEXT NOT NULL DEFAULT '',
    agent_id      TEXT NOT NULL DEFAULT '',
    trust         TEXT NOT NULL,
    access_count  INTEGER NOT NULL DEFAULT 0,
    last_accessed INTEGER,
    cached_at     INTEGER NOT NULL,                  -- when the value was stored
    created_at    INTEGER NOT NULL,                  -- when the key was first stored
    updated_at    INTEGER NOT NULL,
    UNIQUE (persona, key),
    CHECK ((ttl = 0) = (expires_at IS NULL))
) STRICT;
CREATE INDEX facts_listed ON facts(persona, category, key, expires_at); -- a search by category reads nothing else
CREATE INDEX facts_keys ON facts(persona, key, category, expires_at);
CREATE INDEX facts_due ON facts(expires_at) WHERE expired = 0 AND expires_at IS NOT NULL;
CREATE INDEX facts_kept ON facts(expires_at) WHERE expired = 1;

-- +goose Down
DROP TABLE facts;
