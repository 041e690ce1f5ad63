-- +goose Up
-- What an agent does, as far as it shows in what it writes: whom a lesson fits.
CREATE TABLE agent_profiles (
    agent_id   TEXT PRIMARY KEY,
    domains    TEXT NOT NULL DEFAULT '{}', -- JSON object: how often it reported from each domain
    words      TEXT NOT NULL DEFAULT '{}', -- JSON object: how often it used each word, the most used ones
    updated_at INTEGER NOT NULL            -- times are Unix milliseconds
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_profiles_updated ON agent_profiles(updated_at);

-- Lessons that fit an agent's past work, besides those of its domain and those for everybody.
CREATE TABLE lesson_recipients (
    agent_id   TEXT NOT NULL,
    lesson_num INTEGER NOT NULL REFERENCES lessons(num) ON DELETE CASCADE,
    score      REAL NOT NULL CHECK (score BETWEEN 0 AND 1),
    PRIMARY KEY (agent_id, lesson_num)
) STRICT, WITHOUT ROWID;
CREATE INDEX lesson_recipients_lesson ON lesson_recipients(lesson_num);

-- Lessons that hold in every domain.
CREATE INDEX lessons_general ON lessons(num) WHERE severity = 'critical' OR level = 'principle' OR transferability >= 4;

-- +goose Down
DROP INDEX lessons_general;
DROP TABLE lesson_recipients;
DROP TABLE agent_profiles;
