-- +goose Up
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
-- Those that nobody has been told of, by persona and by who made them.
CREATE INDEX reminders_waiting ON reminders(persona) WHERE status = 'due' AND delivered_to = '';
CREATE INDEX reminders_waiting_maker ON reminders(created_by) WHERE status = 'due' AND delivered_to = '';
CREATE INDEX reminders_events ON reminders(trigger_value) WHERE status = 'pending' AND trigger_type = 'event';
CREATE INDEX reminders_conditions ON reminders(persona, number) WHERE status = 'pending' AND trigger_type = 'condition';
CREATE UNIQUE INDEX reminders_idempotency ON reminders(created_by, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- +goose Down
DROP TABLE reminders;
