-- +goose Up
-- Seed 002's episodic memory is the same table: whose memory it is, what the event
-- was called, its context as a JSON object, and what was learned from it.
ALTER TABLE episodes ADD COLUMN persona TEXT NOT NULL DEFAULT 'default';
ALTER TABLE episodes ADD COLUMN event   TEXT NOT NULL DEFAULT '';
ALTER TABLE episodes ADD COLUMN context TEXT CHECK (context IS NULL OR json_type(context) = 'object');
ALTER TABLE episodes ADD COLUMN learned TEXT NOT NULL DEFAULT '';
CREATE INDEX episodes_persona ON episodes(persona, num);
CREATE INDEX episodes_event ON episodes(event, num) WHERE event <> '';

-- +goose Down
DROP INDEX episodes_event;
DROP INDEX episodes_persona;
ALTER TABLE episodes DROP COLUMN learned;
ALTER TABLE episodes DROP COLUMN context;
ALTER TABLE episodes DROP COLUMN event;
ALTER TABLE episodes DROP COLUMN persona;
