-- +goose Up
CREATE TABLE escalations (
    num              INTEGER PRIMARY KEY AUTOINCREMENT,
    id               TEXT NOT NULL UNIQUE,
    lesson_id        TEXT NOT NULL DEFAULT '', -- of learning.db; one of the two is set
    pattern_id       TEXT NOT NULL DEFAULT '',
    title            TEXT NOT NULL,            -- this, the domain and the agent as they were when it was raised
    domain           TEXT NOT NULL DEFAULT '',
    source_agent     TEXT NOT NULL DEFAULT '',
    escalated_to     TEXT NOT NULL,
    reason           TEXT NOT NULL,
    priority         TEXT NOT NULL CHECK (priority IN ('critical', 'high', 'medium', 'low')),
    priority_rank    INTEGER NOT NULL,         -- 0 is the worst, for the order of listings
    status           TEXT NOT NULL CHECK (status IN ('pending', 'reviewed', 'resolved', 'dismissed')),
    occurrences      INTEGER NOT NULL DEFAULT 1,
    announced        INTEGER NOT NULL DEFAULT 0 CHECK (announced IN (0, 1)), -- 1: its message is in the mailbox
    reviewed_by      TEXT NOT NULL DEFAULT '',
    reviewed_at      INTEGER,                  -- times are Unix milliseconds
    review_notes     TEXT NOT NULL DEFAULT '',
    resolved_by      TEXT NOT NULL DEFAULT '', -- or dismissed by
    resolved_at      INTEGER,
    resolution_notes TEXT NOT NULL DEFAULT '',
    created_at       INTEGER NOT NULL,
    last_raised_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX escalations_matter ON escalations(lesson_id, pattern_id, escalated_to, reason, num);
-- A matter is open with an agent for a reason once.
CREATE UNIQUE INDEX escalations_open ON escalations(lesson_id, pattern_id, escalated_to, reason) WHERE status IN ('pending', 'reviewed');
CREATE INDEX escalations_status ON escalations(status, priority_rank, num DESC);
CREATE INDEX escalations_to ON escalations(escalated_to, status, priority_rank, num DESC);
CREATE INDEX escalations_unannounced ON escalations(num) WHERE announced = 0;

CREATE TABLE escalation_changes (
    seq           INTEGER PRIMARY KEY,
    escalation_id TEXT NOT NULL REFERENCES escalations(id),
    from_status   TEXT NOT NULL DEFAULT '', -- '': it was raised
    to_status     TEXT NOT NULL,
    by            TEXT NOT NULL DEFAULT '',
    notes         TEXT NOT NULL DEFAULT '',
    at            INTEGER NOT NULL
) STRICT;
CREATE INDEX escalation_changes_escalation ON escalation_changes(escalation_id, seq);

-- How far those who follow an event log have come.
CREATE TABLE cursors (
    name TEXT PRIMARY KEY,
    seq  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE cursors;
DROP TABLE escalation_changes;
DROP TABLE escalations;
