-- +goose Up
-- What was told and what came of it is one table, a row for each telling and each of its items. Reports are sums over it.
CREATE TABLE told (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    telling    INTEGER NOT NULL, -- of an item: the number of its telling
    at         INTEGER NOT NULL, -- Unix milliseconds
    agent_id   TEXT NOT NULL,
    project    TEXT NOT NULL,
    session_id TEXT NOT NULL, -- the agent's own
    moment     TEXT NOT NULL CHECK (moment IN ('start', 'prompt', 'failure', 'asked', 'command', 'search')),
    about      TEXT NOT NULL, -- of a failure: the command, without secrets; of a command: the guard's check
    kind       TEXT NOT NULL, -- empty: it is a telling, and its tokens are of the words around its items
    item       TEXT NOT NULL,
    title      TEXT NOT NULL,
    own        INTEGER NOT NULL CHECK (own IN (0, 1)), -- the item belongs to the project that it was told in
    gives      TEXT NOT NULL, -- a JSON list of commands
    shown      INTEGER NOT NULL,
    judged     INTEGER NOT NULL, -- it is known what came of it
    used       INTEGER NOT NULL,
    went       INTEGER NOT NULL, -- what it warns of did not happen where it could have
    repeated   INTEGER NOT NULL,
    tokens     INTEGER NOT NULL
) STRICT;
CREATE INDEX told_telling ON told(telling);
CREATE INDEX told_at ON told(at);
CREATE INDEX told_item ON told(item, kind);
CREATE INDEX told_agent ON told(agent_id, number) WHERE kind = '';
CREATE INDEX told_session ON told(session_id, number) WHERE kind = '';
CREATE INDEX told_check ON told(about) WHERE moment = 'command';
-- A telling has at most 50 items.
INSERT INTO told (number, telling, at, agent_id, project, session_id, moment, about, kind, item, title, own, gives, shown, judged, used, went, repeated, tokens)
SELECT t.number * 64, 0, t.at, t.agent_id, t.project, t.session_id, t.moment, t.about, '', '', '', 1, '[]', json_array_length(t.items) > 0, 0, 0, 0, 0,
    max(0, t.tokens - (SELECT coalesce(sum(i.value ->> 'tokens'), 0) FROM json_each(t.items) AS i))
FROM tellings AS t;
INSERT INTO told (number, telling, at, agent_id, project, session_id, moment, about, kind, item, title, own, gives, shown, judged, used, went, repeated, tokens)
SELECT t.number * 64 + i.key + 1, t.number * 64, t.at, '', t.project, '', t.moment, '', i.value ->> 'kind', i.value ->> 'id', coalesce(i.value ->> 'title', ''),
    coalesce((SELECT max(own) FROM told_days AS d WHERE d.item = i.value ->> 'id' AND d.kind = i.value ->> 'kind' AND d.project = t.project), 0),
    coalesce(json_extract(i.value, '$.gives'), '[]'), 1, coalesce(i.value ->> 'judged', 0), coalesce(i.value ->> 'used', 0), coalesce(i.value ->> 'went', 0), coalesce(i.value ->> 'repeated', 0),
    coalesce(i.value ->> 'tokens', 0)
FROM tellings AS t, json_each(t.items) AS i;
DROP TABLE told_days;
DROP TABLE tellings;

-- +goose Down
DROP TABLE told;
CREATE TABLE tellings (
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
CREATE INDEX tellings_agent ON tellings(agent_id, number);
CREATE INDEX tellings_session ON tellings(session_id, number);
CREATE INDEX tellings_check ON tellings(about) WHERE moment = 'command';
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
