-- +goose Up
-- The stores ask in words that PostgreSQL has too: a flag is a condition by itself, coalesce, lower.
-- SQLite takes an index with a condition or an expression only for what says the same.
DROP INDEX lessons_judged;
CREATE INDEX lessons_judged ON lessons(coalesce(last_validated_at, created_at)); -- the stale ones stand first
DROP INDEX lessons_applicable;
CREATE INDEX lessons_applicable ON lessons(num, title, contexts, pattern_id, initial_confidence, decay_constant, confidence_at)
    WHERE status <> 'retired' OR deprecated;
DROP INDEX facts_due;
CREATE INDEX facts_due ON facts(expires_at) WHERE NOT expired AND expires_at IS NOT NULL;
DROP INDEX facts_kept;
CREATE INDEX facts_kept ON facts(expires_at) WHERE expired;
DROP INDEX procedures_files;
CREATE UNIQUE INDEX procedures_files ON procedures(persona, lower(name)); -- some file systems cannot tell cases apart

-- +goose Down
DROP INDEX procedures_files;
CREATE UNIQUE INDEX procedures_files ON procedures(persona, name COLLATE NOCASE);
DROP INDEX facts_kept;
CREATE INDEX facts_kept ON facts(expires_at) WHERE expired = 1;
DROP INDEX facts_due;
CREATE INDEX facts_due ON facts(expires_at) WHERE expired = 0 AND expires_at IS NOT NULL;
DROP INDEX lessons_applicable;
CREATE INDEX lessons_applicable ON lessons(num, title, contexts, pattern_id, initial_confidence, decay_constant, confidence_at)
    WHERE status <> 'retired' OR deprecated = 1;
DROP INDEX lessons_judged;
CREATE INDEX lessons_judged ON lessons(ifnull(last_validated_at, created_at));
