-- +goose Up
-- The packs of rules that a team added, as their files were.
CREATE TABLE guard_team_packs (
    name     TEXT PRIMARY KEY,
    version  INTEGER NOT NULL,
    text     TEXT NOT NULL,
    added_by TEXT NOT NULL DEFAULT '',
    added_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- What a captain said of a pack in one project. A pack without a row there is as it is everywhere.
CREATE TABLE guard_project_packs (
    name       TEXT NOT NULL,
    project    TEXT NOT NULL,
    mode       TEXT NOT NULL CHECK (mode IN ('off', 'warn', 'block')),
    changed_by TEXT NOT NULL DEFAULT '',
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (name, project)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE guard_project_packs;
DROP TABLE guard_team_packs;
