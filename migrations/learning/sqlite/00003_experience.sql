-- +goose Up
-- An experience is an episode with an operation type; '' is an episode of another kind.
ALTER TABLE episodes ADD COLUMN operation_type   TEXT NOT NULL DEFAULT '';
ALTER TABLE episodes ADD COLUMN server_name      TEXT NOT NULL DEFAULT '';
ALTER TABLE episodes ADD COLUMN problem          TEXT; -- this, solution and metadata are JSON objects
ALTER TABLE episodes ADD COLUMN solution         TEXT;
ALTER TABLE episodes ADD COLUMN outcome          TEXT NOT NULL DEFAULT '' CHECK (outcome IN ('', 'success', 'failure', 'partial'));
ALTER TABLE episodes ADD COLUMN metadata         TEXT;
ALTER TABLE episodes ADD COLUMN quality_score    REAL CHECK (quality_score BETWEEN 0 AND 1);
ALTER TABLE episodes ADD COLUMN duration_ms      INTEGER CHECK (duration_ms >= 0);
ALTER TABLE episodes ADD COLUMN notes            TEXT NOT NULL DEFAULT '';
ALTER TABLE episodes ADD COLUMN novelty          REAL NOT NULL DEFAULT 0.5 CHECK (novelty BETWEEN 0 AND 1);
ALTER TABLE episodes ADD COLUMN effectiveness    REAL NOT NULL DEFAULT 0.5 CHECK (effectiveness BETWEEN 0 AND 1);
ALTER TABLE episodes ADD COLUMN generalizability REAL NOT NULL DEFAULT 0.5 CHECK (generalizability BETWEEN 0 AND 1);
ALTER TABLE episodes ADD COLUMN utility          REAL NOT NULL DEFAULT 0.5 CHECK (utility BETWEEN 0 AND 1);
ALTER TABLE episodes ADD COLUMN query_print      INTEGER NOT NULL DEFAULT 0; -- of problem.query, which novelty compares
CREATE INDEX episodes_experience ON episodes(num) WHERE operation_type <> '';
CREATE INDEX episodes_operation ON episodes(operation_type, num, query_print) WHERE operation_type <> '';
CREATE INDEX episodes_operation_outcome ON episodes(operation_type, outcome, num) WHERE operation_type <> '';
CREATE INDEX episodes_operation_time ON episodes(operation_type, created_at, outcome) WHERE operation_type <> '';
CREATE INDEX episodes_outcome ON episodes(outcome, num) WHERE operation_type <> '';
CREATE INDEX episodes_age ON episodes(created_at, utility) WHERE operation_type <> '';

-- What is known of each operation type, so that recording the hundred thousandth
-- experience of one costs what recording the tenth did.
CREATE TABLE operations (
    operation_type   TEXT PRIMARY KEY,
    episodes         INTEGER NOT NULL, -- all that are kept
    utility          INTEGER NOT NULL, -- the sum of theirs, in billionths
    window_from      INTEGER NOT NULL, -- the window holds the episodes from this time on
    window_episodes  INTEGER NOT NULL,
    window_successes INTEGER NOT NULL,
    window_at        INTEGER NOT NULL  -- the sum of their times, in milliseconds since 2020
) STRICT, WITHOUT ROWID;

-- Which lessons hold where, and how firmly, without reading the lessons.
CREATE INDEX lessons_applicable ON lessons(num, contexts, initial_confidence, decay_constant, confidence_at) WHERE status <> 'retired';
-- A pattern that a lesson was learned from is kept.
CREATE INDEX lessons_pattern ON lessons(pattern_id) WHERE pattern_id <> '';

-- +goose Down
DROP INDEX lessons_pattern;
DROP INDEX lessons_applicable;
DROP TABLE operations;
DROP INDEX episodes_age;
DROP INDEX episodes_outcome;
DROP INDEX episodes_operation_time;
DROP INDEX episodes_operation_outcome;
DROP INDEX episodes_operation;
DROP INDEX episodes_experience;
ALTER TABLE episodes DROP COLUMN query_print;
ALTER TABLE episodes DROP COLUMN utility;
ALTER TABLE episodes DROP COLUMN generalizability;
ALTER TABLE episodes DROP COLUMN effectiveness;
ALTER TABLE episodes DROP COLUMN novelty;
ALTER TABLE episodes DROP COLUMN notes;
ALTER TABLE episodes DROP COLUMN duration_ms;
ALTER TABLE episodes DROP COLUMN quality_score;
ALTER TABLE episodes DROP COLUMN metadata;
ALTER TABLE episodes DROP COLUMN outcome;
ALTER TABLE episodes DROP COLUMN solution;
ALTER TABLE episodes DROP COLUMN problem;
ALTER TABLE episodes DROP COLUMN server_name;
ALTER TABLE episodes DROP COLUMN operation_type;
