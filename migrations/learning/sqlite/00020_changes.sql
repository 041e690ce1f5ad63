-- +goose Up
-- What changed without an event, for who keeps it in memory beside another's writes: one row for each
-- thing, whose number is greater than every one before. 'feedback' is that on queries, 'answers' has the
-- entry as its key, and 'embeddings' gives the vectors their numbers: who knows them up to one reads on from there.
CREATE TABLE changes (
    what TEXT NOT NULL CHECK (what IN ('feedback', 'answers', 'embeddings')),
    key  TEXT NOT NULL DEFAULT '',
    seq  INTEGER NOT NULL,
    PRIMARY KEY (what, key)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX changes_seq ON changes(seq);
INSERT INTO changes (what, seq) SELECT 'embeddings', coalesce(max(num), 0) FROM embeddings;

-- +goose Down
DROP TABLE changes;
