-- +goose Up
-- What a replay measured is shown by the command alone.
DROP TABLE replays;
-- No entry is marked as one that may contradict another: which holds is said by supersedes.
DROP INDEX knowledge_conflicts;
ALTER TABLE knowledge DROP COLUMN conflicts;
ALTER TABLE lessons DROP COLUMN conflicts;

-- +goose Down
ALTER TABLE lessons ADD COLUMN conflicts TEXT NOT NULL DEFAULT '[]';
ALTER TABLE knowledge ADD COLUMN conflicts TEXT NOT NULL DEFAULT '[]';
CREATE INDEX knowledge_conflicts ON knowledge(num) WHERE conflicts <> '[]';
CREATE TABLE replays (
    name TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
