-- The schema of operational.db after all its steps. Generated: go test ./internal/database -run TestSchema -update
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE agents (
    id           TEXT PRIMARY KEY,
    role         TEXT NOT NULL DEFAULT '',
    config_name  TEXT NOT NULL DEFAULT '',
    project      TEXT NOT NULL DEFAULT '',
    project_path TEXT NOT NULL DEFAULT '',
    model        TEXT NOT NULL DEFAULT '',
    pid          INTEGER NOT NULL DEFAULT 0,
    state        TEXT NOT NULL CHECK (state IN ('starting', 'online', 'stale', 'offline')),
    status       TEXT NOT NULL DEFAULT '',
    current_task TEXT NOT NULL DEFAULT '',
    progress     REAL NOT NULL DEFAULT 0,
    gone         INTEGER NOT NULL DEFAULT 0, -- 1: it said goodbye, so its next check-in is a new run
    stop_seq     INTEGER NOT NULL DEFAULT 0, -- the stop signal that is in force, 0 if none
    stop_pid     INTEGER NOT NULL DEFAULT 0, -- the process that was told to stop, 0 while unknown
    stop_reason  TEXT NOT NULL DEFAULT '',
    stop_expires INTEGER,
    joined_seq   INTEGER NOT NULL DEFAULT 0, -- broadcasts up to this one are not for it
    acked_seq    INTEGER NOT NULL DEFAULT 0, -- acknowledged up to and including this message
    read_seq     INTEGER NOT NULL DEFAULT 0,
    delivered_seq INTEGER NOT NULL DEFAULT 0, -- written to its stream up to and including this message
    started_at   INTEGER NOT NULL,           -- times are Unix milliseconds
    last_seen    INTEGER NOT NULL,
    created_at   INTEGER NOT NULL
, changed INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE messages (
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT NOT NULL UNIQUE,
    from_agent      TEXT NOT NULL,
    to_agent        TEXT NOT NULL DEFAULT '', -- '' is a broadcast
    signal          TEXT NOT NULL,
    context         TEXT,
    priority        INTEGER NOT NULL DEFAULT 0,
    thread_id       TEXT NOT NULL DEFAULT '',
    ack_required    INTEGER NOT NULL DEFAULT 0,
    settled         INTEGER NOT NULL DEFAULT 0, -- 1: nobody's acknowledgement is awaited any more
    idempotency_key TEXT,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER
, to_group TEXT NOT NULL DEFAULT '', copy_of INTEGER, for_each INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX messages_to ON messages(to_agent, seq);
CREATE INDEX messages_thread ON messages(thread_id, seq) WHERE thread_id <> '';
CREATE INDEX messages_stop ON messages(to_agent, seq) WHERE signal = 'stop';
CREATE UNIQUE INDEX messages_idempotency ON messages(from_agent, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE TABLE marks (
    agent_id TEXT NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('delivered', 'read', 'acked')),
    seq      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (agent_id, kind, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE receipts (
    agent_id     TEXT NOT NULL,
    seq          INTEGER NOT NULL REFERENCES messages(seq) ON DELETE CASCADE,
    delivered_at INTEGER,
    read_at      INTEGER,
    acked_at     INTEGER,
    PRIMARY KEY (agent_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipts_seq ON receipts(seq);
CREATE TABLE tasks (
    number         INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT NOT NULL UNIQUE,
    title          TEXT NOT NULL,
    description    TEXT NOT NULL DEFAULT '',
    project        TEXT NOT NULL DEFAULT '',
    status         TEXT NOT NULL CHECK (status IN ('pending', 'claimed', 'in_progress', 'blocked', 'completed', 'failed', 'cancelled')),
    agent_id       TEXT NOT NULL DEFAULT '',
    created_by     TEXT NOT NULL DEFAULT '',
    priority       INTEGER NOT NULL DEFAULT 0,
    progress       REAL NOT NULL DEFAULT 0,
    note           TEXT NOT NULL DEFAULT '',
    blocked_reason TEXT NOT NULL DEFAULT '',
    result         TEXT NOT NULL DEFAULT '',
    error          TEXT NOT NULL DEFAULT '',
    folded         TEXT NOT NULL DEFAULT '', -- title and description in lower case, for filters
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    claimed_at     INTEGER,
    finished_at    INTEGER
, waits_on TEXT NOT NULL DEFAULT '[]') STRICT;
CREATE INDEX tasks_status ON tasks(status, priority DESC, number);
CREATE INDEX tasks_agent ON tasks(agent_id, status);
CREATE INDEX tasks_project ON tasks(project, status);
CREATE INDEX tasks_updated ON tasks(updated_at);
CREATE INDEX tasks_open ON tasks(priority DESC, number) WHERE finished_at IS NULL;
CREATE INDEX tasks_finished ON tasks(finished_at DESC, number DESC) WHERE finished_at IS NOT NULL;
CREATE TABLE environments (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL COLLATE NOCASE UNIQUE,
    kind        TEXT NOT NULL DEFAULT '',
    description TEXT NOT NULL DEFAULT '',
    project     TEXT NOT NULL DEFAULT '',
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;
CREATE TABLE scans (
    id             TEXT PRIMARY KEY,
    environment_id TEXT NOT NULL REFERENCES environments(id) ON DELETE CASCADE,
    scanner        TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('running', 'completed', 'failed')),
    summary        TEXT NOT NULL DEFAULT '',
    agent_id       TEXT NOT NULL DEFAULT '',
    started_at     INTEGER NOT NULL,
    finished_at    INTEGER
) STRICT;
CREATE INDEX scans_environment ON scans(environment_id, started_at);
CREATE TABLE findings (
    id             TEXT PRIMARY KEY,
    environment_id TEXT NOT NULL REFERENCES environments(id) ON DELETE CASCADE,
    scan_id        TEXT REFERENCES scans(id) ON DELETE SET NULL,
    fingerprint    TEXT NOT NULL, -- what makes it the same finding when it is seen again
    cve            TEXT NOT NULL DEFAULT '',
    title          TEXT NOT NULL,
    description    TEXT NOT NULL DEFAULT '',
    severity       TEXT NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low', 'info')),
    status         TEXT NOT NULL CHECK (status IN ('open', 'confirmed', 'fixed', 'accepted', 'false_positive')),
    location       TEXT NOT NULL DEFAULT '',
    evidence       TEXT NOT NULL DEFAULT '',
    remediation    TEXT NOT NULL DEFAULT '',
    severity_rank  INTEGER NOT NULL,         -- 0 is the worst, for the order of listings
    folded         TEXT NOT NULL DEFAULT '', -- title, CVE, description, location and evidence in lower case, for filters
    occurrences    INTEGER NOT NULL DEFAULT 1,
    first_seen     INTEGER NOT NULL,
    last_seen      INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    UNIQUE (environment_id, fingerprint)
) STRICT;
CREATE INDEX findings_counts ON findings(environment_id, status, severity);
CREATE INDEX findings_rank ON findings(severity_rank, last_seen DESC, id);
CREATE INDEX findings_scan ON findings(scan_id) WHERE scan_id IS NOT NULL;
CREATE INDEX findings_seen ON findings(last_seen);
CREATE INDEX findings_cve ON findings(cve) WHERE cve <> '';
CREATE TABLE finding_changes (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    finding_id  TEXT NOT NULL REFERENCES findings(id) ON DELETE CASCADE,
    at          INTEGER NOT NULL,
    agent_id    TEXT NOT NULL DEFAULT '',
    from_status TEXT NOT NULL DEFAULT '',
    to_status   TEXT NOT NULL,
    note        TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX finding_changes_finding ON finding_changes(finding_id, seq);
CREATE TABLE tokens (
    id         TEXT PRIMARY KEY,
    digest     BLOB NOT NULL UNIQUE, -- SHA-256 of the secret, which has 256 random bits
    agent_id   TEXT NOT NULL DEFAULT '',
    scopes     TEXT NOT NULL,        -- JSON array
    note       TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
, person TEXT NOT NULL DEFAULT '', issued_below TEXT NOT NULL DEFAULT '', projects TEXT NOT NULL DEFAULT 'null') STRICT;
CREATE TABLE events (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    type     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    agent_id TEXT NOT NULL DEFAULT '',
    project  TEXT NOT NULL DEFAULT '',
    at       INTEGER NOT NULL,
    data     TEXT
, link BLOB) STRICT;
CREATE TABLE escalations (
    num              INTEGER PRIMARY KEY AUTOINCREMENT,
    id               TEXT NOT NULL UNIQUE,
    lesson_id        TEXT NOT NULL DEFAULT '', -- of learning.db; one of the two is set
    pattern_id       TEXT NOT NULL DEFAULT '',
    title            TEXT NOT NULL,            -- this, the domain and the agent as they were when it was raised
    domain           TEXT NOT NULL DEFAULT '',
    source_agent     TEXT NOT NULL DEFAULT '',
    escalated_to     TEXT NOT NULL,
    reason           TEXT NOT NULL,
    priority         TEXT NOT NULL CHECK (priority IN ('critical', 'high', 'medium', 'low')),
    priority_rank    INTEGER NOT NULL,         -- 0 is the worst, for the order of listings
    status           TEXT NOT NULL CHECK (status IN ('pending', 'reviewed', 'resolved', 'dismissed')),
    occurrences      INTEGER NOT NULL DEFAULT 1,
    announced        INTEGER NOT NULL DEFAULT 0 CHECK (announced IN (0, 1)), -- 1: its message is in the mailbox
    reviewed_by      TEXT NOT NULL DEFAULT '',
    reviewed_at      INTEGER,                  -- times are Unix milliseconds
    review_notes     TEXT NOT NULL DEFAULT '',
    resolved_by      TEXT NOT NULL DEFAULT '', -- or dismissed by
    resolved_at      INTEGER,
    resolution_notes TEXT NOT NULL DEFAULT '',
    created_at       INTEGER NOT NULL,
    last_raised_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX escalations_matter ON escalations(lesson_id, pattern_id, escalated_to, reason, num);
CREATE UNIQUE INDEX escalations_open ON escalations(lesson_id, pattern_id, escalated_to, reason) WHERE status IN ('pending', 'reviewed');
CREATE INDEX escalations_status ON escalations(status, priority_rank, num DESC);
CREATE INDEX escalations_to ON escalations(escalated_to, status, priority_rank, num DESC);
CREATE TABLE escalation_changes (
    seq           INTEGER PRIMARY KEY,
    escalation_id TEXT NOT NULL REFERENCES escalations(id),
    from_status   TEXT NOT NULL DEFAULT '', -- '': it was raised
    to_status     TEXT NOT NULL,
    by            TEXT NOT NULL DEFAULT '',
    notes         TEXT NOT NULL DEFAULT '',
    at            INTEGER NOT NULL
) STRICT;
CREATE INDEX escalation_changes_escalation ON escalation_changes(escalation_id, seq);
CREATE TABLE cursors (
    name TEXT PRIMARY KEY,
    seq  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE reminders (
    number          INTEGER PRIMARY KEY AUTOINCREMENT,
    persona         TEXT NOT NULL,
    conversation_id TEXT NOT NULL DEFAULT '',
    task            TEXT NOT NULL,
    trigger_type    TEXT NOT NULL CHECK (trigger_type IN ('time', 'event', 'condition', 'cron')),
    trigger_value   TEXT NOT NULL,
    recurring       TEXT NOT NULL DEFAULT '', -- a cron expression
    timezone        TEXT NOT NULL DEFAULT '', -- of recurring; '' is UTC
    status          TEXT NOT NULL CHECK (status IN ('pending', 'due', 'completed', 'cancelled')),
    context         TEXT,
    agent_id        TEXT NOT NULL DEFAULT '', -- '': for whoever fits the persona
    created_by      TEXT NOT NULL DEFAULT '',
    project         TEXT NOT NULL DEFAULT '',
    scheduled_for   INTEGER,                  -- times are Unix milliseconds
    next_at         INTEGER,                  -- when the clock has to look at it; NULL: never
    fired           INTEGER NOT NULL DEFAULT 0,
    fired_at        INTEGER,
    missed          INTEGER NOT NULL DEFAULT 0 CHECK (missed IN (0, 1)),
    delivered_to    TEXT NOT NULL DEFAULT '',
    message_id      TEXT NOT NULL DEFAULT '',
    note            TEXT NOT NULL DEFAULT '',
    heard_operational INTEGER NOT NULL DEFAULT 0, -- what happened up to here was before it was scheduled
    heard_learning  INTEGER NOT NULL DEFAULT 0,
    heard_signals   INTEGER NOT NULL DEFAULT 0,
    idempotency_key TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    CHECK (next_at IS NULL OR status IN ('pending', 'due'))
) STRICT;
CREATE INDEX reminders_next ON reminders(next_at) WHERE next_at IS NOT NULL;
CREATE INDEX reminders_status ON reminders(persona, status, number);
CREATE INDEX reminders_agent ON reminders(agent_id, status, number) WHERE agent_id <> '';
CREATE INDEX reminders_due ON reminders(number) WHERE status = 'due';
CREATE INDEX reminders_waiting ON reminders(persona) WHERE status = 'due' AND delivered_to = '';
CREATE INDEX reminders_waiting_maker ON reminders(created_by) WHERE status = 'due' AND delivered_to = '';
CREATE INDEX reminders_events ON reminders(trigger_value) WHERE status = 'pending' AND trigger_type = 'event';
CREATE INDEX reminders_conditions ON reminders(persona, number) WHERE status = 'pending' AND trigger_type = 'condition';
CREATE UNIQUE INDEX reminders_idempotency ON reminders(created_by, idempotency_key) WHERE idempotency_key IS NOT NULL;
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
CREATE UNIQUE INDEX sessions_open ON sessions(agent_id) WHERE status = 'open';
CREATE INDEX sessions_agent ON sessions(agent_id, num);
CREATE INDEX sessions_successor ON sessions(successor, num) WHERE successor <> '';
CREATE INDEX sessions_left ON sessions(persona, project, num) WHERE status = 'ended' AND inherited_by = '';
CREATE INDEX sessions_ended ON sessions(ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX reminders_open_keys ON reminders(idempotency_key) WHERE status IN ('pending', 'due') AND idempotency_key IS NOT NULL;
CREATE TABLE feed_runs (
    first  INTEGER PRIMARY KEY CHECK (first > 0),
    source TEXT NOT NULL CHECK (source IN ('learning', 'operational', 'messages', '')), -- '': what it stood for is lost
    start  INTEGER NOT NULL CHECK (start > 0),
    count  INTEGER NOT NULL CHECK (count > 0)
) STRICT;
CREATE INDEX feed_runs_source ON feed_runs(source, first);
CREATE INDEX messages_awaited ON messages(to_agent, seq) WHERE ack_required AND NOT settled;
CREATE INDEX escalations_unannounced ON escalations(num) WHERE NOT announced;
CREATE UNIQUE INDEX environments_name ON environments(lower(name));
CREATE INDEX agents_changed ON agents(changed);
CREATE UNIQUE INDEX messages_copies ON messages(copy_of, to_agent) WHERE copy_of IS NOT NULL;
CREATE TABLE leases (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id    TEXT NOT NULL,
    project     TEXT NOT NULL,
    patterns    TEXT NOT NULL,            -- a JSON list
    shared      INTEGER NOT NULL,
    why         TEXT NOT NULL,
    folder      TEXT NOT NULL,
    ttl_seconds INTEGER NOT NULL,
    taken_at    INTEGER NOT NULL,
    renewed_at  INTEGER NOT NULL,
    ended_at    INTEGER,                  -- NULL: it is held
    ended       TEXT NOT NULL DEFAULT '',
    ended_by    TEXT NOT NULL DEFAULT '',
    told        INTEGER NOT NULL DEFAULT 0 -- its holder was told that it ended
) STRICT;
CREATE INDEX leases_ended ON leases(ended_at);
CREATE TABLE ledger_marks (
    chain     TEXT NOT NULL,    -- the table whose rows are chained
    kind      TEXT NOT NULL CHECK (kind IN ('start', 'head', 'cut', 'forgotten')),
    number    INTEGER NOT NULL, -- of a row: the last of before the chain, the newest, the last that was removed for its age, one whose text was cut out
    hash      BLOB NOT NULL,    -- the row's link; of a forgotten one the hash of what it held
    since     BLOB,             -- of a forgotten one: the hash of what it holds since
    at        INTEGER NOT NULL,
    key       BLOB NOT NULL,    -- which key signed this
    signature BLOB NOT NULL,
    PRIMARY KEY (chain, kind, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE passphrase (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    hash     TEXT NOT NULL, -- argon2id; empty: none is set
    set_at   INTEGER,
    reset_at INTEGER,       -- when one was given up that was lost
    may_stop INTEGER NOT NULL CHECK (may_stop IN (0, 1)) -- a person agreed that agents_may_stop has effect
) STRICT;
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
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (1, 0, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (2, 1, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (3, 2, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (4, 3, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (5, 4, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (6, 5, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (7, 6, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (8, 7, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (9, 8, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (10, 9, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (11, 10, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (12, 11, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (13, 12, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (14, 13, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (15, 14, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (16, 15, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (17, 16, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (18, 17, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (19, 18, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (20, 19, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (21, 20, 1);
