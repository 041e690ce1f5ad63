-- +goose Up
CREATE TABLE agents (
    id           TEXT PRIMARY KEY,
    role         TEXT NOT NULL DEFAULT '',
    config_name  TEXT NOT NULL DEFAULT '',
    project      TEXT NOT NULL DEFAULT '',
    project_path TEXT NOT NULL DEFAULT '',
    model        TEXT NOT NULL DEFAULT '',
    pid          INTEGER NOT NULL DEFAULT 0,
    state        TEXT NOT NULL CHECK (state IN ('starting', 'online', 'stale', 'offline')),
    status       TEXT NOT NULL DEFAULT '',
    current_task TEXT NOT NULL DEFAULT '',
    progress     REAL NOT NULL DEFAULT 0,
    gone         INTEGER NOT NULL DEFAULT 0, -- 1: it said goodbye, so its next check-in is a new run
    stop_seq     INTEGER NOT NULL DEFAULT 0, -- the stop signal that is in force, 0 if none
    stop_pid     INTEGER NOT NULL DEFAULT 0, -- the process that was told to stop, 0 while unknown
    stop_reason  TEXT NOT NULL DEFAULT '',
    stop_expires INTEGER,
    joined_seq   INTEGER NOT NULL DEFAULT 0, -- broadcasts up to this one are not for it
    acked_seq    INTEGER NOT NULL DEFAULT 0, -- acknowledged up to and including this message
    read_seq     INTEGER NOT NULL DEFAULT 0,
    delivered_seq INTEGER NOT NULL DEFAULT 0, -- written to its stream up to and including this message
    started_at   INTEGER NOT NULL,           -- times are Unix milliseconds
    last_seen    INTEGER NOT NULL,
    created_at   INTEGER NOT NULL
) STRICT;

CREATE TABLE messages (
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT NOT NULL UNIQUE,
    from_agent      TEXT NOT NULL,
    to_agent        TEXT NOT NULL DEFAULT '', -- '' is a broadcast
    signal          TEXT NOT NULL,
    context         TEXT,
    priority        INTEGER NOT NULL DEFAULT 0,
    thread_id       TEXT NOT NULL DEFAULT '',
    ack_required    INTEGER NOT NULL DEFAULT 0,
    settled         INTEGER NOT NULL DEFAULT 0, -- 1: nobody's acknowledgement is awaited any more
    idempotency_key TEXT,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER
) STRICT;
CREATE INDEX messages_to ON messages(to_agent, seq);
CREATE INDEX messages_thread ON messages(thread_id, seq) WHERE thread_id <> '';
CREATE INDEX messages_awaited ON messages(to_agent, seq) WHERE ack_required = 1 AND settled = 0;
CREATE INDEX messages_stop ON messages(to_agent, seq) WHERE signal = 'stop';
CREATE UNIQUE INDEX messages_idempotency ON messages(from_agent, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- When an agent's cumulative marks moved: what was marked is every message of
-- its own up to and including seq that no earlier row covers.
CREATE TABLE marks (
    agent_id TEXT NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('delivered', 'read', 'acked')),
    seq      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (agent_id, kind, seq)
) STRICT, WITHOUT ROWID;

-- Marks on single messages beyond the cumulative ones.
CREATE TABLE receipts (
    agent_id     TEXT NOT NULL,
    seq          INTEGER NOT NULL REFERENCES messages(seq) ON DELETE CASCADE,
    delivered_at INTEGER,
    read_at      INTEGER,
    acked_at     INTEGER,
    PRIMARY KEY (agent_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipts_seq ON receipts(seq);

CREATE TABLE tasks (
    number         INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT NOT NULL UNIQUE,
    title          TEXT NOT NULL,
    description    TEXT NOT NULL DEFAULT '',
    project        TEXT NOT NULL DEFAULT '',
    status         TEXT NOT NULL CHECK (status IN ('pending', 'claimed', 'in_progress', 'blocked', 'completed', 'failed', 'cancelled')),
    agent_id       TEXT NOT NULL DEFAULT '',
    created_by     TEXT NOT NULL DEFAULT '',
    priority       INTEGER NOT NULL DEFAULT 0,
    progress       REAL NOT NULL DEFAULT 0,
    note           TEXT NOT NULL DEFAULT '',
    blocked_reason TEXT NOT NULL DEFAULT '',
    result         TEXT NOT NULL DEFAULT '',
    error          TEXT NOT NULL DEFAULT '',
    folded         TEXT NOT NULL DEFAULT '', -- title and description in lower case, for filters
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    claimed_at     INTEGER,
    finished_at    INTEGER
) STRICT;
CREATE INDEX tasks_status ON tasks(status, priority DESC, number);
CREATE INDEX tasks_agent ON tasks(agent_id, status);
CREATE INDEX tasks_project ON tasks(project, status);
CREATE INDEX tasks_updated ON tasks(updated_at);
CREATE INDEX tasks_open ON tasks(priority DESC, number) WHERE finished_at IS NULL;
CREATE INDEX tasks_finished ON tasks(finished_at DESC, number DESC) WHERE finished_at IS NOT NULL;

CREATE TABLE environments (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL COLLATE NOCASE UNIQUE,
    kind        TEXT NOT NULL DEFAULT '',
    description TEXT NOT NULL DEFAULT '',
    project     TEXT NOT NULL DEFAULT '',
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE scans (
    id             TEXT PRIMARY KEY,
    environment_id TEXT NOT NULL REFERENCES environments(id) ON DELETE CASCADE,
    scanner        TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('running', 'completed', 'failed')),
    summary        TEXT NOT NULL DEFAULT '',
    agent_id       TEXT NOT NULL DEFAULT '',
    started_at     INTEGER NOT NULL,
    finished_at    INTEGER
) STRICT;
CREATE INDEX scans_environment ON scans(environment_id, started_at);

CREATE TABLE findings (
    id             TEXT PRIMARY KEY,
    environment_id TEXT NOT NULL REFERENCES environments(id) ON DELETE CASCADE,
    scan_id        TEXT REFERENCES scans(id) ON DELETE SET NULL,
    fingerprint    TEXT NOT NULL, -- what makes it the same finding when it is seen again
    cve            TEXT NOT NULL DEFAULT '',
    title          TEXT NOT NULL,
    description    TEXT NOT NULL DEFAULT '',
    severity       TEXT NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low', 'info')),
    status         TEXT NOT NULL CHECK (status IN ('open', 'confirmed', 'fixed', 'accepted', 'false_positive')),
    location       TEXT NOT NULL DEFAULT '',
    evidence       TEXT NOT NULL DEFAULT '',
    remediation    TEXT NOT NULL DEFAULT '',
    severity_rank  INTEGER NOT NULL,         -- 0 is the worst, for the order of listings
    folded         TEXT NOT NULL DEFAULT '', -- title, CVE, description, location and evidence in lower case, for filters
    occurrences    INTEGER NOT NULL DEFAULT 1,
    first_seen     INTEGER NOT NULL,
    last_seen      INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    UNIQUE (environment_id, fingerprint)
) STRICT;
CREATE INDEX findings_counts ON findings(environment_id, status, severity);
CREATE INDEX findings_rank ON findings(severity_rank, last_seen DESC, id);
CREATE INDEX findings_scan ON findings(scan_id) WHERE scan_id IS NOT NULL;
CREATE INDEX findings_seen ON findings(last_seen);
CREATE INDEX findings_cve ON findings(cve) WHERE cve <> '';

CREATE TABLE finding_changes (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    finding_id  TEXT NOT NULL REFERENCES findings(id) ON DELETE CASCADE,
    at          INTEGER NOT NULL,
    agent_id    TEXT NOT NULL DEFAULT '',
    from_status TEXT NOT NULL DEFAULT '',
    to_status   TEXT NOT NULL,
    note        TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX finding_changes_finding ON finding_changes(finding_id, seq);

CREATE TABLE tokens (
    id         TEXT PRIMARY KEY,
    digest     BLOB NOT NULL UNIQUE, -- SHA-256 of the secret, which has 256 random bits
    agent_id   TEXT NOT NULL DEFAULT '',
    scopes     TEXT NOT NULL,        -- JSON array
    note       TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT;

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
DROP TABLE tokens;
DROP TABLE finding_changes;
DROP TABLE findings;
DROP TABLE scans;
DROP TABLE environments;
DROP TABLE tasks;
DROP TABLE receipts;
DROP TABLE marks;
DROP TABLE messages;
DROP TABLE agents;
