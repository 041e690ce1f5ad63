-- +goose Up
-- The store asks in words that PostgreSQL has too: a flag is a condition by itself, and lower.
-- SQLite takes an index with a condition or an expression only for what says the same.
DROP INDEX messages_awaited;
CREATE INDEX messages_awaited ON messages(to_agent, seq) WHERE ack_required AND NOT settled;
DROP INDEX escalations_unannounced;
CREATE INDEX escalations_unannounced ON escalations(num) WHERE NOT announced;
CREATE UNIQUE INDEX environments_name ON environments(lower(name));

-- +goose Down
DROP INDEX environments_name;
DROP INDEX escalations_unannounced;
CREATE INDEX escalations_unannounced ON escalations(num) WHERE announced = 0;
DROP INDEX messages_awaited;
CREATE INDEX messages_awaited ON messages(to_agent, seq) WHERE ack_required = 1 AND settled = 0;
