-- +goose Up
-- The folder below the repository's root, and the branch, that an entry was made in: it is told there first.
ALTER TABLE knowledge ADD COLUMN folder text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE knowledge ADD COLUMN branch text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE episodes ADD COLUMN folder text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE episodes ADD COLUMN branch text COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE episodes DROP COLUMN branch;
ALTER TABLE episodes DROP COLUMN folder;
ALTER TABLE knowledge DROP COLUMN branch;
ALTER TABLE knowledge DROP COLUMN folder;
