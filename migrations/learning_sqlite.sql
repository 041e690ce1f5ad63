-- The schema of learning.db after all its steps. Generated: go test ./internal/database -run TestSchema -update
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE knowledge (
    num          INTEGER PRIMARY KEY AUTOINCREMENT, -- order of first storing; the index is rebuilt in this order
    id           TEXT NOT NULL UNIQUE,
    category     TEXT NOT NULL,
    title        TEXT NOT NULL,
    content      TEXT NOT NULL,
    tags         TEXT NOT NULL DEFAULT '[]', -- JSON array
    source       TEXT NOT NULL DEFAULT '',
    agent_id     TEXT NOT NULL DEFAULT '',
    project      TEXT NOT NULL DEFAULT '',
    trust        TEXT NOT NULL,
    content_hash BLOB NOT NULL,              -- of the normalised title and content, within a project
    use_count    INTEGER NOT NULL DEFAULT 0,
    last_used    INTEGER,                    -- times are Unix milliseconds
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
, superseded_by TEXT NOT NULL DEFAULT '', folder TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX knowledge_category ON knowledge(category);
CREATE INDEX knowledge_hash ON knowledge(content_hash);
CREATE TABLE episodes (
    num        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL,
    agent_id   TEXT NOT NULL,
    event_type TEXT NOT NULL CHECK (event_type IN ('action', 'error', 'decision', 'outcome')),
    title      TEXT NOT NULL,
    content    TEXT NOT NULL,
    project    TEXT NOT NULL DEFAULT '',
    importance REAL NOT NULL DEFAULT 0.5 CHECK (importance BETWEEN 0 AND 1),
    created_at INTEGER NOT NULL
, operation_type   TEXT NOT NULL DEFAULT '', server_name      TEXT NOT NULL DEFAULT '', problem          TEXT, solution         TEXT, outcome          TEXT NOT NULL DEFAULT '' CHECK (outcome IN ('', 'success', 'failure', 'partial')), metadata         TEXT, quality_score    REAL CHECK (quality_score BETWEEN 0 AND 1), duration_ms      INTEGER CHECK (duration_ms >= 0), notes            TEXT NOT NULL DEFAULT '', novelty          REAL NOT NULL DEFAULT 0.5 CHECK (novelty BETWEEN 0 AND 1), effectiveness    REAL NOT NULL DEFAULT 0.5 CHECK (effectiveness BETWEEN 0 AND 1), generalizability REAL NOT NULL DEFAULT 0.5 CHECK (generalizability BETWEEN 0 AND 1), utility          REAL NOT NULL DEFAULT 0.5 CHECK (utility BETWEEN 0 AND 1), query_print      INTEGER NOT NULL DEFAULT 0, persona TEXT NOT NULL DEFAULT 'default', event   TEXT NOT NULL DEFAULT '', context TEXT CHECK (context IS NULL OR json_type(context) = 'object'), learned TEXT NOT NULL DEFAULT '', folder TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX episodes_session ON episodes(session_id, num);
CREATE INDEX episodes_agent ON episodes(agent_id, num);
CREATE INDEX episodes_project ON episodes(project, num);
CREATE INDEX episodes_time ON episodes(created_at);
CREATE TABLE events (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    type     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    agent_id TEXT NOT NULL DEFAULT '',
    project  TEXT NOT NULL DEFAULT '',
    at       INTEGER NOT NULL,
    data     TEXT
, link BLOB) STRICT;
CREATE TABLE lessons (
    num                INTEGER PRIMARY KEY AUTOINCREMENT, -- order of reporting; listings and the index follow it
    id                 TEXT NOT NULL UNIQUE,
    fingerprint        BLOB NOT NULL,              -- of the domain and the normalised title
    lesson_type        TEXT NOT NULL CHECK (lesson_type IN ('success', 'failure', 'workaround', 'discovery', 'optimization', 'warning', 'anti_pattern')),
    domain             TEXT NOT NULL,
    category           TEXT NOT NULL,
    title              TEXT NOT NULL,
    context            TEXT NOT NULL,
    action_taken       TEXT NOT NULL,
    outcome            TEXT NOT NULL,
    root_cause         TEXT NOT NULL DEFAULT '',
    solution           TEXT NOT NULL DEFAULT '',
    body               TEXT NOT NULL DEFAULT '',
    alternatives       TEXT NOT NULL DEFAULT '[]', -- this and the other lists are JSON arrays
    severity           TEXT NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low')),
    tags               TEXT NOT NULL DEFAULT '[]',
    source_agent       TEXT NOT NULL DEFAULT '',
    related_files      TEXT NOT NULL DEFAULT '[]',
    related_commands   TEXT NOT NULL DEFAULT '[]',
    contexts           TEXT NOT NULL DEFAULT '[]',
    trigger_pattern    TEXT NOT NULL DEFAULT '',
    block_action       INTEGER NOT NULL DEFAULT 0 CHECK (block_action IN (0, 1)),
    project            TEXT NOT NULL DEFAULT '',
    trust              TEXT NOT NULL,
    level              TEXT NOT NULL CHECK (level IN ('case', 'pattern', 'principle')),
    status             TEXT NOT NULL CHECK (status IN ('candidate', 'validated', 'canonical', 'retired')),
    transferability    INTEGER NOT NULL CHECK (transferability BETWEEN 1 AND 5),
    source_case_ids    TEXT NOT NULL DEFAULT '[]',
    pattern_id         TEXT NOT NULL DEFAULT '',
    initial_confidence REAL NOT NULL CHECK (initial_confidence BETWEEN 0 AND 1), -- at confidence_at; it decays from there
    decay_constant     REAL NOT NULL CHECK (decay_constant >= 0),
    confidence_at      INTEGER NOT NULL,           -- times are Unix milliseconds
    occurrences        INTEGER NOT NULL DEFAULT 1,
    last_occurred      INTEGER NOT NULL,
    times_applied      INTEGER NOT NULL DEFAULT 0,
    times_succeeded    INTEGER NOT NULL DEFAULT 0,
    validated          INTEGER NOT NULL DEFAULT 0 CHECK (validated IN (0, 1)),
    validated_by       TEXT NOT NULL DEFAULT '',
    validation_notes   TEXT NOT NULL DEFAULT '',
    last_validated_at  INTEGER,
    superseded_by      TEXT NOT NULL DEFAULT '',
    retired_at         INTEGER,
    retired_reason     TEXT NOT NULL DEFAULT '',
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL
, deprecated INTEGER NOT NULL DEFAULT 0 CHECK (deprecated IN (0, 1)), proposed INTEGER NOT NULL DEFAULT 0 CHECK (proposed IN (0, 1)), reporter TEXT NOT NULL DEFAULT '', validator TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX lessons_fingerprint ON lessons(fingerprint);
CREATE INDEX lessons_type ON lessons(lesson_type);
CREATE INDEX lessons_domain ON lessons(domain);
CREATE INDEX lessons_category ON lessons(category);
CREATE INDEX lessons_agent ON lessons(source_agent);
CREATE INDEX lessons_created ON lessons(created_at);
CREATE TABLE lesson_changes (
    seq       INTEGER PRIMARY KEY,
    lesson_id TEXT NOT NULL REFERENCES lessons(id),
    kind      TEXT NOT NULL,
    agent_id  TEXT NOT NULL DEFAULT '',
    note      TEXT NOT NULL DEFAULT '',
    was       TEXT,             -- JSON, what it moved from
    became    TEXT,             -- JSON, what it moved to
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX lesson_changes_lesson ON lesson_changes(lesson_id);
CREATE TABLE lesson_applications (
    num       INTEGER PRIMARY KEY,
    lesson_id TEXT NOT NULL REFERENCES lessons(id),
    agent_id  TEXT NOT NULL DEFAULT '',
    context   TEXT NOT NULL DEFAULT '',
    outcome   TEXT NOT NULL CHECK (outcome IN ('success', 'failure', 'partial')),
    notes     TEXT NOT NULL DEFAULT '',
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX lesson_applications_lesson ON lesson_applications(lesson_id);
CREATE TABLE patterns (
    num                INTEGER PRIMARY KEY AUTOINCREMENT,
    id                 TEXT NOT NULL UNIQUE,
    pattern_name       TEXT NOT NULL,
    pattern_type       TEXT NOT NULL CHECK (pattern_type IN ('recurring_failure', 'common_solution', 'best_practice', 'anti_pattern',
                       'optimization', 'success', 'failure', 'correlation')),
    description        TEXT NOT NULL,
    domain             TEXT NOT NULL DEFAULT '',
    categories         TEXT NOT NULL DEFAULT '[]',
    operation_type     TEXT NOT NULL DEFAULT '', -- of the episodes that it gathers
    frequency          INTEGER NOT NULL DEFAULT 0,
    first_seen         INTEGER NOT NULL,
    last_seen          INTEGER NOT NULL,
    status             TEXT NOT NULL CHECK (status IN ('emerging', 'confirmed', 'deprecated')),
    confirmed_by       TEXT NOT NULL DEFAULT '',
    confirmed_at       INTEGER,
    recommended_action TEXT NOT NULL DEFAULT '',
    prevention_steps   TEXT NOT NULL DEFAULT '[]',
    weight             REAL NOT NULL DEFAULT 0,
    initial_confidence REAL NOT NULL CHECK (initial_confidence BETWEEN 0 AND 1),
    decay_constant     REAL NOT NULL CHECK (decay_constant >= 0),
    confidence_at      INTEGER NOT NULL,
    times_applied      INTEGER NOT NULL DEFAULT 0,
    times_succeeded    INTEGER NOT NULL DEFAULT 0,
    last_validated     INTEGER,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    why                TEXT NOT NULL DEFAULT '[]'
, lessons INTEGER NOT NULL DEFAULT 0, agents INTEGER NOT NULL DEFAULT 0, representative TEXT NOT NULL DEFAULT '', command TEXT NOT NULL DEFAULT '', action_confidence REAL NOT NULL DEFAULT 0, made_type       TEXT NOT NULL DEFAULT '' CHECK (made_type IN ('', 'success', 'failure', 'correlation')), made_text       TEXT NOT NULL DEFAULT '', made_confidence REAL NOT NULL DEFAULT 0, made_frequency  INTEGER NOT NULL DEFAULT 0, made_episodes   TEXT NOT NULL DEFAULT '[]') STRICT;
CREATE INDEX patterns_type ON patterns(pattern_type);
CREATE INDEX patterns_status ON patterns(status);
CREATE INDEX patterns_domain ON patterns(domain);
CREATE INDEX patterns_seen ON patterns(last_seen);
CREATE INDEX patterns_operation ON patterns(operation_type, pattern_type) WHERE operation_type <> '';
CREATE TABLE pattern_evidence (
    num        INTEGER PRIMARY KEY, -- the latest stand last
    pattern_id TEXT NOT NULL REFERENCES patterns(id),
    kind       TEXT NOT NULL CHECK (kind IN ('lesson', 'episode')),
    ref        TEXT NOT NULL, -- a lesson's id, or an episode's number in decimal
    agent_id   TEXT NOT NULL DEFAULT '',
    score      REAL NOT NULL DEFAULT 0,
    at         INTEGER NOT NULL,
    UNIQUE (kind, ref, pattern_id)
) STRICT;
CREATE INDEX pattern_evidence_pattern ON pattern_evidence(pattern_id, kind);
CREATE INDEX episodes_experience ON episodes(num) WHERE operation_type <> '';
CREATE INDEX episodes_operation ON episodes(operation_type, num, query_print) WHERE operation_type <> '';
CREATE INDEX episodes_operation_outcome ON episodes(operation_type, outcome, num) WHERE operation_type <> '';
CREATE INDEX episodes_operation_time ON episodes(operation_type, created_at, outcome) WHERE operation_type <> '';
CREATE INDEX episodes_outcome ON episodes(outcome, num) WHERE operation_type <> '';
CREATE INDEX episodes_age ON episodes(created_at, utility) WHERE operation_type <> '';
CREATE TABLE operations (
    operation_type   TEXT PRIMARY KEY,
    episodes         INTEGER NOT NULL, -- all that are kept
    utility          INTEGER NOT NULL, -- the sum of theirs, in billionths
    window_from      INTEGER NOT NULL, -- the window holds the episodes from this time on
    window_episodes  INTEGER NOT NULL,
    window_successes INTEGER NOT NULL,
    window_at        INTEGER NOT NULL  -- the sum of their times, in milliseconds since 2020
) STRICT, WITHOUT ROWID;
CREATE INDEX lessons_pattern ON lessons(pattern_id) WHERE pattern_id <> '';
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
, link BLOB) STRICT;
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
CREATE INDEX lessons_general ON lessons(num) WHERE severity = 'critical' OR level = 'principle' OR transferability >= 4;
CREATE INDEX patterns_command ON patterns(command) WHERE command <> '';
CREATE TABLE pattern_agents (
    pattern_id TEXT NOT NULL REFERENCES patterns(id),
    agent_id   TEXT NOT NULL,
    PRIMARY KEY (pattern_id, agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX lessons_drawn ON lessons(num) WHERE level = 'case' AND source_case_ids <> '[]';
CREATE TABLE facts (
    version       INTEGER PRIMARY KEY AUTOINCREMENT, -- a new one with each write of a key, and never one twice
    persona       TEXT NOT NULL,
    key           TEXT NOT NULL,
    category      TEXT NOT NULL,
    value         TEXT NOT NULL CHECK (json_valid(value)),
    ttl           INTEGER NOT NULL CHECK (ttl >= 0), -- seconds; 0: for ever
    expires_at    INTEGER,                           -- times are Unix milliseconds
    expired       INTEGER NOT NULL DEFAULT 0 CHECK (expired IN (0, 1)), -- its event has been written
    probe         TEXT NOT NULL DEFAULT '',
    source        TEXT NOT NULL DEFAULT '',
    agent_id      TEXT NOT NULL DEFAULT '',
    trust         TEXT NOT NULL,
    access_count  INTEGER NOT NULL DEFAULT 0,
    last_accessed INTEGER,
    cached_at     INTEGER NOT NULL,                  -- when the value was stored
    created_at    INTEGER NOT NULL,                  -- when the key was first stored
    updated_at    INTEGER NOT NULL,
    UNIQUE (persona, key),
    CHECK ((ttl = 0) = (expires_at IS NULL))
) STRICT;
CREATE INDEX facts_listed ON facts(persona, category, key, expires_at);
CREATE INDEX facts_keys ON facts(persona, key, category, expires_at);
CREATE TABLE procedures (
    num          INTEGER PRIMARY KEY AUTOINCREMENT,
    persona      TEXT NOT NULL,
    name         TEXT NOT NULL,
    version      INTEGER NOT NULL CHECK (version > 0), -- the latest; it goes on after a deletion
    body         TEXT NOT NULL CHECK (json_valid(body)), -- what it says: description, category, params, steps, learned_from
    category     TEXT NOT NULL,
    agent_id     TEXT NOT NULL DEFAULT '',
    trust        TEXT NOT NULL,
    said_rate    REAL NOT NULL DEFAULT 0 CHECK (said_rate BETWEEN 0 AND 1), -- what its file says, as long as there are no runs
    said_time    REAL NOT NULL DEFAULT 0 CHECK (said_time >= 0),            -- seconds
    runs         INTEGER NOT NULL DEFAULT 0, -- that succeeded or failed
    succeeded    INTEGER NOT NULL DEFAULT 0,
    took         REAL NOT NULL DEFAULT 0,    -- seconds, of those that succeeded together
    file         TEXT NOT NULL DEFAULT '',   -- within the folder of procedures
    file_mark    TEXT NOT NULL DEFAULT '',   -- of the file's content when it was last in step; empty: it never was
    file_version INTEGER NOT NULL DEFAULT 0, -- the version that it said then
    created_at   INTEGER NOT NULL,           -- times are Unix milliseconds
    updated_at   INTEGER NOT NULL,
    deleted_at   INTEGER,
    UNIQUE (persona, name),
    CHECK (succeeded <= runs)
) STRICT;
CREATE INDEX procedures_listed ON procedures(persona, category, name) WHERE deleted_at IS NULL;
CREATE TABLE procedure_versions (
    procedure  INTEGER NOT NULL REFERENCES procedures(num) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    body       TEXT NOT NULL CHECK (json_valid(body)),
    agent_id   TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    PRIMARY KEY (procedure, version)
) STRICT, WITHOUT ROWID;
CREATE TABLE procedure_steps ( -- how the steps of a name went
    procedure INTEGER NOT NULL REFERENCES procedures(num) ON DELETE CASCADE,
    name      TEXT NOT NULL,
    succeeded INTEGER NOT NULL DEFAULT 0,
    failed    INTEGER NOT NULL DEFAULT 0,
    skipped   INTEGER NOT NULL DEFAULT 0,
    unknown   INTEGER NOT NULL DEFAULT 0,
    took      REAL NOT NULL DEFAULT 0,    -- seconds, of those that succeeded together
    recent    TEXT NOT NULL DEFAULT '',   -- the last outcomes, the latest last: s or f each
    errors    TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(errors)), -- of the last failures, the latest last
    PRIMARY KEY (procedure, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
    num        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    rev        INTEGER NOT NULL DEFAULT 0, -- another with each change
    procedure  INTEGER NOT NULL,
    persona    TEXT NOT NULL,
    name       TEXT NOT NULL,
    version    INTEGER NOT NULL,
    agent_id   TEXT NOT NULL DEFAULT '',
    project    TEXT NOT NULL DEFAULT '',
    params     TEXT NOT NULL CHECK (json_valid(params)),
    status     TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed', 'abandoned')),
    reason     TEXT NOT NULL DEFAULT '',
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    CHECK ((status = 'running') = (ended_at IS NULL))
) STRICT;
CREATE INDEX runs_open ON runs(agent_id, num) WHERE status = 'running';
CREATE INDEX runs_of ON runs(persona, name, num);
CREATE TABLE transcripts (
    id         TEXT PRIMARY KEY,             -- SHA-256 of its persona, agent, session and turns, without secrets
    persona    TEXT NOT NULL,
    agent_id   TEXT NOT NULL DEFAULT '',
    session_id TEXT NOT NULL DEFAULT '',
    project    TEXT NOT NULL DEFAULT '',
    turns      INTEGER NOT NULL CHECK (turns > 0),
    bytes      INTEGER NOT NULL CHECK (bytes > 0),
    extractor  TEXT NOT NULL,
    notice     TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL              -- times are Unix milliseconds
) STRICT, WITHOUT ROWID;
CREATE TABLE proposals (
    num           INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL UNIQUE,
    transcript_id TEXT NOT NULL REFERENCES transcripts(id),
    kind          TEXT NOT NULL CHECK (kind IN ('fact', 'episode', 'procedure')),
    content       TEXT NOT NULL CHECK (json_valid(content)),
    confidence    REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    evidence      TEXT NOT NULL CHECK (json_valid(evidence)),
    turns         TEXT NOT NULL CHECK (json_valid(turns)),
    status        TEXT NOT NULL CHECK (status IN ('pending', 'accepting', 'accepted', 'rejected')),
    decided_by    TEXT NOT NULL DEFAULT '',
    reason        TEXT NOT NULL DEFAULT '',
    stored_as     TEXT NOT NULL DEFAULT '',
    created_at    INTEGER NOT NULL,
    decided_at    INTEGER, mark INTEGER,
    CHECK ((status = 'pending') = (decided_at IS NULL))
) STRICT;
CREATE INDEX proposals_of ON proposals(transcript_id, num);
CREATE INDEX proposals_listed ON proposals(status, num);
CREATE INDEX transcripts_sessions ON transcripts(session_id) WHERE session_id <> '';
CREATE TABLE embeddings (
    num       INTEGER PRIMARY KEY,
    kind      TEXT NOT NULL CHECK (kind IN ('knowledge', 'episode', 'lesson', 'procedure')),
    id        TEXT NOT NULL,                                           -- of the item
    model     TEXT NOT NULL,
    dimension INTEGER NOT NULL CHECK (dimension BETWEEN 1 AND 4096),
    hash      INTEGER NOT NULL,                                        -- of the text that was embedded
    scale     REAL NOT NULL CHECK (scale > 0),
    code      BLOB NOT NULL CHECK (length(code) = dimension),          -- int8; code times scale is the vector of length 1
    UNIQUE (kind, id)
) STRICT;
CREATE INDEX episodes_persona ON episodes(persona, num);
CREATE INDEX episodes_event ON episodes(event, num) WHERE event <> '';
CREATE TABLE judgements (
    number     INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of judging
    id         TEXT NOT NULL UNIQUE,              -- a hash of the author, the project and the question
    question   TEXT NOT NULL CHECK (question <> ''), -- without secrets
    project    TEXT NOT NULL DEFAULT '',          -- the filter that it is asked with
    good       TEXT NOT NULL CHECK (json_type(good) = 'array'), -- ids of entries
    bad        TEXT NOT NULL CHECK (json_type(bad) = 'array'),
    author     TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,                  -- times are Unix milliseconds
    updated_at INTEGER NOT NULL CHECK (updated_at >= created_at),
    ran_at     INTEGER,                           -- when it was last measured
    ranks      TEXT CHECK (ranks IS NULL OR json_type(ranks) = 'object'), -- what was found then, by id; 0: not found
    CHECK ((ran_at IS NULL) = (ranks IS NULL))
) STRICT;
CREATE UNIQUE INDEX patterns_one_each ON patterns(operation_type) WHERE operation_type <> '' AND made_type <> '';
CREATE INDEX patterns_made ON patterns(made_type, weight) WHERE made_type <> '';
CREATE TABLE "run_steps" (
    run           INTEGER NOT NULL REFERENCES runs(num) ON DELETE CASCADE,
    idx           INTEGER NOT NULL CHECK (idx >= 0),
    step          TEXT NOT NULL CHECK (json_valid(step)), -- with its parameters put in
    status        TEXT NOT NULL CHECK (status IN ('pending', 'handed_out', 'succeeded', 'failed', 'skipped', 'unknown')),
    attempt       INTEGER NOT NULL DEFAULT 0,
    handed_out_at INTEGER,
    result        TEXT CHECK (result IS NULL OR json_valid(result)),
    error         TEXT NOT NULL DEFAULT '',
    reason        TEXT NOT NULL DEFAULT '',
    ended_at      INTEGER,
    duration      REAL NOT NULL DEFAULT 0, -- seconds
    lesson_id     TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (run, idx),
    CHECK (status NOT IN ('pending', 'handed_out') OR ended_at IS NULL)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX run_steps_out ON run_steps(run) WHERE status = 'handed_out';
CREATE INDEX lessons_judged ON lessons(coalesce(last_validated_at, created_at));
CREATE INDEX facts_due ON facts(expires_at) WHERE NOT expired AND expires_at IS NOT NULL;
CREATE INDEX facts_kept ON facts(expires_at) WHERE expired;
CREATE UNIQUE INDEX procedures_files ON procedures(persona, lower(name));
CREATE TABLE guard_packs (
    name TEXT PRIMARY KEY,
    mode TEXT NOT NULL CHECK (mode IN ('off', 'warn', 'block')),
    changed_by TEXT NOT NULL DEFAULT '',
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE incident_steps (
    chain    INTEGER PRIMARY KEY,
    project  TEXT NOT NULL,
    session  INTEGER NOT NULL,
    incident INTEGER NOT NULL,
    fixed    INTEGER NOT NULL CHECK (fixed IN (0, 1))
) STRICT;
CREATE INDEX incident_steps_incident ON incident_steps(incident, session);
CREATE INDEX incident_steps_project ON incident_steps(project, session);
CREATE TABLE incident_uses (
    feature  INTEGER PRIMARY KEY,
    project  TEXT NOT NULL,
    uses     INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    since    INTEGER NOT NULL,
    incident INTEGER NOT NULL
) STRICT;
CREATE INDEX incident_uses_failures ON incident_uses(failures) WHERE failures > 1;
CREATE TABLE incident_sources (
    id       TEXT PRIMARY KEY,
    project  TEXT NOT NULL,
    size     INTEGER NOT NULL,
    modified INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE knowledge_versions (
    num           INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL,
    category      TEXT NOT NULL,
    title         TEXT NOT NULL,
    content       TEXT NOT NULL,
    tags          TEXT NOT NULL,
    source        TEXT NOT NULL,
    project       TEXT NOT NULL,
    trust         TEXT NOT NULL,
    superseded_by TEXT NOT NULL,
    since         INTEGER NOT NULL, -- Unix milliseconds
    until         INTEGER NOT NULL
) STRICT;
CREATE INDEX knowledge_versions_entry ON knowledge_versions(id, num);
CREATE INDEX knowledge_versions_until ON knowledge_versions(until);
CREATE TRIGGER knowledge_versioned AFTER UPDATE OF category, title, content, tags, source, project, trust, superseded_by ON knowledge
WHEN NEW.updated_at > OLD.updated_at BEGIN
    INSERT INTO knowledge_versions (id, category, title, content, tags, source, project, trust, superseded_by, since, until)
    VALUES (OLD.id, OLD.category, OLD.title, OLD.content, OLD.tags, OLD.source, OLD.project, OLD.trust, OLD.superseded_by, OLD.updated_at, NEW.updated_at);
    DELETE FROM knowledge_versions WHERE id = OLD.id AND num <= (SELECT num FROM knowledge_versions WHERE id = OLD.id ORDER BY num DESC LIMIT 1 OFFSET 50);
END;
CREATE TRIGGER knowledge_versions_gone AFTER DELETE ON knowledge BEGIN
    DELETE FROM knowledge_versions WHERE id = OLD.id;
END;
CREATE TABLE fact_versions (
    version    INTEGER PRIMARY KEY, -- the fact's
    persona    TEXT NOT NULL,
    key        TEXT NOT NULL,
    category   TEXT NOT NULL,
    value      TEXT NOT NULL,
    ttl        INTEGER NOT NULL,
    expires_at INTEGER,
    probe      TEXT NOT NULL,
    source     TEXT NOT NULL,
    agent_id   TEXT NOT NULL,
    trust      TEXT NOT NULL,
    cached_at  INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX fact_versions_key ON fact_versions(persona, key, version);
CREATE INDEX fact_versions_updated ON fact_versions(updated_at);
CREATE TRIGGER facts_versioned AFTER DELETE ON facts WHEN length(OLD.value) <= 16384 BEGIN
    INSERT INTO fact_versions (version, persona, key, category, value, ttl, expires_at, probe, source, agent_id, trust, cached_at, created_at, updated_at)
    VALUES (OLD.version, OLD.persona, OLD.key, OLD.category, OLD.value, OLD.ttl, OLD.expires_at, OLD.probe, OLD.source, OLD.agent_id, OLD.trust, OLD.cached_at, OLD.created_at, OLD.updated_at);
    DELETE FROM fact_versions WHERE persona = OLD.persona AND key = OLD.key
        AND version <= (SELECT version FROM fact_versions WHERE persona = OLD.persona AND key = OLD.key ORDER BY version DESC LIMIT 1 OFFSET 20);
END;
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
CREATE UNIQUE INDEX proposals_mark ON proposals(mark) WHERE mark IS NOT NULL;
CREATE TABLE imports (
    num       INTEGER PRIMARY KEY AUTOINCREMENT,
    id        TEXT NOT NULL UNIQUE,
    source    TEXT NOT NULL,               -- what was read, in the caller's words
    agent_id  TEXT NOT NULL,
    stored    INTEGER NOT NULL,            -- how many it added
    at        INTEGER NOT NULL,            -- times are Unix milliseconds
    undone_at INTEGER
) STRICT;
CREATE TABLE imported (
    num       INTEGER PRIMARY KEY AUTOINCREMENT,
    import_id TEXT NOT NULL,
    kind      TEXT NOT NULL,
    ref       TEXT NOT NULL,               -- what the memory is known by among its kind
    mark      TEXT NOT NULL                -- a hash of how it was stored: one that was changed or used since has another
) STRICT;
CREATE INDEX imported_import ON imported(import_id, num);
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
CREATE TABLE guard_team_packs (
    name     TEXT PRIMARY KEY,
    version  INTEGER NOT NULL,
    text     TEXT NOT NULL,
    added_by TEXT NOT NULL DEFAULT '',
    added_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE guard_project_packs (
    name       TEXT NOT NULL,
    project    TEXT NOT NULL,
    mode       TEXT NOT NULL CHECK (mode IN ('off', 'warn', 'block')),
    changed_by TEXT NOT NULL DEFAULT '',
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (name, project)
) STRICT, WITHOUT ROWID;
CREATE INDEX lessons_listed ON lessons(num, severity, level, status, deprecated, project, initial_confidence, decay_constant, confidence_at, pattern_id,
    title, contexts);
CREATE INDEX lessons_settled ON lessons(status, num, deprecated) WHERE status <> 'candidate';
CREATE INDEX lessons_raised ON lessons(num) WHERE level <> 'case';
CREATE INDEX lessons_project ON lessons(project) WHERE project <> '';
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
CREATE TRIGGER verdicts_gone AFTER DELETE ON knowledge BEGIN
    DELETE FROM verdicts WHERE item = 'knowledge/' || OLD.id;
END;
CREATE TABLE shared (
    project    TEXT NOT NULL,
    id         TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('knowledge', 'decision', 'lesson')),
    hash       TEXT NOT NULL DEFAULT '',      -- of what is in memory here; empty: nothing
    declined   TEXT NOT NULL DEFAULT '',      -- of what a person declined last
    held       INTEGER NOT NULL CHECK (held IN (0, 1)),
    path       TEXT NOT NULL DEFAULT '',
    commit_id  TEXT NOT NULL DEFAULT '',
    author     TEXT NOT NULL DEFAULT '',      -- of the commit, in the words of git
    writer     TEXT NOT NULL DEFAULT '',      -- as the file says
    decided_by TEXT NOT NULL DEFAULT '',      -- the person
    at         INTEGER NOT NULL,              -- times are Unix milliseconds
    PRIMARY KEY (project, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX knowledge_chosen ON knowledge(project, superseded_by, category, trust, use_count, updated_at, folder, branch);
CREATE TABLE changes (
    num       INTEGER PRIMARY KEY AUTOINCREMENT,
    operation TEXT NOT NULL CHECK (operation IN ('delete', 'edit', 'merge', 'retire', 'decline', 'accept')),
    kind      TEXT NOT NULL,
    ref       TEXT NOT NULL,               -- what the memory is known by among its kind
    title     TEXT NOT NULL,
    project   TEXT NOT NULL,
    by_agent  TEXT NOT NULL,               -- who made it; a person begins with @
    author    TEXT NOT NULL,               -- who wrote the memory
    row_number TEXT NOT NULL,               -- that people may call it by; empty: none
    at        INTEGER NOT NULL,            -- Unix milliseconds
    rows_before TEXT NOT NULL CHECK (json_valid(rows_before)) -- a JSON list of learning.RowWas
, call_id TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX changes_of ON changes(kind, ref);
CREATE INDEX changes_by ON changes(by_agent, num);
CREATE INDEX changes_at ON changes(at);
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
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (22, 21, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (23, 22, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (24, 23, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (25, 24, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (26, 25, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (27, 26, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (28, 27, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (29, 28, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (30, 29, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (31, 30, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (32, 31, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (33, 32, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (34, 33, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (35, 34, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (36, 35, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (37, 36, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (38, 37, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (39, 38, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (40, 39, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (41, 40, 1);
