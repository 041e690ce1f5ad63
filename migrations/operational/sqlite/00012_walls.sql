-- +goose Up
-- The projects that a token is bound to, a JSON list; null: it sees all.
ALTER TABLE tokens ADD COLUMN projects TEXT NOT NULL DEFAULT 'null';

-- +goose Down
ALTER TABLE tokens DROP COLUMN projects;
