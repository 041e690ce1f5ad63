-- +goose Up
-- An anti-pattern that was read somewhere is proposed: it is no rule until somebody confirms it.
ALTER TABLE lessons ADD COLUMN proposed INTEGER NOT NULL DEFAULT 0 CHECK (proposed IN (0, 1));

-- +goose Down
ALTER TABLE lessons DROP COLUMN proposed;
