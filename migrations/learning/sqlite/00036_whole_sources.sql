-- +goose Up
-- A record that has grown is read as a whole: steps that were learned change nothing.
ALTER TABLE incident_sources DROP COLUMN position;
ALTER TABLE incident_sources DROP COLUMN tail;

-- +goose Down
ALTER TABLE incident_sources ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
ALTER TABLE incident_sources ADD COLUMN tail TEXT NOT NULL DEFAULT '';
