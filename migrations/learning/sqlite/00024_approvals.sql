-- +goose Up
-- Actions that the guard blocked, and what a person said of them. The id follows from action, folder and agent; what is
-- asked again after it was settled gets a new number under the same id.
CREATE TABLE approvals (
    num        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    exact      TEXT NOT NULL,               -- SHA-256 of the action, in hexadecimal
    agent_id   TEXT NOT NULL,
    folder     TEXT NOT NULL DEFAULT '',
    project    TEXT NOT NULL DEFAULT '',
    tool       TEXT NOT NULL DEFAULT '',
    action     TEXT NOT NULL,               -- redacted
    matches    TEXT NOT NULL,               -- JSON: the rules that block it
    state      TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'used')),
    check_id   TEXT NOT NULL,               -- the last check that was blocked
    asked      INTEGER NOT NULL DEFAULT 1,  -- how often
    asked_at   INTEGER NOT NULL,            -- times are Unix milliseconds
    ends_at    INTEGER NOT NULL,            -- from then on it is none, whatever its state
    decided_by TEXT NOT NULL DEFAULT '',
    decided_at INTEGER,
    notes      TEXT NOT NULL DEFAULT '',
    used_at    INTEGER,
    used_check TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX approvals_state ON approvals(state, num);
CREATE INDEX approvals_agent ON approvals(agent_id, state, num);

-- Standing permissions: what a person allows again and again, until it ends or is revoked.
CREATE TABLE permissions (
    num         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    exact       TEXT NOT NULL DEFAULT '',    -- SHA-256 of the action; empty: the pattern says which
    pattern     TEXT NOT NULL DEFAULT '',
    action      TEXT NOT NULL,               -- redacted
    tool        TEXT NOT NULL DEFAULT '',
    agent_kind  TEXT NOT NULL,
    project     TEXT NOT NULL DEFAULT '',
    folder      TEXT NOT NULL DEFAULT '',    -- empty: every folder of the project
    rules       TEXT NOT NULL,               -- JSON: the ids of the rules that it lifts
    owner       TEXT NOT NULL,
    notes       TEXT NOT NULL DEFAULT '',
    created_at  INTEGER NOT NULL,
    ends_at     INTEGER NOT NULL,
    revoked_at  INTEGER,
    revoked_by  TEXT NOT NULL DEFAULT ''
) STRICT;

-- +goose Down
DROP TABLE permissions;
DROP TABLE approvals;
