-- +goose Up
-- A proposal is stored first and marked as accepted then: nothing is half accepted.
UPDATE proposals SET status = 'pending', decided_by = '', decided_at = NULL WHERE status = 'accepting';
ALTER TABLE proposals DROP COLUMN base_version;
-- What went through and was undone is no incident any more.
DELETE FROM incidents WHERE body LIKE '%"undone":%';

-- +goose Down
ALTER TABLE proposals ADD COLUMN base_version bigint NOT NULL DEFAULT 0;
