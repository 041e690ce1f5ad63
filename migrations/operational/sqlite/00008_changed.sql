-- +goose Up
-- Acknowledgements leave no event. An agent's row says by a number when they last changed how many
-- messages wait for it: greater than every number before, of any agent.
ALTER TABLE agents ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX agents_changed ON agents(changed);

-- +goose Down
DROP INDEX agents_changed;
ALTER TABLE agents DROP COLUMN changed;
