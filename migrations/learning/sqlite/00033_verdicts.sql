-- +goose Up
-- What was said of answers: that an item helped with a question, or did not, and that nothing was found (no item).
CREATE TABLE verdicts (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    subject_key TEXT NOT NULL,                 -- a hash of the question's words, and of the project where nothing was found
    subject     TEXT NOT NULL,                 -- the question, without secrets
    project     TEXT NOT NULL DEFAULT '',
    item        TEXT NOT NULL DEFAULT '',      -- KIND/ID
    agent_id    TEXT NOT NULL DEFAULT '',
    helped      INTEGER NOT NULL CHECK (helped IN (0, 1)),
    times       INTEGER NOT NULL DEFAULT 1 CHECK (times > 0),
    first_at    INTEGER NOT NULL,              -- times are Unix milliseconds
    at          INTEGER NOT NULL,
    UNIQUE (item, subject_key, agent_id)
) STRICT;
CREATE INDEX verdicts_agent ON verdicts(agent_id, seq);
INSERT INTO verdicts (subject_key, subject, item, agent_id, helped, first_at, at)
    SELECT question_key, question, 'knowledge/' || entry_id, agent_id, helpful, at, at FROM knowledge_answers ORDER BY seq;
INSERT INTO verdicts (subject_key, subject, item, agent_id, helped, first_at, at)
    SELECT id, query, 'query_type/' || query_type, agent_id, 1 - negated, created_at, created_at FROM query_feedback ORDER BY seq;
INSERT INTO verdicts (subject_key, subject, project, agent_id, helped, times, first_at, at)
    SELECT gaps.id, question, project, asked.value, 0, CASE asked.key WHEN 0 THEN max(1, count - max(1, json_array_length(agents)) + 1) ELSE 1 END, first_asked, last_asked
    FROM gaps, json_each(CASE agents WHEN '[]' THEN '[""]' ELSE agents END) AS asked WHERE status = 'open' ORDER BY last_asked, gaps.id, asked.key;
DROP TRIGGER knowledge_answers_gone;
-- +goose StatementBegin
CREATE TRIGGER verdicts_gone AFTER DELETE ON knowledge BEGIN
    DELETE FROM verdicts WHERE item = 'knowledge/' || OLD.id;
END;
-- +goose StatementEnd
DROP TABLE knowledge_answers;
DROP TABLE query_feedback;
DROP TABLE gaps;
DROP TABLE changes;

-- +goose Down
CREATE TABLE gaps (
    id          TEXT PRIMARY KEY,
    question    TEXT NOT NULL,
    project     TEXT NOT NULL DEFAULT '',
    asked_in    TEXT NOT NULL CHECK (json_type(asked_in) = 'array'),
    agents      TEXT NOT NULL CHECK (json_type(agents) = 'array'),
    count       INTEGER NOT NULL CHECK (count > 0),
    first_asked INTEGER NOT NULL,
    last_asked  INTEGER NOT NULL CHECK (last_asked >= first_asked),
    status      TEXT NOT NULL CHECK (status IN ('open', 'answered', 'dismissed')),
    answered_by TEXT NOT NULL DEFAULT '',
    settled_by  TEXT NOT NULL DEFAULT '',
    reason      TEXT NOT NULL DEFAULT '',
    settled_at  INTEGER,
    checked_at  INTEGER NOT NULL,
    CHECK ((status = 'open') = (settled_at IS NULL))
) STRICT;
CREATE INDEX gaps_recent ON gaps(status, last_asked, id);
CREATE INDEX gaps_often ON gaps(status, count, id);
CREATE INDEX gaps_unchecked ON gaps(checked_at) WHERE status = 'open';
CREATE INDEX gaps_old ON gaps(last_asked);
CREATE TABLE query_feedback (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    query      TEXT NOT NULL,
    query_type TEXT NOT NULL CHECK (query_type IN ('knowledge', 'episode', 'operational', 'recon')),
    negated    INTEGER NOT NULL DEFAULT 0 CHECK (negated IN (0, 1)),
    note       TEXT NOT NULL DEFAULT '',
    agent_id   TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    UNIQUE (agent_id, query)
) STRICT;
CREATE TABLE knowledge_answers (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    entry_id     TEXT NOT NULL,
    question_key TEXT NOT NULL,
    question     TEXT NOT NULL,
    agent_id     TEXT NOT NULL DEFAULT '',
    helpful      INTEGER NOT NULL CHECK (helpful IN (0, 1)),
    at           INTEGER NOT NULL,
    UNIQUE (entry_id, question_key, agent_id)
) STRICT;
CREATE INDEX knowledge_answers_agent ON knowledge_answers(agent_id, seq);
-- +goose StatementBegin
CREATE TRIGGER knowledge_answers_gone AFTER DELETE ON knowledge BEGIN
    DELETE FROM knowledge_answers WHERE entry_id = OLD.id;
END;
-- +goose StatementEnd
CREATE TABLE changes (
    what TEXT NOT NULL CHECK (what IN ('feedback', 'answers', 'embeddings')),
    key  TEXT NOT NULL DEFAULT '',
    seq  INTEGER NOT NULL,
    PRIMARY KEY (what, key)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX changes_seq ON changes(seq);
INSERT INTO changes (what, seq) SELECT 'embeddings', coalesce(max(num), 0) FROM embeddings;
INSERT INTO knowledge_answers (entry_id, question_key, question, agent_id, helpful, at)
    SELECT substr(item, 11), subject_key, subject, agent_id, helped, at FROM verdicts WHERE item LIKE 'knowledge/%' ORDER BY seq;
INSERT INTO query_feedback (id, query, query_type, negated, agent_id, created_at)
    SELECT subject_key, subject, substr(item, 12), 1 - helped, agent_id, at FROM verdicts WHERE item LIKE 'query_type/%' ORDER BY seq;
INSERT INTO gaps (id, question, project, asked_in, agents, count, first_asked, last_asked, status, checked_at)
    SELECT subject_key, max(subject), max(project), '["query"]', '[]', sum(times), min(first_at), max(at), 'open', 0 FROM verdicts WHERE item = '' GROUP BY subject_key;
DROP TRIGGER verdicts_gone;
DROP TABLE verdicts;
