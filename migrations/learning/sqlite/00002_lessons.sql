-- +goose Up
CREATE TABLE lessons (
    num                INTEGER PRIMARY KEY AUTOINCREMENT, -- order of reporting; listings and the index follow it
    id                 TEXT NOT NULL UNIQUE,
    fingerprint        BLOB NOT NULL,              -- of the domain and the normalised title
    lesson_type        TEXT NOT NULL CHECK (lesson_type IN ('success', 'failure', 'workaround', 'discovery', 'optimization', 'warning', 'anti_pattern')),
    domain             TEXT NOT NULL,
    category           TEXT NOT NULL,
    title              TEXT NOT NULL,
    context            TEXT NOT NULL,
    action_taken       TEXT NOT NULL,
    outcome            TEXT NOT NULL,
    root_cause         TEXT NOT NULL DEFAULT '',
    solution           TEXT NOT NULL DEFAULT '',
    body               TEXT NOT NULL DEFAULT '',
    alternatives       TEXT NOT NULL DEFAULT '[]', -- this and the other lists are JSON arrays
    severity           TEXT NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low')),
    tags               TEXT NOT NULL DEFAULT '[]',
    source_agent       TEXT NOT NULL DEFAULT '',
    related_files      TEXT NOT NULL DEFAULT '[]',
    related_commands   TEXT NOT NULL DEFAULT '[]',
    contexts           TEXT NOT NULL DEFAULT '[]',
    trigger_pattern    TEXT NOT NULL DEFAULT '',
    block_action       INTEGER NOT NULL DEFAULT 0 CHECK (block_action IN (0, 1)),
    project            TEXT NOT NULL DEFAULT '',
    trust              TEXT NOT NULL,
    level              TEXT NOT NULL CHECK (level IN ('case', 'pattern', 'principle')),
    status             TEXT NOT NULL CHECK (status IN ('candidate', 'validated', 'canonical', 'retired')),
    transferability    INTEGER NOT NULL CHECK (transferability BETWEEN 1 AND 5),
    source_case_ids    TEXT NOT NULL DEFAULT '[]',
    pattern_id         TEXT NOT NULL DEFAULT '',
    initial_confidence REAL NOT NULL CHECK (initial_confidence BETWEEN 0 AND 1), -- at confidence_at; it decays from there
    decay_constant     REAL NOT NULL CHECK (decay_constant >= 0),
    confidence_at      INTEGER NOT NULL,           -- times are Unix milliseconds
    occurrences        INTEGER NOT NULL DEFAULT 1,
    last_occurred      INTEGER NOT NULL,
    times_applied      INTEGER NOT NULL DEFAULT 0,
    times_succeeded    INTEGER NOT NULL DEFAULT 0,
    validated          INTEGER NOT NULL DEFAULT 0 CHECK (validated IN (0, 1)),
    validated_by       TEXT NOT NULL DEFAULT '',
    validation_notes   TEXT NOT NULL DEFAULT '',
    last_validated_at  INTEGER,
    superseded_by      TEXT NOT NULL DEFAULT '',
    retired_at         INTEGER,
    retired_reason     TEXT NOT NULL DEFAULT '',
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL
) STRICT;
CREATE INDEX lessons_fingerprint ON lessons(fingerprint);
CREATE INDEX lessons_type ON lessons(lesson_type);
CREATE INDEX lessons_domain ON lessons(domain);
CREATE INDEX lessons_category ON lessons(category);
CREATE INDEX lessons_severity ON lessons(severity);
CREATE INDEX lessons_level ON lessons(level);
CREATE INDEX lessons_status ON lessons(status);
CREATE INDEX lessons_agent ON lessons(source_agent);
CREATE INDEX lessons_project ON lessons(project);
CREATE INDEX lessons_created ON lessons(created_at);
CREATE INDEX lessons_judged ON lessons(ifnull(last_validated_at, created_at)); -- the stale ones stand first

CREATE TABLE lesson_changes (
    seq       INTEGER PRIMARY KEY,
    lesson_id TEXT NOT NULL REFERENCES lessons(id),
    kind      TEXT NOT NULL,
    agent_id  TEXT NOT NULL DEFAULT '',
    note      TEXT NOT NULL DEFAULT '',
    was       TEXT,             -- JSON, what it moved from
    became    TEXT,             -- JSON, what it moved to
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX lesson_changes_lesson ON lesson_changes(lesson_id);

CREATE TABLE lesson_applications (
    num       INTEGER PRIMARY KEY,
    lesson_id TEXT NOT NULL REFERENCES lessons(id),
    agent_id  TEXT NOT NULL DEFAULT '',
    context   TEXT NOT NULL DEFAULT '',
    outcome   TEXT NOT NULL CHECK (outcome IN ('success', 'failure', 'partial')),
    notes     TEXT NOT NULL DEFAULT '',
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX lesson_applications_lesson ON lesson_applications(lesson_id);

CREATE TABLE patterns (
    num                INTEGER PRIMARY KEY AUTOINCREMENT,
    id                 TEXT NOT NULL UNIQUE,
    pattern_name       TEXT NOT NULL,
    pattern_type       TEXT NOT NULL CHECK (pattern_type IN ('recurring_failure', 'common_solution', 'best_practice', 'anti_pattern',
                       'optimization', 'success', 'failure', 'correlation')),
    description        TEXT NOT NULL,
    domain             TEXT NOT NULL DEFAULT '',
    categories         TEXT NOT NULL DEFAULT '[]',
    operation_type     TEXT NOT NULL DEFAULT '', -- of the episodes that it gathers
    frequency          INTEGER NOT NULL DEFAULT 0,
    first_seen         INTEGER NOT NULL,
    last_seen          INTEGER NOT NULL,
    status             TEXT NOT NULL CHECK (status IN ('emerging', 'confirmed', 'deprecated')),
    confirmed_by       TEXT NOT NULL DEFAULT '',
    confirmed_at       INTEGER,
    recommended_action TEXT NOT NULL DEFAULT '',
    prevention_steps   TEXT NOT NULL DEFAULT '[]',
    weight             REAL NOT NULL DEFAULT 0,
    initial_confidence REAL NOT NULL CHECK (initial_confidence BETWEEN 0 AND 1),
    decay_constant     REAL NOT NULL CHECK (decay_constant >= 0),
    confidence_at      INTEGER NOT NULL,
    times_applied      INTEGER NOT NULL DEFAULT 0,
    times_succeeded    INTEGER NOT NULL DEFAULT 0,
    last_validated     INTEGER,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    why                TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX patterns_type ON patterns(pattern_type);
CREATE INDEX patterns_status ON patterns(status);
CREATE INDEX patterns_domain ON patterns(domain);
CREATE INDEX patterns_seen ON patterns(last_seen);
CREATE INDEX patterns_operation ON patterns(operation_type, pattern_type) WHERE operation_type <> '';

CREATE TABLE pattern_evidence (
    num        INTEGER PRIMARY KEY, -- the latest stand last
    pattern_id TEXT NOT NULL REFERENCES patterns(id),
    kind       TEXT NOT NULL CHECK (kind IN ('lesson', 'episode')),
    ref        TEXT NOT NULL, -- a lesson's id, or an episode's number in decimal
    agent_id   TEXT NOT NULL DEFAULT '',
    score      REAL NOT NULL DEFAULT 0,
    at         INTEGER NOT NULL,
    UNIQUE (kind, ref, pattern_id)
) STRICT;
CREATE INDEX pattern_evidence_pattern ON pattern_evidence(pattern_id, kind);

-- +goose Down
DROP TABLE pattern_evidence;
DROP TABLE patterns;
DROP TABLE lesson_applications;
DROP TABLE lesson_changes;
DROP TABLE lessons;
