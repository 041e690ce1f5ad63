-- +goose Up
-- Open reminders by how their keys begin: the router ends what it reminded of by these.
CREATE INDEX reminders_open_keys ON reminders(idempotency_key) WHERE status IN ('pending', 'due') AND idempotency_key IS NOT NULL;

-- +goose Down
DROP INDEX reminders_open_keys;
