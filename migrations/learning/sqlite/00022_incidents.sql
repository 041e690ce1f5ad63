-- +goose Up
-- What fails in a project, and what worked then. id is a hash of the project, the program and the error; body
-- is the rest of it as JSON.
CREATE TABLE incidents (
    id        INTEGER PRIMARY KEY,
    project   TEXT NOT NULL,
    sessions  INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    accepted  INTEGER NOT NULL CHECK (accepted IN (0, 1)),
    body      TEXT NOT NULL
) STRICT;
CREATE INDEX incidents_project ON incidents(project, sessions, last_seen);

-- Steps that were learned from, so that none counts twice. chain is a hash of a step and the two before it;
-- incident is 0 for one that belongs to none.
CREATE TABLE incident_steps (
    chain    INTEGER PRIMARY KEY,
    project  TEXT NOT NULL,
    session  INTEGER NOT NULL,
    incident INTEGER NOT NULL,
    fixed    INTEGER NOT NULL CHECK (fixed IN (0, 1))
) STRICT;
CREATE INDEX incident_steps_incident ON incident_steps(incident, session);
CREATE INDEX incident_steps_project ON incident_steps(project, session);

-- How features of commands were used: since counts the times that one went through after it failed last.
CREATE TABLE incident_uses (
    feature  INTEGER PRIMARY KEY,
    project  TEXT NOT NULL,
    uses     INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    since    INTEGER NOT NULL,
    incident INTEGER NOT NULL
) STRICT;
CREATE INDEX incident_uses_failures ON incident_uses(failures) WHERE failures > 1;

-- Files that were read, and how far.
CREATE TABLE incident_sources (
    id       TEXT PRIMARY KEY,
    project  TEXT NOT NULL,
    size     INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    position INTEGER NOT NULL,
    tail     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE incident_sources;
DROP TABLE incident_uses;
DROP TABLE incident_steps;
DROP TABLE incidents;
