-- +goose Up
-- What is known of the entries that a project shares by its git: what of them is in memory here, by its content, and who said so.
CREATE TABLE shared (
    project    text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    kind       text COLLATE "C" NOT NULL CHECK (kind IN ('knowledge', 'decision', 'lesson')),
    hash       text COLLATE "C" NOT NULL DEFAULT '',      -- of what is in memory here; empty: nothing
    declined   text COLLATE "C" NOT NULL DEFAULT '',      -- of what a person declined last
    held       boolean NOT NULL,
    path       text COLLATE "C" NOT NULL DEFAULT '',
    commit_id  text COLLATE "C" NOT NULL DEFAULT '',
    author     text COLLATE "C" NOT NULL DEFAULT '',      -- of the commit, in the words of git
    writer     text COLLATE "C" NOT NULL DEFAULT '',      -- as the file says
    decided_by text COLLATE "C" NOT NULL DEFAULT '',      -- the person
    at         bigint NOT NULL,              -- times are Unix milliseconds
    PRIMARY KEY (project, id)
);

-- +goose Down
DROP TABLE shared;
