-- +goose Up
-- What was said itself is not kept: only what makes the same transcript known again, and who had it.
CREATE TABLE transcripts (
    id         TEXT PRIMARY KEY,             -- SHA-256 of its persona, agent, session and turns, without secrets
    persona    TEXT NOT NULL,
    agent_id   TEXT NOT NULL DEFAULT '',
    session_id TEXT NOT NULL DEFAULT '',
    project    TEXT NOT NULL DEFAULT '',
    turns      INTEGER NOT NULL CHECK (turns > 0),
    bytes      INTEGER NOT NULL CHECK (bytes > 0),
    extractor  TEXT NOT NULL,
    notice     TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL              -- times are Unix milliseconds
) STRICT, WITHOUT ROWID;

CREATE TABLE proposals (
    num           INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL UNIQUE,
    transcript_id TEXT NOT NULL REFERENCES transcripts(id),
    kind          TEXT NOT NULL CHECK (kind IN ('fact', 'episode', 'procedure')),
    content       TEXT NOT NULL CHECK (json_valid(content)),
    confidence    REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    evidence      TEXT NOT NULL CHECK (json_valid(evidence)),
    turns         TEXT NOT NULL CHECK (json_valid(turns)),
    status        TEXT NOT NULL CHECK (status IN ('pending', 'accepting', 'accepted', 'rejected')),
    base_version  INTEGER NOT NULL DEFAULT 0, -- of what it is stored over, when it was decided to
    decided_by    TEXT NOT NULL DEFAULT '',
    reason        TEXT NOT NULL DEFAULT '',
    stored_as     TEXT NOT NULL DEFAULT '',
    created_at    INTEGER NOT NULL,
    decided_at    INTEGER,
    CHECK ((status = 'pending') = (decided_at IS NULL))
) STRICT;
CREATE INDEX proposals_of ON proposals(transcript_id, num);
CREATE INDEX proposals_listed ON proposals(status, num);
CREATE INDEX transcripts_sessions ON transcripts(session_id) WHERE session_id <> '';

-- +goose Down
DROP TABLE proposals;
DROP TABLE transcripts;
