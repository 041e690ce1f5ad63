-- +goose Up
-- What was asked and found nothing. Equal questions are one row: the id is a hash
-- of the project and of the question's words, stemmed and sorted.
CREATE TABLE gaps (
    id          TEXT PRIMARY KEY,
    question    TEXT NOT NULL,                -- as it was last asked, without secrets
    project     TEXT NOT NULL DEFAULT '',
    asked_in    TEXT NOT NULL CHECK (json_type(asked_in) = 'array'),
    agents      TEXT NOT NULL CHECK (json_type(agents) = 'array'), -- the last who asked
    count       INTEGER NOT NULL CHECK (count > 0),
    first_asked INTEGER NOT NULL,             -- times are Unix milliseconds
    last_asked  INTEGER NOT NULL CHECK (last_asked >= first_asked),
    status      TEXT NOT NULL CHECK (status IN ('open', 'answered', 'dismissed')),
    answered_by TEXT NOT NULL DEFAULT '',     -- kind/id of what was found
    settled_by  TEXT NOT NULL DEFAULT '',
    reason      TEXT NOT NULL DEFAULT '',
    settled_at  INTEGER,
    checked_at  INTEGER NOT NULL,             -- when it was last asked in vain, or asked again
    CHECK ((status = 'open') = (settled_at IS NULL))
) STRICT;
CREATE INDEX gaps_recent ON gaps(status, last_asked, id);
CREATE INDEX gaps_often ON gaps(status, count, id);
CREATE INDEX gaps_unchecked ON gaps(checked_at) WHERE status = 'open';
CREATE INDEX gaps_old ON gaps(last_asked);

-- +goose Down
DROP TABLE gaps;
