-- +goose Up
-- Tellings also hold what was told before a command and by a search, and in their items what came of each.
CREATE TABLE tellings_new (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id   TEXT NOT NULL DEFAULT '',
    project    TEXT NOT NULL DEFAULT '',
    session_id TEXT NOT NULL DEFAULT '', -- the agent's own
    moment     TEXT NOT NULL CHECK (moment IN ('start', 'prompt', 'failure', 'asked', 'command', 'search')),
    about      TEXT NOT NULL DEFAULT '', -- of a failure: the command, without secrets; of a command: the guard's check
    items      TEXT NOT NULL,            -- a JSON list
    tokens     INTEGER NOT NULL,
    at         INTEGER NOT NULL          -- Unix milliseconds
) STRICT;
INSERT INTO tellings_new SELECT number, agent_id, project, session_id, moment, about, items, tokens, at FROM tellings;
DROP TABLE tellings;
ALTER TABLE tellings_new RENAME TO tellings;
CREATE INDEX tellings_agent ON tellings(agent_id, number);
CREATE INDEX tellings_session ON tellings(session_id, number);
CREATE INDEX tellings_check ON tellings(about) WHERE moment = 'command';

-- What tellings come to, a row for each item, moment and day, so that a report reads no telling.
CREATE TABLE told_days (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    day       INTEGER NOT NULL, -- since 1970, UTC
    project   TEXT NOT NULL,
    moment    TEXT NOT NULL,
    kind      TEXT NOT NULL,    -- empty: what is told around the items of the session that item names
    item      TEXT NOT NULL,
    title     TEXT NOT NULL,
    own       INTEGER NOT NULL CHECK (own IN (0, 1)), -- 1: the item belongs to the project that it was told in
    shown     INTEGER NOT NULL,
    judged    INTEGER NOT NULL, -- of these, those of which is known what came of them
    used      INTEGER NOT NULL,
    prevented INTEGER NOT NULL,
    repeated  INTEGER NOT NULL,
    tokens    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX told_days_day ON told_days(day, project, moment, kind, item);
CREATE INDEX told_days_item ON told_days(item, kind);

-- +goose Down
DROP TABLE told_days;
CREATE TABLE tellings_old (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id   TEXT NOT NULL DEFAULT '',
    project    TEXT NOT NULL DEFAULT '',
    session_id TEXT NOT NULL DEFAULT '', -- the agent's own
    moment     TEXT NOT NULL CHECK (moment IN ('start', 'prompt', 'failure', 'asked')),
    about      TEXT NOT NULL DEFAULT '', -- of a failure: the command, without secrets
    items      TEXT NOT NULL,            -- a JSON list
    tokens     INTEGER NOT NULL,
    at         INTEGER NOT NULL          -- Unix milliseconds
) STRICT;
INSERT INTO tellings_old SELECT number, agent_id, project, session_id, moment, about, items, tokens, at FROM tellings
    WHERE moment IN ('start', 'prompt', 'failure', 'asked');
DROP TABLE tellings;
ALTER TABLE tellings_old RENAME TO tellings;
CREATE INDEX tellings_agent ON tellings(agent_id, number);
