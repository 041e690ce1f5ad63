-- +goose Up
-- The journal of the feed: the number n of the feed, first <= n < first + count,
-- stands for the row start + (n - first) of a log. Rows that are not there any
-- more, or never were, leave gaps.
CREATE TABLE feed_runs (
    first  INTEGER PRIMARY KEY CHECK (first > 0),
    source TEXT NOT NULL CHECK (source IN ('learning', 'operational', 'messages', '')), -- '': what it stood for is lost
    start  INTEGER NOT NULL CHECK (start > 0),
    count  INTEGER NOT NULL CHECK (count > 0)
) STRICT;
CREATE INDEX feed_runs_source ON feed_runs(source, first);

-- +goose Down
DROP TABLE feed_runs;
