-- +goose Up
-- What became of each guard rule. A rule that was never triggered, overridden or forced has no row.
CREATE TABLE guard_rules (
    id                 TEXT PRIMARY KEY, -- of the lesson or pattern that it comes from, or of a built-in rule
    forced             INTEGER NOT NULL DEFAULT 0 CHECK (forced IN (0, 1)), -- kept although it fits nearly every command
    times_triggered    INTEGER NOT NULL DEFAULT 0,
    last_triggered     INTEGER,          -- times are Unix milliseconds
    heeded             INTEGER NOT NULL DEFAULT 0,
    overridden         INTEGER NOT NULL DEFAULT 0,
    overridden_success INTEGER NOT NULL DEFAULT 0,
    overridden_failure INTEGER NOT NULL DEFAULT 0,
    overridden_partial INTEGER NOT NULL DEFAULT 0,
    recent_success     INTEGER NOT NULL DEFAULT 0,    -- overridden with success since it last was restored
    overriders         TEXT NOT NULL DEFAULT '[]',    -- JSON, the agents who did that
    initial_confidence REAL CHECK (initial_confidence BETWEEN 0 AND 1), -- of a rule without a lesson; NULL until it moved
    decay_constant     REAL,
    confidence_at      INTEGER,
    demoted_at         INTEGER,          -- it warns and does not block
    demoted_reason     TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE checks (
    num           INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL UNIQUE,
    agent_id      TEXT NOT NULL DEFAULT '',
    project       TEXT NOT NULL DEFAULT '',
    domain        TEXT NOT NULL DEFAULT '',
    tool          TEXT NOT NULL DEFAULT '',
    action        TEXT NOT NULL,               -- redacted, and cut
    context       TEXT NOT NULL DEFAULT '',
    decision      TEXT NOT NULL CHECK (decision IN ('allow', 'warn', 'block')),
    notes         TEXT NOT NULL DEFAULT '[]',  -- JSON
    took_us       INTEGER NOT NULL,
    at            INTEGER NOT NULL,
    outcome       TEXT NOT NULL DEFAULT '' CHECK (outcome IN ('', 'heeded', 'overridden')),
    result        TEXT NOT NULL DEFAULT '' CHECK (result IN ('', 'success', 'failure', 'partial')),
    outcome_by    TEXT NOT NULL DEFAULT '',
    outcome_notes TEXT NOT NULL DEFAULT '',
    outcome_at    INTEGER
) STRICT;
CREATE INDEX checks_at ON checks(at);
CREATE INDEX checks_agent ON checks(agent_id, num);
CREATE INDEX checks_decision ON checks(decision, num);

CREATE TABLE check_matches (
    check_num  INTEGER NOT NULL REFERENCES checks(num) ON DELETE CASCADE,
    rule_id    TEXT NOT NULL,
    title      TEXT NOT NULL,
    severity   TEXT NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low')),
    lane       TEXT NOT NULL CHECK (lane IN ('deterministic', 'pattern', 'unread', 'similarity')),
    reason     TEXT NOT NULL,
    confidence REAL NOT NULL,
    blocks     INTEGER NOT NULL CHECK (blocks IN (0, 1)),
    PRIMARY KEY (check_num, rule_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX check_matches_rule ON check_matches(rule_id, check_num);

-- +goose Down
DROP TABLE check_matches;
DROP TABLE checks;
DROP TABLE guard_rules;
