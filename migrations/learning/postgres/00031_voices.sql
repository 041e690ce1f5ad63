-- +goose Up
-- compatible
ALTER TABLE lessons ADD COLUMN reporter text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE lessons ADD COLUMN validator text COLLATE "C" NOT NULL DEFAULT '';
UPDATE lessons SET validator = '@' || validated_by WHERE validated AND validated_by <> '' AND split_part(validated_by, ':', 1) <> split_part(source_agent, ':', 1);

-- +goose Down
ALTER TABLE lessons DROP COLUMN validator;
ALTER TABLE lessons DROP COLUMN reporter;
