-- +goose Up
CREATE TABLE sessions (
    num          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    agent_id     TEXT NOT NULL,
    persona      TEXT NOT NULL,
    project      TEXT NOT NULL DEFAULT '',
    goal         TEXT NOT NULL DEFAULT '',
    status       TEXT NOT NULL CHECK (status IN ('open', 'ended')),
    summary      TEXT NOT NULL DEFAULT '',
    successor    TEXT NOT NULL DEFAULT '', -- an agent; '': whoever goes on
    handover     TEXT CHECK (handover IS NULL OR json_type(handover) = 'object'), -- what was open at the end
    previous     TEXT NOT NULL DEFAULT '', -- the session whose hand-over this one began with
    inherited_by TEXT NOT NULL DEFAULT '', -- the session that began with this one's hand-over
    data         TEXT CHECK (data IS NULL OR json_type(data) = 'object'),
    started_at   INTEGER NOT NULL,         -- times are Unix milliseconds
    ended_at     INTEGER,
    CHECK ((status = 'ended') = (ended_at IS NOT NULL))
) STRICT;
-- An agent is in one session at a time.
CREATE UNIQUE INDEX sessions_open ON sessions(agent_id) WHERE status = 'open';
CREATE INDEX sessions_agent ON sessions(agent_id, num);
CREATE INDEX sessions_successor ON sessions(successor, num) WHERE successor <> '';
CREATE INDEX sessions_left ON sessions(persona, project, num) WHERE status = 'ended' AND inherited_by = '';
CREATE INDEX sessions_ended ON sessions(ended_at) WHERE ended_at IS NOT NULL;

-- +goose Down
DROP TABLE sessions;
