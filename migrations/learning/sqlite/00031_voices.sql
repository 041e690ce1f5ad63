-- +goose Up
-- Whose token reported a lesson, and whose the last judgement was that confirmed it: '' is the owner's, and '@NAME' a person's. What somebody of
-- another kind of name confirmed before is confirmed.
ALTER TABLE lessons ADD COLUMN reporter TEXT NOT NULL DEFAULT '';
ALTER TABLE lessons ADD COLUMN validator TEXT NOT NULL DEFAULT '';
UPDATE lessons SET validator = '@' || validated_by WHERE validated = 1 AND validated_by <> ''
    AND substr(validated_by, 1, instr(validated_by || ':', ':') - 1) <> substr(source_agent, 1, instr(source_agent || ':', ':') - 1);

-- +goose Down
ALTER TABLE lessons DROP COLUMN validator;
ALTER TABLE lessons DROP COLUMN reporter;
