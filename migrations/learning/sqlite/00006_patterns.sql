-- +goose Up
ALTER TABLE patterns ADD COLUMN lessons INTEGER NOT NULL DEFAULT 0;           -- how many it gathers; its frequency counts their occurrences
ALTER TABLE patterns ADD COLUMN agents INTEGER NOT NULL DEFAULT 0;            -- how many told of it: rows of pattern_agents
ALTER TABLE patterns ADD COLUMN representative TEXT NOT NULL DEFAULT '';      -- id of the lesson that others are compared with
ALTER TABLE patterns ADD COLUMN command TEXT NOT NULL DEFAULT '';             -- of one that gathers failures of a command
ALTER TABLE patterns ADD COLUMN action_confidence REAL NOT NULL DEFAULT 0;    -- of the lesson that recommended_action is drawn from
CREATE INDEX patterns_command ON patterns(command) WHERE command <> '';

-- Counting agents over a pattern's evidence would cost more with each piece of it.
CREATE TABLE pattern_agents (
    pattern_id TEXT NOT NULL REFERENCES patterns(id),
    agent_id   TEXT NOT NULL,
    PRIMARY KEY (pattern_id, agent_id)
) STRICT, WITHOUT ROWID;

-- Cases that were reported with the cases they were drawn from may be ready for promotion.
CREATE INDEX lessons_drawn ON lessons(num) WHERE level = 'case' AND source_case_ids <> '[]';

-- +goose Down
DROP INDEX lessons_drawn;
DROP TABLE pattern_agents;
DROP INDEX patterns_command;
ALTER TABLE patterns DROP COLUMN action_confidence;
ALTER TABLE patterns DROP COLUMN command;
ALTER TABLE patterns DROP COLUMN representative;
ALTER TABLE patterns DROP COLUMN agents;
ALTER TABLE patterns DROP COLUMN lessons;
