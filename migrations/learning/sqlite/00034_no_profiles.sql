-- +goose Up
-- A lesson reaches the agents of its domain, and everybody if it generalises: nobody's past work is kept.
DROP TABLE lesson_recipients;
DROP TABLE agent_profiles;

-- +goose Down
CREATE TABLE agent_profiles (
    agent_id   TEXT PRIMARY KEY,
    domains    TEXT NOT NULL DEFAULT '{}', -- JSON object: how often it reported from each domain
    words      TEXT NOT NULL DEFAULT '{}', -- JSON object: how often it used each word, the most used ones
    updated_at INTEGER NOT NULL            -- times are Unix milliseconds
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_profiles_updated ON agent_profiles(updated_at);
CREATE TABLE lesson_recipients (
    agent_id   TEXT NOT NULL,
    lesson_num INTEGER NOT NULL REFERENCES lessons(num) ON DELETE CASCADE,
    score      REAL NOT NULL CHECK (score BETWEEN 0 AND 1),
    PRIMARY KEY (agent_id, lesson_num)
) STRICT, WITHOUT ROWID;
