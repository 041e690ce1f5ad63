-- +goose Up
-- Questions whose right answers people told, by which the search of this memory
-- is measured. Judgements outlive the entries that they name.
CREATE TABLE judgements (
    number     INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of judging
    id         TEXT NOT NULL UNIQUE,              -- a hash of the author, the project and the question
    question   TEXT NOT NULL CHECK (question <> ''), -- without secrets
    project    TEXT NOT NULL DEFAULT '',          -- the filter that it is asked with
    good       TEXT NOT NULL CHECK (json_type(good) = 'array'), -- ids of entries
    bad        TEXT NOT NULL CHECK (json_type(bad) = 'array'),
    author     TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,                  -- times are Unix milliseconds
    updated_at INTEGER NOT NULL CHECK (updated_at >= created_at),
    ran_at     INTEGER,                           -- when it was last measured
    ranks      TEXT CHECK (ranks IS NULL OR json_type(ranks) = 'object'), -- what was found then, by id; 0: not found
    CHECK ((ran_at IS NULL) = (ranks IS NULL))
) STRICT;

-- +goose Down
DROP TABLE judgements;
