-- +goose Up
CREATE TABLE procedures (
    num          INTEGER PRIMARY KEY AUTOINCREMENT,
    persona      TEXT NOT NULL,
    name         TEXT NOT NULL,
    version      INTEGER NOT NULL CHECK (version > 0), -- the latest; it goes on after a deletion
    body         TEXT NOT NULL CHECK (json_valid(body)), -- what it says: description, category, params, steps, learned_from
    category     TEXT NOT NULL,
    agent_id     TEXT NOT NULL DEFAULT '',
    trust        TEXT NOT NULL,
    said_rate    REAL NOT NULL DEFAULT 0 CHECK (said_rate BETWEEN 0 AND 1), -- what its file says, as long as there are no runs
    said_time    REAL NOT NULL DEFAULT 0 CHECK (said_time >= 0),            -- seconds
    runs         INTEGER NOT NULL DEFAULT 0, -- that succeeded or failed
    succeeded    INTEGER NOT NULL DEFAULT 0,
    took         REAL NOT NULL DEFAULT 0,    -- seconds, of those that succeeded together
    file         TEXT NOT NULL DEFAULT '',   -- within the folder of procedures
    file_mark    TEXT NOT NULL DEFAULT '',   -- of the file's content when it was last in step; empty: it never was
    file_version INTEGER NOT NULL DEFAULT 0, -- the version that it said then
    created_at   INTEGER NOT NULL,           -- times are Unix milliseconds
    updated_at   INTEGER NOT NULL,
    deleted_at   INTEGER,
    UNIQUE (persona, name),
    CHECK (succeeded <= runs)
) STRICT;
CREATE UNIQUE INDEX procedures_files ON procedures(persona, name COLLATE NOCASE); -- some file systems cannot tell cases apart
CREATE INDEX procedures_listed ON procedures(persona, category, name) WHERE deleted_at IS NULL;

CREATE TABLE procedure_versions (
    procedure  INTEGER NOT NULL REFERENCES procedures(num) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    body       TEXT NOT NULL CHECK (json_valid(body)),
    agent_id   TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    PRIMARY KEY (procedure, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE procedure_steps ( -- how the steps of a name went
    procedure INTEGER NOT NULL REFERENCES procedures(num) ON DELETE CASCADE,
    name      TEXT NOT NULL,
    succeeded INTEGER NOT NULL DEFAULT 0,
    failed    INTEGER NOT NULL DEFAULT 0,
    skipped   INTEGER NOT NULL DEFAULT 0,
    unknown   INTEGER NOT NULL DEFAULT 0,
    took      REAL NOT NULL DEFAULT 0,    -- seconds, of those that succeeded together
    recent    TEXT NOT NULL DEFAULT '',   -- the last outcomes, the latest last: s or f each
    errors    TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(errors)), -- of the last failures, the latest last
    PRIMARY KEY (procedure, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    num        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    rev        INTEGER NOT NULL DEFAULT 0, -- another with each change
    procedure  INTEGER NOT NULL,
    persona    TEXT NOT NULL,
    name       TEXT NOT NULL,
    version    INTEGER NOT NULL,
    agent_id   TEXT NOT NULL DEFAULT '',
    project    TEXT NOT NULL DEFAULT '',
    params     TEXT NOT NULL CHECK (json_valid(params)),
    status     TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed', 'abandoned')),
    reason     TEXT NOT NULL DEFAULT '',
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    CHECK ((status = 'running') = (ended_at IS NULL))
) STRICT;
CREATE INDEX runs_open ON runs(agent_id, num) WHERE status = 'running';
CREATE INDEX runs_of ON runs(persona, name, num);

CREATE TABLE run_steps (
    run           INTEGER NOT NULL REFERENCES runs(num) ON DELETE CASCADE,
    idx           INTEGER NOT NULL CHECK (idx >= 0),
    step          TEXT NOT NULL CHECK (json_valid(step)), -- with its parameters put in
    status        TEXT NOT NULL CHECK (status IN ('pending', 'handed_out', 'succeeded', 'failed', 'skipped', 'unknown')),
    attempt       INTEGER NOT NULL DEFAULT 0,
    handed_out_at INTEGER,
    result        TEXT CHECK (json_valid(result)),
    error         TEXT NOT NULL DEFAULT '',
    reason        TEXT NOT NULL DEFAULT '',
    ended_at      INTEGER,
    duration      REAL NOT NULL DEFAULT 0, -- seconds
    lesson_id     TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (run, idx),
    CHECK (status NOT IN ('pending', 'handed_out') OR ended_at IS NULL)
) STRICT, WITHOUT ROWID;
-- One step of a run at a time is in somebody's hands.
CREATE UNIQUE INDEX run_steps_out ON run_steps(run) WHERE status = 'handed_out';

-- +goose Down
DROP TABLE run_steps;
DROP TABLE runs;
DROP TABLE procedure_steps;
DROP TABLE procedure_versions;
DROP TABLE procedures;
