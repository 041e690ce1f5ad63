-- +goose Up
-- What seed 003's clients see of a pattern of episodes: its kind and text as they were
-- made, its episodes, newest first, and its confidence by the seed's rule. made_type ''
-- is a pattern of lessons, or one that another of its operation type stands for.
ALTER TABLE patterns ADD COLUMN made_type       TEXT NOT NULL DEFAULT '' CHECK (made_type IN ('', 'success', 'failure', 'correlation'));
ALTER TABLE patterns ADD COLUMN made_text       TEXT NOT NULL DEFAULT '';
ALTER TABLE patterns ADD COLUMN made_confidence REAL NOT NULL DEFAULT 0; -- may pass 1
ALTER TABLE patterns ADD COLUMN made_frequency  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE patterns ADD COLUMN made_episodes   TEXT NOT NULL DEFAULT '[]';

-- An operation type had up to three patterns, one of each kind. The one that was seen last
-- goes on, one in use before one that is not; the others stay to be read, out of use.
UPDATE patterns SET
    made_type = pattern_type, made_text = description, made_confidence = initial_confidence, made_frequency = frequency,
    made_episodes = (SELECT json_group_array(CAST(ref AS INTEGER)) FROM (SELECT ref FROM pattern_evidence
        WHERE pattern_id = patterns.id AND kind = 'episode' ORDER BY num DESC LIMIT 100))
WHERE pattern_type IN ('success', 'failure', 'correlation') AND (operation_type = '' OR num = (
    SELECT o.num FROM patterns o WHERE o.operation_type = patterns.operation_type AND o.operation_type <> ''
    ORDER BY o.status = 'deprecated', o.last_seen DESC, o.num DESC LIMIT 1));
UPDATE patterns SET status = 'deprecated' WHERE operation_type <> '' AND made_type = '';
CREATE UNIQUE INDEX patterns_one_each ON patterns(operation_type) WHERE operation_type <> '' AND made_type <> '';
CREATE INDEX patterns_made ON patterns(made_type, weight) WHERE made_type <> '';

-- A lesson that its applications took out of use is still shown to seed 003's clients, and may still be applied.
ALTER TABLE lessons ADD COLUMN deprecated INTEGER NOT NULL DEFAULT 0 CHECK (deprecated IN (0, 1));
UPDATE lessons SET deprecated = 1 WHERE status = 'retired' AND superseded_by = '' AND retired_reason LIKE 'deprecated: % applications succeeded';
DROP INDEX lessons_applicable;
CREATE INDEX lessons_applicable ON lessons(num, title, contexts, pattern_id, initial_confidence, decay_constant, confidence_at)
    WHERE status <> 'retired' OR deprecated = 1;

-- +goose Down
DROP INDEX lessons_applicable;
CREATE INDEX lessons_applicable ON lessons(num, contexts, initial_confidence, decay_constant, confidence_at) WHERE status <> 'retired';
ALTER TABLE lessons DROP COLUMN deprecated;
DROP INDEX patterns_made;
DROP INDEX patterns_one_each;
ALTER TABLE patterns DROP COLUMN made_episodes;
ALTER TABLE patterns DROP COLUMN made_frequency;
ALTER TABLE patterns DROP COLUMN made_confidence;
ALTER TABLE patterns DROP COLUMN made_text;
ALTER TABLE patterns DROP COLUMN made_type;
