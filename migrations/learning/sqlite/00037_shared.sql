-- +goose Up
-- What is known of the entries that a project shares by its git: what of them is in memory here, by its content, and who said so.
CREATE TABLE shared (
    project    TEXT NOT NULL,
    id         TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('knowledge', 'decision', 'lesson')),
    hash       TEXT NOT NULL DEFAULT '',      -- of what is in memory here; empty: nothing
    declined   TEXT NOT NULL DEFAULT '',      -- of what a person declined last
    held       INTEGER NOT NULL CHECK (held IN (0, 1)),
    path       TEXT NOT NULL DEFAULT '',
    commit_id  TEXT NOT NULL DEFAULT '',
    author     TEXT NOT NULL DEFAULT '',      -- of the commit, in the words of git
    writer     TEXT NOT NULL DEFAULT '',      -- as the file says
    decided_by TEXT NOT NULL DEFAULT '',      -- the person
    at         INTEGER NOT NULL,              -- times are Unix milliseconds
    PRIMARY KEY (project, id)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE shared;
