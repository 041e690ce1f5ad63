-- +goose Up
-- The plots of figures over time are gone: /metrics has what they counted.
DROP TABLE figures;

-- +goose Down
CREATE TABLE figures (
    hour   INTEGER NOT NULL, -- since 1970, UTC; of a row that stands for a day: its first
    figure TEXT NOT NULL,
    name   TEXT NOT NULL,    -- a project, a tool, a rule or a bound, as the figure has it; empty: none, or all that found no room
    n      INTEGER NOT NULL,
    part   INTEGER NOT NULL, -- of n, as the figure has it
    most   INTEGER NOT NULL,
    PRIMARY KEY (hour, figure, name)
) STRICT, WITHOUT ROWID;
