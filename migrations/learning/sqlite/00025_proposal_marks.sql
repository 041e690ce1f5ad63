-- +goose Up
-- What sessions propose by themselves is proposed once, in however many transcripts it stands: the mark is a hash of what
-- it says and of its project. NULL: it was proposed of a transcript that somebody handed in.
ALTER TABLE proposals ADD COLUMN mark INTEGER;
CREATE UNIQUE INDEX proposals_mark ON proposals(mark) WHERE mark IS NOT NULL;

-- +goose Down
DROP INDEX proposals_mark;
ALTER TABLE proposals DROP COLUMN mark;
