-- +goose Up
-- compatible
DROP INDEX lessons_severity;
DROP INDEX lessons_level;
DROP INDEX lessons_status;
DROP INDEX lessons_applicable;
DROP INDEX lessons_project;
DROP INDEX lesson_recipients_lesson;
CREATE INDEX lessons_listed ON lessons(num, severity, level, status, deprecated, project, initial_confidence, decay_constant, confidence_at, pattern_id);
CREATE INDEX lessons_settled ON lessons(status, num, deprecated) WHERE status <> 'candidate';
CREATE INDEX lessons_raised ON lessons(num) WHERE level <> 'case';
CREATE INDEX lessons_project ON lessons(project) WHERE project <> '';

-- +goose Down
DROP INDEX lessons_project;
DROP INDEX lessons_raised;
DROP INDEX lessons_settled;
DROP INDEX lessons_listed;
CREATE INDEX lesson_recipients_lesson ON lesson_recipients(lesson_num);
CREATE INDEX lessons_project ON lessons(project);
CREATE INDEX lessons_applicable ON lessons(num, title, contexts, pattern_id, initial_confidence, decay_constant, confidence_at)
    WHERE status <> 'retired' OR deprecated;
CREATE INDEX lessons_status ON lessons(status);
CREATE INDEX lessons_level ON lessons(level);
CREATE INDEX lessons_severity ON lessons(severity);
