-- +goose Up
-- The folder below the repository's root, and the branch, that an entry was made in: it is told there first.
ALTER TABLE knowledge ADD COLUMN folder TEXT NOT NULL DEFAULT '';
ALTER TABLE knowledge ADD COLUMN branch TEXT NOT NULL DEFAULT '';
ALTER TABLE episodes ADD COLUMN folder TEXT NOT NULL DEFAULT '';
ALTER TABLE episodes ADD COLUMN branch TEXT NOT NULL DEFAULT '';
-- A session's start chooses among all entries of a project by what lies in this index.
DROP INDEX knowledge_project;
CREATE INDEX knowledge_chosen ON knowledge(project, superseded_by, category, trust, use_count, updated_at, folder, branch);

-- +goose Down
DROP INDEX knowledge_chosen;
CREATE INDEX knowledge_project ON knowledge(project);
ALTER TABLE episodes DROP COLUMN branch;
ALTER TABLE episodes DROP COLUMN folder;
ALTER TABLE knowledge DROP COLUMN branch;
ALTER TABLE knowledge DROP COLUMN folder;
