-- +goose Up
-- Vectors of what is searched. They are made of the rows that they stand for, and can be made again.
CREATE TABLE embeddings (
    num       INTEGER PRIMARY KEY,
    kind      TEXT NOT NULL CHECK (kind IN ('knowledge', 'episode', 'lesson', 'procedure')),
    id        TEXT NOT NULL,                                           -- of the item
    model     TEXT NOT NULL,
    dimension INTEGER NOT NULL CHECK (dimension BETWEEN 1 AND 4096),
    hash      INTEGER NOT NULL,                                        -- of the text that was embedded
    scale     REAL NOT NULL CHECK (scale > 0),
    code      BLOB NOT NULL CHECK (length(code) = dimension),          -- int8; code times scale is the vector of length 1
    UNIQUE (kind, id)
) STRICT;

-- +goose Down
DROP TABLE embeddings;
