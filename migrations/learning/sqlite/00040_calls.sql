-- +goose Up
-- What the changes of one call have in common; they are taken back together.
ALTER TABLE changes ADD COLUMN call_id TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE changes DROP COLUMN call_id;
