-- +goose Up
-- compatible
-- The tasks that a task waits for: a JSON list of their ids.
ALTER TABLE tasks ADD COLUMN waits_on text COLLATE "C" NOT NULL DEFAULT '[]';

-- +goose Down
ALTER TABLE tasks DROP COLUMN waits_on;
