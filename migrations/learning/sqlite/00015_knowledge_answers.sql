-- +goose Up
-- Which entries answered which questions, in whose word. One agent has one voice
-- on one question to one entry; seq is the order in which they came.
CREATE TABLE knowledge_answers (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    entry_id     TEXT NOT NULL,
    question_key TEXT NOT NULL,                -- a hash of the question's words
    question     TEXT NOT NULL,                -- without secrets
    agent_id     TEXT NOT NULL DEFAULT '',
    helpful      INTEGER NOT NULL CHECK (helpful IN (0, 1)),
    at           INTEGER NOT NULL,             -- Unix milliseconds
    UNIQUE (entry_id, question_key, agent_id)
) STRICT;
CREATE INDEX knowledge_answers_agent ON knowledge_answers(agent_id, seq);
-- +goose StatementBegin
CREATE TRIGGER knowledge_answers_gone AFTER DELETE ON knowledge BEGIN
    DELETE FROM knowledge_answers WHERE entry_id = OLD.id;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER knowledge_answers_gone;
DROP TABLE knowledge_answers;
