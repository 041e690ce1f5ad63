-- +goose Up
CREATE TABLE knowledge (
    num          INTEGER PRIMARY KEY AUTOINCREMENT, -- order of first storing; the index is rebuilt in this order
    id           TEXT NOT NULL UNIQUE,
    category     TEXT NOT NULL,
    title        TEXT NOT NULL,
    content      TEXT NOT NULL,
    tags         TEXT NOT NULL DEFAULT '[]', -- JSON array
    source       TEXT NOT NULL DEFAULT '',
    agent_id     TEXT NOT NULL DEFAULT '',
    project      TEXT NOT NULL DEFAULT '',
    trust        TEXT NOT NULL,
    content_hash BLOB NOT NULL,              -- of the normalised title and content, within a project
    use_count    INTEGER NOT NULL DEFAULT 0,
    last_used    INTEGER,                    -- times are Unix milliseconds
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX knowledge_category ON knowledge(category);
CREATE INDEX knowledge_project ON knowledge(project);
CREATE INDEX knowledge_hash ON knowledge(content_hash);

CREATE TABLE episodes (
    num        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL,
    agent_id   TEXT NOT NULL,
    event_type TEXT NOT NULL CHECK (event_type IN ('action', 'error', 'decision', 'outcome')),
    title      TEXT NOT NULL,
    content    TEXT NOT NULL,
    project    TEXT NOT NULL DEFAULT '',
    importance REAL NOT NULL DEFAULT 0.5 CHECK (importance BETWEEN 0 AND 1),
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX episodes_session ON episodes(session_id, num);
CREATE INDEX episodes_agent ON episodes(agent_id, num);
CREATE INDEX episodes_project ON episodes(project, num);
CREATE INDEX episodes_time ON episodes(created_at);

CREATE TABLE events (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    type     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    agent_id TEXT NOT NULL DEFAULT '',
    project  TEXT NOT NULL DEFAULT '',
    at       INTEGER NOT NULL,
    data     TEXT
) STRICT;

-- +goose Down
DROP TABLE events;
DROP TABLE episodes;
DROP TABLE knowledge;
