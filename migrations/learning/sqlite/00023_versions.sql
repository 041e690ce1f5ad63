-- +goose Up
-- Which entry stands in the place of another, and which may contradict it: JSON, a list of conflicts.
ALTER TABLE knowledge ADD COLUMN superseded_by TEXT NOT NULL DEFAULT '';
ALTER TABLE knowledge ADD COLUMN conflicts     TEXT NOT NULL DEFAULT '[]';
CREATE INDEX knowledge_conflicts ON knowledge(num) WHERE conflicts <> '[]';
ALTER TABLE lessons ADD COLUMN conflicts TEXT NOT NULL DEFAULT '[]';

-- What entries said before, for who asks what was known at a time: the last 50 versions of each. A version held from
-- since on and before until. What changes no time of change, as a use or a cut-out secret, makes none.
CREATE TABLE knowledge_versions (
    num           INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL,
    category      TEXT NOT NULL,
    title         TEXT NOT NULL,
    content       TEXT NOT NULL,
    tags          TEXT NOT NULL,
    source        TEXT NOT NULL,
    project       TEXT NOT NULL,
    trust         TEXT NOT NULL,
    superseded_by TEXT NOT NULL,
    since         INTEGER NOT NULL, -- Unix milliseconds
    until         INTEGER NOT NULL
) STRICT;
CREATE INDEX knowledge_versions_entry ON knowledge_versions(id, num);
CREATE INDEX knowledge_versions_until ON knowledge_versions(until);
-- +goose StatementBegin
CREATE TRIGGER knowledge_versioned AFTER UPDATE OF category, title, content, tags, source, project, trust, superseded_by ON knowledge
WHEN NEW.updated_at > OLD.updated_at BEGIN
    INSERT INTO knowledge_versions (id, category, title, content, tags, source, project, trust, superseded_by, since, until)
    VALUES (OLD.id, OLD.category, OLD.title, OLD.content, OLD.tags, OLD.source, OLD.project, OLD.trust, OLD.superseded_by, OLD.updated_at, NEW.updated_at);
    DELETE FROM knowledge_versions WHERE id = OLD.id AND num <= (SELECT num FROM knowledge_versions WHERE id = OLD.id ORDER BY num DESC LIMIT 1 OFFSET 50);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER knowledge_versions_gone AFTER DELETE ON knowledge BEGIN
    DELETE FROM knowledge_versions WHERE id = OLD.id;
END;
-- +goose StatementEnd

-- What facts were before: of each key the last 20 values of up to 16 KiB. A fact that expired is kept so too;
-- one that was forgotten or cleared is not.
CREATE TABLE fact_versions (
    version    INTEGER PRIMARY KEY, -- the fact's
    persona    TEXT NOT NULL,
    key        TEXT NOT NULL,
    category   TEXT NOT NULL,
    value      TEXT NOT NULL,
    ttl        INTEGER NOT NULL,
    expires_at INTEGER,
    probe      TEXT NOT NULL,
    source     TEXT NOT NULL,
    agent_id   TEXT NOT NULL,
    trust      TEXT NOT NULL,
    cached_at  INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX fact_versions_key ON fact_versions(persona, key, version);
CREATE INDEX fact_versions_updated ON fact_versions(updated_at);
-- +goose StatementBegin
CREATE TRIGGER facts_versioned AFTER DELETE ON facts WHEN length(OLD.value) <= 16384 BEGIN
    INSERT INTO fact_versions (version, persona, key, category, value, ttl, expires_at, probe, source, agent_id, trust, cached_at, created_at, updated_at)
    VALUES (OLD.version, OLD.persona, OLD.key, OLD.category, OLD.value, OLD.ttl, OLD.expires_at, OLD.probe, OLD.source, OLD.agent_id, OLD.trust, OLD.cached_at, OLD.created_at, OLD.updated_at);
    DELETE FROM fact_versions WHERE persona = OLD.persona AND key = OLD.key
        AND version <= (SELECT version FROM fact_versions WHERE persona = OLD.persona AND key = OLD.key ORDER BY version DESC LIMIT 1 OFFSET 20);
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER facts_versioned;
DROP TABLE fact_versions;
DROP TRIGGER knowledge_versions_gone;
DROP TRIGGER knowledge_versioned;
DROP TABLE knowledge_versions;
ALTER TABLE lessons DROP COLUMN conflicts;
DROP INDEX knowledge_conflicts;
ALTER TABLE knowledge DROP COLUMN conflicts;
ALTER TABLE knowledge DROP COLUMN superseded_by;
