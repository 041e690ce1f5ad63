-- +goose Up
-- SQLite before 3.42 calls json_valid(NULL) 0, and so an integrity check of its shell
-- found a step without a result at fault.
CREATE TABLE run_steps_new (
    run           INTEGER NOT NULL REFERENCES runs(num) ON DELETE CASCADE,
    idx           INTEGER NOT NULL CHECK (idx >= 0),
    step          TEXT NOT NULL CHECK (json_valid(step)), -- with its parameters put in
    status        TEXT NOT NULL CHECK (status IN ('pending', 'handed_out', 'succeeded', 'failed', 'skipped', 'unknown')),
    attempt       INTEGER NOT NULL DEFAULT 0,
    handed_out_at INTEGER,
    result        TEXT CHECK (result IS NULL OR json_valid(result)),
    error         TEXT NOT NULL DEFAULT '',
    reason        TEXT NOT NULL DEFAULT '',
    ended_at      INTEGER,
    duration      REAL NOT NULL DEFAULT 0, -- seconds
    lesson_id     TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (run, idx),
    CHECK (status NOT IN ('pending', 'handed_out') OR ended_at IS NULL)
) STRICT, WITHOUT ROWID;
INSERT INTO run_steps_new (run, idx, step, status, attempt, handed_out_at, result, error, reason, ended_at, duration, lesson_id)
    SELECT run, idx, step, status, attempt, handed_out_at, result, error, reason, ended_at, duration, lesson_id FROM run_steps;
DROP TABLE run_steps;
ALTER TABLE run_steps_new RENAME TO run_steps;
-- One step of a run at a time is in somebody's hands.
CREATE UNIQUE INDEX run_steps_out ON run_steps(run) WHERE status = 'handed_out';

-- +goose Down
CREATE TABLE run_steps_old (
    run           INTEGER NOT NULL REFERENCES runs(num) ON DELETE CASCADE,
    idx           INTEGER NOT NULL CHECK (idx >= 0),
    step          TEXT NOT NULL CHECK (json_valid(step)),
    status        TEXT NOT NULL CHECK (status IN ('pending', 'handed_out', 'succeeded', 'failed', 'skipped', 'unknown')),
    attempt       INTEGER NOT NULL DEFAULT 0,
    handed_out_at INTEGER,
    result        TEXT CHECK (json_valid(result)),
    error         TEXT NOT NULL DEFAULT '',
    reason        TEXT NOT NULL DEFAULT '',
    ended_at      INTEGER,
    duration      REAL NOT NULL DEFAULT 0,
    lesson_id     TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (run, idx),
    CHECK (status NOT IN ('pending', 'handed_out') OR ended_at IS NULL)
) STRICT, WITHOUT ROWID;
INSERT INTO run_steps_old (run, idx, step, status, attempt, handed_out_at, result, error, reason, ended_at, duration, lesson_id)
    SELECT run, idx, step, status, attempt, handed_out_at, result, error, reason, ended_at, duration, lesson_id FROM run_steps;
DROP TABLE run_steps;
ALTER TABLE run_steps_old RENAME TO run_steps;
CREATE UNIQUE INDEX run_steps_out ON run_steps(run) WHERE status = 'handed_out';
