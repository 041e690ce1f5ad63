-- +goose Up
-- A token of a person bears the person's name. One that an agent's program asked for says so: nobody decides with it what only a person may.
ALTER TABLE tokens ADD COLUMN person TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN issued_below TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE tokens DROP COLUMN issued_below;
ALTER TABLE tokens DROP COLUMN person;
